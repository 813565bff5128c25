//! The one place where an error becomes text: one sentence with its causes, a hint, an exit code; and with `--json`
//! one document on standard output as well.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::exit;
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::{Class, RunError};

/// An error on its way out.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    causes: Vec<String>,
    hint: Option<String>,
    code: u8,
    kind: &'static str,
}

impl Failure {
    fn new(code: u8, message: impl Into<String>) -> Self {
        Self { message: message.into(), causes: Vec::new(), hint: None, code, kind: exit::name(code) }
    }

    /// A wrong command line or configuration.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(exit::USAGE, message)
    }

    /// Something that was handed in or answered, and is not valid.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(exit::INVALID, message)
    }

    /// A machine that lacks something.
    pub(crate) fn environment(message: impl Into<String>) -> Self {
        Self::new(exit::ENVIRONMENT, message)
    }

    /// What clap says about a command line, its sentence without the usage below it.
    pub(crate) fn of_clap(error: &clap::Error) -> Self {
        let text = error.to_string();
        let sentence = text.split("\n\nUsage:").next().unwrap_or_default().trim();
        Self::usage(sentence.strip_prefix("error: ").unwrap_or(sentence)).hint("--help shows what there is")
    }

    /// What it says, with its causes.
    pub(crate) fn sentence(&self) -> String {
        joined(&self.message, &self.causes)
    }

    /// The same class and code, said of something larger.
    pub(crate) fn in_words(mut self, message: String) -> Self {
        self.message = message;
        self.causes.clear();
        self
    }

    /// With a next step.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The exit code.
    pub(crate) fn exit(&self) -> ExitCode {
        ExitCode::from(self.code)
    }

    /// Prints it on standard error.
    pub(crate) fn print(&self, terminal: &Terminal) {
        let sentence = escape(&self.sentence());
        terminal.error_line(&format!("{} {sentence}", terminal.bold_red("error:")));
        if let Some(hint) = &self.hint {
            terminal.error_line(&format!("{} {}", terminal.cyan("hint:"), escape(hint)));
        }
    }

    /// The same as a document.
    pub(crate) fn document(&self) -> Value {
        json!({ "error": {
            "kind": self.kind,
            "message": self.message,
            "causes": self.causes,
            "hint": self.hint,
            "exit_code": self.code,
        }})
    }
}

/// The sentence of an error with its causes, none told twice.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let (message, causes) = told(error);
    joined(&message, &causes)
}

fn joined(message: &str, causes: &[String]) -> String {
    let mut text = message.to_owned();
    for cause in causes {
        text.push_str(": ");
        text.push_str(cause);
    }
    text
}

/// What an error says, and what its causes add to it.
fn told(error: &dyn std::error::Error) -> (String, Vec<String>) {
    // Parsers end their words with a line break.
    let words = |error: &dyn std::error::Error| error.to_string().trim_end().to_owned();
    let message = words(error);
    let mut causes: Vec<String> = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = words(error);
        if !message.contains(&words) && !causes.iter().any(|cause| cause.contains(&words)) {
            causes.push(words);
        }
        cause = error.source();
    }
    (message, causes)
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let code = match error.class() {
            Class::Usage => exit::USAGE,
            Class::Environment => exit::ENVIRONMENT,
            Class::Resumable => exit::RESUMABLE,
            Class::Internal => exit::BUG,
        };
        let (message, causes) = told(&error);
        let kind = match &error {
            RunError::Model(podium_llm::Error::Service { .. }) => "model_service",
            RunError::Model(podium_llm::Error::Request(_)) => "model_request",
            _ => exit::name(code),
        };
        Self { message, causes, hint: error.hint(), code, kind }
    }
}

/// Whether the command line asks for JSON, also one that does not parse. What stands behind `--` is not ours.
pub(crate) fn wants_json(arguments: impl Iterator<Item = std::ffi::OsString>) -> bool {
    arguments.skip(1).take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_document_with_its_causes() {
        let path = "models.toml".into();
        let source = std::io::Error::other("no luck");
        let failure = Failure::from(RunError::OwnModels { path, source });
        let expected = json!({ "error": {
            "kind": "usage",
            "message": "could not read the file of models models.toml",
            "causes": ["no luck"],
            "hint": "name a file of the form of benchmark/models.toml with --models or PODIUM_MODELS",
            "exit_code": 2,
        }});
        assert_eq!(failure.document(), expected);
    }

    #[test]
    fn json_is_wanted_where_it_is_ours_to_want() {
        let wants = |line: &str| wants_json(line.split(' ').map(std::ffi::OsString::from));
        assert!(wants("podium doctor --json"));
        assert!(!wants("podium sandbox exec -- cat --json"));
        assert!(!wants("podium doctor"));
    }
}
