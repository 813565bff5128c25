//! What can be wrong with the arguments of a call. Values only: what the model is told is a template's, from these.

use serde::Serialize;

/// Why a call cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ArgumentFault {
    /// The arguments are no JSON.
    #[error("the arguments are not valid JSON: {problem}")]
    NotJson {
        /// What is wrong, and where.
        problem: String,
    },
    /// They are JSON, but no object.
    #[error("the arguments are {found}, not a JSON object")]
    NotAnObject {
        /// What they are: `null`, `a list`, ...
        found: &'static str,
    },
    /// One that must be there is not.
    #[error("the argument `{parameter}` is missing")]
    Missing {
        /// Its name.
        parameter: String,
    },
    /// The tool knows no such argument.
    #[error("there is no argument `{parameter}`{}", nearest.as_ref().map_or_else(String::new, |name| format!("; nearest: `{name}`")))]
    Unknown {
        /// As it was given.
        parameter: String,
        /// The nearest that there is.
        nearest: Option<String>,
    },
    /// Its value is of another kind.
    #[error("the argument `{parameter}` must be {expected}, not {found}")]
    Wrong {
        /// Its name.
        parameter: String,
        /// What it takes.
        expected: String,
        /// What was given, cut short.
        found: String,
    },
    /// There is no such tool.
    #[error("there is no tool `{name}`{}", nearest.as_ref().map_or_else(String::new, |name| format!("; nearest: `{name}`")))]
    UnknownTool {
        /// As it was called.
        name: String,
        /// The nearest that there is.
        nearest: Option<String>,
        /// All that there are.
        tools: Vec<String>,
    },
    /// The answer was cut at the output limit before the call was whole.
    #[error("the answer was cut at the output limit before the call was whole")]
    Cut,
}
