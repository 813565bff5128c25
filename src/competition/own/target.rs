//! What is predicted, by the metric and by what the target column holds: the columns of a submission, what a cell must
//! hold, and how a label is written down. What the metric cannot score is refused in words.

use std::path::Path;

use crate::catalog::{MetricName, ValueRule};
use crate::own::error::OwnError;
use crate::own::profile::{ColumnProfile, Kind, Profile};

/// More classes than these are no columns of a submission.
const MOST_CLASSES: usize = 200;

/// Words that mean yes, where the two values of a target are words.
const YES: [&str; 12] =
    ["1", "yes", "true", "y", "t", "positive", "pos", "spam", "bad", "churned", "default", "fraud"];

/// What is predicted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Target {
    /// Places of the target columns in the table.
    pub(super) places: Vec<usize>,
    pub(super) names: Vec<String>,
    /// Predicted columns.
    pub(super) columns: Vec<String>,
    pub(super) value: ValueRule,
    /// The two values of a target whose second is written as 1 and whose first as 0.
    pub(super) binary: Option<[String; 2]>,
    pub(super) sample: Sample,
}

/// What the sample submission says everywhere.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sample {
    /// This text in every predicted column.
    Constant(String),
    /// The mean of the training labels.
    Mean,
}

impl Target {
    /// Judges the target columns named `names`.
    pub(super) fn of(
        path: &Path,
        profile: &Profile,
        names: &[String],
        metric: MetricName,
    ) -> Result<Self, OwnError> {
        let places = names.iter().map(|name| place(path, profile, name)).collect::<Result<Vec<_>, _>>()?;
        let columns: Vec<&ColumnProfile> =
            places.iter().filter_map(|place| profile.columns.get(*place)).collect();
        for column in &columns {
            varied(path, column)?;
        }
        let mut target = Self {
            places,
            names: names.to_vec(),
            columns: names.to_vec(),
            value: ValueRule::Number,
            binary: None,
            sample: Sample::Mean,
        };
        if metric == MetricName::MeanColumnAuc {
            for column in &columns {
                two(path, column, metric)?;
            }
            target.value = ValueRule::Probability;
            target.sample = Sample::Constant("0.5".to_owned());
            return Ok(target);
        }
        let [column] = columns.as_slice() else {
            return Err(OwnError::asked(
                format!("metric `{}` scores one target, and {} are named", metric.as_str(), names.len()),
                "name one column with --target, or take the metric mean_column_auc for several of zeros and ones",
            ));
        };
        target.judge(path, column, metric)?;
        Ok(target)
    }

    fn judge(&mut self, path: &Path, column: &ColumnProfile, metric: MetricName) -> Result<(), OwnError> {
        match metric {
            MetricName::RocAuc | MetricName::AveragePrecision => {
                self.binary = Some(two(path, column, metric)?);
                self.value = ValueRule::Number;
                self.sample = Sample::Constant("0.5".to_owned());
            }
            MetricName::LogLoss => self.log_loss(path, column)?,
            MetricName::Rmse | MetricName::Mae | MetricName::Mape => numeric(path, column, metric, false)?,
            MetricName::Rmsle | MetricName::MeanPoissonDeviance => {
                numeric(path, column, metric, true)?;
                self.value = ValueRule::NonNegative;
            }
            _ => {
                classes(path, column, metric)?;
                if metric == MetricName::QuadraticWeightedKappa && column.kind() != Kind::Integer {
                    return Err(unfit(path, column, metric, "it scores ratings, which are whole numbers"));
                }
                self.value = ValueRule::Label;
                self.sample = Sample::Constant(column.commonest().unwrap_or_default().to_owned());
            }
        }
        Ok(())
    }

    fn log_loss(&mut self, path: &Path, column: &ColumnProfile) -> Result<(), OwnError> {
        self.value = ValueRule::Probability;
        if column.distinct() == Some(2) {
            self.binary = Some(two(path, column, MetricName::LogLoss)?);
            self.sample = Sample::Constant("0.5".to_owned());
            return Ok(());
        }
        let classes = classes(path, column, MetricName::LogLoss)?;
        if classes.len() > MOST_CLASSES {
            let problem = format!("it has {} values, of which each would be a column", classes.len());
            return Err(unfit(path, column, MetricName::LogLoss, &problem));
        }
        self.sample = Sample::Constant(format!("{:?}", 1.0 / classes.len() as f64));
        self.columns = classes;
        Ok(())
    }

    /// The label of a cell as it is written down, in the training table and in the answers alike.
    pub(super) fn label<'c>(&self, cell: &'c str) -> &'c str {
        match &self.binary {
            Some([_, yes]) => {
                if cell.trim() == yes {
                    "1"
                } else {
                    "0"
                }
            }
            None => cell.trim(),
        }
    }

    /// Whether the two values were words, so that a note on them is due.
    pub(super) fn renamed(&self) -> Option<&[String; 2]> {
        self.binary.as_ref().filter(|pair| **pair != ["0".to_owned(), "1".to_owned()])
    }

    /// Whether labels are classes, so that a split keeps their shares.
    pub(super) fn has_classes(&self) -> bool {
        self.names.len() == 1
            && (self.binary.is_some() || self.value == ValueRule::Label || self.columns.len() > 1)
    }
}

/// The place of a column by its name.
pub(super) fn place(path: &Path, profile: &Profile, name: &str) -> Result<usize, OwnError> {
    let names = || profile.columns.iter().map(|column| column.name.as_str());
    names().position(|known| known == name && !known.is_empty()).ok_or_else(|| {
        let near = podium_types::nearest::nearest(name, names());
        let all: Vec<&str> = names().filter(|name| !name.is_empty()).take(30).collect();
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        OwnError::unfit(
            path,
            format!("it has no column `{name}`"),
            format!("{near}its columns are {}", all.join(", ")),
        )
    })
}

/// Something to learn.
fn varied(path: &Path, column: &ColumnProfile) -> Result<(), OwnError> {
    let name = &column.name;
    match (column.filled, column.distinct()) {
        (0, _) => Err(OwnError::unfit(
            path,
            format!("the target `{name}` has no value in any row"),
            "name another column with --target, or leave --target out and say with --goal what you want",
        )),
        (_, Some(1)) => Err(OwnError::unfit(
            path,
            format!(
                "the target `{name}` has one value only, `{}`: there is nothing to learn",
                column.commonest().unwrap_or_default()
            ),
            "add rows of the other classes, or name another column with --target",
        )),
        _ => Ok(()),
    }
}

fn unfit(path: &Path, column: &ColumnProfile, metric: MetricName, problem: &str) -> OwnError {
    OwnError::unfit(
        path,
        format!("metric `{}` does not suit the target `{}`: {problem}", metric.as_str(), column.name),
        format!(
            "`{}` holds {}; for numbers take rmse or mae, for two classes auc, for more log_loss or accuracy",
            column.name,
            holds(column)
        ),
    )
}

fn holds(column: &ColumnProfile) -> String {
    match column.distinct() {
        Some(count) => format!("{count} different values ({})", column.kind().as_str()),
        None => format!("very many different values ({})", column.kind().as_str()),
    }
}

/// The two values: first no, then yes.
fn two(path: &Path, column: &ColumnProfile, metric: MetricName) -> Result<[String; 2], OwnError> {
    let values: Vec<(&String, &u64)> = column.values.iter().flatten().collect();
    let [(first, first_count), (second, second_count)] = values.as_slice() else {
        return Err(unfit(path, column, metric, "it scores a target of two values"));
    };
    let yes = |value: &str| YES.contains(&value.to_ascii_lowercase().as_str());
    // A word that means yes, else the larger number, else the rarer word.
    let swap = match (yes(first), yes(second)) {
        (true, false) => true,
        (false, true) => false,
        _ => match (first.parse::<f64>(), second.parse::<f64>()) {
            (Ok(first), Ok(second)) => first > second,
            _ => first_count < second_count,
        },
    };
    let pair = [(*first).clone(), (*second).clone()];
    let [first, second] = pair;
    Ok(if swap { [second, first] } else { [first, second] })
}

fn classes(path: &Path, column: &ColumnProfile, metric: MetricName) -> Result<Vec<String>, OwnError> {
    match &column.values {
        Some(values) => Ok(values.keys().cloned().collect()),
        None => Err(unfit(path, column, metric, "it scores classes, and these are too many")),
    }
}

fn numeric(
    path: &Path,
    column: &ColumnProfile,
    metric: MetricName,
    not_negative: bool,
) -> Result<(), OwnError> {
    if !matches!(column.kind(), Kind::Integer | Kind::Number) {
        return Err(unfit(path, column, metric, "it scores numbers"));
    }
    if !column.least.is_finite() || !column.most.is_finite() {
        return Err(unfit(path, column, metric, "some of its cells are infinite"));
    }
    if not_negative && column.least < 0.0 {
        let problem = format!("it scores numbers from 0 on, and the least is {}", column.least);
        return Err(unfit(path, column, metric, &problem));
    }
    Ok(())
}
