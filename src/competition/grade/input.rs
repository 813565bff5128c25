//! What a grader of Kaggle's competitions is given, and what it gives back.
//!
//! A grader sees two tables as pandas would have read them (or the JSON lines of the answers) and the competition's
//! entry. It returns a score, or says whose fault it is that there is none. A reason for the agent names a column, a
//! data row and what was expected; a fault of the answers has no room for one of their cells.

use crate::catalog::{Competition, Rounding};
use crate::csv::Table;
use crate::grade::align::Repeats;
use crate::grade::outcome::AnswersFault;

/// The answers, in the form their file has.
#[derive(Debug)]
pub(crate) enum Answers {
    /// A CSV file.
    Table(Table),
    /// A file of JSON lines.
    Lines(Vec<serde_json::Value>),
}

/// One submission with what it is graded against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    pub(crate) competition: &'a Competition,
    pub(crate) submission: &'a Table,
    pub(crate) answers: &'a Answers,
}

impl<'a> Input<'a> {
    /// The answers as a table.
    pub(crate) fn truth(&self) -> Result<&'a Table, Fault> {
        match self.answers {
            Answers::Table(table) => Ok(table),
            Answers::Lines(_) => Err(Fault::answers("a table is expected")),
        }
    }

    /// The answers as JSON lines.
    pub(crate) fn lines(&self) -> Result<&'a [serde_json::Value], Fault> {
        match self.answers {
            Answers::Lines(lines) => Ok(lines),
            Answers::Table(_) => Err(Fault::answers("JSON lines are expected")),
        }
    }
}

/// A score with remarks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Score {
    /// In full precision; NaN and infinities are scores.
    pub(crate) value: f64,
    /// How it is rounded to five decimals.
    pub(crate) rounding: Rounding,
    /// Official quirks that took effect, and other remarks.
    pub(crate) notes: Vec<String>,
}

impl Score {
    /// A score that is a plain Python float, without remarks.
    pub(crate) const fn python(value: f64) -> Self {
        Self { value, rounding: Rounding::Python, notes: Vec::new() }
    }

    /// A score that is a NumPy double, without remarks.
    pub(crate) const fn numpy(value: f64) -> Self {
        Self { value, rounding: Rounding::Numpy, notes: Vec::new() }
    }

    /// The same score with a remark where keys repeat.
    pub(crate) fn noting(mut self, repeats: Repeats) -> Self {
        self.notes.extend(repeats.note());
        self
    }

    /// The same score with a remark.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// Whose fault it is that there is no score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// The submission is invalid, for this reason.
    Submission(String),
    /// The answers cannot be graded against.
    Answers(AnswersFault),
}

impl Fault {
    /// An invalid submission.
    pub(crate) fn submission(reason: impl Into<String>) -> Self {
        Self::Submission(reason.into())
    }

    /// Answers that are not as they should be; in words that hold none of their cells.
    pub(crate) const fn answers(problem: &'static str) -> Self {
        Self::Answers(AnswersFault::Unexpected(problem))
    }
}
