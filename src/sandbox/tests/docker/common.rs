//! What the tests of the docker kind share.

#[path = "../shared/bare.rs"]
mod bare;
#[path = "../shared/mod.rs"]
mod shared;

use std::process::Command;

use podium_sandbox::{DockerSettings, Environment, Sandbox, SandboxKind, Settings, open};

use crate::engine;

pub(crate) use shared::{Place, eventually, mark, run, skip, sleepers};

/// What is tried.
const KIND: &str = "docker";

/// Settings with the address of the engine, or a loud word on why there is none.
pub(crate) fn settings() -> Option<Settings> {
    match engine::address() {
        Ok(host) => Some(Settings {
            docker: DockerSettings { host, ..DockerSettings::default() },
            ..Settings::default()
        }),
        Err(why) => {
            skip(&why);
            None
        }
    }
}

/// A docker sandbox.
pub(crate) fn docker() -> Option<Box<dyn Sandbox>> {
    settings().map(|settings| open(SandboxKind::Docker, &settings).unwrap())
}

/// What the attack list is tried on.
pub(crate) fn attacked() -> Option<Box<dyn Sandbox>> {
    docker()
}

/// What has to happen before the processes of a killed harness are dead: another starts.
pub(crate) fn next_start() {
    drop(docker());
}

/// Runs the engine's own command line; `None` where there is none.
pub(crate) fn engine_says(settings: &Settings, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("docker");
    if let Some(host) = &settings.docker.host {
        command.args(["--host", host]);
    }
    let output = command.args(arguments).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

pub(crate) fn environment() -> Environment {
    Environment::of_user(bare::bare_python()).unwrap()
}
