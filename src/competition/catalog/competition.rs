//! What the catalog knows of one competition. The shapes here are the TOML's, read strictly: an unknown key is an
//! error, and what does not fit together (a metric and its direction, a value rule and a metric) is refused when the
//! catalog is read, so that a grader never meets it.

use std::collections::BTreeMap;

use podium_metric::Direction;
use serde::{Deserialize, Serialize};

use crate::board::Board;
use crate::catalog::grading::Grading;
use crate::catalog::metric::Metric;
use crate::catalog::training::Training;
use crate::prepare::Preparation;

/// Where a competition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Built in, on freely licensed data.
    Offline,
    /// Held on Kaggle.
    Kaggle,
    /// Made from the user's own data.
    Own,
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
    /// When it ended on Kaggle: a date, or the year alone.
    pub ended: Option<String>,
    /// What is measured.
    pub metric: Metric,
    /// How a submission is graded.
    pub grading: Grading,
    /// What a submission looks like.
    pub submission: SubmissionFormat,
    /// Where the answers are.
    pub answers: Answers,
    /// Names and sizes of the data files.
    pub data: Data,
    /// Where the labels of the training rows are; absent where no holdout can be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<Training>,
    /// How the data come from a raw download; absent where nobody has said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Preparation>,
    /// The board that medals are read from.
    pub board: Board,
    /// What a run is likely to need.
    pub resources: Resources,
    /// The competition of which this is the fixed variant: the same without what tells its answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant_of: Option<String>,
    /// What is known to be wrong with it.
    pub known_issues: Vec<String>,
    /// What the agent reads; absent when no description came with the catalog.
    #[serde(skip)]
    pub description: Option<String>,
}

impl Competition {
    /// Which way a score improves.
    pub fn direction(&self) -> Direction {
        self.metric.direction
    }

    /// Its id, or that of the competition of which it is a variant: the name that Kaggle and MLE-bench know.
    pub fn official_id(&self) -> &str {
        self.variant_of.as_deref().unwrap_or(&self.id)
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
    /// What a predicted cell must hold, by the rules of the offline competitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueRule>,
}

/// Where the answers are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// File in the private folder.
    pub file: String,
    /// The columns that hold the truth, where they are not the submission's; of JSON lines the fields that are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// There are none: the file holds made-up labels, by which the format of a submission is checked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// A table, or one JSON value a line.
    #[serde(default, skip_serializing_if = "AnswersFormat::is_csv")]
    pub format: AnswersFormat,
}

/// What a file of answers holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswersFormat {
    /// A table.
    #[default]
    Csv,
    /// One JSON value a line.
    Jsonl,
}

impl AnswersFormat {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    fn is_csv(&self) -> bool {
        *self == Self::Csv
    }
}

/// What a run is likely to need; rough figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Whether a graphics card makes a large difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<bool>,
    /// Free disk for the prepared data and the raw ones beside them, in gigabytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_gb: Option<f64>,
}

/// Names and sizes of the data files in the public folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Whether it stands in the private folder, because the public one holds an archive of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sample_is_private: bool,
    /// Rows in the training table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_rows: Option<u64>,
    /// Rows to predict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_rows: Option<u64>,
    /// Size of the data as Kaggle serves them, in gigabytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_gb: Option<f64>,
    /// Files that Kaggle serves and that the preparation reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<String>,
    /// What the preparation leaves in the public folder; a name that ends in `/` is a folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub public: Vec<String>,
    /// What the preparation leaves in the private folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub private: Vec<String>,
    /// Recorded MD5 sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub md5: Option<Checksums>,
}

/// Recorded MD5 sums, by path in their folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checksums {
    /// Of the archive that Kaggle serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zip: Option<String>,
    /// Of files in the public folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub public: BTreeMap<String, String>,
    /// Of files in the private folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub private: BTreeMap<String, String>,
}

/// Texts of the catalog by their path below `benchmark/`.
pub type Texts = BTreeMap<String, String>;
