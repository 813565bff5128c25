//! A node of the search tree: one solution, how it was made and what came of it.

use podium_types::number::Number;
use podium_types::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// A finished node, as the journal keeps it. The tree of a run is the sequence of these records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeRecord {
    /// Number of the node, from 0, in the order of proposal.
    pub id: u32,
    /// The nodes it was made from: none for a draft, two for a crossover.
    pub parents: Vec<u32>,
    /// The operator that made it: `draft`, `debug`, `improve`, ...
    pub operator: String,
    /// The plan in words.
    pub plan: String,
    /// The script.
    pub code: String,
    /// SHA-256 of the script.
    pub code_sha256: String,
    /// Why the node counts as buggy; `None`: it is good and may be selected.
    pub buggy: Option<String>,
    /// The validation metric that the solution reported of itself: as it printed it or, where it printed no line of the
    /// agreed form, as the review read it.
    pub metric: Option<Number>,
    /// The reviewer's summary.
    pub summary: String,
    /// Format verdict of its submission.
    pub submission: Verdict,
    /// Wall-clock time of its execution in milliseconds; 0 when it was never executed.
    pub execution_ms: u64,
    /// Why the search policy asked for it, in a few words (`rule 2: debug leaf 4 of 2`).
    pub reason: String,
}

impl NodeRecord {
    /// Whether the node may be built upon and handed in.
    pub const fn is_good(&self) -> bool {
        self.buggy.is_none()
    }
}
