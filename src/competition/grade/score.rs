//! From two sheets to a score: each metric of the catalog with the cells it reads.

use podium_metric as metric;
use podium_metric::MetricError;

use crate::catalog::{MetricName, Rounding};
use crate::grade::house::House;
use crate::grade::input::{Fault, Score};
use crate::grade::outcome::AnswersFault;
use crate::grade::reason::{count, quote};
use crate::grade::sheet::{Expected, Label, Sheet};

/// Both sides of one comparison.
pub(crate) struct Pair<'a> {
    pub(crate) rules: House<'a>,
    pub(crate) truth: &'a Sheet<'a>,
    pub(crate) guess: &'a Sheet<'a>,
}

impl Pair<'_> {
    /// The score of the submission.
    pub(crate) fn score(&self) -> Result<Score, Fault> {
        let mut notes = Vec::new();
        let value = match self.rules.metric {
            MetricName::LogLoss => self.log_loss(&mut notes)?,
            MetricName::MeanColumnAuc => self.mean_column_auc()?,
            MetricName::RocAuc | MetricName::AveragePrecision => self.ranking_of_positives()?,
            MetricName::Accuracy | MetricName::MacroF1 | MetricName::QuadraticWeightedKappa => {
                self.labels()?
            }
            MetricName::ExactMatch => self.exact_match()?,
            MetricName::MicroF1 | MetricName::MeanLevenshtein | MetricName::MapAtK => self.lists()?,
            MetricName::Rmse
            | MetricName::Mae
            | MetricName::Rmsle
            | MetricName::Mape
            | MetricName::MeanPoissonDeviance => self.regression()?,
            // The catalog refuses them here: no value rule fits.
            MetricName::ErrorRate | MetricName::Pearson => {
                return Err(Fault::answers("the metric belongs to a declared grading"));
            }
        };
        if value.is_nan() {
            notes.push("the score is not a number: the metric is undefined for these answers".to_owned());
        }
        Ok(Score { value, rounding: Rounding::Python, notes })
    }

    /// The one predicted column and the column that holds its truth.
    fn column(&self) -> Result<(&str, &str), Fault> {
        match (self.rules.competition.submission.columns.as_slice(), self.rules.competition.answer_columns())
        {
            ([guess], [truth]) => Ok((guess, truth)),
            _ => Err(Fault::Answers(AnswersFault::NotOneColumn)),
        }
    }

    fn truth_numbers(&self, column: &str, expected: Expected) -> Result<Vec<f64>, Fault> {
        // The reason may quote a true value, so only the column is passed on.
        self.truth.numbers(column, expected).map_err(|_| misfit(column))
    }

    fn guess_numbers(&self, column: &str, expected: Expected) -> Result<Vec<f64>, Fault> {
        self.guess.numbers(column, expected).map_err(Fault::Submission)
    }

    fn binary(&self, column: &str) -> Result<Vec<bool>, Fault> {
        Ok(self.truth_numbers(column, Expected::Binary)?.into_iter().map(|value| value > 0.5).collect())
    }

    fn rule(&self) -> Expected {
        Expected::of(self.rules.value)
    }

    fn regression(&self) -> Result<f64, Fault> {
        let (guess, truth) = self.column()?;
        let name = self.rules.metric;
        let positive = name == MetricName::MeanPoissonDeviance;
        let guess = self.guess_numbers(guess, if positive { Expected::Positive } else { self.rule() })?;
        let truth = self.truth_numbers(truth, Expected::Number)?;
        let score = match name {
            MetricName::Rmse => metric::rmse(&truth, &guess),
            MetricName::Mae => metric::mae(&truth, &guess),
            MetricName::Rmsle => metric::rmsle(&truth, &guess),
            MetricName::Mape => metric::mape(&truth, &guess),
            _ => metric::mean_poisson_deviance(&truth, &guess),
        };
        score.map_err(|error| self.fault(error))
    }

    fn ranking_of_positives(&self) -> Result<f64, Fault> {
        let (guess, truth) = self.column()?;
        let guess = self.guess_numbers(guess, self.rule())?;
        let truth = self.binary(truth)?;
        let score = match self.rules.metric {
            MetricName::RocAuc => metric::roc_auc(&truth, &guess),
            _ => metric::average_precision(&truth, &guess),
        };
        score.map_err(|error| self.fault(error))
    }

    fn mean_column_auc(&self) -> Result<f64, Fault> {
        let mut guesses = Vec::new();
        for column in &self.rules.competition.submission.columns {
            guesses.push(self.guess_numbers(column, self.rule())?);
        }
        let truths: Result<Vec<Vec<bool>>, Fault> =
            self.rules.competition.answer_columns().iter().map(|column| self.binary(column)).collect();
        metric::mean_column_auc(&truths?, &guesses).map_err(|error| self.fault(error))
    }

    fn log_loss(&self, notes: &mut Vec<String>) -> Result<f64, Fault> {
        let eps = self.rules.competition.metric.options.eps.unwrap_or(metric::EPS_KAGGLE);
        let columns = &self.rules.competition.submission.columns;
        let truth_columns = self.rules.competition.answer_columns();
        if let ([guess], [truth]) = (columns.as_slice(), truth_columns) {
            let guess = self.guess_numbers(guess, Expected::Probability)?;
            let truth = self.binary(truth)?;
            return metric::binary_log_loss(&truth, &guess, eps).map_err(|error| self.fault(error));
        }
        let width = columns.len();
        let mut guesses = Vec::with_capacity(width);
        for column in columns {
            guesses.push(self.guess_numbers(column, Expected::Probability)?);
        }
        let mut matrix = row_major(&guesses);
        note_sums(&matrix, width, notes);
        metric::renormalise(&mut matrix, width).map_err(|error| self.fault(error))?;
        let score = if let ([truth], 2..) = (truth_columns, width) {
            metric::log_loss(&self.classes(truth)?, &matrix, width, eps)
        } else {
            let truths: Result<Vec<Vec<f64>>, Fault> = truth_columns
                .iter()
                .map(|column| self.truth_numbers(column, Expected::Probability))
                .collect();
            metric::cross_entropy(&row_major(&truths?), &matrix, width, eps)
        };
        score.map_err(|error| self.fault(error))
    }

    /// The true classes as positions among the predicted columns, from a column that holds their names.
    fn classes(&self, column: &str) -> Result<Vec<usize>, Fault> {
        let names = self.truth.texts(column, false).map_err(|_| empty_truth(column))?;
        let columns = &self.rules.competition.submission.columns;
        let position = |name: &str| columns.iter().position(|column| column == name);
        let classes: Option<Vec<usize>> = names.into_iter().map(position).collect();
        classes.ok_or_else(|| Fault::Answers(AnswersFault::UnknownClass(column.to_owned())))
    }

    fn labels(&self) -> Result<f64, Fault> {
        let (guess_column, truth_column) = self.column()?;
        let truth = self.truth.texts(truth_column, false).map_err(|_| empty_truth(truth_column))?;
        let guess = self.guess.texts(guess_column, false).map_err(Fault::Submission)?;
        let numbers: Option<Vec<Label<'_>>> = truth.iter().map(|text| Label::number(text)).collect();
        let (truth, guess) = match numbers {
            Some(truth) => (
                truth,
                guess.into_iter().map(|text| Label::number(text).unwrap_or(Label::Text(text))).collect(),
            ),
            None => (
                truth.into_iter().map(Label::Text).collect(),
                guess.into_iter().map(Label::Text).collect::<Vec<_>>(),
            ),
        };
        let score = match self.rules.metric {
            MetricName::Accuracy => metric::accuracy(&truth, &guess),
            MetricName::MacroF1 => metric::macro_f1(&truth, &guess),
            _ => return self.kappa(guess_column, &truth, &guess),
        };
        score.map_err(|error| self.fault(error))
    }

    fn kappa(&self, column: &str, truth: &[Label<'_>], guess: &[Label<'_>]) -> Result<f64, Fault> {
        let whole = |label: &Label<'_>| if let Label::Whole(value) = label { Some(*value) } else { None };
        let truth: Option<Vec<i64>> = truth.iter().map(whole).collect();
        let truth = truth.ok_or(Fault::Answers(AnswersFault::Ratings))?;
        if let Some(row) = guess.iter().position(|label| whole(label).is_none()) {
            let (column, row) = (quote(column), self.guess.row_name(row));
            return Err(Fault::Submission(format!("column {column}, {row}: expected a whole number")));
        }
        let guess: Vec<i64> = guess.iter().filter_map(whole).collect();
        metric::quadratic_weighted_kappa(&truth, &guess).map_err(|error| self.fault(error))
    }

    fn exact_match(&self) -> Result<f64, Fault> {
        let (guess, truth_column) = self.column()?;
        let guess = self.guess.texts(guess, true).map_err(Fault::Submission)?;
        let truth = self.truth.texts(truth_column, true).map_err(|_| misfit(truth_column))?;
        metric::exact_match(&truth, &guess).map_err(|error| self.fault(error))
    }

    fn lists(&self) -> Result<f64, Fault> {
        let (guess, truth_column) = self.column()?;
        let guess = self.guess.lists(guess).map_err(Fault::Submission)?;
        let truth = self.truth.lists(truth_column).map_err(|_| misfit(truth_column))?;
        let score = match self.rules.metric {
            MetricName::MicroF1 => metric::micro_f1(&truth, &guess),
            MetricName::MapAtK => {
                metric::map_at_k(&truth, &guess, self.rules.competition.metric.options.k.unwrap_or_default())
            }
            _ => metric::mean_levenshtein(&truth, &guess),
        };
        score.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: MetricError) -> Fault {
        match error {
            MetricError::UnusableRowSum { row, sum } => Fault::Submission(format!(
                "{}: the probabilities sum to {sum}, expected a sum greater than 0",
                self.guess.row_name(row)
            )),
            MetricError::PredictionOutOfDomain { row, value, domain, .. } => Fault::Submission(format!(
                "{}: found {value}, expected a value that is {domain}",
                self.guess.row_name(row)
            )),
            other => Fault::Answers(AnswersFault::Metric(other)),
        }
    }
}

fn misfit(column: &str) -> Fault {
    Fault::Answers(AnswersFault::Misfit(column.to_owned()))
}

fn empty_truth(column: &str) -> Fault {
    Fault::Answers(AnswersFault::EmptyCell(column.to_owned()))
}

fn row_major(columns: &[Vec<f64>]) -> Vec<f64> {
    let rows = columns.first().map_or(0, Vec::len);
    let mut matrix = Vec::with_capacity(rows * columns.len());
    for row in 0..rows {
        matrix.extend(columns.iter().filter_map(|column| column.get(row)));
    }
    matrix
}

/// Remarks on rows that are far from summing to one; small differences come from printing few digits.
fn note_sums(matrix: &[f64], width: usize, notes: &mut Vec<String>) {
    let off = |row: &&[f64]| (row.iter().sum::<f64>() - 1.0).abs() > 1e-3;
    let rows = matrix.chunks(width.max(1)).filter(off).count();
    if rows > 0 {
        notes.push(format!(
            "{} of probabilities did not sum to 1: each was divided by its sum",
            count(rows, "row")
        ));
    }
}
