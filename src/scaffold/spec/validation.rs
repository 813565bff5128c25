//! The table `[validation]` of a scaffold file: which training labels the harness keeps to judge candidates by, and the
//! folds it deals. All off where the table is absent.

use serde::{Deserialize, Serialize};

use crate::spec::SpecError;
use crate::spec::check::invalid;

/// More of the training rows than this are never held out.
const MOST_HELD_OUT: f64 = 0.5;
/// More folds than this cost more than they tell.
const MOST_FOLDS: u32 = 100;

/// What is held out, and how many folds there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidationSpec {
    /// Slices of the training labels that no program sees.
    #[serde(default)]
    pub holdout: HoldoutSpec,
    /// Folds of the rows that stay, in a file; 0: none.
    #[serde(default)]
    pub folds: u32,
}

/// Shares of the training rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoldoutSpec {
    /// For the search, which may look at its scores; 0: none.
    #[serde(default)]
    pub search: f64,
    /// For the final choice alone; 0: none.
    #[serde(default, rename = "final")]
    pub last: f64,
}

impl ValidationSpec {
    /// Whether there is anything of it.
    pub fn is_on(&self) -> bool {
        self.folds > 0 || self.holdout.is_on()
    }

    /// What cannot be.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let HoldoutSpec { search, last } = self.holdout;
        for (path, share) in [("validation.holdout.search", search), ("validation.holdout.final", last)] {
            if !(0.0..=MOST_HELD_OUT).contains(&share) {
                return Err(invalid(path, &format!("must be between 0 and {MOST_HELD_OUT}")));
            }
        }
        if search + last > MOST_HELD_OUT {
            return Err(invalid("validation.holdout", &format!("is more than {MOST_HELD_OUT} together")));
        }
        if self.folds == 1 || self.folds > MOST_FOLDS {
            return Err(invalid("validation.folds", &format!("must be 0 or from 2 to {MOST_FOLDS}")));
        }
        Ok(())
    }
}

impl HoldoutSpec {
    /// Whether anything is held out.
    pub fn is_on(&self) -> bool {
        self.search > 0.0 || self.last > 0.0
    }
}
