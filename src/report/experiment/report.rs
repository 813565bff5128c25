//! The report as a whole, which `--json` prints: the same runs and terms give the same bytes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::disclosure::Disclosure;
use super::run::Run;
use super::slice::{Slice, slices};
use super::table::{Table, tables};
use super::terms::Terms;
use crate::statistics::rates::Missing;

/// Version of the report's shape.
const FORMAT: u32 = 3;

/// The report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of this shape.
    pub format: u32,
    /// The experiment.
    pub experiment: String,
    /// Planned runs; published ones aside.
    pub planned: usize,
    /// Whether it is aggregated as MLE-bench does by default.
    pub strict: bool,
    /// Differences within this are practically none, in shares; set beforehand.
    pub equal_within: f64,
    /// Planned runs by outcome and by what stopped them; `missing` where there is no report. They add up to the plan.
    pub counts: Vec<Count>,
    /// Planned runs without a report: they count as failures, unless aggregated as MLE-bench does.
    pub missing: Vec<String>,
    /// Runs that a service or the harness stopped: they count as what they had come to.
    pub outside: usize,
    /// Runs in which the strategy's own program failed: they count as what they had come to.
    #[serde(skip_serializing_if = "is_zero")]
    pub program_failed: usize,
    /// One table for each kind of board and split.
    pub tables: Vec<Table>,
    /// Any medal by what competitions are like.
    pub slices: Vec<Slice>,
    /// What must be known of all of it.
    pub notes: Vec<String>,
    /// What agents could see and tried.
    pub disclosure: Disclosure,
}

/// So many runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    /// What came of the submission.
    pub outcome: String,
    /// What stopped it.
    pub stopped_by: String,
    /// How many.
    pub runs: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's shape")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Makes the report.
///
/// # Errors
/// With [`Terms::strict`], a competition without any run; else never with a run in the plan.
pub fn report(experiment: &str, runs: &[Run], terms: &Terms) -> Result<Report, Missing> {
    let planned: Vec<&Run> = runs.iter().filter(|run| !run.published).collect();
    let missing = planned.iter().filter(|run| run.end.is_none());
    let ends = || planned.iter().filter_map(|run| run.end.as_ref());
    Ok(Report {
        format: FORMAT,
        experiment: experiment.to_owned(),
        planned: planned.len(),
        strict: terms.strict,
        equal_within: terms.equal_within,
        counts: counts(planned.iter().copied()),
        missing: missing
            .map(|run| format!("{} on {}, seed {}", run.arm, run.competition, run.seed))
            .collect(),
        outside: ends().filter(|end| end.outside).count(),
        program_failed: ends().filter(|end| end.program_failed).count(),
        tables: tables(runs, terms)?,
        slices: slices(runs, terms.strict)?,
        notes: notes(runs, terms),
        disclosure: Disclosure::of(runs),
    })
}

/// Runs by outcome and by what stopped them.
pub(super) fn counts<'a>(runs: impl Iterator<Item = &'a Run>) -> Vec<Count> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for run in runs {
        let words = run.end.as_ref().map(|end| (end.outcome.clone(), end.stopped_by.clone()));
        *counts.entry(words.unwrap_or_else(|| ("missing".to_owned(), "-".to_owned()))).or_insert(0) += 1;
    }
    let count = |((outcome, stopped_by), runs)| Count { outcome, stopped_by, runs };
    counts.into_iter().map(count).collect()
}

fn notes(runs: &[Run], terms: &Terms) -> Vec<String> {
    let mut notes = Vec::new();
    if runs.iter().any(|run| run.about.baselines) {
        notes.push(
            "boards of baselines are no people: those numbers do not compare with MLE-bench's".to_owned(),
        );
    }
    let stand_ins = runs.iter().filter(|run| run.end.as_ref().is_some_and(|end| end.stand_in)).count();
    if stand_ins > 0 {
        notes.push(format!(
            "in {stand_ins} of {} runs a stand-in model answered: they show that the harness works, not which arm is better",
            runs.iter().filter(|run| !run.published).count()
        ));
    }
    let published = runs.iter().filter(|run| run.published).count();
    if published > 0 {
        notes.push(format!(
            "{published} runs were read from published grading reports and are taken at their word"
        ));
    }
    if terms.strict && runs.iter().any(|run| run.end.is_none()) {
        notes
            .push("strict: every competition is cut to the smallest number of seeds that one has".to_owned());
    }
    notes
}
