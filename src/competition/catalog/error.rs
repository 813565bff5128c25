//! What can be wrong with a catalog, or with a question to it.

/// Why the catalog cannot be read, or has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// A TOML file is not well-formed, or has an unknown key or value.
    #[error("{path}:{line}:{column}: {message}")]
    Syntax {
        /// The file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// The known name that is nearest to an unknown one.
        nearest: Option<String>,
    },
    /// The parts of a TOML file do not fit together.
    #[error("{path}: {problem}")]
    Misfit {
        /// The file.
        path: String,
        /// What does not fit.
        problem: String,
    },
    /// A board is not a table of scores.
    #[error("{path}: {problem}")]
    Board {
        /// The file.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// Two files describe one competition.
    #[error("competition `{id}` is described by {first} and by {second}")]
    Duplicate {
        /// The id.
        id: String,
        /// First file.
        first: String,
        /// Second file.
        second: String,
    },
    /// There is no such competition.
    #[error("there is no competition `{id}`")]
    UnknownCompetition {
        /// What was asked for.
        id: String,
        /// The most similar id.
        nearest: Option<String>,
    },
    /// There is no such split.
    #[error("there is no split `{name}`")]
    UnknownSplit {
        /// What was asked for.
        name: String,
        /// All splits.
        known: Vec<String>,
    },
}

impl CatalogError {
    /// A next step, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Self::UnknownCompetition { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`? `podium competitions list` shows all"))
            }
            Self::UnknownCompetition { .. } => Some("`podium competitions list` shows all".to_owned()),
            Self::UnknownSplit { known, .. } => Some(format!("the splits are {}", known.join(", "))),
            _ => None,
        }
    }
}
