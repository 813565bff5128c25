//! The one place where an error becomes text: one sentence with its causes, a hint, an exit code.

use std::process::ExitCode;

use crate::cli::exit;
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::{Class, RunError};

/// An error on its way out.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    pub(crate) code: ExitCode,
}

impl Failure {
    /// A wrong command line or configuration.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: ExitCode::from(exit::USAGE) }
    }

    /// Something that was handed in or answered, and is not valid.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: ExitCode::from(exit::INVALID) }
    }

    /// A machine that lacks something.
    pub(crate) fn environment(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, code: ExitCode::from(exit::ENVIRONMENT) }
    }

    /// With a next step.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints it on standard error.
    pub(crate) fn print(&self, terminal: &Terminal) {
        terminal.error_line(&format!("{} {}", terminal.bold_red("error:"), escape(&self.message)));
        if let Some(hint) = &self.hint {
            terminal.error_line(&format!("{} {}", terminal.cyan("hint:"), escape(hint)));
        }
    }
}

/// The sentence of an error with its causes, none told twice.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    // Parsers end their words with a line break.
    text.truncate(text.trim_end().len());
    text
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let code = match error.class() {
            Class::Usage => exit::USAGE,
            Class::Environment => exit::ENVIRONMENT,
            Class::Resumable => exit::RESUMABLE,
            Class::Internal => exit::BUG,
        };
        Self { message: with_causes(&error), hint: error.hint(), code: ExitCode::from(code) }
    }
}
