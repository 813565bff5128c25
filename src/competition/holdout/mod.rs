//! Labels of training rows that the harness keeps, to judge candidates by: a holdout. It has nothing to do with the
//! answers, and nothing of them takes part.
//!
//! A part of the training table is taken out: the agent is shown a table without those rows, and the rows without their
//! labels; it predicts them, and the harness scores the predictions with the competition's own grader. One slice of them
//! serves the search, the other the final choice alone. The rows that stay may be dealt into folds, for out-of-fold
//! predictions. The split is a function of the table, the plan and its seed.
//!
//! - `columns`: what the catalog declares, looked up in the table
//! - `split`, `parts`: which row goes where
//! - `lay`: the parts as files
//! - `score`: predictions to scores

mod columns;
mod error;
mod lay;
mod parts;
mod score;
mod split;

use std::path::{Path, PathBuf};

use podium_types::evaluation::{Evaluation, Labels};
use serde::{Deserialize, Serialize};

use crate::catalog::{Competition, Training};

pub use error::HoldoutError;

/// Name of the file of held-out rows that an agent is shown.
pub const HELD_OUT: &str = "holdout.csv";
/// Name of the file that says in which fold a training row is.
pub const FOLDS: &str = "folds.csv";

/// What is to be held out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Share of the training rows for the search.
    pub search: f64,
    /// Share for the final choice.
    pub last: f64,
    /// Folds of the rows that stay; 0: none.
    pub folds: u32,
    /// Seed of the split.
    pub seed: u64,
}

/// What came of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows of the table that an agent is shown as the training table.
    pub training_rows: u64,
    /// Rows that were taken out of it.
    pub held_out_rows: u64,
    /// Labels for the search.
    pub search: u64,
    /// Labels for the final choice.
    pub last: u64,
    /// Labels of each fold.
    pub folds: Vec<u64>,
}

/// The files of a holdout in a folder of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holdout {
    folder: PathBuf,
}

impl Holdout {
    /// The holdout in `folder`, which need not be there.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Makes it, unless it is there already, whole; a part of one is made anew.
    ///
    /// # Errors
    /// When the competition declares no training table, or it is not as declared.
    pub fn lay(&self, competition: &Competition, public: &Path, plan: &Plan) -> Result<Counts, HoldoutError> {
        let declared = declared(competition)?;
        if let Some(counts) = self.counts() {
            return Ok(counts);
        }
        lay::lay(competition, declared, public, plan, &self.folder)
    }

    /// What is in it; `None`: it is not whole.
    pub fn counts(&self) -> Option<Counts> {
        serde_json::from_slice(&std::fs::read(self.facts()).ok()?).ok()
    }

    /// Scores predictions; the name of their file ends in `.csv`. Temporary files are made in `scratch`.
    ///
    /// # Errors
    /// When the labels cannot be read or graded with.
    pub fn evaluate(
        &self,
        competition: &Competition,
        labels: Labels,
        predictions: &Path,
        scratch: &Path,
    ) -> Result<Evaluation, HoldoutError> {
        score::score(competition, self, labels, predictions, scratch)
    }

    /// The table that an agent sees in place of the training table.
    pub fn training_table(&self) -> PathBuf {
        self.folder.join("train.csv")
    }

    /// The folder of what an agent sees besides.
    pub fn shown(&self) -> PathBuf {
        self.folder.join("shown")
    }

    fn truth(&self) -> PathBuf {
        self.folder.join("truth")
    }

    fn facts(&self) -> PathBuf {
        self.folder.join("holdout.json")
    }

    fn search(&self) -> PathBuf {
        self.truth().join("search.csv")
    }

    fn last(&self) -> PathBuf {
        self.truth().join("final.csv")
    }

    fn all_held_out(&self) -> PathBuf {
        self.truth().join(HELD_OUT)
    }

    fn all_folds(&self) -> PathBuf {
        self.truth().join(FOLDS)
    }

    fn fold(&self, fold: usize) -> PathBuf {
        self.truth().join(format!("fold-{fold}.csv"))
    }

    fn folds(&self) -> Vec<PathBuf> {
        let count = self.counts().map_or(0, |counts| counts.folds.len());
        (0..count).map(|fold| self.fold(fold)).collect()
    }
}

/// What would come of a plan; nothing is written.
///
/// # Errors
/// As [`Holdout::lay`].
pub fn count(competition: &Competition, public: &Path, plan: &Plan) -> Result<Counts, HoldoutError> {
    Ok(split::Split::make(competition, declared(competition)?, public, plan)?.counts)
}

fn declared(competition: &Competition) -> Result<&Training, HoldoutError> {
    let not_declared = || HoldoutError::NotDeclared { competition: competition.id.clone() };
    competition.training.as_ref().ok_or_else(not_declared)
}
