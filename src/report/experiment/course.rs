//! What would have been handed in over time: rates at any moment of run time, or after any number of dollars, as they
//! would have been had the runs stopped there.
//!
//! The best submission by test at that moment is drawn apart: it is an oracle's, and no strategy can know it. Points
//! come from answers that were looked at after the end of a run that is closed for good.

use serde::{Deserialize, Serialize};

use super::run::Run;
use super::table::rate;
use crate::statistics::rates::{Missing, Rate};

/// Points of a curve.
const POINTS: u32 = 10;

/// The submissions of one run, graded after its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// What would have been handed in from then on, in order.
    pub handed_in: Vec<Point>,
    /// The best by test from then on, in order.
    pub oracle: Vec<Point>,
}

/// A submission that is the one in hand from here on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Run time in milliseconds.
    pub at_ms: u64,
    /// Dollars spent by then; none: unknown.
    pub cost: Option<f64>,
    /// The node it came from; none for a loop.
    pub node: Option<u32>,
    /// SHA-256 of the submission.
    pub sha256: String,
    /// Its test score in full precision; `null`: invalid, or not a number.
    pub test: Option<f64>,
    /// It has a medal.
    pub medal: bool,
    /// It is strictly better than the median.
    pub above_median: bool,
}

/// Rates of one arm over time or dollars.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The arm.
    pub arm: String,
    /// What `at` counts.
    pub over: Over,
    /// Its points, the last where the longest run ended.
    pub points: Vec<CurvePoint>,
}

/// What a curve is drawn over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Hours of run time.
    Hours,
    /// Dollars.
    Dollars,
}

impl Over {
    /// The unit.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hours => "hours of run time",
            Self::Dollars => "dollars",
        }
    }
}

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Hours or dollars.
    pub at: f64,
    /// Any medal with what would have been handed in then.
    pub handed_in: Rate,
    /// Any medal with the best by test: an oracle's.
    pub oracle: Rate,
}

/// What picking by validation loses against the best by test, in medals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SelectionLoss {
    /// Runs that were graded over time.
    pub runs: usize,
    /// Percentage of them with a medal by what was handed in.
    pub handed_in: f64,
    /// With a medal by the best submission by test.
    pub oracle: f64,
}

impl Point {
    fn at(&self, over: Over) -> Option<f64> {
        match over {
            Over::Hours => Some(self.at_ms as f64 / 3.6e6),
            Over::Dollars => self.cost,
        }
    }
}

/// Whether the submission in hand `at` that moment has a medal.
fn medal(points: &[Point], over: Over, at: f64) -> bool {
    let before = |point: &&Point| point.at(over).is_some_and(|when| when <= at * (1.0 + 1e-12));
    points.iter().rev().find(before).is_some_and(|point| point.medal)
}

/// The curves of one arm. Empty where a run that handed something in was not graded over time, or nothing is known of
/// costs.
///
/// # Errors
/// As the rates have them.
pub(super) fn curves(arm: &str, runs: &[&Run], as_official: bool) -> Result<Vec<Curve>, Missing> {
    let ended = || runs.iter().filter(|run| run.end.is_some());
    let lacks = |run: &&&Run| run.course.is_none() && run.end.as_ref().is_some_and(|end| end.made);
    if ended().any(|run| lacks(&run)) || ended().all(|run| run.course.is_none()) {
        return Ok(Vec::new());
    }
    let mut curves = Vec::new();
    for over in [Over::Hours, Over::Dollars] {
        let longest = ended().filter_map(|run| run.end.as_ref()).map(|end| match over {
            Over::Hours => Some(end.hours),
            Over::Dollars => end.cost,
        });
        let Some(longest) = longest.collect::<Option<Vec<f64>>>() else { continue };
        let longest = longest.into_iter().fold(0.0, f64::max);
        if longest <= 0.0 {
            continue;
        }
        let mut points = Vec::new();
        for step in 1..=POINTS {
            let at = longest * f64::from(step) / f64::from(POINTS);
            let rate_of = |points: fn(&Course) -> &[Point]| {
                let has = |run: &Run| run.course.as_ref().is_some_and(|c| medal(points(c), over, at));
                rate(runs, as_official, &|run| f64::from(u8::from(has(run))))
            };
            let (handed_in, oracle) = (rate_of(|c| &c.handed_in)?, rate_of(|c| &c.oracle)?);
            points.push(CurvePoint { at, handed_in, oracle });
        }
        curves.push(Curve { arm: arm.to_owned(), over, points });
    }
    Ok(curves)
}

/// What picking lost; none where nothing was graded over time.
pub(super) fn selection_loss(runs: &[&Run]) -> Option<SelectionLoss> {
    let courses: Vec<&Course> = runs.iter().filter_map(|run| run.course.as_ref()).collect();
    let share = |points: fn(&Course) -> &[Point]| {
        let medals = courses.iter().filter(|course| points(course).last().is_some_and(|point| point.medal));
        100.0 * medals.count() as f64 / courses.len() as f64
    };
    (!courses.is_empty()).then(|| SelectionLoss {
        runs: courses.len(),
        handed_in: share(|course| &course.handed_in),
        oracle: share(|course| &course.oracle),
    })
}
