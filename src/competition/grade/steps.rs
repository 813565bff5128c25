//! The steps of a declared grading, made in the order in which the catalog lists them: checks that refuse a submission,
//! and the alignment that says which rows belong together.

use crate::catalog::{Competition, RowSum, Step};
use crate::csv::{Cell, Column, Table};
use crate::grade::align::{self, Pairing};
use crate::grade::cells::{Side, Whose};
use crate::grade::input::{Fault, Input};
use crate::grade::outcome::AnswersFault;
use crate::grade::reason::{quote, quote_all};
use crate::grade::rows::Rows;

/// Makes the steps; the result pairs rows. Without a step that aligns, rows pair by position.
pub(crate) fn run(steps: &[Step], input: &Input<'_>) -> Result<Pairing, Fault> {
    let answers = input.truth()?;
    let state = Steps { competition: input.competition, submission: input.submission, answers };
    let mut pairing = Pairing::by_position(input.submission, answers);
    for step in steps {
        state.step(step, &mut pairing)?;
    }
    if pairing.answers.len() == pairing.submission.len() {
        return Ok(pairing);
    }
    let (found, expected) = (pairing.submission.len(), pairing.answers.len());
    Err(Fault::Submission(format!("{found} rows are to be scored, expected {expected}")))
}

struct Steps<'a> {
    competition: &'a Competition,
    submission: &'a Table,
    answers: &'a Table,
}

impl<'a> Steps<'a> {
    fn step(&self, step: &Step, pairing: &mut Pairing) -> Result<(), Fault> {
        let (submission, answers) = (self.submission, self.answers);
        let format = &self.competition.submission;
        match step {
            Step::HasColumns => align::has_columns(submission, format.id.iter().chain(&format.columns)),
            Step::HasPredictions => align::has_columns(submission, &format.columns),
            Step::OnlyTheseColumns => self.only_these_columns(),
            Step::NotEmpty if submission.rows == 0 => Err(Fault::submission("there are no data rows")),
            Step::NotEmpty => Ok(()),
            Step::SameRowCount => align::same_row_count(submission, answers),
            Step::CompleteAnswers => self.complete_answers(),
            Step::SameKeySet => align::same_key_set(submission, answers, self.key()),
            Step::Numeric => self.each_prediction("a number", |_| true, true),
            Step::WithinOrMissing(low, high) => {
                let words = format!("a number from {low} to {high}");
                self.each_prediction(&words, |value| (*low..=*high).contains(&value), true)
            }
            Step::Within(low, high) => {
                let words = format!("a number from {low} to {high}");
                self.each_prediction(&words, |value| (*low..=*high).contains(&value), false)
            }
            Step::RowSum(rule) => self.row_sum(*rule),
            Step::SortByKey => {
                *pairing = align::sort_by_key(submission, answers, self.key())?;
                Ok(())
            }
            Step::SortOnly => {
                *pairing = align::sort_only(submission, answers, self.key())?;
                Ok(())
            }
            Step::JoinOnKey => {
                *pairing = align::join(submission, answers, self.key())?;
                Ok(())
            }
            Step::ScoredWhere { column, equals } => self.scored_where(column, *equals, pairing),
        }
    }

    fn key(&self) -> &'a str {
        self.competition.submission.id.first().map_or("", String::as_str)
    }

    fn side(&self) -> Side<'a> {
        let key = Some(self.key()).filter(|key| !key.is_empty());
        Side { whose: Whose::Submission, table: self.submission, key, rows: &Rows::All(0) }
    }

    fn only_these_columns(&self) -> Result<(), Fault> {
        let format = &self.competition.submission;
        let known = |name: &&String| format.id.contains(name) || format.columns.contains(name);
        let extra: Vec<&str> =
            self.submission.names.iter().filter(|name| !known(name)).map(String::as_str).collect();
        if extra.is_empty() {
            return align::has_columns(self.submission, format.id.iter().chain(&format.columns));
        }
        let extra = quote_all(extra.into_iter());
        Err(Fault::Submission(format!("columns that are not expected: {extra}")))
    }

    fn complete_answers(&self) -> Result<(), Fault> {
        for (name, column) in self.answers.columns() {
            if column.cells().any(|cell| cell == Cell::Missing) {
                return Err(Fault::Answers(AnswersFault::EmptyCell(name.to_owned())));
            }
        }
        Ok(())
    }

    /// Every predicted cell of every row is a number that `admits`.
    fn each_prediction(
        &self,
        expected: &str,
        admits: impl Fn(f64) -> bool,
        missing: bool,
    ) -> Result<(), Fault> {
        for name in &self.competition.submission.columns {
            let column = align::column(self.submission, name)?;
            let fits = |cell: &Cell<'_>| match cell {
                Cell::Missing => missing,
                cell => cell.number().is_some_and(&admits),
            };
            // A text column has no order against numbers, so it is refused whatever it holds.
            if let Some(row) = column.cells().position(|cell| !fits(&cell)) {
                return Err(self.side().misfit(name, row, expected));
            }
        }
        Ok(())
    }

    fn row_sum(&self, rule: RowSum) -> Result<(), Fault> {
        let columns: Result<Vec<&Column>, Fault> = self
            .competition
            .submission
            .columns
            .iter()
            .map(|name| align::column(self.submission, name))
            .collect();
        check_row_sums(&self.side(), &columns?, rule)
    }

    fn scored_where(&self, column: &str, equals: f64, pairing: &mut Pairing) -> Result<(), Fault> {
        let flags = align::truth_column(self.answers, column)?;
        let scored = |row: usize| flags.cell(row).number() == Some(equals);
        let pairs = || pairing.answers.iter().zip(&pairing.submission).filter(|(answer, _)| scored(*answer));
        let (answers, submission) =
            (pairs().map(|(answer, _)| answer).collect(), pairs().map(|(_, row)| row).collect());
        *pairing = Pairing { answers, submission, repeats: pairing.repeats };
        if pairing.answers.is_empty() { Err(Fault::answers("no row is scored")) } else { Ok(()) }
    }
}

/// The cells of each row sum to one. Missing cells are left out.
pub(crate) fn check_row_sums(side: &Side<'_>, columns: &[&Column], rule: RowSum) -> Result<(), Fault> {
    let mut sums = vec![0.0; side.table.rows];
    for column in columns {
        for (row, (sum, cell)) in sums.iter_mut().zip(column.cells()).enumerate() {
            match cell {
                Cell::Missing => {}
                cell => match cell.number() {
                    Some(value) => *sum += value,
                    None => {
                        let (row, found) = (side.row_name(row), quote(&cell.to_string()));
                        return Err(Fault::Submission(format!("{row}: found {found}, expected a number")));
                    }
                },
            }
        }
    }
    let close = |sum: f64| match rule {
        RowSum::IsClose => (sum - 1.0).abs() <= 1e-6 + 1e-5,
        RowSum::SixDecimals => ((sum * 1e6).round_ties_even() / 1e6 - 1.0).abs() == 0.0,
    };
    let limit = match rule {
        RowSum::IsClose => "1 within 0.000011",
        RowSum::SixDecimals => "1 after rounding to six decimals",
    };
    match sums.iter().position(|sum| !close(*sum)) {
        None => Ok(()),
        Some(row) => {
            let (name, sum) = (side.row_name(row), sums.get(row).copied().unwrap_or_default());
            Err(Fault::Submission(format!("{name}: the probabilities sum to {sum}, expected {limit}")))
        }
    }
}
