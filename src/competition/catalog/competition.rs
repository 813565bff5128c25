//! What the catalog knows of one competition. The shapes here are the TOML's, read strictly: an unknown key is an
//! error, and what does not fit together (a metric and its direction, a value rule and a metric) is refused when the
//! catalog is read, so that a grader never meets it.

use std::collections::BTreeMap;

use podium_metric::Direction;
use serde::{Deserialize, Serialize};

use crate::board::Board;
use crate::catalog::metric::Metric;

/// Where a competition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Built in, on freely licensed data.
    Offline,
    /// Held on Kaggle.
    Kaggle,
}

/// One competition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Competition {
    /// Unique name, also the name of its data folder.
    pub id: String,
    /// Title.
    pub name: String,
    /// One line: the task.
    pub summary: String,
    /// Where it comes from.
    pub kind: Kind,
    /// The splits it belongs to.
    pub splits: Vec<String>,
    /// tabular, image, text, time-series, multi-label, sequence, ranking, ...
    pub category: String,
    /// Licence of the data, with its source.
    pub licence: Option<String>,
    /// Where the data were taken from.
    pub source: Option<String>,
    /// How train and test were parted.
    pub split: Option<String>,
    /// Seed of the split.
    pub seed: Option<u64>,
    /// What is measured.
    pub metric: Metric,
    /// What a submission looks like.
    pub submission: SubmissionFormat,
    /// Where the answers are.
    pub answers: Answers,
    /// Names and sizes of the data files.
    pub data: Data,
    /// The board that medals are read from.
    pub board: Board,
    /// What the agent reads; absent when no description came with the catalog.
    #[serde(skip)]
    pub description: Option<String>,
}

impl Competition {
    /// Which way a score improves.
    pub fn direction(&self) -> Direction {
        self.metric.direction
    }

    /// The columns of the answers that hold the truth.
    pub fn answer_columns(&self) -> &[String] {
        self.answers.columns.as_deref().unwrap_or(&self.submission.columns)
    }
}

/// What a predicted cell must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueRule {
    /// A number from 0 to 1.
    Probability,
    /// A finite number.
    Number,
    /// A finite number, at least 0.
    NonNegative,
    /// One label; an unknown one is wrong, not refused.
    Label,
    /// Any number of labels, separated by blanks.
    Labels,
    /// Any text.
    Text,
    /// Items from the most to the least likely, separated by blanks.
    Ranking,
}

impl ValueRule {
    /// As the TOML spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Probability => "probability",
            Self::Number => "number",
            Self::NonNegative => "non_negative",
            Self::Label => "label",
            Self::Labels => "labels",
            Self::Text => "text",
            Self::Ranking => "ranking",
        }
    }

    /// Whether cells are read as numbers.
    pub const fn is_numeric(self) -> bool {
        matches!(self, Self::Probability | Self::Number | Self::NonNegative)
    }
}

/// What a submission looks like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmissionFormat {
    /// Key columns, compared as a set with those of the answers.
    pub id: Vec<String>,
    /// Predicted columns, in the order of the sample submission.
    pub columns: Vec<String>,
    /// What a predicted cell must hold.
    pub value: ValueRule,
}

/// Where the answers are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// File in the private folder.
    pub file: String,
    /// The columns that hold the truth, where they are not the submission's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
}

/// Names and sizes of the data files in the public folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Training table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<String>,
    /// Test table, without the answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// A submission of the right shape.
    pub sample_submission: String,
    /// Rows in the training table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_rows: Option<u64>,
    /// Rows to predict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_rows: Option<u64>,
}

/// Texts of the catalog by their path below `benchmark/`.
pub type Texts = BTreeMap<String, String>;
