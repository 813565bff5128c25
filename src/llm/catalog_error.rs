//! Why a file of models cannot be used. Files hold names of variables and never keys, so a key in one is refused by
//! name, and no message repeats a value that might be one.

use crate::toml_fault::TomlFault;

/// A file of models that cannot be used: not TOML, a name, key or value that does not belong, or a key of a service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// It does not read.
    #[error("the model catalog cannot be read: {0}")]
    Toml(TomlFault),
    /// It holds the key of a service.
    #[error(
        "the model catalog cannot be used: `{file}`, line {line}: `{key}` holds a key, and keys do not belong there"
    )]
    Key {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What it is called there.
        key: String,
        /// The variable that should hold it, where the provider is known.
        variable: Option<String>,
    },
    /// A value that means nothing.
    #[error("the model catalog cannot be used: `{file}`, line {line}: {problem}")]
    Value {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
        /// What to write instead.
        hint: String,
    },
}

impl CatalogError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Toml(_) => None,
            Self::Key { variable: Some(variable), .. } => {
                Some(format!("take it out, and set {variable} in the environment or in a `.env` file"))
            }
            Self::Key { variable: None, .. } => Some(
                "take it out, and set NAME_API_KEY in the environment or in a `.env` file, NAME being the provider's"
                    .to_owned(),
            ),
            Self::Value { hint, .. } => Some(hint.clone()),
        }
    }
}
