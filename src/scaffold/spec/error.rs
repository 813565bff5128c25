//! What can be wrong with a scaffold, in one sentence each, with the nearest right name where there is one.

/// A scaffold that cannot be used as it stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The file is no TOML, or a value has the wrong type.
    #[error("line {line}: {message}")]
    Syntax {
        /// Line of the scaffold file, from 1.
        line: usize,
        /// The reader's words.
        message: String,
    },
    /// A key or a word that the file may not have.
    #[error("line {line}: unknown key or word `{name}`{}{}", hint(nearest.as_deref()), more(among.as_deref()))]
    Unknown {
        /// Line of the scaffold file, from 1.
        line: usize,
        /// What stands there.
        name: String,
        /// The nearest name that would be right.
        nearest: Option<String>,
        /// What else there is, in words, where it is a kind or a strategy.
        among: Option<String>,
    },
    /// `--set` names a key that the scaffold does not have.
    #[error("--set {path}: the scaffold has no such key{}", hint(nearest.as_deref()))]
    UnknownPath {
        /// The path as given.
        path: String,
        /// The nearest path that exists.
        nearest: Option<String>,
    },
    /// `--set` gives a value of the wrong type.
    #[error("--set {path}={value}: {message}")]
    Override {
        /// The path as given.
        path: String,
        /// The value as given.
        value: String,
        /// What is wrong with it.
        message: String,
    },
    /// A value that is well formed but cannot be.
    #[error("{path}: {message}")]
    Invalid {
        /// Path of the value.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A name that refers to nothing.
    #[error("{path}: there is no {what} `{name}`{}", hint(nearest.as_deref()))]
    Missing {
        /// Path of the value that names it.
        path: String,
        /// What kind of thing is missing.
        what: &'static str,
        /// Its name.
        name: String,
        /// The nearest name that exists.
        nearest: Option<String>,
    },
    /// A prompt template does not compile or asks for a variable that nobody sets.
    #[error("prompt `{template}`: {message}")]
    Prompt {
        /// Template name, a path below `prompts/`.
        template: String,
        /// What is wrong with it.
        message: String,
    },
}

fn more(among: Option<&str>) -> String {
    among.map_or_else(String::new, |among| format!("; {among}"))
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; nearest: `{name}`"))
}
