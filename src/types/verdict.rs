//! What a submission check tells an agent: whether the format is right, never how good it is.

use serde::{Deserialize, Serialize};

use crate::sha256::Sha256;

/// The format verdict of one submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The grader would accept the file.
    Valid {
        /// SHA-256 of the bytes that were checked.
        sha256: Sha256,
        /// True when the predictions equal the sample submission's.
        copies_sample: bool,
    },
    /// The grader would refuse it.
    Invalid {
        /// Which column, which row, what was expected; never a word of the answers.
        reason: String,
    },
    /// There is no regular file at the submission path.
    Missing {
        /// What was found there instead, for example `nothing` or `a symbolic link`.
        found: String,
    },
}

impl Verdict {
    /// Whether the submission could be graded.
    pub const fn is_valid(&self) -> bool {
        matches!(self, Self::Valid { .. })
    }
}
