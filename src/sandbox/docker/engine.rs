//! The engine: finding it, talking to it, and what it says of itself.
//!
//! An engine that cannot be reached is an error that says how to mend it. Requests have a time limit, for an engine
//! that hangs must not hang a run.

use std::path::Path;

use bollard::{Docker as Client, errors::Error as ClientError, models::SystemInfo};

use super::settings::DockerSettings;
use crate::{CgroupFacts, SandboxError};

/// An engine that has answered.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    pub(super) client: Client,
    pub(super) info: SystemInfo,
    /// Version of its interface that is spoken.
    pub(super) api: String,
    pub(super) runtime: Option<String>,
}

impl Engine {
    /// Finds the engine and asks what it is.
    pub(super) async fn connect(settings: &DockerSettings) -> Result<Self, SandboxError> {
        let address = address(settings);
        let failed = |error: ClientError| unreachable_engine(&address, &error);
        let client = Client::connect_with_host(&address).map_err(failed)?;
        let client = client.negotiate_version().await.map_err(failed)?;
        let info = client.info().await.map_err(failed)?;
        let version = client.client_version();
        let api = format!("{}.{}", version.major_version, version.minor_version);
        let runtime = settings.runtime.clone().or_else(|| info.default_runtime.clone());
        let engine = Self { client, info, api, runtime };
        if let Some(wanted) = &settings.runtime {
            engine.check_runtime(wanted)?;
        }
        Ok(engine)
    }

    fn check_runtime(&self, wanted: &str) -> Result<(), SandboxError> {
        let mut known: Vec<String> =
            self.info.runtimes.iter().flatten().map(|(name, _)| name.clone()).collect();
        known.sort_unstable();
        if known.iter().any(|name| name == wanted) {
            return Ok(());
        }
        Err(SandboxError::NoRuntime { runtime: wanted.to_owned(), known: known.join(", ") })
    }

    /// The engine says this of its security.
    pub(super) fn has(&self, option: &str) -> bool {
        let wanted = format!("name={option}");
        self.info.security_options.iter().flatten().any(|text| text.split(',').any(|part| part == wanted))
    }

    /// It runs without root's rights, in a user namespace of its user.
    pub(super) fn is_rootless(&self) -> bool {
        self.has("rootless")
    }

    /// System calls go to a kernel of the runtime's own, not to the machine's.
    pub(super) fn has_own_kernel(&self) -> bool {
        self.runtime
            .as_deref()
            .is_some_and(|runtime| runtime.starts_with("runsc") || runtime.starts_with("kata"))
    }

    /// Its interface is at least this.
    pub(super) fn speaks(&self, minor: usize) -> bool {
        let version = self.client.client_version();
        version.major_version > 1 || version.minor_version >= minor
    }

    /// The limits that the engine can put on a container.
    pub(super) fn cgroup(&self) -> Option<CgroupFacts> {
        let version = match self.info.cgroup_version?.as_ref() {
            "2" => 2,
            _ => 1,
        };
        let controllers: Vec<String> = [
            ("cpu", self.info.cpu_cfs_quota),
            ("cpuset", self.info.cpu_set),
            ("memory", self.info.memory_limit),
            ("pids", self.info.pids_limit),
        ]
        .into_iter()
        .filter(|(_, there)| *there == Some(true))
        .map(|(name, _)| name.to_owned())
        .collect();
        (!controllers.is_empty()).then_some(CgroupFacts { version, controllers })
    }
}

/// For `map_err`: what was asked of the engine, and why it refused.
pub(super) fn refused(action: &'static str) -> impl FnOnce(ClientError) -> SandboxError {
    move |source| SandboxError::Engine { action, source: Box::new(source) }
}

/// The status that the engine answered with.
pub(super) fn status(error: &ClientError) -> Option<u16> {
    match error {
        ClientError::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

/// Where the engine is looked for: the setting, `DOCKER_HOST`, the system's socket, the user's own.
fn address(settings: &DockerSettings) -> String {
    const SYSTEM: &str = "/var/run/docker.sock";
    let named =
        settings.host.clone().or_else(|| std::env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty()));
    named.unwrap_or_else(|| {
        let own = std::env::var_os("XDG_RUNTIME_DIR").map(|folder| Path::new(&folder).join("docker.sock"));
        match own.filter(|own| own.exists() && !Path::new(SYSTEM).exists()) {
            Some(own) => format!("unix://{}", own.display()),
            None => format!("unix://{SYSTEM}"),
        }
    })
}

/// Tells a missing engine, a refused one and one that does not answer apart.
fn unreachable_engine(address: &str, error: &ClientError) -> SandboxError {
    let path = address.strip_prefix("unix://");
    let message = match path {
        Some(path) if !Path::new(path).exists() => "there is no such socket".to_owned(),
        Some(path) => match std::os::unix::net::UnixStream::connect(path) {
            Err(why) if why.kind() == std::io::ErrorKind::PermissionDenied => {
                return SandboxError::EngineRefused { address: address.to_owned() };
            }
            Err(why) => why.to_string(),
            Ok(_) => chain(error),
        },
        None => chain(error),
    };
    SandboxError::NoEngine { address: address.to_owned(), message }
}

/// An error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}
