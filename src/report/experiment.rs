//! An experiment as a report: rates by split with their errors, what the runs came to, and arms beside each other.
//!
//! Made from plain data of its runs, planned ones that have no end included: counts always add up to the plan. Boards of
//! human teams and boards of baselines are never in one percentage.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::statistics::chances::{PassAtK, pass_curve};
use crate::statistics::difference::{Difference, Pair, Pairs, difference};
use crate::statistics::exact::{PValue, label_permutation, sign_flip};
use crate::statistics::holm::holm;
use crate::statistics::power::{SeedsNeeded, detectable, seeds_needed};
use crate::statistics::rates::{Missing, Rate, padded, strict};
use crate::statistics::verdict::{EQUAL_WITHIN, LEVEL, Verdict, smallest_p, verdict};

/// Seed of the arrangements that are drawn where they cannot be counted.
const DRAWS_SEED: u64 = 1;
/// The difference for which the number of seeds is told, in shares: 5 points, declared here and not observed.
const DECLARED: f64 = 0.05;
/// Competitions that are named as those that differ most.
const MOST: usize = 5;

/// One planned run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What it is compared as: the values of its axes.
    pub arm: String,
    /// The competition.
    pub competition: String,
    /// Its seed.
    pub seed: u64,
    /// The splits of its competition.
    pub splits: Vec<String>,
    /// Whether its board holds baselines rather than people.
    pub baselines: bool,
    /// What it came to; none: it has no report.
    pub end: Option<End>,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of a grading report")]
pub struct End {
    /// `graded`, ...
    pub outcome: String,
    /// `finished`, ...
    pub stopped_by: String,
    /// Whether a service or the harness stopped it.
    pub outside: bool,
    /// Any medal.
    pub medal: bool,
    /// A gold one.
    pub gold: bool,
    /// A silver one.
    pub silver: bool,
    /// A bronze one.
    pub bronze: bool,
    /// Strictly better than the median.
    pub above_median: bool,
    /// The grader accepted it.
    pub valid: bool,
    /// There was a submission.
    pub made: bool,
    /// Percentage of the board that it beats.
    pub percentile: Option<f64>,
    /// Dollars; none: unknown.
    pub cost: Option<f64>,
    /// Tokens.
    pub tokens: u64,
    /// Run time in hours.
    pub hours: f64,
    /// A stand-in model answered.
    pub stand_in: bool,
}

/// The report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The experiment.
    pub experiment: String,
    /// Planned runs.
    pub planned: usize,
    /// Runs by outcome and by what stopped them; `missing` where there is no report. They add up to the plan.
    pub counts: Vec<Count>,
    /// Planned runs without a report: they count as failures.
    pub missing: Vec<String>,
    /// Runs that a service or the harness stopped: they count as what they had come to.
    pub outside: usize,
    /// One table for each kind of board and split.
    pub tables: Vec<Table>,
    /// What must be known of all of it.
    pub notes: Vec<String>,
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

/// Arms on one split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The split.
    pub split: String,
    /// Whether the boards hold baselines: then no number is MLE-bench's.
    pub baselines: bool,
    /// Competitions of it.
    pub competitions: usize,
    /// The smallest p that a sign flip can have here.
    pub smallest_p: f64,
    /// One row for each arm.
    pub rows: Vec<Row>,
    /// Each two arms beside each other, by any medal.
    pub comparisons: Vec<Comparison>,
}

/// One arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The arm.
    pub arm: String,
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
    /// Mean percentage of the board that is beaten; what was not graded beats nobody. None where a board has no lines.
    pub percentile: Option<f64>,
    /// Chances of a medal among so many runs.
    pub pass_at: Vec<PassAtK>,
    /// Mean dollars of a run that has a report; none: unknown.
    pub cost: Option<f64>,
    /// Mean tokens of such a run.
    pub tokens: f64,
    /// Mean run time of such a run, in hours.
    pub hours: f64,
}

/// Two arms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The first.
    pub a: String,
    /// The second.
    pub b: String,
    /// How they differ, first less second.
    pub difference: Difference,
    /// For competitions like these.
    pub sign_flip: PValue,
    /// For exactly these competitions.
    pub label_permutation: PValue,
    /// The first p-value, corrected for all comparisons of the table.
    pub holm: f64,
    /// What it is called.
    pub verdict: Verdict,
    /// The smallest true difference that would have been found four times out of five, in shares; none where the
    /// competitions show no spread, one alone for example: then nothing is known of it.
    pub detectable: Option<f64>,
    /// Seeds that a difference of 5 points takes.
    pub seeds_for_five_points: SeedsNeeded,
    /// Where they differ most: competition and difference.
    pub differs_most: Vec<(String, f64)>,
}

/// Makes the report. `as_official` cuts every competition to the smallest number of seeds instead of counting missing
/// runs as failures.
///
/// # Errors
/// With `as_official`, a competition without any run; else never with a run in the plan.
pub fn report(experiment: &str, runs: &[Run], as_official: bool) -> Result<Report, Missing> {
    let missing = runs.iter().filter(|run| run.end.is_none());
    let missing: Vec<String> =
        missing.map(|run| format!("{} on {}, seed {}", run.arm, run.competition, run.seed)).collect();
    let ends = || runs.iter().filter_map(|run| run.end.as_ref());
    let mut notes = Vec::new();
    if runs.iter().any(|run| run.baselines) {
        notes.push(
            "boards of baselines are no people: those numbers do not compare with MLE-bench's".to_owned(),
        );
    }
    let stand_ins = ends().filter(|end| end.stand_in).count();
    if stand_ins > 0 {
        notes.push(format!(
            "in {stand_ins} of {} runs a stand-in model answered: they show that the harness works, not which arm is better",
            runs.len()
        ));
    }
    let mut tables = Vec::new();
    for baselines in [false, true] {
        let of_board: Vec<&Run> = runs.iter().filter(|run| run.baselines == baselines).collect();
        let splits: BTreeSet<&String> = of_board.iter().flat_map(|run| &run.splits).collect();
        for split in splits {
            let of_split: Vec<&Run> =
                of_board.iter().copied().filter(|run| run.splits.contains(split)).collect();
            tables.push(table(split, baselines, &of_split, as_official)?);
        }
    }
    Ok(Report {
        experiment: experiment.to_owned(),
        planned: runs.len(),
        counts: counts(runs),
        missing,
        outside: ends().filter(|end| end.outside).count(),
        tables,
        notes,
    })
}

fn counts(runs: &[Run]) -> Vec<Count> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for run in runs {
        let words = run.end.as_ref().map(|end| (end.outcome.clone(), end.stopped_by.clone()));
        *counts.entry(words.unwrap_or_else(|| ("missing".to_owned(), "-".to_owned()))).or_insert(0) += 1;
    }
    let count = |((outcome, stopped_by), runs)| Count { outcome, stopped_by, runs };
    counts.into_iter().map(count).collect()
}

fn table(split: &str, baselines: bool, runs: &[&Run], as_official: bool) -> Result<Table, Missing> {
    let mut arms: Vec<&String> = Vec::new();
    for run in runs {
        if !arms.contains(&&run.arm) {
            arms.push(&run.arm);
        }
    }
    let competitions = runs.iter().map(|run| &run.competition).collect::<BTreeSet<_>>().len();
    let of_arm = |arm: &String| runs.iter().copied().filter(|run| run.arm == *arm).collect::<Vec<_>>();
    let rows = arms.iter().map(|arm| row(arm, &of_arm(arm), as_official)).collect::<Result<_, _>>()?;
    let mut comparisons = Vec::new();
    for (place, a) in arms.iter().enumerate() {
        for b in arms.iter().skip(place + 1) {
            comparisons.extend(comparison((a, &of_arm(a)), (b, &of_arm(b)), as_official));
        }
    }
    let p_values: Vec<f64> = comparisons.iter().map(|comparison| comparison.sign_flip.p).collect();
    for (comparison, corrected) in comparisons.iter_mut().zip(holm(&p_values)) {
        comparison.holm = corrected;
        comparison.verdict = verdict(&comparison.difference, corrected, EQUAL_WITHIN);
    }
    let smallest_p = smallest_p(competitions);
    Ok(Table { split: split.to_owned(), baselines, competitions, smallest_p, rows, comparisons })
}

/// Outcomes by competition, in the order of their seeds. A missing run counts 0, or not at all as the official
/// aggregation has it.
fn outcomes(runs: &[&Run], as_official: bool, of: fn(&End) -> bool) -> BTreeMap<String, Vec<f64>> {
    let mut sorted = runs.to_vec();
    sorted.sort_by_key(|run| run.seed);
    let mut outcomes: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for run in sorted {
        let of_competition = outcomes.entry(run.competition.clone()).or_default();
        match &run.end {
            Some(end) => of_competition.push(f64::from(u8::from(of(end)))),
            None if as_official => {}
            None => of_competition.push(0.0),
        }
    }
    outcomes
}

fn row(arm: &str, runs: &[&Run], as_official: bool) -> Result<Row, Missing> {
    let rate = |of: fn(&End) -> bool| {
        let outcomes = outcomes(runs, as_official, of);
        if as_official { strict(&outcomes) } else { padded(&outcomes, 0) }
    };
    let ends: Vec<&End> = runs.iter().filter_map(|run| run.end.as_ref()).collect();
    let count = ends.len().max(1) as f64;
    let medals = outcomes(runs, as_official, |end| end.medal);
    let tries: Vec<(usize, usize)> =
        medals.values().map(|runs| (runs.len(), runs.iter().filter(|medal| **medal > 0.5).count())).collect();
    let cost: Option<f64> = ends.iter().map(|end| end.cost).sum();
    let standings = runs.iter().map(|run| match &run.end {
        Some(end) if end.valid => end.percentile,
        _ => Some(0.0),
    });
    let percentile: Option<f64> = standings.sum();
    Ok(Row {
        arm: arm.to_owned(),
        any_medal: rate(|end| end.medal)?,
        gold: rate(|end| end.gold)?,
        silver: rate(|end| end.silver)?,
        bronze: rate(|end| end.bronze)?,
        above_median: rate(|end| end.above_median)?,
        valid: rate(|end| end.valid)?,
        made: rate(|end| end.made)?,
        percentile: percentile.map(|sum| sum / runs.len().max(1) as f64),
        pass_at: pass_curve(&tries),
        cost: cost.map(|sum| sum / count),
        tokens: ends.iter().map(|end| end.tokens as f64).sum::<f64>() / count,
        hours: ends.iter().map(|end| end.hours).sum::<f64>() / count,
    })
}

fn comparison(
    (a, a_runs): (&str, &[&Run]),
    (b, b_runs): (&str, &[&Run]),
    as_official: bool,
) -> Option<Comparison> {
    let first = outcomes(a_runs, as_official, |end| end.medal);
    let second = outcomes(b_runs, as_official, |end| end.medal);
    let pairs = first.into_iter().filter_map(|(competition, a)| {
        let b = second.get(&competition)?.clone();
        Some(Pair { competition, a, b })
    });
    let pairs = Pairs::new(pairs)?;
    let difference = difference(&pairs);
    let mut most: Vec<(String, f64)> =
        pairs.iter().map(|pair| (pair.competition.clone(), pair.difference())).collect();
    most.retain(|(_, difference)| *difference != 0.0);
    most.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    most.truncate(MOST);
    Some(Comparison {
        a: a.to_owned(),
        b: b.to_owned(),
        difference,
        sign_flip: sign_flip(&pairs, DRAWS_SEED),
        label_permutation: label_permutation(&pairs, DRAWS_SEED),
        holm: 1.0,
        verdict: Verdict::Undecided,
        detectable: (difference.se > 0.0).then(|| detectable(difference.se)),
        seeds_for_five_points: if difference.se > 0.0 {
            seeds_needed(&pairs, DECLARED)
        } else {
            SeedsNeeded::Unknown
        },
        differs_most: most,
    })
}

impl Table {
    /// Whether no difference can be significant, whatever is seen.
    pub fn is_too_small(&self) -> bool {
        self.smallest_p > LEVEL
    }
}
