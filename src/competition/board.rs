//! Boards, medal thresholds and medals, by the official rule.
//!
//! A board is a list of scores, best first. Its direction is read off its first and last score, thresholds are the
//! scores at the positions of Kaggle's medal rule, and a submission is compared after rounding to five decimals, as
//! MLE-bench does. A board of human teams and one of baselines never mix: the kind travels with every threshold.

use podium_metric::Direction;
use serde::{Deserialize, Serialize};

use crate::csv::{self, ReadOptions};

/// Who stands on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardKind {
    /// Human teams.
    Kaggle,
    /// Our reference models: a medal is for orientation only.
    Baselines,
}

/// One line of a board.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardEntry {
    /// Team or model; a board without names has the rank.
    pub name: String,
    /// Its score.
    pub score: f64,
}

/// A board: its kind, known anchors and, where at hand, its lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Board {
    /// Who stands on it.
    pub kind: BoardKind,
    /// Score of the sample submission.
    pub sample_submission: Option<f64>,
    /// Best score on the board.
    pub best: Option<f64>,
    /// Median of the board.
    pub median: Option<f64>,
    /// The lines, best first; empty when the catalog came without them.
    #[serde(skip)]
    pub entries: Vec<BoardEntry>,
    /// A board of human teams as its file has it, a score a line below the header. It is read when a score is placed on
    /// it: the catalog holds many and needs few.
    #[serde(skip)]
    pub listing: Option<String>,
    /// Thresholds by the medal rule: of the lines, or as recorded for a board of human teams.
    pub thresholds: Option<Thresholds>,
}

/// Scores at the medal positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Thresholds {
    /// Score of the last gold place.
    pub gold: f64,
    /// Score of the last silver place.
    pub silver: f64,
    /// Score of the last bronze place.
    pub bronze: f64,
    /// Median of all scores.
    pub median: f64,
    /// Which way the board improves: lower exactly when its first score is below its last.
    #[serde(serialize_with = "crate::catalog::serialize_direction")]
    pub direction: Direction,
    /// Number of teams or baselines, where it is known.
    pub teams: Option<usize>,
}

/// A medal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Medal {
    /// Among the first of the board.
    Gold,
    /// After gold.
    Silver,
    /// After silver.
    Bronze,
}

/// Where a score stands on a board.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The medal it earns.
    pub medal: Option<Medal>,
    /// Strictly better than the median.
    pub above_median: bool,
    /// Percentage of the board that it beats, half of the lines that are level with it included; `None` without lines.
    pub percentile: Option<f64>,
}

/// 1-based medal positions over `teams` teams: gold, silver, bronze.
pub const fn medal_positions(teams: usize) -> [usize; 3] {
    const fn at_least_one(position: usize) -> usize {
        if position == 0 { 1 } else { position }
    }
    match teams {
        0..100 => [at_least_one(teams / 10), at_least_one(teams / 5), at_least_one(teams * 2 / 5)],
        100..250 => [10, teams / 5, teams * 2 / 5],
        250..1000 => [10 + teams / 500, 50, 100],
        _ => [10 + teams / 500, teams / 20, teams / 10],
    }
}

impl Thresholds {
    /// Thresholds of a board whose scores stand best first; `None` of an empty one.
    pub fn of(scores: &[f64]) -> Option<Self> {
        let (first, last) = (*scores.first()?, *scores.last()?);
        let at = |position: usize| scores.get(position - 1).copied();
        let [gold, silver, bronze] = medal_positions(scores.len());
        Some(Self {
            gold: at(gold)?,
            silver: at(silver)?,
            bronze: at(bronze)?,
            median: median(scores)?,
            direction: if first < last { Direction::Lower } else { Direction::Higher },
            teams: Some(scores.len()),
        })
    }

    /// The medal of a rounded score: the best one whose threshold it reaches.
    pub fn medal(&self, score: f64) -> Option<Medal> {
        let reaches = |threshold: f64| match self.direction {
            Direction::Lower => score <= threshold,
            Direction::Higher => score >= threshold,
        };
        [(self.gold, Medal::Gold), (self.silver, Medal::Silver), (self.bronze, Medal::Bronze)]
            .into_iter()
            .find(|(threshold, _)| reaches(*threshold))
            .map(|(_, medal)| medal)
    }

    /// Whether a rounded score is strictly better than the median.
    pub fn above_median(&self, score: f64) -> bool {
        match self.direction {
            Direction::Lower => score < self.median,
            Direction::Higher => score > self.median,
        }
    }
}

impl Board {
    /// Where a rounded score stands; `None` on a board without thresholds. NaN and infinities earn no medal and are not
    /// above the median.
    pub fn standing(&self, score: f64) -> Option<Standing> {
        let thresholds = self.thresholds.as_ref()?;
        let scores = self.scores();
        let share = |halves: usize| (!scores.is_empty()).then(|| 50.0 * halves as f64 / scores.len() as f64);
        if !score.is_finite() {
            return Some(Standing { medal: None, above_median: false, percentile: share(0) });
        }
        let beaten = scores.iter().filter(|other| thresholds.direction.better(score, **other)).count();
        #[expect(clippy::float_cmp, reason = "a board and a submission are rounded in the same way")]
        let level = scores.iter().filter(|other| **other == score).count();
        Some(Standing {
            medal: thresholds.medal(score),
            above_median: thresholds.above_median(score),
            percentile: share(2 * beaten + level),
        })
    }

    /// All scores on the board, best first; none where its lines are not at hand.
    pub fn scores(&self) -> Vec<f64> {
        match &self.listing {
            Some(listing) => listing.lines().skip(1).filter_map(|line| line.parse().ok()).collect(),
            None => self.entries.iter().map(|entry| entry.score).collect(),
        }
    }
}

fn median(scores: &[f64]) -> Option<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    Some(f64::midpoint(lower, upper))
}

/// Rounds to five decimals as Python rounds a plain float: the decimal value of the binary number, exactly, ties to
/// even. MLE-bench's graders that return NumPy doubles round by [`round_like_numpy`] instead.
pub fn round_like_python(score: f64) -> f64 {
    if !score.is_finite() {
        return score;
    }
    // The formatter rounds the exact binary value, ties to even, as Python's does.
    format!("{score:.5}").parse().unwrap_or(score)
}

/// Rounds to five decimals as NumPy does: `rint(x · 1e5) / 1e5`. Differs from [`round_like_python`] on about half of
/// the exact ties.
pub fn round_like_numpy(score: f64) -> f64 {
    if score.is_finite() { (score * 1e5).round_ties_even() / 1e5 } else { score }
}

impl Board {
    /// Takes the lines of a board file: a column `score` and, where there is one, `name`, best first. Those of a board
    /// of human teams are kept for later where its thresholds are recorded; where they are not, a competition of the
    /// user's own, the file is a leaderboard that they are computed from.
    pub(crate) fn read_lines(&mut self, text: String, direction: Direction) -> Result<(), String> {
        if self.kind == BoardKind::Kaggle && self.thresholds.is_some() && text.lines().next() == Some("score")
        {
            self.listing = Some(text);
            return Ok(());
        }
        if self.kind == BoardKind::Kaggle {
            let board = Self::of_leaderboard(&text, direction)?;
            self.entries = board.entries;
            self.thresholds = self.thresholds.or(board.thresholds);
            self.best = self.best.or(board.best);
            self.median = self.median.or(board.median);
            return Ok(());
        }
        let options = ReadOptions { as_text: vec!["name".to_owned()], ..ReadOptions::default() };
        let table = csv::read_text(&text, &options).map_err(|error| error.to_string())?;
        let scores = table.column("score").ok_or("there is no column `score`")?;
        let names = table.column("name");
        for (row, cell) in scores.cells().enumerate() {
            let score = match cell.number() {
                Some(score) if score.is_finite() => score,
                _ => return Err(format!("line {}: the score is not a finite number", row + 2)),
            };
            let name = names.map_or_else(|| format!("rank {}", row + 1), |names| names.cell(row).to_string());
            self.entries.push(BoardEntry { name, score });
        }
        let scores: Vec<f64> = self.entries.iter().map(|entry| entry.score).collect();
        self.thresholds = Thresholds::of(&scores);
        match &self.thresholds {
            None => Err("there are no lines".to_owned()),
            Some(board) if board.direction != direction && scores.first() != scores.last() => {
                Err(format!("the board improves when {}, the metric when {direction}", board.direction))
            }
            Some(_) => Ok(()),
        }
    }
}
