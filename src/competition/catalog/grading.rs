//! How a submission is graded, as a competition's TOML declares it.
//!
//! A usual kind is data: an ordered list of [`Step`]s (checks and alignment), how cells are read ([`Cells`]), the metric
//! and the kind of rounding. An unusual kind names a grader written in Rust (`crate::grade::native`). This module knows
//! the words and which of them fit together; what they do is told in `crate::grade::declared`.

use serde::{Deserialize, Serialize};

use crate::catalog::competition::ValueRule;
use crate::catalog::metric::MetricName;

/// How a submission is graded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum Grading {
    /// The rules of the offline competitions: every row once, every cell of one kind.
    House {
        /// What is computed.
        metric: MetricName,
        /// What a predicted cell must hold.
        value: ValueRule,
    },
    /// Checks, cells, metric and rounding as declared.
    Declared(Declared),
    /// A grader written in Rust.
    Native {
        /// Its name in `crate::grade::native`.
        grader: String,
    },
}

/// A usual kind of grading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Declared {
    /// What is computed.
    pub metric: MetricName,
    /// Checks and alignment, in the order in which they are made.
    pub steps: Vec<Step>,
    /// How predicted and true cells are read.
    pub cells: Cells,
    /// How the score is rounded to five decimals.
    pub rounding: Rounding,
}

/// One check, or one step of the alignment of a submission with the answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The key columns and the predicted columns are there; others are ignored.
    HasColumns,
    /// The predicted columns are there; keys are not looked at.
    HasPredictions,
    /// The columns are exactly the key columns and the predicted ones, in any order.
    OnlyTheseColumns,
    /// There is at least one row.
    NotEmpty,
    /// As many rows as the answers.
    SameRowCount,
    /// No cell of the answers is missing, used or not.
    CompleteAnswers,
    /// The set of keys equals that of the answers; repeats pass.
    SameKeySet,
    /// Predicted columns are columns of numbers or booleans; missing cells pass.
    Numeric,
    /// Every predicted cell lies in this closed range; a missing one passes.
    WithinOrMissing(f64, f64),
    /// Every predicted cell lies in this closed range; a missing one does not.
    Within(f64, f64),
    /// The predicted cells of each row sum to one.
    RowSum(RowSum),
    /// Both sides are sorted by key, each on its own, and must then have equal keys row by row.
    SortByKey,
    /// Both sides are sorted by key and paired by position; keys are not compared.
    SortOnly,
    /// Rows of the answers in file order, each with every row of the submission that has its key.
    JoinOnKey,
    /// Only rows of the answers whose cell in this column is this number are scored.
    ScoredWhere {
        /// Column of the answers.
        column: String,
        /// The number.
        equals: f64,
    },
}

/// How close to one a row's sum must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowSum {
    /// `numpy.isclose(sum, 1, atol=1e-6)`: within 1e-6 + 1e-5. Missing cells are left out.
    IsClose,
    /// Exactly one after rounding to six decimals.
    SixDecimals,
}

/// How predicted and true cells are read before a metric sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cells {
    /// Finite numbers. Text is converted as Python's `float` does; a missing or infinite cell is refused.
    Numbers,
    /// Numbers, missing ones included; a column of text is refused.
    AnyNumbers,
    /// Labels with scikit-learn's rules: whole numbers and booleans compare by value, text as spelled, and the two never
    /// mix; fractions and missing cells are refused.
    Labels,
    /// As `labels`, with the empty text for a missing cell.
    LabelsOrEmpty,
    /// As `labels`, with the text `nan` for a missing cell among texts.
    LabelsOrNan,
    /// Text as Python's `str` spells the cell.
    Text,
    /// Whole numbers as Python's `int` reads them: fractions are cut off.
    Integers,
    /// The first word of a cell as a whole number; fractions are refused.
    FirstInteger,
}

/// How a score is rounded to five decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// As Python rounds its own float: by the exact binary value.
    #[default]
    Python,
    /// As NumPy rounds a double: `rint(x · 1e5) / 1e5`.
    Numpy,
    /// To a whole number, ties to even, before anything else.
    Integer,
}
