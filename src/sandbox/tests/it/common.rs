//! What the tests of the jail share.

#[path = "../shared/bare.rs"]
mod bare;
#[path = "../shared/mod.rs"]
mod shared;

use std::path::PathBuf;

use podium_sandbox::{Environment, Sandbox, SandboxError, SandboxKind, Settings, open};

use shared::processes;
pub(crate) use shared::{Place, eventually, mark, run, skip, sleepers};

/// What is tried.
const KIND: &str = "jail";

/// A jail, or a loud word on why there is none.
pub(crate) fn jail() -> Option<Box<dyn Sandbox>> {
    jail_with(&Settings::default())
}

/// What the attack list is tried on.
pub(crate) fn attacked() -> Option<Box<dyn Sandbox>> {
    jail()
}

/// What has to happen before the processes of a killed harness are dead: nothing.
pub(crate) fn next_start() {}

pub(crate) fn jail_with(settings: &Settings) -> Option<Box<dyn Sandbox>> {
    match open(SandboxKind::Jail, settings) {
        Ok(jail) => Some(jail),
        Err(error @ (SandboxError::NoBubblewrap | SandboxError::UserNamespaces { .. })) => {
            skip(&format!("no jail on this machine: {error}"));
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

pub(crate) fn environment() -> Environment {
    Environment::of_user(bare::bare_python()).unwrap()
}

/// Numbers of the machine's processes whose command line holds `text`.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    processes(|line| String::from_utf8_lossy(line).contains(text))
}

/// Control groups that bear the number of a harness.
pub(crate) fn groups_of(harness: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("podium.") && name.contains(&format!(".{harness}.")) {
                found.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(entry.path());
            }
        }
    }
    found
}
