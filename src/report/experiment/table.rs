//! The arms on one split, beside each other. Boards of human teams and boards of baselines are never in one table.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::comparison::{Comparison, comparisons};
use super::course::{Curve, curves};
use super::row::{Row, row};
use super::run::Run;
use super::slice::ArmRate;
use super::terms::Terms;
use crate::statistics::rates::{Missing, Rate, padded, strict};
use crate::statistics::verdict::{LEVEL, smallest_p};

/// Where competitions stand that are in no split.
pub(super) const NO_SPLIT: &str = "no split";

/// Arms on one split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The split.
    pub split: String,
    /// Whether the boards hold baselines: then no number is MLE-bench's.
    pub baselines: bool,
    /// Competitions of it that were planned.
    pub competitions: usize,
    /// Competitions that the split has; none where that is not known.
    pub of: Option<usize>,
    /// Lines of the smallest and the largest board that was met.
    pub teams: Option<(usize, usize)>,
    /// The smallest p that a sign flip can have here.
    pub smallest_p: f64,
    /// One row for each arm.
    pub rows: Vec<Row>,
    /// Each two arms beside each other, by any medal.
    pub comparisons: Vec<Comparison>,
    /// Competitions of the table with a known issue, and what it is.
    pub known_issues: BTreeMap<String, Vec<String>>,
    /// Any medal without them; empty where there are none, or nothing else.
    pub without_known_issues: Vec<ArmRate>,
    /// Any medal over run time and dollars, where runs were graded over time.
    pub curves: Vec<Curve>,
}

impl Table {
    /// Whether no difference can be significant, whatever is seen.
    pub fn is_too_small(&self) -> bool {
        self.smallest_p > LEVEL
    }

    /// Whether a run stands in it.
    pub fn holds(&self, run: &Run) -> bool {
        run.about.baselines == self.baselines && splits_of(run).any(|split| split == self.split)
    }

    /// Whether it is less than the whole split: then its numbers are not the split's.
    pub fn is_part(&self) -> bool {
        self.of.is_some_and(|of| self.competitions < of)
    }
}

/// All tables: boards of people first, then those of baselines, each by split.
///
/// # Errors
/// As the rates have them.
pub(super) fn tables(runs: &[Run], terms: &Terms) -> Result<Vec<Table>, Missing> {
    let mut tables = Vec::new();
    for baselines in [false, true] {
        let of_board: Vec<&Run> = runs.iter().filter(|run| run.about.baselines == baselines).collect();
        let splits: BTreeSet<&str> = of_board.iter().flat_map(|run| splits_of(run)).collect();
        for split in splits {
            let of_split: Vec<&Run> =
                of_board.iter().copied().filter(|run| splits_of(run).any(|name| name == split)).collect();
            tables.push(table(split, baselines, &of_split, terms)?);
        }
    }
    Ok(tables)
}

fn splits_of(run: &Run) -> impl Iterator<Item = &str> {
    let none = run.about.splits.is_empty().then_some(NO_SPLIT);
    run.about.splits.iter().map(String::as_str).chain(none)
}

fn table(split: &str, baselines: bool, runs: &[&Run], terms: &Terms) -> Result<Table, Missing> {
    let arms = by_arm(runs);
    let competitions = runs.iter().map(|run| &run.competition).collect::<BTreeSet<_>>().len();
    let rows = arms.iter().map(|(arm, runs)| row(arm, runs, terms.strict)).collect::<Result<_, _>>()?;
    let known_issues: BTreeMap<String, Vec<String>> = runs
        .iter()
        .filter(|run| !run.about.known_issues.is_empty())
        .map(|run| (run.competition.clone(), run.about.known_issues.clone()))
        .collect();
    let mut without_known_issues = Vec::new();
    let mut over_time = Vec::new();
    for (arm, runs) in &arms {
        let sound: Vec<&Run> = runs.iter().copied().filter(|run| run.about.known_issues.is_empty()).collect();
        if !known_issues.is_empty() && !sound.is_empty() {
            without_known_issues.push(ArmRate::of(arm, &sound, terms.strict)?);
        }
        over_time.extend(curves(arm, runs, terms.strict)?);
    }
    let teams: Vec<usize> =
        runs.iter().filter_map(|run| run.end.as_ref()).filter_map(|end| end.teams).collect();
    Ok(Table {
        split: split.to_owned(),
        baselines,
        competitions,
        of: terms.split_sizes.get(split).copied(),
        teams: teams.iter().min().copied().zip(teams.iter().max().copied()),
        smallest_p: smallest_p(competitions),
        rows,
        comparisons: comparisons(&arms, terms),
        known_issues,
        without_known_issues,
        curves: over_time,
    })
}

/// The runs of each arm, in the order of the plan.
pub(super) fn by_arm<'a>(runs: &[&'a Run]) -> Vec<(&'a str, Vec<&'a Run>)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut arms: Vec<(&str, Vec<&Run>)> = Vec::new();
    for run in runs {
        let place = *places.entry(&run.arm).or_insert_with(|| {
            arms.push((&run.arm, Vec::new()));
            arms.len() - 1
        });
        if let Some((_, of_arm)) = arms.get_mut(place) {
            of_arm.push(run);
        }
    }
    arms
}

/// A rate of `value`, which is 0 or 1, over seeds.
///
/// # Errors
/// As the official aggregation has them.
pub(super) fn rate(runs: &[&Run], as_official: bool, value: &dyn Fn(&Run) -> f64) -> Result<Rate, Missing> {
    let outcomes = outcomes(runs, as_official, value);
    if as_official { strict(&outcomes) } else { padded(&outcomes, 0) }
}

/// Outcomes by competition, in the order of their seeds. A missing run counts 0, or not at all as the official
/// aggregation has it.
pub(super) fn outcomes(
    runs: &[&Run],
    as_official: bool,
    value: &dyn Fn(&Run) -> f64,
) -> BTreeMap<String, Vec<f64>> {
    let mut sorted = runs.to_vec();
    sorted.sort_by_key(|run| run.seed);
    let mut outcomes: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in sorted {
        let of_competition = outcomes.entry(run.competition.clone()).or_default();
        match &run.end {
            Some(_) => of_competition.push(value(run)),
            None if as_official => {}
            None => of_competition.push(0.0),
        }
    }
    outcomes
}
