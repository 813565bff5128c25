//! Grading by the rules of the offline competitions: every row to predict stands once, in any order; every predicted
//! cell is of the kind that the entry names. Stricter than the official graders of Kaggle's competitions, and the same
//! for all metrics.

use std::fs::File;
use std::path::Path;

use crate::catalog::{Competition, MetricName, ValueRule};
use crate::csv::{ReadOptions, Table};
use crate::grade::file::{self, RowLimit};
use crate::grade::input::Fault;
use crate::grade::keys::{AnswerKeys, KeyColumns};
use crate::grade::outcome::{AnswersFault, GradeError, Graded, Outcome};
use crate::grade::reason::{count, missing_column, quote_all, shift};
use crate::grade::score::Pair;
use crate::grade::sheet::{Expected, Sheet};

/// The rules of one competition.
#[derive(Clone, Copy)]
pub(crate) struct House<'a> {
    pub(crate) competition: &'a Competition,
    pub(crate) metric: MetricName,
    pub(crate) value: ValueRule,
}

impl House<'_> {
    /// Grades the file at `submission`, and compares it with the file at `sample` where one is given.
    pub(crate) fn examine(
        self,
        submission: &Path,
        answers: &Path,
        sample: Option<&Path>,
    ) -> Result<Graded, GradeError> {
        let competition = self.competition;
        let answers = self.read_answers(answers)?;
        let unfit =
            |problem: AnswersFault| GradeError::Unfit { competition: competition.id.clone(), problem };
        let key_names = &competition.submission.id;
        let keys = |table| KeyColumns::of(table, key_names);
        let missing = |name: &String| unfit(AnswersFault::NoColumn(name.clone()));
        let index = AnswerKeys::index(keys(&answers).map_err(missing)?).map_err(unfit)?;
        if let Some(name) = competition.answer_columns().iter().find(|name| answers.column(name).is_none()) {
            return Err(missing(name));
        }
        if answers.rows == 0 {
            return Err(unfit(AnswersFault::NoRows));
        }
        let truth = Sheet::new(&answers, keys(&answers).map_err(missing)?, (0..answers.rows).collect());

        let options = self.options(&competition.submission.columns);
        let limit = RowLimit::none();
        limit.set(Some(answers.rows));
        let reading = file::read_submission(submission, &options, &limit);
        let (table, sha256) = match reading.settle(Some(answers.rows)) {
            Ok(read) => read,
            Err(outcome) => return Ok(Graded { outcome, sha256: None, copies_sample: None }),
        };
        let invalid = |reason| {
            let outcome = Outcome::Invalid { reason };
            Ok(Graded { outcome, sha256: Some(sha256.clone()), copies_sample: None })
        };
        let guess = match align(competition, &table, &index) {
            Ok(guess) => guess,
            Err(reason) => return invalid(reason),
        };
        match (Pair { rules: self, truth: &truth, guess: &guess }).score() {
            Err(Fault::Answers(problem)) => Err(unfit(problem)),
            Err(Fault::Submission(reason)) => invalid(reason),
            Ok(mut score) => {
                score.notes.extend(remarks(competition, &table));
                let (raw_score, rounding) = (score.value, score.rounding);
                Ok(Graded {
                    outcome: Outcome::Scored { raw_score, rounding, notes: score.notes },
                    copies_sample: sample.map(|sample| self.copies(&guess, sample, &index)),
                    sha256: Some(sha256),
                })
            }
        }
    }

    /// Cells that are read as the file spells them: those of labels and text, so that a label `NA` stays one.
    fn options(self, predicted: &[String]) -> ReadOptions {
        let format = &self.competition.submission;
        let class_names = predicted.len() == 1 && format.columns.len() > 1;
        let as_text = !self.value.is_numeric() || class_names;
        ReadOptions {
            keep: Some(format.id.iter().chain(predicted).cloned().collect()),
            as_text: if as_text { predicted.to_vec() } else { Vec::new() },
            ..ReadOptions::default()
        }
    }

    fn read_answers(self, path: &Path) -> Result<Table, GradeError> {
        let id = || self.competition.id.clone();
        let file = File::open(path).map_err(|source| GradeError::Open { competition: id(), source })?;
        file::read_open(&file, &self.options(self.competition.answer_columns()))
            .map_err(|source| GradeError::Read { competition: id(), source })
    }

    /// Whether the predictions equal those of the sample submission; false where that cannot be read.
    fn copies(self, guess: &Sheet<'_>, sample: &Path, answers: &AnswerKeys<'_>) -> bool {
        let format = &self.competition.submission;
        let options = self.options(&format.columns);
        let Ok(table) = file::read_trusted(sample, &options) else { return false };
        let Ok(sample) = align(self.competition, &table, answers) else { return false };
        let label = self.value == ValueRule::Label;
        format.columns.iter().all(|column| {
            if self.value.is_numeric() {
                let numbers = |sheet: &Sheet<'_>| sheet.numbers(column, Expected::Number).ok();
                numbers(guess).is_some_and(|guess| Some(guess) == numbers(&sample))
            } else {
                let texts = [guess, &sample].map(|sheet| sheet.texts(column, !label).ok());
                let [guess, sample] = texts;
                guess.is_some() && guess == sample
            }
        })
    }
}

/// The submission in the order of the answers, or why it cannot be aligned.
fn align<'a>(
    competition: &'a Competition,
    table: &'a Table,
    answers: &AnswerKeys<'_>,
) -> Result<Sheet<'a>, String> {
    let format = &competition.submission;
    if let Some(missing) = format.id.iter().chain(&format.columns).find(|name| !table.names.contains(name)) {
        return Err(missing_column(missing, table));
    }
    if table.rows == 0 {
        return Err(format!("there are no data rows, expected {}", answers.rows()));
    }
    let keys = || KeyColumns::of(table, &format.id).map_err(|name| missing_column(name, table));
    let order = answers.pair(&keys()?).map_err(|reason| match shift(table) {
        None => reason,
        Some(shift) => format!("{reason}; {shift}"),
    })?;
    Ok(Sheet::new(table, keys()?, order))
}

fn remarks(competition: &Competition, table: &Table) -> Vec<String> {
    let format = &competition.submission;
    let extra: Vec<&str> = table
        .names
        .iter()
        .filter(|name| !format.id.contains(name) && !format.columns.contains(name))
        .map(String::as_str)
        .collect();
    let ignored = (!extra.is_empty())
        .then(|| format!("{} ignored: {}", count(extra.len(), "column"), quote_all(extra.into_iter())));
    ignored.into_iter().chain(shift(table)).collect()
}
