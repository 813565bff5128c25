//! One arm on one split, in numbers.

use std::collections::BTreeMap;

use serde::Serialize;

use super::course::{SelectionLoss, selection_loss};
use super::report::{Count, counts};
use super::run::{End, Run};
use super::table::{outcomes, rate};
use crate::statistics::chances::{PassAtK, Validated, best_of_k, pass_curve};
use crate::statistics::mean;
use crate::statistics::rates::{Missing, Rate};

/// One arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The arm.
    pub arm: String,
    /// Whether it was read from published files: costs, times and percentiles are not known then.
    pub published: bool,
    /// Planned runs by outcome and by what stopped them.
    pub counts: Vec<Count>,
    /// Percentages, MLE-bench's way.
    pub any_medal: Rate,
    /// Gold medals.
    pub gold: Rate,
    /// Silver medals.
    pub silver: Rate,
    /// Bronze medals.
    pub bronze: Rate,
    /// Scores above the median.
    pub above_median: Rate,
    /// Valid submissions.
    pub valid: Rate,
    /// Submissions of any kind.
    pub made: Rate,
    /// Mean percentage of the board that is beaten, half of those that are level included; what was not graded beats
    /// nobody. None where a board has no lines.
    pub percentile: Option<f64>,
    /// How far from the sample submission to gold; none where it is known of no run.
    pub human_relative: Option<HumanRelative>,
    /// Chances of a medal among so many runs.
    pub pass_at: Vec<PassAtK>,
    /// Chances of a medal with the run that has the best validation metric among so many; empty where runs have none.
    pub best_of: Vec<BestOfK>,
    /// Validation beside test; none where no run has both.
    pub gap: Option<Gap>,
    /// What picking by validation lost; none where runs were not graded over time.
    pub selection_loss: Option<SelectionLoss>,
    /// What it took.
    pub spent: Spent,
}

/// Mean over runs of (score − sample submission) / (gold − sample submission).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HumanRelative {
    /// Each clipped to 0 and 1; what was not graded counts 0.
    pub mean: f64,
    /// Runs in it.
    pub runs: usize,
    /// Graded runs that are left out, because the sample's score is not known.
    pub unknown: usize,
}

/// One point of best-of-k.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BestOfK {
    /// Runs drawn per competition.
    pub k: usize,
    /// Mean over competitions of the chance of a medal.
    pub mean: f64,
    /// Competitions that have `k` runs.
    pub competitions: usize,
}

/// Validation beside test. Gaps are in the metrics' units, which are not added up: what is told is relative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// Runs with both.
    pub runs: usize,
    /// Of these, validation was better than test.
    pub too_optimistic: usize,
    /// Worse.
    pub too_pessimistic: usize,
    /// Median of gap / |test score|; none where every test score is 0.
    pub median_relative: Option<f64>,
}

/// What the runs with a report took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Runs with a report.
    pub runs: usize,
    /// Dollars of all; none: of one it is unknown.
    pub cost: Option<f64>,
    /// Mean dollars of a run.
    pub cost_of_run: Option<f64>,
    /// Tokens of prompts, of all.
    pub input_tokens: u64,
    /// Tokens generated, of all.
    pub output_tokens: u64,
    /// Mean tokens of a run.
    pub tokens_of_run: f64,
    /// Model calls of all.
    pub calls: u64,
    /// Hours of run time of all.
    pub hours: f64,
    /// Mean of a run.
    pub hours_of_run: f64,
    /// Hours of waiting for model services, of all; not in the run time.
    pub waiting_hours: f64,
    /// Hours of model calls, of all.
    pub model_hours: f64,
    /// Hours of executions, of all.
    pub execution_hours: f64,
    /// Hours for which acts on shells and kernels were waited for, of all.
    pub session_hours: f64,
}

/// The row of an arm's runs.
///
/// # Errors
/// As the rates have them.
pub(super) fn row(arm: &str, runs: &[&Run], as_official: bool) -> Result<Row, Missing> {
    let share = |of: fn(&End) -> bool| {
        rate(runs, as_official, &|run| f64::from(u8::from(run.end.as_ref().is_some_and(of))))
    };
    let medals = outcomes(runs, as_official, &|run| f64::from(u8::from(has_medal(run))));
    let tries: Vec<(usize, usize)> =
        medals.values().map(|runs| (runs.len(), runs.iter().filter(|medal| **medal > 0.5).count())).collect();
    let standings = runs.iter().map(|run| match &run.end {
        Some(end) if end.valid => end.percentile,
        _ => Some(0.0),
    });
    let percentile: Option<f64> = standings.sum();
    Ok(Row {
        arm: arm.to_owned(),
        published: runs.iter().any(|run| run.published),
        counts: counts(runs.iter().copied()),
        any_medal: share(|end| end.medal)?,
        gold: share(|end| end.gold)?,
        silver: share(|end| end.silver)?,
        bronze: share(|end| end.bronze)?,
        above_median: share(|end| end.above_median)?,
        valid: share(|end| end.valid)?,
        made: share(|end| end.made)?,
        percentile: percentile.map(|sum| sum / runs.len().max(1) as f64),
        human_relative: human_relative(runs),
        pass_at: pass_curve(&tries),
        best_of: best_of(runs),
        gap: gap(runs),
        selection_loss: selection_loss(runs),
        spent: spent(runs),
    })
}

fn has_medal(run: &Run) -> bool {
    run.end.as_ref().is_some_and(|end| end.medal)
}

fn human_relative(runs: &[&Run]) -> Option<HumanRelative> {
    let mut shares = Vec::new();
    let (mut unknown, mut known) = (0, 0);
    for run in runs {
        match run.end.as_ref().filter(|end| end.valid) {
            None => shares.push(0.0),
            Some(End { human_relative: Some(share), .. }) if !share.is_nan() => {
                known += 1;
                shares.push(share.clamp(0.0, 1.0));
            }
            Some(_) => unknown += 1,
        }
    }
    (known > 0).then(|| HumanRelative { mean: mean(&shares), runs: shares.len(), unknown })
}

/// For each k up to the smallest number of runs that a competition has.
fn best_of(runs: &[&Run]) -> Vec<BestOfK> {
    let mut competitions: BTreeMap<&str, Vec<Validated>> = BTreeMap::new();
    for run in runs {
        competitions.entry(&run.competition).or_default().push(Validated {
            validation: run.end.as_ref().and_then(|end| end.validated),
            outcome: f64::from(u8::from(has_medal(run))),
        });
    }
    if competitions.values().flatten().all(|run| run.validation.is_none()) {
        return Vec::new();
    }
    let fewest = competitions.values().map(Vec::len).min().unwrap_or(0);
    let point = |k| {
        let chances: Vec<f64> = competitions.values().filter_map(|runs| best_of_k(runs, k)).collect();
        BestOfK { k, mean: mean(&chances), competitions: chances.len() }
    };
    (1..=fewest).map(point).collect()
}

fn gap(runs: &[&Run]) -> Option<Gap> {
    let ends = runs.iter().filter_map(|run| run.end.as_ref());
    let gaps: Vec<(f64, f64)> =
        ends.filter_map(|end| Some((end.gap?, end.test?))).filter(|(gap, _)| !gap.is_nan()).collect();
    let relative = gaps.iter().map(|(gap, test)| gap / test.abs()).filter(|share| share.is_finite());
    let mut relative: Vec<f64> = relative.collect();
    relative.sort_by(f64::total_cmp);
    let middle = relative.len() / 2;
    let median = match (relative.get(middle), relative.len() % 2) {
        (Some(upper), 0) => relative.get(middle.saturating_sub(1)).map(|lower| f64::midpoint(*lower, *upper)),
        (value, _) => value.copied(),
    };
    (!gaps.is_empty()).then(|| Gap {
        runs: gaps.len(),
        too_optimistic: gaps.iter().filter(|(gap, _)| *gap > 0.0).count(),
        too_pessimistic: gaps.iter().filter(|(gap, _)| *gap < 0.0).count(),
        median_relative: median,
    })
}

fn spent(runs: &[&Run]) -> Spent {
    let ends: Vec<&End> =
        runs.iter().filter(|run| !run.published).filter_map(|run| run.end.as_ref()).collect();
    let count = ends.len().max(1) as f64;
    let sum = |of: fn(&End) -> f64| ends.iter().map(|end| of(end)).sum::<f64>();
    let tokens = |of: fn(&End) -> u64| ends.iter().fold(0_u64, |sum, end| sum.saturating_add(of(end)));
    let (input_tokens, output_tokens) = (tokens(|end| end.input_tokens), tokens(|end| end.output_tokens));
    let cost = ends.iter().map(|end| end.cost).sum::<Option<f64>>().filter(|_| !ends.is_empty());
    let hours = sum(|end| end.hours);
    Spent {
        runs: ends.len(),
        cost,
        cost_of_run: cost.map(|sum| sum / count),
        input_tokens,
        output_tokens,
        tokens_of_run: input_tokens.saturating_add(output_tokens) as f64 / count,
        calls: tokens(|end| u64::from(end.calls)),
        hours,
        hours_of_run: hours / count,
        waiting_hours: sum(|end| end.waiting_hours),
        model_hours: sum(|end| end.model_hours),
        execution_hours: sum(|end| end.execution_hours),
        session_hours: sum(|end| end.session_hours),
    }
}
