//! A look at a competition before money is spent on it: does it grade itself, and does something tell the answers?
//!
//! Everything is read from the prepared tables, the answers included, so what is found is for people and never for an
//! agent. A finding names the fault, says what was counted, and says what to do. The thresholds are such that ordinary
//! data raise none: each is beyond what chance does in a table of that size. Tables that are too large to be held are
//! looked at by every n-th row, except for twins, which are looked for among all rows by 8 bytes each.

mod empty;
mod grades;
mod groups;
mod order;
mod single;
mod stats;
mod table;
mod times;
mod twins;

use std::path::Path;

use serde::Serialize;

use crate::catalog::Competition;
use crate::data::Folders;
use crate::own::OwnError;

use table::Tables;

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The grader cannot work with the sample submission or the answers.
    SelfGrade,
    /// Rows of the test set are also in the training set.
    Duplicates,
    /// Rows of the test set are almost in the training set.
    NearDuplicates,
    /// The key, or the order of the rows, tells the target.
    OrderTells,
    /// Rows of one group stand on both sides.
    GroupOnBothSides,
    /// A column is the target under another name.
    TargetCopy,
    /// A column by itself predicts the target too well.
    PredictsTooWell,
    /// Training rows are later than test rows.
    TrainsOnTheFuture,
    /// Dates run backwards.
    DatesBackwards,
    /// A column has no value, or none on one side.
    EmptyColumn,
    /// A column has one value only.
    ConstantColumn,
    /// A class stands in the test set only.
    UnknownClass,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind of fault.
    pub fault: Fault,
    /// The columns it is about.
    pub columns: Vec<String>,
    /// What was seen, in a sentence.
    pub text: String,
    /// What to do about it.
    pub advice: String,
}

impl Finding {
    fn new(fault: Fault, columns: &[&str], text: String, advice: impl Into<String>) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Self { fault, columns, text, advice: advice.into() }
    }
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// Score of the sample submission, where it has one.
    pub sample_score: Option<f64>,
    /// Score of the answers handed in as a submission: the best there is.
    pub answers_score: Option<f64>,
    /// Rows of the training table that were looked at, and all of them.
    pub train_rows: (u64, u64),
    /// Rows of the test table that were looked at, and all of them.
    pub test_rows: (u64, u64),
    /// What was found.
    pub findings: Vec<Finding>,
    /// What could not be looked at, and why.
    pub not_checked: Vec<String>,
}

/// Looks through the prepared data of `competition`.
///
/// # Errors
/// When a table cannot be read.
pub fn check(competition: &Competition, folders: &Folders) -> Result<Checked, OwnError> {
    let mut checked = Checked {
        sample_score: None,
        answers_score: None,
        train_rows: (0, 0),
        test_rows: (0, 0),
        findings: Vec::new(),
        not_checked: Vec::new(),
    };
    grades::look(competition, folders, &mut checked);
    let csv = |file: &Option<String>| file.clone().filter(|file| is_csv(file));
    let (Some(train), Some(test)) = (csv(&competition.data.train), csv(&competition.data.test)) else {
        checked
            .not_checked
            .push("the columns: the competition has no training and test table in CSV".to_owned());
        return Ok(checked);
    };
    let tables = Tables::read(competition, folders, &train, &test)?;
    checked.train_rows = (tables.train.rows as u64, tables.train.all_rows);
    checked.test_rows = (tables.test.rows as u64, tables.test.all_rows);
    checked.not_checked.extend(tables.not_checked.clone());
    let found = &mut checked.findings;
    twins::look(&tables, &folders.public.join(train), &folders.public.join(test), found)?;
    order::look(&tables, found);
    groups::look(&tables, found);
    single::look(&tables, found);
    times::look(&tables, found);
    empty::look(&tables, found);
    checked.findings.sort_by_key(|finding| finding.fault);
    Ok(checked)
}

/// A share for people.
fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// Whether a file is a table by its name.
fn is_csv(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|end| end == "csv")
}

/// Whether there is a file.
fn is_file(path: &Path) -> bool {
    path.is_file()
}
