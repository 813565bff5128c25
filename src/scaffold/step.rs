//! A step of a loop as the journal keeps it: for people and viewers, never for the strategy, which remembers its steps
//! itself.

use podium_types::log::Line;
use serde::{Deserialize, Serialize};

/// A finished step. The log of a loop is the sequence of these records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// Number of the step, from 0.
    pub number: u32,
    /// What was said, done and seen, in this order.
    pub lines: Vec<Line>,
}
