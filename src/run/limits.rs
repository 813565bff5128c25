//! The limits of a run. They may be raised by a resume and never change otherwise; each change is a journal record,
//! so a replay sees the limits that were in force at each point.

use podium_types::money::Usd;
use serde::{Deserialize, Serialize};

/// Limits; `None` means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Steps: nodes of a tree search, turns of a loop.
    pub steps: Option<u32>,
    /// Run time in milliseconds.
    pub run_ms: Option<u64>,
    /// One execution, in milliseconds.
    pub execution_ms: u64,
    /// Tokens, input and output together.
    pub tokens: Option<u64>,
    /// Dollars.
    pub cost: Option<Usd>,
}

/// What a resume asks to raise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raise {
    /// New step limit.
    pub steps: Option<u32>,
    /// New run time limit in milliseconds.
    pub run_ms: Option<u64>,
    /// New token limit.
    pub tokens: Option<u64>,
    /// New dollar limit.
    pub cost: Option<Usd>,
}

/// A resume asked for a lower limit than the run has.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a resume can only raise limits, and {name} is already {current}")]
pub struct LowersLimit {
    /// Which limit.
    pub name: &'static str,
    /// Its value in force.
    pub current: String,
}

impl Limits {
    /// These limits with `raise` applied.
    ///
    /// # Errors
    /// When a value is below the one in force.
    pub fn raised(self, raise: &Raise) -> Result<Self, LowersLimit> {
        Ok(Self {
            steps: higher("the step limit", self.steps, raise.steps, |steps| steps.to_string())?,
            run_ms: higher("the time limit", self.run_ms, raise.run_ms, |ms| format!("{} s", ms / 1000))?,
            execution_ms: self.execution_ms,
            tokens: higher("the token limit", self.tokens, raise.tokens, |tokens| tokens.to_string())?,
            cost: higher("the dollar limit", self.cost, raise.cost, |cost| cost.to_string())?,
        })
    }
}

fn higher<T: Ord + Copy>(
    name: &'static str,
    current: Option<T>,
    asked: Option<T>,
    show: impl Fn(T) -> String,
) -> Result<Option<T>, LowersLimit> {
    match (current, asked) {
        (current, None) => Ok(current),
        (Some(current), Some(asked)) if asked < current => Err(LowersLimit { name, current: show(current) }),
        (None, Some(_)) => Err(LowersLimit { name, current: "unlimited".to_owned() }),
        (Some(_), Some(asked)) => Ok(Some(asked)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { steps: Some(5), run_ms: Some(1000), execution_ms: 10, tokens: None, cost: Some(Usd::ZERO) };

    #[test]
    fn only_upwards() {
        let raise = Raise { steps: Some(7), ..Raise::default() };
        assert_eq!(LIMITS.raised(&raise), Ok(Limits { steps: Some(7), ..LIMITS }));
        assert!(LIMITS.raised(&Raise { steps: Some(4), ..Raise::default() }).is_err());
        assert!(LIMITS.raised(&Raise { tokens: Some(4), ..Raise::default() }).is_err());
    }
}
