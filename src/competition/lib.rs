//! Competitions: which there are, where their data lie, how a submission is read, graded and given a medal.
//!
//! The package decides what a score means. It knows no model, no sandbox and no run; it reads the files it is told
//! to read and writes nothing but prepared data. Texts of the catalog are handed in by the caller.
//!
//! - [`catalog`]: competition.toml, strictly read; lists, splits, look-ups
//! - [`csv`]: CSV as pandas reads it, the law of what a submission says
//! - [`data`]: MLE-bench's folder layout; preparing the offline competitions
//! - [`grade`](mod@grade): submission and answers to a score, or to a reason why not
//! - [`board`]: thresholds and medals by Kaggle's rule
//! - [`report`](mod@report): the grading report with MLE-bench's fields
//! - [`preview`](mod@preview): the data overview an agent is shown

pub mod board;
pub mod catalog;
pub mod csv;
pub mod data;
mod digest;
pub mod grade;
pub mod preview;
pub mod report;

pub use board::{Board, BoardKind, Medal, Standing, Thresholds};
pub use catalog::{
    Catalog, CatalogError, Competition, Grading, Metric, Rounding, SubmissionFormat, ValueRule,
};
pub use data::{DataError, Folders, Prepared, Status, folders, prepare_offline, status};
pub use grade::{AnswersFault, GradeError, Graded, Outcome, examine, grade, validate};
pub use preview::{PreviewOptions, preview, preview_with};
pub use report::{GradingReport, report};
