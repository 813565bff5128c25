//! The best solution of a run on new rows, in the sandbox, with what the run's executions saw.

use std::path::{Path, PathBuf};
use std::time::Duration;

use podium_competition::own::{self, NewRows};
use podium_competition::{Competition, Folders};
use podium_types::execution::Ended;

use crate::run::alone::{Alone, Script};
use crate::run::error::RunError;
use crate::run::sitting::StoredRun;
use crate::run::validation;

/// What came of it.
pub struct Predicted {
    /// The predictions, there as long as the sandbox is.
    pub file: PathBuf,
    /// The new rows.
    pub rows: NewRows,
}

/// Runs the best solution of `run` on the rows of `table`.
///
/// # Errors
/// When there is no solution, the table does not fit, or the solution fails on it.
pub async fn predict(
    alone: &mut Alone,
    run: &StoredRun,
    competition: &Competition,
    data: &Folders,
    table: &Path,
) -> Result<Predicted, RunError> {
    let solution = run.folder.best_path().join("solution.py");
    let code =
        std::fs::read_to_string(&solution).map_err(|_| RunError::NoSolution(run.folder.path().to_owned()))?;
    let rows = own::lay_new_rows(competition, data, table, alone.place())?;
    let mut script = Script { code, instead: rows.instead.clone(), beside: Vec::new() };
    if let Some(kept) = &run.config.task.validation {
        let holdout = run.folder.holdout();
        script.instead.push((kept.training_table.clone(), holdout.training_table()));
        script.beside.push((validation::FOLDER.to_owned(), holdout.shown()));
    }
    let timeout = Duration::from_millis(run.config.limits.execution_ms);
    let left = alone.run(script, timeout).await?;
    let file = left.folder.join(run.config.task.submission_path.trim_start_matches("./"));
    let tail = || {
        let text = left.execution.output.text();
        let lines: Vec<&str> = text.trim_end().lines().rev().take(4).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    };
    if left.execution.ended != Ended::Exit(0) {
        let limit = left.execution.limit.as_ref().map(|limit| format!("{limit}; ")).unwrap_or_default();
        return Err(RunError::Predict(format!("it failed: {limit}{}", tail())));
    }
    let sample = alone.place().join("new-sample.csv");
    match own::check_predictions(competition, &file, &sample)? {
        Ok(()) => Ok(Predicted { file, rows }),
        Err(problem) => {
            Err(RunError::Predict(format!("what it wrote is no prediction of these rows: {problem}")))
        }
    }
}
