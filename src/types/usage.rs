//! What a model call used: tokens, and dollars where the price is known.

use serde::{Deserialize, Serialize};

use crate::money::Usd;

/// Tokens and cost of one call, or a sum of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input_tokens: u64,
    /// Prompt tokens that the provider billed as cached.
    pub cached_input_tokens: u64,
    /// Prompt tokens that the provider billed for being written to its cache. Among `input_tokens`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Generated tokens, reasoning included.
    pub output_tokens: u64,
    /// Generated tokens that were hidden reasoning.
    pub reasoning_tokens: u64,
    /// What it cost; `None` when the model's price is unknown (unknown is not zero).
    pub cost: Option<Usd>,
    /// True when the provider sent no usage and the tokens were estimated from bytes.
    pub estimated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// No tokens at a cost of zero: the neutral element of [`Usage::plus`].
    pub const NOTHING: Self = Self {
        input_tokens: 0,
        cached_input_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 0,
        reasoning_tokens: 0,
        cost: Some(Usd::ZERO),
        estimated: false,
    };

    /// Input and output together.
    pub const fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The sum; its cost is unknown as soon as one part's is.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_input_tokens: self.cached_input_tokens.saturating_add(other.cached_input_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            cost: self.cost.zip(other.cost).map(|(left, right)| left + right),
            estimated: self.estimated || other.estimated,
        }
    }
}
