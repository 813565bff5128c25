//! What stood before an answer, as one hash.
//!
//! The newest models take their thinking back only while system text, tools and all turns before it are as they were
//! (marks of the cache and other thinking do not count), and refuse the whole request otherwise. So the state of an
//! answer keeps this hash, and thinking whose hash has changed is not sent. That holds for all models that are told to
//! think by effort; those with budgets do not check, and want their thinking back beside calls.

use podium_types::canonical;
use serde_json::{Value, json};

use super::turns::Turn;

/// A hash that grows turn by turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prefix(String);

impl Prefix {
    /// Of a conversation without any turn yet.
    pub(super) fn new(system: &[Value], tools: &[Value]) -> Self {
        Self(hash(&json!([system, tools])))
    }

    /// Of what stood before and this turn.
    pub(super) fn add(&mut self, turn: &Turn) {
        let words: Vec<&Value> = turn.blocks.iter().filter(|block| !is_thinking(block)).collect();
        self.0 = hash(&json!([self.0, turn.user, words]));
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_thinking(block: &Value) -> bool {
    matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
}

fn hash(value: &Value) -> String {
    canonical::hash_bytes(canonical::to_string(value).as_bytes())
}
