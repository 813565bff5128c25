//! Room in a prompt: how many tokens each of its parts may take, and which parts give way when the whole does not fit
//! a model's window.
//!
//! Tokens are those of [`podium_types::tokens`]: an estimate that is never below the truth, so a part inside its limit
//! is inside it for any model. Nothing here knows what a part says.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The table `[prompt_budget]`: tokens of each part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptBudgetSpec {
    /// Template of the remark that stands where something was left out, a path below `prompts/`.
    pub remark: String,
    /// The competition's description. Its beginning and its sections on submission and evaluation are kept longest.
    pub description: u64,
    /// The overview of the data.
    pub preview: u64,
    /// Earlier designs.
    pub memory: u64,
    /// The list of packages.
    pub packages: u64,
    /// The plans of all parents together.
    pub plan: u64,
    /// The programs of all parents together. A longer one is cut in its middle.
    pub code: u64,
    /// The output of all runs that are told of. A longer one is cut in its middle.
    pub output: u64,
    /// The reviewer's remarks on all parents together.
    pub summary: u64,
}

impl PromptBudgetSpec {
    /// The limits to begin with.
    pub fn limits(&self) -> Tokens {
        Tokens(BTreeMap::from([
            (Part::Memory, self.memory),
            (Part::Preview, self.preview),
            (Part::Packages, self.packages),
            (Part::Output, self.output),
            (Part::Summary, self.summary),
            (Part::Plan, self.plan),
            (Part::Description, self.description),
            (Part::Code, self.code),
        ]))
    }
}

/// A part of a prompt, in the order in which parts give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Earlier designs.
    Memory,
    /// The overview of the data.
    Preview,
    /// The list of packages.
    Packages,
    /// Output of runs.
    Output,
    /// The reviewer's remarks.
    Summary,
    /// Plans.
    Plan,
    /// The competition's description.
    Description,
    /// Programs.
    Code,
}

impl Part {
    /// The name that the template of the remark knows it by.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Preview => "preview",
            Self::Packages => "packages",
            Self::Output => "output",
            Self::Summary => "summary",
            Self::Plan => "plan",
            Self::Description => "description",
            Self::Code => "code",
        }
    }

    /// What is left at least of a part that takes `shown` tokens where there is room: nothing of what only helps, a
    /// quarter of what tells the task and the last run, half of a program.
    const fn floor(self, shown: u64) -> u64 {
        match self {
            Self::Memory | Self::Preview | Self::Packages => 0,
            Self::Output | Self::Summary | Self::Plan | Self::Description => shown / 4,
            Self::Code => shown.div_ceil(2),
        }
    }
}

/// Tokens by part: limits, or what the parts of a prompt really take. A part that is not there takes none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens(BTreeMap<Part, u64>);

impl Tokens {
    /// Tokens of one part.
    pub fn of(&self, part: Part) -> u64 {
        self.0.get(&part).copied().unwrap_or_default()
    }

    /// Adds to a part.
    pub fn add(&mut self, part: Part, tokens: u64) {
        let sum = self.of(part).saturating_add(tokens);
        self.0.insert(part, sum);
    }

    /// Limits that leave at least `tokens` out of a prompt whose parts take `self`, taken from one part after another
    /// down to its floor. `first` is what the parts took before anything gave way. Where even all floors together are
    /// too much, the floors.
    #[must_use]
    pub fn less(&self, first: &Self, tokens: u64) -> Self {
        let mut left = tokens;
        let give = |(part, shown): (&Part, &u64)| {
            let taken = left.min(shown.saturating_sub(part.floor(first.of(*part))));
            left -= taken;
            (*part, shown - taken)
        };
        Self(self.0.iter().map(give).collect())
    }
}

/// Limits of several texts of these sizes that share `limit`: each as large as it is, unless it takes more than its
/// share of what the smaller ones leave.
pub fn shares(limit: u64, sizes: &[u64]) -> Vec<u64> {
    let mut order: Vec<(usize, u64)> = sizes.iter().copied().enumerate().collect();
    order.sort_by_key(|(_, size)| *size);
    let mut shares = vec![0; sizes.len()];
    let mut left = limit;
    for (done, (place, size)) in order.into_iter().enumerate() {
        let share = size.min(left / (sizes.len() - done) as u64);
        left -= share;
        if let Some(slot) = shares.get_mut(place) {
            *slot = share;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(sizes: &[(Part, u64)]) -> Tokens {
        Tokens(sizes.iter().copied().collect())
    }

    #[test]
    fn parts_give_way_in_order_and_down_to_their_floors() {
        let shown = tokens(&[
            (Part::Memory, 100),
            (Part::Preview, 50),
            (Part::Output, 40),
            (Part::Description, 80),
            (Part::Code, 200),
        ]);
        let cases = [
            (0, [100, 50, 40, 80, 200]),
            (60, [40, 50, 40, 80, 200]),
            (120, [0, 30, 40, 80, 200]),
            (170, [0, 0, 20, 80, 200]),
            (200, [0, 0, 10, 60, 200]),
            (250, [0, 0, 10, 20, 190]),
            (9_999, [0, 0, 10, 20, 100]),
        ];
        for (need, expected) in cases {
            let less = shown.less(&shown, need);
            let parts = [Part::Memory, Part::Preview, Part::Output, Part::Description, Part::Code];
            assert_eq!(parts.map(|part| less.of(part)), expected, "{need}");
            assert_eq!(less.less(&shown, 9_999).of(Part::Code), 100, "never below half of what it was");
        }
    }

    proptest! {
        #[test]
        fn shares_use_the_room_and_no_more(limit in 0_u64..500, sizes in proptest::collection::vec(0_u64..200, 0..6)) {
            let shares = shares(limit, &sizes);
            let (given, wanted) = (shares.iter().sum::<u64>(), sizes.iter().sum::<u64>());
            prop_assert!(given <= limit && shares.iter().zip(&sizes).all(|(share, size)| share <= size));
            prop_assert!(given == wanted || given + sizes.len() as u64 > limit, "{given} of {limit}");
        }
    }
}
