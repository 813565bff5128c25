//! How calls are put to a shell or a kernel, and what their ends mean.

use podium_types::{execution::Ended, session::SessionState};

use super::{
    control::{Claim, Control},
    kernel,
    shell::{self, Shell},
};

/// What a session speaks.
#[derive(Clone, Debug)]
pub(super) enum Language {
    /// Commands.
    Shell(Shell),
    /// Cells.
    Kernel,
}

impl Language {
    /// What is sent first.
    pub(super) fn hello(&self, nonce: &str) -> String {
        match self {
            Self::Shell(shell) => shell.hello(nonce),
            Self::Kernel => kernel::call(nonce, ""),
        }
    }

    /// A command or a cell.
    pub(super) fn call(&self, nonce: &str, text: &str) -> String {
        match self {
            Self::Shell(shell) => shell.call(nonce, text),
            Self::Kernel => kernel::call(nonce, text),
        }
    }

    /// What is sent a moment after an interrupt, if anything has to be.
    pub(super) fn probe(&self, nonce: &str) -> Option<String> {
        match self {
            Self::Shell(shell) => Some(shell.probe(nonce)),
            Self::Kernel => None,
        }
    }

    /// The end of a call, once it was told.
    pub(super) fn claim(&self, control: &mut Control, nonce: &str) -> Option<SessionState> {
        match self {
            Self::Shell(_) => control.claim(nonce, false).map(|Claim { number, .. }| shell::state(number)),
            Self::Kernel => control.claim(nonce, true).map(|Claim { body, .. }| kernel::state(&body)),
        }
    }
}

/// The end of a call as that of a process, to tell which limit was its cause.
pub(super) fn as_ended(state: &SessionState) -> Ended {
    match state {
        // Shells report a death by signal so.
        SessionState::Exited { code: code @ 129..=192 } => Ended::Signal(code - 128),
        SessionState::Exited { code } => Ended::Exit(*code),
        SessionState::Raised { .. } => Ended::Exit(1),
        SessionState::Ended { ended } => *ended,
        SessionState::Idle | SessionState::Running | SessionState::Completed { .. } | SessionState::Lost => {
            Ended::Exit(0)
        }
    }
}
