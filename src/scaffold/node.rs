//! A node of the search tree: one solution, how it was made and what came of it.

use std::collections::BTreeMap;

use podium_types::canonical::hash_bytes;
use podium_types::number::Number;
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;
use serde::{Deserialize, Serialize};

/// One reading of a node's validation metric. None of them knows the answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Where it came from: `printed`, `review`, `holdout`, `folds`.
    pub source: String,
    /// The value; it may be infinite or not a number.
    pub value: Number,
    /// Standard deviation between folds, where there are folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Number>,
}

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
    /// The validation metric that the search goes by: the first of its signals.
    pub metric: Option<Number>,
    /// All readings of the metric, in the order in which the scaffold names their sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// The source that `metric` was taken from; none where nothing was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric_source: Option<String>,
    /// Remarks that change no verdict: `the submission copies the sample`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// The reviewer's summary.
    pub summary: String,
    /// Format verdict of its submission.
    pub submission: Verdict,
    /// SHA-256 of its predictions for training rows, by their paths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub predictions: BTreeMap<String, Sha256>,
    /// Wall-clock time of its execution in milliseconds; 0 when it was never executed.
    pub execution_ms: u64,
    /// Why the search policy asked for it, in a few words (`rule 2: debug leaf 4 of 2`).
    pub reason: String,
}

impl NodeRecord {
    /// A node that was proposed and nothing more: without parents, program and result.
    pub fn begun(id: u32, operator: &str) -> Self {
        Self {
            id,
            parents: Vec::new(),
            operator: operator.to_owned(),
            plan: String::new(),
            code: String::new(),
            code_sha256: hash_bytes(b""),
            buggy: None,
            metric: None,
            signals: Vec::new(),
            metric_source: None,
            flags: Vec::new(),
            summary: String::new(),
            submission: Verdict::Missing { found: "nothing: it was never executed".to_owned() },
            predictions: BTreeMap::new(),
            execution_ms: 0,
            reason: String::new(),
        }
    }

    /// With this program.
    #[must_use]
    pub fn with_code(self, code: String) -> Self {
        Self { code_sha256: hash_bytes(code.as_bytes()), code, ..self }
    }

    /// As one that counts as buggy.
    #[must_use]
    pub fn failed(self, why: impl Into<String>) -> Self {
        Self { buggy: Some(why.into()), ..self }
    }

    /// The reading of the metric from this source.
    pub fn signal(&self, source: &str) -> Option<&Signal> {
        self.signals.iter().find(|signal| signal.source == source)
    }

    /// Whether the node may be built upon and handed in.
    pub const fn is_good(&self) -> bool {
        self.buggy.is_none()
    }
}
