//! Grades what the catalog declares: steps, then cells, then a metric, then the kind of rounding.

use podium_metric as metric;
use podium_metric::MetricError;

use crate::catalog::{Cells, Declared, MetricName, Rounding};
use crate::grade::cells::{Label, Labels, MissingLabel, Side, Whose};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::outcome::AnswersFault;
use crate::grade::python;
use crate::grade::ratings;
use crate::grade::reason::{quote, shift};
use crate::grade::remarks;
use crate::grade::steps;

/// The score of a submission under a declared grading.
pub(crate) fn grade(declared: &Declared, input: &Input<'_>) -> Result<Score, Fault> {
    let truth_table = input.truth()?;
    let pairing = steps::run(&declared.steps, input)?;
    let key = input.competition.submission.id.first().map(String::as_str);
    let pair = Pair {
        declared,
        input,
        guess: Side { whose: Whose::Submission, table: input.submission, key, rows: &pairing.submission },
        truth: Side { whose: Whose::Answers, table: truth_table, key, rows: &pairing.answers },
    };
    let exact = pair.value()?;
    let (value, rounding) = match declared.rounding {
        Rounding::Integer => (exact.round_ties_even(), Rounding::Integer),
        rounding => (exact, rounding),
    };
    let mut notes: Vec<String> = shift(input.submission).into_iter().collect();
    notes.extend(remarks::on(declared, input, &pairing));
    notes.extend(remarks::on_score(exact, value).map(str::to_owned));
    Ok(Score { value, rounding, notes })
}

struct Pair<'a> {
    declared: &'a Declared,
    input: &'a Input<'a>,
    guess: Side<'a>,
    truth: Side<'a>,
}

impl<'a> Pair<'a> {
    fn value(&self) -> Result<f64, Fault> {
        match self.declared.metric {
            MetricName::LogLoss => self.log_loss(),
            MetricName::RocAuc | MetricName::MeanColumnAuc => self.mean_over_columns(|pair, guess, truth| {
                let truth = pair.classes(truth)?;
                let guess = pair.guess.numbers(guess)?;
                metric::roc_auc(&truth, &guess).map_err(|error| pair.fault(error))
            }),
            MetricName::Rmse => self.regression(metric::rmse),
            MetricName::Mae => self.regression(metric::mae),
            MetricName::Rmsle => self.regression(metric::rmsle),
            MetricName::Pearson => self.mean_over_columns(|pair, guess, truth| {
                let truth = pair.truth.any_numbers(truth)?;
                let guess = pair.guess.any_numbers(guess)?;
                metric::scaled_pearson(&truth, &guess).map_err(|error| pair.fault(error))
            }),
            _ => self.mean_over_columns(Self::labels),
        }
    }

    /// The metric of each predicted column with its true one, and the mean of them.
    fn mean_over_columns(
        &self,
        one: impl Fn(&Self, &'a str, &'a str) -> Result<f64, Fault>,
    ) -> Result<f64, Fault> {
        let competition = self.input.competition;
        let columns = competition.submission.columns.iter().zip(competition.answer_columns());
        let scores: Result<Vec<f64>, Fault> = columns.map(|(guess, truth)| one(self, guess, truth)).collect();
        Ok(metric::mean(&scores?))
    }

    fn regression(
        &self,
        function: impl Fn(&[f64], &[f64]) -> Result<f64, MetricError>,
    ) -> Result<f64, Fault> {
        self.mean_over_columns(|pair, guess, truth| {
            let truth = pair.truth.numbers(truth)?;
            let guess = pair.guess.numbers(guess)?;
            function(&truth, &guess).map_err(|error| pair.fault(error))
        })
    }

    /// True classes of a column with two values, of which the larger is the positive one.
    fn classes(&self, column: &str) -> Result<Vec<bool>, Fault> {
        let numbers = self.truth.numbers(column)?;
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if numbers.iter().any(|value| low < *value && *value < high) {
            return Err(Fault::answers("there are more than two classes"));
        }
        Ok(numbers.iter().map(|value| *value >= high).collect())
    }

    fn log_loss(&self) -> Result<f64, Fault> {
        let competition = self.input.competition;
        let eps = competition.metric.options.eps.unwrap_or(metric::EPS_SKLEARN);
        let columns = &competition.submission.columns;
        if let ([guess], [truth]) = (columns.as_slice(), competition.answer_columns()) {
            let truth = self.classes(truth)?;
            if truth.iter().all(|positive| *positive) {
                return Err(Fault::answers("there is one class only"));
            }
            let guess = self.guess.numbers(guess)?;
            return metric::binary_log_loss(&truth, &guess, eps).map_err(|error| self.fault(error));
        }
        let truth = self.truth.matrix(competition.answer_columns().iter().map(String::as_str))?;
        let guess = self.guess.matrix(columns.iter().map(String::as_str))?;
        metric::cross_entropy(&truth, &guess, columns.len(), eps).map_err(|error| self.fault(error))
    }

    fn labels(&self, guess: &'a str, truth: &'a str) -> Result<f64, Fault> {
        match self.declared.cells {
            Cells::Text if matches!(self.declared.metric, MetricName::Accuracy | MetricName::ErrorRate) => {
                self.share_of_texts(guess, truth)
            }
            Cells::Text => self.score_labels(&self.truth.texts(truth)?, &self.guess.texts(guess)?),
            Cells::Integers => self.score_labels(&self.truth.integers(truth)?, &self.guess.integers(guess)?),
            Cells::FirstInteger => {
                self.score_labels(&self.truth.first_integers(truth)?, &self.guess.first_integers(guess)?)
            }
            Cells::LabelsOrEmpty => self.score_typed(guess, truth, MissingLabel::Empty),
            Cells::LabelsOrNan => self.score_typed(guess, truth, MissingLabel::Nan),
            Cells::Labels | Cells::Numbers | Cells::AnyNumbers => {
                self.score_typed(guess, truth, MissingLabel::Refused)
            }
        }
    }

    /// The share of equal texts. Tables of words have millions of them, so none is written down.
    fn share_of_texts(&self, guess: &'a str, truth: &'a str) -> Result<f64, Fault> {
        let (truth, guess) = (self.truth.column(truth)?, self.guess.column(guess)?);
        let rows = self.truth.rows.iter().zip(self.guess.rows);
        let hits: Vec<bool> = rows
            .map(|(left, right)| python::text_of(truth.cell(left)) == python::text_of(guess.cell(right)))
            .collect();
        self.score_labels(&vec![true; hits.len()], &hits)
    }

    fn score_typed(&self, guess_name: &str, truth_name: &str, missing: MissingLabel) -> Result<f64, Fault> {
        let truth = self.truth.labels(truth_name, missing)?;
        let guess = self.guess.labels(guess_name, missing)?;
        if truth.are_text() != guess.are_text() {
            let name = quote(guess_name);
            let (found, expected) =
                if truth.are_text() { ("numbers", "text labels") } else { ("text", "whole numbers") };
            return Err(Fault::Submission(format!("column {name} holds {found}, expected {expected}")));
        }
        match (truth, guess) {
            (Labels::Text(truth), Labels::Text(guess)) => self.score_labels(&truth, &guess),
            (Labels::Whole(truth), Labels::Whole(guess)) => self.score_labels(&truth, &guess),
            (truth, guess) => {
                let (truth, guess) = (truth.into_wide(), guess.into_wide());
                if self.declared.metric == MetricName::QuadraticWeightedKappa {
                    let columns = (self.truth.column(truth_name)?, self.guess.column(guess_name)?);
                    let kappa = ratings::kappa((&truth, columns.0), (&guess, columns.1));
                    return kappa.map_err(|error| self.fault(error));
                }
                self.score_labels::<Label<'_>>(&truth, &guess)
            }
        }
    }

    fn score_labels<T: Ord>(&self, truth: &[T], guess: &[T]) -> Result<f64, Fault> {
        let score = match self.declared.metric {
            MetricName::MacroF1 => metric::macro_f1(truth, guess),
            MetricName::QuadraticWeightedKappa => metric::quadratic_weighted_kappa(truth, guess),
            MetricName::ErrorRate => metric::accuracy(truth, guess).map(|share| 1.0 - share),
            _ => metric::accuracy(truth, guess),
        };
        score.map_err(|error| self.fault(error))
    }

    fn fault(&self, error: MetricError) -> Fault {
        match error {
            MetricError::PredictionOutOfDomain { row, value, domain, .. } => {
                let row = self.guess.rows.get(row).unwrap_or(row);
                let name = self.guess.row_name(row);
                Fault::Submission(format!("{name}: found {value}, expected a value that is {domain}"))
            }
            MetricError::Empty => Fault::submission("there are no rows to score"),
            other => Fault::Answers(AnswersFault::Metric(other)),
        }
    }
}
