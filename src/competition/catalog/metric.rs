//! Names of metrics with their options, and which value rules each of them can score.

use podium_metric::Direction;
use serde::{Deserialize, Serialize, Serializer};

use crate::catalog::competition::ValueRule;

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
}

impl MetricName {
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
            | Self::MeanLevenshtein => Direction::Lower,
            _ => Direction::Higher,
        }
    }

    /// The value rules it can score.
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
        }
    }

    /// Whether it scores several predicted columns.
    pub const fn takes_columns(self) -> bool {
        matches!(self, Self::LogLoss | Self::MeanColumnAuc)
    }
}

/// What is measured, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// Its name.
    pub name: MetricName,
    /// Which way it improves.
    #[serde(serialize_with = "direction")]
    pub direction: Direction,
    /// Its options.
    pub options: MetricOptions,
}

/// Options of a metric; each belongs to one metric only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MetricOptions {
    /// `map_at_k`: how many items of a ranking count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// `log_loss`: probabilities are clipped to `[eps, 1 - eps]`; 1e-15 where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
pub(crate) fn direction<S: Serializer>(direction: &Direction, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(direction.as_str())
}
