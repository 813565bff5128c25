//! What the docker kind is opened with.

/// Which engine, image and runtime. All have a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DockerSettings {
    /// The image, by name or id. It is never pulled. Without one, Podium's own is made on the spot: an empty root in
    /// which the machine's `/usr` is mounted read-only, as in a jail.
    pub image: Option<String>,
    /// A runtime that the engine knows, for example `runc`, `sysbox-runc` or `runsc`. Without one, the engine's own
    /// choice.
    pub runtime: Option<String>,
    /// The engine's address, `unix:///path` or `tcp://host:port`. Without one, `DOCKER_HOST`, else the usual sockets.
    pub host: Option<String>,
}
