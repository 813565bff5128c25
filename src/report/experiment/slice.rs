//! Any medal by what competitions are like: their category, complexity and year, and whether they ended after what the
//! model has read. Small numbers, told as rates with their errors; no slice is a comparison.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::run::Run;
use super::table::{by_arm, rate};
use crate::statistics::rates::{Missing, Rate};

/// What competitions are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Its category.
    Category,
    /// MLE-bench's level.
    Complexity,
    /// The year in which it ended.
    Year,
    /// Whether it ended after the model's knowledge cut-off.
    Cutoff,
}

impl By {
    const ALL: [Self; 4] = [Self::Category, Self::Complexity, Self::Year, Self::Cutoff];

    /// In a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Category => "category",
            Self::Complexity => "complexity",
            Self::Year => "year",
            Self::Cutoff => "knowledge cut-off",
        }
    }

    fn value(self, run: &Run) -> String {
        let about = &run.about;
        let known = |value: Option<&str>| value.unwrap_or("unknown").to_owned();
        match self {
            Self::Category if about.category.is_empty() => known(None),
            Self::Category => about.category.clone(),
            Self::Complexity => known(about.complexity()),
            Self::Year => known(about.year()),
            Self::Cutoff => match run.after_cutoff {
                Some(true) => "ended after it".to_owned(),
                Some(false) => "ended before it".to_owned(),
                None => known(None),
            },
        }
    }
}

/// A part of the competitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slice {
    /// Whether the boards hold baselines.
    pub baselines: bool,
    /// What they are told apart by.
    pub by: By,
    /// The value of these.
    pub value: String,
    /// How many there are.
    pub competitions: usize,
    /// Each arm on them.
    pub arms: Vec<ArmRate>,
}

/// Any medal of one arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmRate {
    /// The arm.
    pub arm: String,
    /// Its competitions in this part.
    pub competitions: usize,
    /// MLE-bench's way.
    pub any_medal: Rate,
}

impl ArmRate {
    /// Of one arm's runs.
    ///
    /// # Errors
    /// As the rates have them.
    pub(super) fn of(arm: &str, runs: &[&Run], as_official: bool) -> Result<Self, Missing> {
        let medal = |run: &Run| f64::from(u8::from(run.end.as_ref().is_some_and(|end| end.medal)));
        Ok(Self {
            arm: arm.to_owned(),
            competitions: runs.iter().map(|run| &run.competition).collect::<BTreeSet<_>>().len(),
            any_medal: rate(runs, as_official, &medal)?,
        })
    }
}

/// All parts; none by what is unknown of every competition.
///
/// # Errors
/// As the rates have them.
pub(super) fn slices(runs: &[Run], as_official: bool) -> Result<Vec<Slice>, Missing> {
    let mut slices = Vec::new();
    for baselines in [false, true] {
        for by in By::ALL {
            let mut parts: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
            for run in runs.iter().filter(|run| run.about.baselines == baselines) {
                parts.entry(by.value(run)).or_default().push(run);
            }
            if parts.keys().all(|value| value == "unknown") {
                continue;
            }
            for (value, runs) in parts {
                let arms = by_arm(&runs);
                let arms = arms.iter().map(|(arm, runs)| ArmRate::of(arm, runs, as_official));
                let competitions = runs.iter().map(|run| &run.competition).collect::<BTreeSet<_>>().len();
                let arms = arms.collect::<Result<_, _>>()?;
                slices.push(Slice { baselines, by, value, competitions, arms });
            }
        }
    }
    Ok(slices)
}
