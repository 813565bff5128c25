//! Names of metrics with their options, and which value rules each of them can score.

use podium_metric::Direction;
use podium_types::range::Range;
use serde::{Deserialize, Serialize, Serializer};

use crate::catalog::competition::ValueRule;
use crate::catalog::grading::Cells;

/// A metric of `podium_metric`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the function of this name in podium_metric")]
pub enum MetricName {
    Accuracy,
    RocAuc,
    LogLoss,
    MacroF1,
    MicroF1,
    MeanColumnAuc,
    Rmse,
    Mae,
    Rmsle,
    Mape,
    MeanPoissonDeviance,
    AveragePrecision,
    ExactMatch,
    MeanLevenshtein,
    MapAtK,
    QuadraticWeightedKappa,
    ErrorRate,
    Pearson,
}

impl MetricName {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Accuracy,
        Self::RocAuc,
        Self::LogLoss,
        Self::MacroF1,
        Self::MicroF1,
        Self::MeanColumnAuc,
        Self::Rmse,
        Self::Mae,
        Self::Rmsle,
        Self::Mape,
        Self::MeanPoissonDeviance,
        Self::AveragePrecision,
        Self::ExactMatch,
        Self::MeanLevenshtein,
        Self::MapAtK,
        Self::QuadraticWeightedKappa,
        Self::ErrorRate,
        Self::Pearson,
    ];

    /// The metric that the TOML spells `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == word)
    }

    /// As the TOML spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::RocAuc => "roc_auc",
            Self::LogLoss => "log_loss",
            Self::MacroF1 => "macro_f1",
            Self::MicroF1 => "micro_f1",
            Self::MeanColumnAuc => "mean_column_auc",
            Self::Rmse => "rmse",
            Self::Mae => "mae",
            Self::Rmsle => "rmsle",
            Self::Mape => "mape",
            Self::MeanPoissonDeviance => "mean_poisson_deviance",
            Self::AveragePrecision => "average_precision",
            Self::ExactMatch => "exact_match",
            Self::MeanLevenshtein => "mean_levenshtein",
            Self::MapAtK => "map_at_k",
            Self::QuadraticWeightedKappa => "quadratic_weighted_kappa",
            Self::ErrorRate => "error_rate",
            Self::Pearson => "pearson",
        }
    }

    /// Which way it improves, by its definition.
    pub const fn direction(self) -> Direction {
        match self {
            Self::LogLoss
            | Self::Rmse
            | Self::Mae
            | Self::Rmsle
            | Self::Mape
            | Self::MeanPoissonDeviance
            | Self::MeanLevenshtein
            | Self::ErrorRate => Direction::Lower,
            _ => Direction::Higher,
        }
    }

    /// The values it can have, by its definition: what is outside was never measured.
    pub const fn range(self) -> Range {
        match self {
            Self::LogLoss
            | Self::Rmse
            | Self::Mae
            | Self::Rmsle
            | Self::Mape
            | Self::MeanPoissonDeviance
            | Self::MeanLevenshtein => Range::NOT_NEGATIVE,
            Self::QuadraticWeightedKappa | Self::Pearson => Range::CORRELATION,
            Self::Accuracy
            | Self::RocAuc
            | Self::MacroF1
            | Self::MicroF1
            | Self::MeanColumnAuc
            | Self::AveragePrecision
            | Self::ExactMatch
            | Self::MapAtK
            | Self::ErrorRate => Range::SHARE,
        }
    }

    /// The value rules it can score by the rules of the offline competitions.
    pub const fn rules(self) -> &'static [ValueRule] {
        use ValueRule::{Label, Labels, NonNegative, Number, Probability, Ranking, Text};
        match self {
            Self::Accuracy | Self::MacroF1 | Self::QuadraticWeightedKappa => &[Label],
            Self::RocAuc | Self::AveragePrecision | Self::MeanColumnAuc => &[Probability, Number],
            Self::LogLoss => &[Probability],
            Self::MicroF1 => &[Labels],
            Self::Rmse | Self::Mae | Self::Mape => &[Number, NonNegative, Probability],
            Self::Rmsle | Self::MeanPoissonDeviance => &[NonNegative],
            Self::ExactMatch => &[Text, Label],
            Self::MeanLevenshtein => &[Text],
            Self::MapAtK => &[Ranking],
            Self::ErrorRate | Self::Pearson => &[],
        }
    }

    /// Whether it scores several predicted columns.
    pub const fn takes_columns(self) -> bool {
        matches!(self, Self::LogLoss | Self::MeanColumnAuc)
    }

    /// The cells it can score where the grading is declared.
    pub const fn cells(self) -> &'static [Cells] {
        use Cells::{AnyNumbers, FirstInteger, Integers, Labels, LabelsOrEmpty, LabelsOrNan, Numbers, Text};
        match self {
            Self::Accuracy | Self::ErrorRate | Self::MacroF1 => {
                &[Labels, LabelsOrEmpty, LabelsOrNan, Text, Integers, FirstInteger]
            }
            Self::QuadraticWeightedKappa => &[Labels],
            Self::RocAuc | Self::MeanColumnAuc | Self::LogLoss | Self::Rmse | Self::Mae | Self::Rmsle => {
                &[Numbers]
            }
            Self::Pearson => &[AnyNumbers],
            _ => &[],
        }
    }
}

/// What is measured, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// Its name; a word of [`MetricName`] unless the grader is written in Rust.
    pub name: String,
    /// Which way it improves.
    #[serde(serialize_with = "direction")]
    pub direction: Direction,
    /// Its options.
    pub options: MetricOptions,
}

impl Metric {
    /// The values it can have; any, for a metric of a grader in Rust that has no word of its own.
    pub fn range(&self) -> Range {
        MetricName::from_word(&self.name).map_or(Range::ANY, MetricName::range)
    }
}

/// Options of a metric; each belongs to one metric only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MetricOptions {
    /// `map_at_k`: how many items of a ranking count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// `log_loss`: probabilities are clipped to `[eps, 1 - eps]`; absent, by the offline competitions' rule to 1e-15,
    /// by a declared grading to the epsilon of a double.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(crate) fn direction<S: Serializer>(direction: &Direction, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(direction.as_str())
}
