//! The board of an own competition: a ladder of plain models, run in the sandbox, graded by the competition's own grader.
//! A model that fails is left out; a board of none is no board. The answers are read here, after the code has ended.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use podium_competition::{Competition, Folders, Outcome};
use podium_types::execution::Ended;

use crate::run::alone::{Alone, Script};
use crate::run::error::RunError;

/// What stands in front of every script of the ladder and of the stand-in model.
pub const TABLE: &str = include_str!("../../benchmark/own/table.py");
const LADDER: &str = include_str!("../../benchmark/own/ladder.py");

/// The whole ladder may take so long.
const LIMIT: Duration = Duration::from_mins(20);

/// A model of the ladder and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// Name of the model.
    pub name: String,
    /// Its score.
    pub score: f64,
}

/// What came of the ladder.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    /// The models, best first.
    pub rungs: Vec<Rung>,
    /// What went wrong, for people: the end of what the script printed; none when all is well.
    pub trouble: Option<String>,
}

/// Runs the ladder and grades what it wrote.
///
/// # Errors
/// When the sandbox fails, or the grader cannot work.
pub async fn climb(alone: &mut Alone, competition: &Competition, data: &Folders) -> Result<Ladder, RunError> {
    let script = Script { code: format!("{TABLE}\n{LADDER}"), instead: Vec::new(), beside: Vec::new() };
    let left = alone.run(script, LIMIT).await?;
    let answers = data.answers(competition);
    let mut rungs = Vec::new();
    for path in submissions(&left.folder.join("ladder")) {
        let graded = podium_competition::grade(competition, &path, &answers)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().replace('-', " ");
        if let (Outcome::Scored { .. }, Some(score)) = (&graded.outcome, graded.outcome.rounded_score())
            && score.is_finite()
        {
            rungs.push(Rung { name, score });
        }
    }
    let direction = competition.direction();
    rungs.sort_by(|one, other| {
        if direction.better(one.score, other.score) {
            std::cmp::Ordering::Less
        } else if direction.better(other.score, one.score) {
            std::cmp::Ordering::Greater
        } else {
            one.name.cmp(&other.name)
        }
    });
    let failed = left.execution.ended != Ended::Exit(0) || rungs.is_empty();
    let trouble = failed.then(|| {
        let text = left.execution.output.text();
        let lines: Vec<&str> = text.lines().rev().take(6).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    });
    Ok(Ladder { rungs, trouble })
}

/// `board.csv` of a competition; the file appears whole.
///
/// # Errors
/// When it cannot be written.
pub fn write_board(ladder: &Ladder, home: &Path) -> Result<(), RunError> {
    let mut text = String::from("name,score\n");
    for rung in &ladder.rungs {
        let _ = writeln!(text, "{},{:?}", rung.name, rung.score);
    }
    crate::run::folder::write_whole(&home.join("board.csv"), text.as_bytes())?;
    Ok(())
}

fn submissions(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
