//! A board of human teams from a leaderboard file of the user's own: as Kaggle offers it for download, as MLE-bench
//! stores it, or any CSV with a column `score`. Its thresholds follow Kaggle's rule.
//!
//! The order of the file's rows means nothing here: the competition says which way scores improve. Teams without a
//! score are no part of the board, as on Kaggle's.

use podium_metric::Direction;

use crate::board::{Board, BoardEntry, BoardKind, Thresholds};
use crate::csv::{self, Cell, ReadOptions};

/// Names of the column with the teams, in the order of preference.
const NAMES: [&str; 5] = ["TeamName", "team_name", "name", "TeamId", "teamId"];

impl Board {
    /// Reads a leaderboard; an error says what the file lacks.
    pub fn of_leaderboard(text: &str, direction: Direction) -> Result<Self, String> {
        let as_text = NAMES.iter().map(|name| (*name).to_owned()).collect();
        let options = ReadOptions { as_text, ..ReadOptions::default() };
        let table = csv::read_text(text.trim_start_matches('\u{feff}'), &options)
            .map_err(|error| format!("the leaderboard cannot be read: {error}"))?;
        let column = table.names.iter().find(|name| name.eq_ignore_ascii_case("score"));
        let scores = column.and_then(|name| table.column(name)).ok_or_else(|| {
            format!("the leaderboard has no column `score`; its columns are {}", table.names.join(", "))
        })?;
        let names = NAMES.iter().find_map(|name| table.column(name));
        let mut entries = Vec::with_capacity(table.rows);
        for (row, cell) in scores.cells().enumerate() {
            if cell == Cell::Missing {
                continue;
            }
            let score = cell.number().filter(|score| score.is_finite()).ok_or_else(|| {
                format!("data row {} of the leaderboard has no number as its score", row + 1)
            })?;
            let name = names.map_or_else(|| format!("row {}", row + 1), |names| names.cell(row).to_string());
            entries.push(BoardEntry { name, score });
        }
        entries.sort_by(|left, right| match direction {
            Direction::Lower => left.score.total_cmp(&right.score),
            Direction::Higher => right.score.total_cmp(&left.score),
        });
        let scores: Vec<f64> = entries.iter().map(|entry| entry.score).collect();
        // Teams that are all equally good leave the direction open: the competition knows it.
        let thresholds = Thresholds::of(&scores).map(|thresholds| Thresholds { direction, ..thresholds });
        let thresholds = thresholds.ok_or("the leaderboard has no team with a score")?;
        Ok(Self {
            kind: BoardKind::Kaggle,
            sample_submission: None,
            best: scores.first().copied(),
            median: Some(thresholds.median),
            entries,
            listing: None,
            thresholds: Some(thresholds),
        })
    }
}
