//! What a job may do, as data that can be printed and compared: for jails it is read from the very arguments that
//! bubblewrap gets, so it cannot say anything else than what is done.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Facts, Job, Limits, SandboxError};

/// The policy of one job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// What the probe found.
    pub sandbox: Facts,
    /// Namespaces of its own.
    pub namespaces: Vec<String>,
    /// What its file system holds, in the order in which it is laid out. Empty: all that the user can see.
    pub mounts: Vec<PolicyMount>,
    /// User, group, host name, working folder, and what else is fixed.
    pub identity: BTreeMap<String, String>,
    /// All variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// Limits; sizes in bytes.
    pub limits: Limits,
    /// Wall-clock limit in seconds.
    pub timeout_seconds: f64,
    /// System calls that are refused whatever their arguments.
    pub refused_calls: Vec<String>,
    /// What else the system call filter says.
    pub refused_otherwise: Vec<String>,
}

/// One entry of a jail's file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyMount {
    /// What stands here.
    pub kind: MountKind,
    /// Where it stands, inside.
    pub at: String,
    /// What it is of the host, or where a link points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its size in bytes, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Kinds of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MountKind {
    /// A folder or file of the host, read-only.
    ReadOnly,
    /// The same, where the host has it.
    ReadOnlyIfThere,
    /// A folder of the host that can be written.
    Writable,
    /// A device node of the host.
    Device,
    /// A file system in memory.
    Memory,
    /// A small file that is made up.
    File,
    /// An empty folder.
    Folder,
    /// A symbolic link.
    Link,
    /// The kernel's process file system.
    Processes,
    /// A handful of harmless device nodes.
    Devices,
    /// What stands here cannot be changed from here on.
    Sealed,
}

impl MountKind {
    /// The word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::ReadOnlyIfThere => "read-only?",
            Self::Writable => "writable",
            Self::Device => "device",
            Self::Memory => "memory",
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "link",
            Self::Processes => "processes",
            Self::Devices => "devices",
            Self::Sealed => "sealed",
        }
    }
}

impl Policy {
    /// A policy of a job that lays nothing out: its environment and limits.
    pub(crate) fn of(facts: &Facts, job: &Job, environment: BTreeMap<String, String>) -> Self {
        Self {
            sandbox: facts.clone(),
            namespaces: Vec::new(),
            mounts: Vec::new(),
            identity: BTreeMap::new(),
            environment,
            limits: job.limits.clone(),
            timeout_seconds: job.timeout.as_secs_f64(),
            refused_calls: Vec::new(),
            refused_otherwise: Vec::new(),
        }
    }

    /// Adds what the arguments of bubblewrap say, in order.
    pub(crate) fn add_words(&mut self, words: &[String]) -> Result<(), SandboxError> {
        let mut words = words.iter();
        let mut size = None;
        while let Some(option) = words.next() {
            let unknown = || SandboxError::Job { message: format!("`{option}` cannot be explained") };
            let mut value = || words.next().cloned().ok_or_else(unknown);
            let (kind, from) = match option.as_str() {
                "--unshare-cgroup-try" => {
                    self.namespaces.push("cgroup".to_owned());
                    continue;
                }
                "--size" => {
                    size = value()?.parse().ok();
                    continue;
                }
                "--setenv" => {
                    let name = value()?;
                    self.environment.insert(name, value()?);
                    continue;
                }
                "--uid" | "--gid" | "--hostname" | "--cap-drop" | "--chdir" => {
                    self.identity.insert(option.trim_start_matches('-').to_owned(), value()?);
                    continue;
                }
                "--disable-userns" | "--new-session" | "--die-with-parent" => {
                    self.identity.insert(option.trim_start_matches('-').to_owned(), "yes".to_owned());
                    continue;
                }
                "--clearenv" => continue,
                "--perms" | "--add-seccomp-fd" => {
                    value()?;
                    continue;
                }
                "--ro-bind" => (MountKind::ReadOnly, Some(value()?)),
                "--ro-bind-try" => (MountKind::ReadOnlyIfThere, Some(value()?)),
                "--bind" => (MountKind::Writable, Some(value()?)),
                "--dev-bind" => (MountKind::Device, Some(value()?)),
                "--symlink" => (MountKind::Link, Some(value()?)),
                // A descriptor's number means nothing to anybody.
                "--file" => (MountKind::File, value().map(|_| None)?),
                "--tmpfs" => (MountKind::Memory, None),
                "--dir" => (MountKind::Folder, None),
                "--proc" => (MountKind::Processes, None),
                "--dev" => (MountKind::Devices, None),
                "--remount-ro" => (MountKind::Sealed, None),
                other => match other.strip_prefix("--unshare-") {
                    Some(namespace) => {
                        self.namespaces.push(namespace.to_owned());
                        continue;
                    }
                    None => return Err(unknown()),
                },
            };
            self.mounts.push(PolicyMount { kind, from, at: value()?, bytes: size.take() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_data() {
        let facts = Facts {
            kind: crate::SandboxKind::Jail,
            strength: crate::Strength::Full,
            bubblewrap: None,
            engine: None,
            cgroup: None,
            seccomp: true,
            callbacks: true,
            nested_namespaces_refused: true,
            missing: Vec::new(),
        };
        let environment = crate::Environment::of_user(&crate::Interpreter::find(None).unwrap().path).unwrap();
        let program = podium_types::execution::Program::Command { argv: Vec::new() };
        let job = Job::new(program, "/w", &environment);
        let mut policy = Policy::of(&facts, &job, BTreeMap::new());
        let words = "--unshare-user --unshare-cgroup-try --new-session --uid 1000 --setenv A b --ro-bind /usr /usr \
                     --perms 1777 --size 4096 --tmpfs /tmp --perms 0444 --file 9 /etc/hosts --remount-ro /";
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        policy.add_words(&words).unwrap();
        assert_eq!(policy.namespaces, ["user", "cgroup"]);
        assert_eq!(policy.environment.get("A").map(String::as_str), Some("b"));
        let seen: Vec<_> =
            policy.mounts.iter().map(|mount| (mount.kind.word(), mount.at.as_str(), mount.bytes)).collect();
        let want = [
            ("read-only", "/usr", None),
            ("memory", "/tmp", Some(4096)),
            ("file", "/etc/hosts", None),
            ("sealed", "/", None),
        ];
        assert_eq!(seen, want);
        assert!(policy.add_words(&["--new-option".to_owned()]).is_err(), "nothing is passed over");
    }
}
