//! How strong the sandbox in force is.
//!
//! Found out by running a probe at start, never by a version number; printed, stored with the run, and compared with
//! what the user requires. There is no silent fallback: a weaker sandbox is another [`Strength`], and says so.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The tiers, weakest first, so that they compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// A plain child with limits: it can read and write whatever the user can. No boundary.
    Limits,
    /// Namespaces and the system call filter, without control groups: memory and processes are limited per process
    /// or by a watchdog only.
    Namespaces,
    /// Namespaces, the system call filter, and control groups for memory and processes of the whole tree.
    Full,
}

impl Strength {
    /// The word used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Limits => "limits",
            Self::Namespaces => "namespaces",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strength {
    type Err = UnknownStrength;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Limits, Self::Namespaces, Self::Full]
            .into_iter()
            .find(|strength| strength.name() == text)
            .ok_or_else(|| UnknownStrength(text.to_owned()))
    }
}

/// Not one of the three words.
#[derive(Debug, thiserror::Error)]
#[error("unknown sandbox strength `{0}`: it is `full`, `namespaces` or `limits`")]
pub struct UnknownStrength(pub String);

/// What the probe found, in a form that is stored with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// `jail`, `docker` or `process`.
    pub kind: crate::SandboxKind,
    /// The tier.
    pub strength: Strength,
    /// Version of bubblewrap, for a jail.
    pub bubblewrap: Option<String>,
    /// The container engine, for docker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineFacts>,
    /// The control groups in use.
    pub cgroup: Option<CgroupFacts>,
    /// The system call filter was seen to refuse.
    pub seccomp: bool,
    /// Nested user namespaces were seen to be refused.
    pub nested_namespaces_refused: bool,
    /// Code inside can ask the harness to check a submission, and the names that it asks for are known.
    #[serde(default)]
    pub callbacks: bool,
    /// What keeps it from being stronger, one fragment each.
    pub missing: Vec<String>,
}

/// The container engine, and what it was told to use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFacts {
    /// The engine's version.
    pub version: String,
    /// Version of its interface that is spoken.
    pub api: String,
    /// The runtime that starts containers, for example `runc`.
    pub runtime: String,
    /// The image, as it was named.
    pub image: String,
    /// The image's id: a tag can move.
    pub image_id: String,
    /// The engine runs without root's rights.
    pub rootless: bool,
    /// User and group of the program, `uid:gid`.
    pub user: String,
}

/// Which control groups hold the limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CgroupFacts {
    /// 1 or 2.
    pub version: u8,
    /// Controllers that can be used, sorted.
    pub controllers: Vec<String>,
}

impl Facts {
    /// One line for people.
    pub fn describe(&self) -> String {
        let mut parts = vec![format!("{} ({})", self.kind, self.strength)];
        if let Some(version) = &self.bubblewrap {
            parts.push(format!("bubblewrap {version}"));
        }
        if let Some(engine) = &self.engine {
            parts.push(format!("engine {} with {}", engine.version, engine.runtime));
            parts.push(format!("image {}", engine.image));
        }
        if self.seccomp {
            parts.push("system call filter".to_owned());
        }
        parts.push(self.cgroup.as_ref().map_or_else(
            || "no cgroup".to_owned(),
            |cgroup| format!("cgroup v{}: {}", cgroup.version, cgroup.controllers.join(" ")),
        ));
        if !self.missing.is_empty() {
            parts.push(format!("missing: {}", self.missing.join("; ")));
        }
        parts.join(", ")
    }
}
