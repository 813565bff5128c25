//! The report as a page draws it: every text and every cell as the report for people has them, and numbers only for what
//! is drawn as a plot. So a page and a terminal can never say two things.
//!
//! Beside the report it takes the runs themselves: validation and test of each are points of a plot, and in no other form
//! of the report. Texts are as they came: whoever shows them makes them harmless.

use serde::Serialize;

use super::comparison::Comparison;
use super::course::Over;
use super::report::Report;
use super::row::Row;
use super::run::Run;
use super::table::Table;
use super::words;
use crate::statistics::{Interval, Verdict};

/// The whole page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sheet {
    /// The experiment.
    pub experiment: String,
    /// What came of the plan.
    pub planned: String,
    /// What must be known before any number is read.
    pub remarks: Vec<String>,
    /// One for each kind of board and split.
    pub tables: Vec<Part>,
    /// Any medal by what competitions are like; none where nothing is known of them.
    pub slices: Option<Grid>,
    /// What agents could see and tried, line by line.
    pub disclosure: Vec<String>,
}

/// Cells with their headings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grid {
    /// Headings.
    pub heads: Vec<String>,
    /// Rows; the first cell names its row.
    pub rows: Vec<Vec<String>>,
}

/// The arms on one split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What it is of.
    pub title: String,
    /// The arms in the order of their plots' colours.
    pub arms: Vec<String>,
    /// The table of rates.
    pub rates: Grid,
    /// What its errors are.
    pub errors: String,
    /// Lines beside it: the arm, and what is told of it.
    pub beside: Vec<(String, Vec<String>)>,
    /// Lines below it.
    pub below: Vec<String>,
    /// Each two arms, as lines.
    pub compared: Vec<Vec<String>>,
    /// Medals of each arm.
    pub medals: Vec<Medals>,
    /// The same comparisons as intervals, in points.
    pub differences: Vec<Span>,
    /// Differences within so many points are practically none.
    pub equal_within: f64,
    /// Curves of any medal.
    pub curves: Vec<Plot>,
    /// Validation beside test, run by run.
    pub gaps: Vec<Gap>,
}

/// Percentages of medals of one arm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Medals {
    /// Gold, silver, bronze.
    pub shares: [f64; 3],
    /// Any.
    pub any: f64,
    /// Its standard error over seeds; none with one seed.
    pub sem: Option<f64>,
}

/// A difference with both intervals, in points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Span {
    /// The first arm.
    pub a: String,
    /// The second.
    pub b: String,
    /// First less second.
    pub mean: f64,
    /// For competitions like these.
    pub like_these: Option<[f64; 2]>,
    /// For exactly these.
    pub exactly_these: Option<[f64; 2]>,
    /// What it is called.
    pub verdict: String,
    /// Whether one of both is better.
    pub decided: bool,
}

/// Percentages of any medal over something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plot {
    /// What is drawn.
    pub title: String,
    /// The name of the axis.
    pub over: &'static str,
    /// Whether only whole numbers stand on it.
    pub whole: bool,
    /// A line for each arm.
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Place of its arm.
    pub arm: usize,
    /// Its points.
    pub points: Vec<[f64; 2]>,
    /// The 95 % interval over competitions at each, where there is one.
    pub band: Vec<Option<[f64; 2]>>,
    /// Those of the best by test: an oracle's. Empty where there are none.
    pub oracle: Vec<[f64; 2]>,
}

/// One run that has a validation metric and a test score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gap {
    /// Place of its arm.
    pub arm: usize,
    /// Competition and seed.
    pub run: String,
    /// By how much validation was better, in percent of the test score.
    pub percent: f64,
}

/// Makes the page of a report and the runs that it was made of.
pub fn sheet(report: &Report, runs: &[Run]) -> Sheet {
    let rows: Vec<Vec<String>> =
        report.slices.iter().map(|slice| words::slice_cells(slice).to_vec()).collect();
    let heads = ["by", "value", "competitions", "any medal %"].map(str::to_owned).to_vec();
    Sheet {
        experiment: report.experiment.clone(),
        planned: words::planned(report),
        remarks: words::remarks(report),
        tables: report.tables.iter().map(|table| part(table, report, runs)).collect(),
        slices: (!rows.is_empty()).then_some(Grid { heads, rows }),
        disclosure: words::disclosed(&report.disclosure),
    }
}

fn part(table: &Table, report: &Report, runs: &[Run]) -> Part {
    let compared = || table.comparisons.iter().take(words::COMPARED);
    let too_small = (table.is_too_small() && !table.comparisons.is_empty()).then(|| words::too_small(table));
    let over_time = table.curves.iter().map(words::curve_line);
    Part {
        title: words::title(table),
        arms: table.rows.iter().map(|row| row.arm.clone()).collect(),
        rates: Grid {
            heads: words::HEADS.map(str::to_owned).to_vec(),
            rows: table.rows.iter().map(|row| words::cells(row).to_vec()).collect(),
        },
        errors: words::SEM.to_owned(),
        beside: table.rows.iter().map(|row| (row.arm.clone(), words::row_lines(row))).collect(),
        below: words::without_issues(table).into_iter().chain(over_time).chain(too_small).collect(),
        compared: compared()
            .map(|comparison| words::compared(comparison, report.equal_within))
            .chain(words::more_compared(table).map(|more| vec![more]))
            .collect(),
        medals: table.rows.iter().map(medals).collect(),
        differences: compared().map(|comparison| span(comparison, report.equal_within)).collect(),
        equal_within: 100.0 * report.equal_within,
        curves: curves(table),
        gaps: gaps(table, runs),
    }
}

fn medals(row: &Row) -> Medals {
    Medals {
        shares: [row.gold.mean, row.silver.mean, row.bronze.mean],
        any: row.any_medal.mean,
        sem: (row.any_medal.seeds > 1).then_some(row.any_medal.sem),
    }
}

fn span(comparison: &Comparison, equal_within: f64) -> Span {
    let points = |interval: Interval| [100.0 * interval.low, 100.0 * interval.high];
    Span {
        a: comparison.a.clone(),
        b: comparison.b.clone(),
        mean: 100.0 * comparison.difference.mean,
        like_these: comparison.difference.like_these.map(points),
        exactly_these: comparison.difference.exactly_these.map(points),
        verdict: words::verdict(comparison, equal_within),
        decided: matches!(comparison.verdict, Verdict::FirstBetter | Verdict::SecondBetter),
    }
}

/// Those that have something to draw.
fn curves(table: &Table) -> Vec<Plot> {
    let runs = "runs per competition";
    let all = [
        ("Any medal among k runs (pass@k)", runs, true, chances(table)),
        ("A medal with the best by validation of k runs", runs, true, best_of(table)),
        (OVER_TIME, Over::Hours.word(), false, over(table, Over::Hours)),
        (OVER_DOLLARS, Over::Dollars.word(), false, over(table, Over::Dollars)),
    ];
    let drawn = all.into_iter().filter(|(.., lines)| !lines.is_empty());
    drawn.map(|(title, over, whole, lines)| Plot { title: title.to_owned(), over, whole, lines }).collect()
}

const OVER_TIME: &str = "Any medal over run time, by what would have been handed in then";
const OVER_DOLLARS: &str = "Any medal over dollars, by what would have been handed in then";

fn chances(table: &Table) -> Vec<Line> {
    let line = |(arm, row): (usize, &Row)| Line {
        arm,
        points: row.pass_at.iter().map(|point| [point.k as f64, 100.0 * point.mean]).collect(),
        band: row.pass_at.iter().map(|point| point.interval.map(within)).collect(),
        oracle: Vec::new(),
    };
    let lines = table.rows.iter().enumerate().map(line);
    lines.filter(|line| !line.points.is_empty()).collect()
}

/// A chance is never less than none.
fn within(interval: Interval) -> [f64; 2] {
    [100.0 * interval.low.max(0.0), 100.0 * interval.high.min(1.0)]
}

fn best_of(table: &Table) -> Vec<Line> {
    let line = |(arm, row): (usize, &Row)| Line {
        arm,
        points: row.best_of.iter().map(|point| [point.k as f64, 100.0 * point.mean]).collect(),
        band: Vec::new(),
        oracle: Vec::new(),
    };
    let lines = table.rows.iter().enumerate().map(line);
    lines.filter(|line| line.points.len() > 1).collect()
}

fn over(table: &Table, over: Over) -> Vec<Line> {
    let lines = table.curves.iter().filter(|curve| curve.over == over).filter_map(|curve| {
        Some(Line {
            arm: table.rows.iter().position(|row| row.arm == curve.arm)?,
            points: curve.points.iter().map(|point| [point.at, point.handed_in.mean]).collect(),
            band: Vec::new(),
            oracle: curve.points.iter().map(|point| [point.at, point.oracle.mean]).collect(),
        })
    });
    lines.filter(|line| !line.points.is_empty()).collect()
}

fn gaps(table: &Table, runs: &[Run]) -> Vec<Gap> {
    let of = |run: &Run| {
        let end = run.end.as_ref()?;
        let percent = 100.0 * end.gap? / end.test?.abs();
        let arm = table.rows.iter().position(|row| row.arm == run.arm)?;
        let told = format!("{}, seed {}", run.competition, run.seed);
        percent.is_finite().then_some(Gap { arm, run: told, percent })
    };
    runs.iter().filter(|run| table.holds(run)).filter_map(of).collect()
}
