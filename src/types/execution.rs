//! What is run in a sandbox, and what came of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::AgentTerms;
use crate::sha256::Sha256;

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Program {
    /// A Python script, written to `file` in the workspace and run as a script of its own (`__main__`).
    Python {
        /// File name inside the workspace.
        file: String,
        /// The source.
        code: String,
    },
    /// A command; no shell unless the command is one.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
    },
}

/// Where an execution works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Workspace {
    /// In a workspace of its own, empty at the start and gone at the end. The submission is collected.
    #[default]
    Fresh,
    /// In the run's home workspace, which lives as long as the run: what is there stays, and nothing is collected.
    Home,
}

impl Workspace {
    /// Whether it is [`Self::Fresh`].
    pub const fn is_fresh(&self) -> bool {
        matches!(self, Self::Fresh)
    }
}

/// One execution, as a strategy asks for it. Data mounts, the sandbox kind and resource grants are the run's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionRequest {
    /// Where it works.
    #[serde(default, skip_serializing_if = "Workspace::is_fresh")]
    pub workspace: Workspace,
    /// What to run.
    pub program: Program,
    /// Wall-clock limit in milliseconds; cut to the run time that is left.
    pub timeout_ms: u64,
    /// Extra environment variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Files to collect besides the submission, by their paths in the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collect: Vec<String>,
    /// The program is an agent of its own: what it gets of the harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<AgentTerms>>,
}

/// How a process ended.
///
/// In a jail and in a container a death by signal is told by what stands in between, bubblewrap or a shell, as exit code
/// 128 + signal, and nothing else of it is left. A program that exits by itself with a code from 129 to 192 is therefore
/// told as [`Self::Signal`] there. Only the process kind tells the two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Ended {
    /// With this exit code.
    Exit(i32),
    /// By this signal, or where that cannot be told apart, with the exit code 128 + signal.
    Signal(i32),
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => {
                write!(f, "exit code {} (or signal {signal})", signal.saturating_add(128))
            }
        }
    }
}

/// A limit that fired, with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LimitHit {
    /// The execution's own wall-clock limit.
    WallClock {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// CPU time of the whole tree.
    CpuTime {
        /// The limit in milliseconds.
        limit_ms: u64,
    },
    /// Memory of the whole tree.
    Memory {
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// Number of processes and threads.
    Processes {
        /// The limit.
        limit: u64,
    },
    /// Size of the workspace.
    Disk {
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// Size of one file.
    FileSize {
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// Number of files and folders in the workspace.
    Files {
        /// The limit.
        limit: u64,
    },
    /// Number of files that one process has open.
    OpenFiles {
        /// The limit.
        limit: u64,
    },
}

impl std::fmt::Display for LimitHit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WallClock { limit_ms } => {
                write!(f, "execution limit ({} s) reached", *limit_ms as f64 / 1e3)
            }
            Self::CpuTime { limit_ms } => write!(f, "CPU time limit ({} s) reached", *limit_ms as f64 / 1e3),
            Self::Memory { limit_bytes } => write!(f, "memory limit ({} MiB) reached", limit_bytes >> 20),
            Self::Processes { limit } => write!(f, "process limit ({limit}) reached"),
            Self::Disk { limit_bytes } => write!(f, "disk limit ({} MiB) reached", limit_bytes >> 20),
            Self::FileSize { limit_bytes } => {
                write!(f, "file size limit ({} MiB) reached", limit_bytes >> 20)
            }
            Self::Files { limit } => write!(f, "limit of files in the workspace ({limit}) reached"),
            Self::OpenFiles { limit } => write!(f, "open files limit ({limit}) reached"),
        }
    }
}

/// Output with its head and tail kept. Invalid UTF-8 is replaced; control characters are kept as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The beginning: everything when nothing was dropped.
    pub head: String,
    /// The end; empty when nothing was dropped.
    pub tail: String,
    /// Bytes between head and tail that were not kept.
    pub dropped_bytes: u64,
}

impl Output {
    /// Head and tail with a line between them that says how much is missing.
    pub fn text(&self) -> String {
        if self.dropped_bytes == 0 {
            format!("{}{}", self.head, self.tail)
        } else {
            format!("{}\n[... {} bytes of output not kept ...]\n{}", self.head, self.dropped_bytes, self.tail)
        }
    }
}

/// A Python exception, read from the traceback at the end of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// Class name, for example `KeyError`.
    pub kind: String,
    /// The message.
    pub message: String,
    /// Line of the script where it passed last, when the traceback names it.
    pub line: Option<u32>,
}

/// What stood at the submission path when every process of the execution was dead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Collected {
    /// A regular file, copied out of the workspace into the run's content store.
    File {
        /// SHA-256 of the copy.
        sha256: Sha256,
        /// Its size.
        bytes: u64,
    },
    /// Nothing that may be taken.
    Missing {
        /// What was found instead: `nothing`, `a symbolic link`, `a directory`, `a file over the size limit`, ...
        found: String,
    },
}

/// The result of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// Exit code or signal of the program.
    pub ended: Ended,
    /// The limit that ended it, if one did.
    pub limit: Option<LimitHit>,
    /// Standard output and standard error, as they came.
    pub output: Output,
    /// The exception that ended a Python program.
    pub exception: Option<Exception>,
    /// The submission as collected after every process had ended.
    pub submission: Collected,
    /// The other files that were asked for, by their paths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub collected: BTreeMap<String, Collected>,
    /// Wall-clock time in milliseconds.
    pub wall_ms: u64,
    /// CPU time of the whole tree in milliseconds, where it can be measured.
    pub cpu_ms: Option<u64>,
    /// Peak memory of the whole tree in bytes, where it can be measured.
    pub peak_memory_bytes: Option<u64>,
    /// What the sandbox stopped on the way, for example `network` → 3.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blocked: BTreeMap<String, u64>,
    /// Host names that were asked for, and how often: the first few. Lower case, with `?` for what no name has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names_asked: BTreeMap<String, u64>,
    /// Requests for a model that were refused before a call was made, by why, and how often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requests_refused: BTreeMap<String, u64>,
    /// Verdicts that the program asked for while it ran.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub submission_checks: u64,
    /// A crash of the harness cut a session execution; effects may be partial.
    #[serde(default)]
    pub interrupted: bool,
    /// The program began in a copy of a warm interpreter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Execution {
    /// Exit code 0, no limit hit, not cut.
    pub fn succeeded(&self) -> bool {
        self.ended == Ended::Exit(0) && self.limit.is_none() && !self.interrupted
    }
}
