//! Competitions: which there are, where their data lie, how a submission is read, graded and given a medal.
//!
//! The package decides what a score means. It knows no model, no sandbox and no run; it reads the files it is told
//! to read and writes nothing but prepared data. Texts of the catalog are handed in by the caller.
//!
//! - [`catalog`]: competition.toml, strictly read; lists, splits, look-ups
//! - [`check`](mod@check): what tells the answers, looked for before money is spent
//! - [`csv`]: CSV as pandas reads it, the law of what a submission says
//! - [`data`]: MLE-bench's folder layout; preparing the offline competitions
//! - [`grade`](mod@grade): submission and answers to a score, or to a reason why not
//! - [`holdout`]: training labels that the harness keeps, to judge candidates by
//! - [`board`]: thresholds and medals by Kaggle's rule, `leaderboard` from a file of the user's own
//! - [`report`](mod@report): the grading report with MLE-bench's fields; [`aggregate`] of many
//! - [`own`]: a competition made from the user's own data
//! - [`parallel`]: many competitions at once, each on its own
//! - [`prepare`](mod@prepare): a raw download to prepared data, as MLE-bench does it
//! - [`preview`](mod@preview): the data overview an agent is shown

pub mod aggregate;
pub mod board;
pub mod catalog;
pub mod check;
pub mod csv;
pub mod data;
mod digest;
pub mod grade;
pub mod holdout;
mod leaderboard;
pub mod own;
pub mod parallel;
pub mod prepare;
pub mod preview;
pub mod report;

pub use aggregate::{Aggregate, NotGraded};
pub use board::{Board, BoardKind, Medal, Standing, Thresholds};
pub use catalog::{
    Catalog, CatalogError, Competition, Grading, Kind, Metric, Rounding, SubmissionFormat, Training,
    ValueRule,
};
pub use data::{
    Checking, DataError, Folders, Found, Prepared, Readiness, Status, Survey, Verified, folders, is_pointer,
    md5_of_file, prepare_offline, status, survey, verify,
};
pub use grade::{AnswersFault, GradeError, Graded, Outcome, examine, grade, validate};
pub use holdout::{Holdout, HoldoutError};
pub use preview::{PreviewOptions, preview, preview_with};
pub use report::{GradingReport, report};
