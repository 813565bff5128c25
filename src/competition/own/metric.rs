//! Metrics by the names that people use for them.

use podium_types::nearest::nearest;

use crate::catalog::MetricName;
use crate::own::error::OwnError;

/// Other names of metrics, as they are asked for.
const ALIASES: [(&str, MetricName); 17] = [
    ("auc", MetricName::RocAuc),
    ("rocauc", MetricName::RocAuc),
    ("acc", MetricName::Accuracy),
    ("logloss", MetricName::LogLoss),
    ("cross_entropy", MetricName::LogLoss),
    ("f1", MetricName::MacroF1),
    ("f1_macro", MetricName::MacroF1),
    ("ap", MetricName::AveragePrecision),
    ("pr_auc", MetricName::AveragePrecision),
    ("qwk", MetricName::QuadraticWeightedKappa),
    ("kappa", MetricName::QuadraticWeightedKappa),
    ("root_mean_squared_error", MetricName::Rmse),
    ("mean_absolute_error", MetricName::Mae),
    ("msle", MetricName::Rmsle),
    ("poisson", MetricName::MeanPoissonDeviance),
    ("poisson_deviance", MetricName::MeanPoissonDeviance),
    ("column_auc", MetricName::MeanColumnAuc),
];

/// Those that a table can be graded by without a further word.
pub(super) const SUPPORTED: [MetricName; 13] = [
    MetricName::Accuracy,
    MetricName::RocAuc,
    MetricName::LogLoss,
    MetricName::MacroF1,
    MetricName::AveragePrecision,
    MetricName::QuadraticWeightedKappa,
    MetricName::ExactMatch,
    MetricName::MeanColumnAuc,
    MetricName::Rmse,
    MetricName::Mae,
    MetricName::Rmsle,
    MetricName::Mape,
    MetricName::MeanPoissonDeviance,
];

/// The metric that `word` means.
///
/// # Errors
/// When it means none, or one that needs an entry written by hand.
pub fn metric_of(word: &str) -> Result<MetricName, OwnError> {
    let plain = word.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    let alias = ALIASES.iter().find(|(alias, _)| *alias == plain).map(|(_, name)| *name);
    let known: Vec<&str> = SUPPORTED.iter().map(|name| name.as_str()).collect();
    match alias.or_else(|| MetricName::from_word(&plain)) {
        Some(name) if SUPPORTED.contains(&name) => Ok(name),
        Some(name) => Err(OwnError::asked(
            format!("metric `{}` needs a competition.toml written by hand", name.as_str()),
            format!("from a table: {}", known.join(", ")),
        )),
        None => {
            let names = ALIASES.iter().map(|(alias, _)| *alias).chain(known.iter().copied());
            let near = nearest(&plain, names).map(|near| format!("did you mean `{near}`? "));
            let hint = format!("{}the metrics are {}", near.unwrap_or_default(), known.join(", "));
            Err(OwnError::asked(format!("there is no metric `{word}`"), hint))
        }
    }
}
