//! What is fixed before an experiment is looked at.

use std::collections::BTreeMap;

use crate::statistics::verdict::EQUAL_WITHIN;

/// The difference for which the number of seeds is told unless another is declared: 5 points.
const DECLARED: f64 = 0.05;

/// The terms of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Cut every competition to the smallest number of seeds instead of counting missing runs as failures, and refuse a
    /// competition without runs: MLE-bench's default.
    pub strict: bool,
    /// Differences within this are practically none, in shares.
    pub equal_within: f64,
    /// The difference for which the number of seeds is told, in shares.
    pub declared: f64,
    /// How many competitions each split has: what is less than all of them is no number of that split.
    pub split_sizes: BTreeMap<String, usize>,
}

impl Default for Terms {
    fn default() -> Self {
        Self { strict: false, equal_within: EQUAL_WITHIN, declared: DECLARED, split_sizes: BTreeMap::new() }
    }
}
