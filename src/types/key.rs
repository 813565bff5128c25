//! Effect keys: the name under which one dealing with the world is journaled.
//!
//! The grammar is `node/<n>/<operator>/<try>` for tree search and `step/<n>/<call>` for loops; `n` is given when
//! work is proposed, never when it finishes, so that a resumed run asks for the same keys in any order of completion.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The key of one effect, unique within a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectKey(String);

impl EffectKey {
    /// `node/<n>/<operator>/<try>`: the `try_number`-th call of `operator` on behalf of node `n`.
    pub fn node(n: u32, operator: &str, try_number: u32) -> Self {
        Self(format!("node/{n}/{operator}/{try_number}"))
    }

    /// `step/<n>/<call>`: a call of a loop's n-th step.
    pub fn step(n: u32, call: &str) -> Self {
        Self(format!("step/{n}/{call}"))
    }

    /// A once-per-run effect before the first node or step, for example `run/preview`.
    pub fn run(call: &str) -> Self {
        Self(format!("run/{call}"))
    }

    /// Reads back a key from a journal.
    pub fn from_journal(text: String) -> Self {
        Self(text)
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The node or step number in the key; `None` for `run/...`.
    pub fn number(&self) -> Option<u32> {
        let mut parts = self.0.split('/');
        match parts.next() {
            Some("node" | "step") => parts.next().and_then(|number| number.parse().ok()),
            _ => None,
        }
    }

    /// The seed of this effect: the first eight bytes of SHA-256(run seed, key).
    pub fn seed(&self, run_seed: u64) -> u64 {
        let mut hasher = Sha256::new();
        hasher.update(run_seed.to_le_bytes());
        hasher.update(self.0.as_bytes());
        let digest = hasher.finalize();
        digest.iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte))
    }
}

impl std::fmt::Display for EffectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grammar_and_seed() {
        let key = EffectKey::node(7, "draft", 0);
        assert_eq!(key.as_str(), "node/7/draft/0");
        assert_eq!((key.number(), EffectKey::run("preview").number()), (Some(7), None));
        assert_eq!(key.seed(1), EffectKey::from_journal("node/7/draft/0".into()).seed(1));
        assert_ne!(key.seed(1), key.seed(2));
    }
}
