//! Limits as numbers: those that a TOML entry declares, and those that a service tells with an answer.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

/// Limits that a provider's or a model's entry declares. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Requests that are sent in any minute.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens, of prompts and answers, in any minute.
    pub tokens_per_minute: Option<NonZeroU64>,
    /// Calls at the same time.
    pub concurrency: Option<NonZeroU32>,
}

impl Limits {
    /// Whether there is none.
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What an answer told of one limit of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The most that can be left.
    pub(crate) limit: u64,
    /// What is left.
    pub(crate) remaining: u64,
    /// How long until all of it is left again.
    pub(crate) reset: Option<Duration>,
}

/// What an answer told of the service's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToldLimits {
    pub(crate) requests: Option<Told>,
    /// Of prompts and answers together.
    pub(crate) tokens: Option<Told>,
    pub(crate) input_tokens: Option<Told>,
    pub(crate) output_tokens: Option<Told>,
}
