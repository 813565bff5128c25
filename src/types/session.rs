//! A session in a sandbox, and what is seen of it.
//!
//! A session is one shell or one kernel that keeps its state between calls: a command for a shell, a cell for a kernel.
//! A call may outlast the time that its caller waits; then it goes on, and a later [`Observation`] shows the rest.
//! Calls are at-most-once: none is ever sent twice, and one that was cut says so.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::execution::{Collected, Ended, Exception, LimitHit, Output};

/// What keeps the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// A shell: its working folder, variables and functions.
    Shell,
    /// A Python kernel: its variables and imports.
    Kernel,
}

impl SessionKind {
    /// The word used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Kernel => "kernel",
        }
    }
}

impl std::fmt::Display for SessionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// What a session runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFacts {
    /// Shell or kernel.
    pub kind: SessionKind,
    /// What does the work: `bash`, `sh`, `ipython 9.18.1`, or `python 3.11.7` where `IPython` is not installed.
    pub program: String,
    /// How often it was started: 1 at first, one more after each restart. A new number means that all state is new.
    pub generation: u32,
}

/// One act on a session of a run, which is opened when it is not. Sessions live in the home workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRequest {
    /// Which: a run has several shells and kernels side by side under names of their own.
    pub name: String,
    /// What it is. A name keeps its kind.
    pub kind: SessionKind,
    /// What is done.
    pub act: SessionAct,
    /// How long the end of a call is waited for, in milliseconds; then it goes on, also while a model is asked.
    pub soft_ms: u64,
}

/// What is done with a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum SessionAct {
    /// Sends a command or a cell.
    Send {
        /// The command or the cell.
        input: String,
    },
    /// Waits for the end of the running call, and takes what was printed meanwhile.
    Wait,
    /// Gives text to the standard input of the running command.
    Input {
        /// The text.
        text: String,
        /// Whether the input ends after it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        end: bool,
    },
    /// Sends SIGINT to what runs in front.
    Interrupt,
    /// Kills everything of the session and starts it anew.
    Restart,
}

impl SessionAct {
    /// Whether doing it twice is another thing than doing it once. Such an act is at-most-once.
    pub const fn is_at_most_once(&self) -> bool {
        matches!(self, Self::Send { .. } | Self::Input { .. } | Self::Interrupt)
    }
}

/// What came of an act on a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAnswer {
    /// What was seen. Output shown here is not shown again.
    pub observation: Observation,
    /// The shell or kernel was started for this act: it is the first, or the one before is gone, by its own end or with
    /// the harness. All state but files is new.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opened: bool,
    /// The last of the shell or kernel before, where it died unobserved in this sitting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Observation>,
}

/// Why an act on a session was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum SessionFault {
    /// A call was sent while another goes on.
    #[error("the {kind} is still running the call before")]
    Busy {
        /// What it is.
        kind: SessionKind,
    },
    /// The act is none for such a session: input for a kernel, a NUL character.
    #[error("{message}")]
    Refused {
        /// Why.
        message: String,
    },
    /// It did not come up: what the home workspace holds, or the limits, keep it from starting.
    #[error("the {kind} could not be started: {message}")]
    NotStarted {
        /// What it is.
        kind: SessionKind,
        /// What was said.
        message: String,
    },
}

/// How it stands with a session after a call, or after a look at one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// Number of the call that this is about, counted from 1 in each generation; 0 before the first.
    pub call: u64,
    /// The generation of the shell or kernel; see [`SessionFacts::generation`].
    pub generation: u32,
    /// How it stands.
    pub state: SessionState,
    /// What was printed since the last observation, by this call or by anything else in the session.
    pub output: Output,
    /// Wall-clock time of the call so far, or until its end, in milliseconds.
    pub wall_ms: u64,
    /// A limit that fired since the call began: what ended the call or the session, or a part of the call.
    pub limit: Option<LimitHit>,
    /// Processes in the session besides the shell or kernel itself, when nothing is running in front.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundProcess>,
    /// The call was cut before its own end, by an interrupt, a limit, or a crash: its effects may be partial.
    #[serde(default)]
    pub interrupted: bool,
}

/// How it stands with a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SessionState {
    /// Nothing runs in front; a call can be sent.
    Idle,
    /// The call goes on.
    Running,
    /// The command has ended.
    Exited {
        /// Its exit code, as the shell says it.
        code: i32,
    },
    /// The cell has run to its end.
    Completed {
        /// The value of the cell's last expression, as Python shows it; `None` when there was none.
        value: Option<String>,
    },
    /// The cell has ended with an exception.
    Raised {
        /// The exception.
        exception: Exception,
        /// The traceback as Python shows it.
        traceback: String,
    },
    /// The shell or kernel itself has ended, and all its state is lost; it can be restarted.
    Ended {
        /// How its process ended.
        ended: Ended,
    },
    /// The harness was cut; nothing is known but that the session is gone.
    Lost,
}

/// A process that runs in a session behind its shell or kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundProcess {
    /// Its number inside.
    pub pid: u32,
    /// Its name, as it says itself: text of a hostile program.
    pub name: String,
}

impl Observation {
    /// For a call that a crash of the harness cut: whether it was run, and how far, is not known.
    pub fn lost(call: u64, generation: u32) -> Self {
        Self {
            call,
            generation,
            state: SessionState::Lost,
            output: Output::default(),
            wall_ms: 0,
            limit: None,
            background: Vec::new(),
            interrupted: true,
        }
    }

    /// The call has ended: another can be sent, or the session is over.
    pub const fn has_ended(&self) -> bool {
        !matches!(self.state, SessionState::Running)
    }

    /// The shell or kernel is gone.
    pub const fn is_over(&self) -> bool {
        matches!(self.state, SessionState::Ended { .. } | SessionState::Lost)
    }

    /// The call has ended, well, and of its own.
    pub const fn succeeded(&self) -> bool {
        let well = matches!(self.state, SessionState::Exited { code: 0 } | SessionState::Completed { .. });
        well && !self.interrupted && self.limit.is_none()
    }

    /// What a person at the session would see: the output, then the value or the traceback.
    pub fn text(&self) -> String {
        let mut text = self.output.text();
        let more = match &self.state {
            SessionState::Completed { value: Some(value) } => value,
            SessionState::Raised { traceback, .. } => traceback,
            _ => return text,
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(more);
        text
    }
}

/// What a session came to, when every process of it was dead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// How its shell or kernel ended.
    pub ended: Ended,
    /// The limit that ended it, if one did.
    pub limit: Option<LimitHit>,
    /// What was printed and not observed.
    pub output: Output,
    /// The submission as collected after every process had ended.
    pub submission: Collected,
    /// Wall-clock time since the last start in milliseconds.
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
    /// Verdicts that programs asked for.
    #[serde(default)]
    pub submission_checks: u64,
}
