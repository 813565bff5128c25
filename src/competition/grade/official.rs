//! Grading Kaggle's competitions as MLE-bench does: both files are read with pandas' types, then the declared or the
//! native grader decides. What makes the official grader raise makes a submission invalid here, also where the answers
//! are the cause; only answers that lack a column or cannot be read are an error of ours.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::catalog::{AnswersFormat, Competition, Declared, Grading, Step};
use crate::csv::{Column, ReadOptions, Table};
use crate::grade::align::sort_only;
use crate::grade::declared;
use crate::grade::file::{self, RowLimit};
use crate::grade::input::{Answers, Fault, Input, Score};
use crate::grade::lines::{self, LinesFault};
use crate::grade::native::{self, Native};
use crate::grade::order::same_key;
use crate::grade::outcome::{AnswersFault, GradeError, Graded, Outcome};
use crate::parallel::both;

/// Who decides.
enum Grader<'a> {
    Declared(&'a Declared),
    Native(Native),
}

/// Grades the file at `submission`, and compares it with the file at `sample` where one is given.
pub(crate) fn examine(
    competition: &Competition,
    submission: &Path,
    answers: &Path,
    sample: Option<&Path>,
) -> Result<Graded, GradeError> {
    let grader = grader(competition)?;
    let options = options(competition, &grader);
    let limit = RowLimit::none();
    // Both files at the same time: for most competitions reading is the longest part.
    let (reading, answers) = both(
        || file::read_submission(submission, &options, &limit),
        || {
            let answers = read_answers(competition, &grader, answers);
            match &answers {
                Ok(answers) => limit.set(fixed_rows(&grader, answers)),
                Err(_) => limit.stop(),
            }
            answers
        },
    );
    let answers = answers?;
    let (table, sha256) = match reading.settle(fixed_rows(&grader, &answers)) {
        Ok(read) => read,
        Err(outcome) => return Ok(Graded { outcome, sha256: None, copies_sample: None }),
    };
    let input = Input { competition, submission: &table, answers: &answers };
    let outcome = match grader.grade(&input) {
        Ok(Score { value, rounding, notes }) => Outcome::Scored { raw_score: value, rounding, notes },
        Err(Fault::Submission(reason)) => Outcome::Invalid { reason },
        Err(Fault::Answers(problem @ (AnswersFault::NoColumn(_) | AnswersFault::NoRows))) => {
            return Err(GradeError::Unfit { competition: competition.id.clone(), problem });
        }
        Err(Fault::Answers(problem)) => {
            Outcome::Invalid { reason: format!("the answers cannot be graded against: {problem}") }
        }
    };
    let copies_sample = match outcome {
        Outcome::Scored { .. } => sample.map(|sample| copies(competition, &table, sample, &options)),
        Outcome::Invalid { .. } | Outcome::Missing { .. } => None,
    };
    Ok(Graded { outcome, sha256: Some(sha256), copies_sample })
}

impl Grader<'_> {
    fn grade(&self, input: &Input<'_>) -> Result<Score, Fault> {
        match self {
            Self::Declared(declared) => declared::grade(declared, input),
            Self::Native(native) => native(input),
        }
    }
}

fn grader(competition: &Competition) -> Result<Grader<'_>, GradeError> {
    let unknown = |grader: &str| GradeError::NoGrader {
        competition: competition.id.clone(),
        grader: grader.to_owned(),
    };
    match &competition.grading {
        Grading::Declared(declared) => Ok(Grader::Declared(declared)),
        Grading::Native { grader } => native::find(grader).map(Grader::Native).ok_or_else(|| unknown(grader)),
        Grading::House { .. } => Err(unknown("house")),
    }
}

/// A declared grading reads only what its steps name, so that other columns cost nothing; their names are kept.
fn options(competition: &Competition, grader: &Grader<'_>) -> ReadOptions {
    let format = &competition.submission;
    let keep = match grader {
        Grader::Declared(_) => Some(format.id.iter().chain(&format.columns).cloned().collect()),
        Grader::Native(_) => None,
    };
    ReadOptions { keep, ..ReadOptions::default() }
}

fn answer_options(competition: &Competition, grader: &Grader<'_>) -> ReadOptions {
    let Grader::Declared(declared) = grader else { return ReadOptions::default() };
    if declared.steps.contains(&Step::CompleteAnswers) {
        return ReadOptions::default();
    }
    let mut keep: Vec<String> =
        competition.submission.id.iter().chain(competition.answer_columns()).cloned().collect();
    keep.extend(declared.steps.iter().filter_map(|step| match step {
        Step::ScoredWhere { column, .. } => Some(column.clone()),
        _ => None,
    }));
    ReadOptions { keep: Some(keep), ..ReadOptions::default() }
}

/// The number of rows where the grading fixes it.
fn fixed_rows(grader: &Grader<'_>, answers: &Answers) -> Option<usize> {
    match (grader, answers) {
        (Grader::Declared(declared), Answers::Table(table)) => {
            declared.steps.contains(&Step::SameRowCount).then_some(table.rows)
        }
        _ => None,
    }
}

fn read_answers(competition: &Competition, grader: &Grader<'_>, path: &Path) -> Result<Answers, GradeError> {
    let id = || competition.id.clone();
    let file = File::open(path).map_err(|source| GradeError::Open { competition: id(), source })?;
    match competition.answers.format {
        AnswersFormat::Csv => file::read_open(&file, &answer_options(competition, grader))
            .map(Answers::Table)
            .map_err(|source| GradeError::Read { competition: id(), source }),
        AnswersFormat::Jsonl => lines::read(BufReader::new(file), competition.answers.columns.as_deref())
            .map(Answers::Lines)
            .map_err(|fault| match fault {
                LinesFault::Io(source) => GradeError::Open { competition: id(), source },
                LinesFault::Line(line) => GradeError::Lines { competition: id(), line },
            }),
    }
}

/// Whether the predictions equal those of the sample submission, whatever the order of the rows; false where that
/// cannot be read.
fn copies(competition: &Competition, table: &Table, sample: &Path, options: &ReadOptions) -> bool {
    let Ok(sample) = file::read_trusted(sample, options) else { return false };
    let format = &competition.submission;
    let rows = match format.id.first().map(|key| sort_only(table, &sample, key)) {
        Some(Ok(pairing)) => pairing,
        _ => crate::grade::align::Pairing::by_position(table, &sample),
    };
    if rows.submission.len() != rows.answers.len() {
        return false;
    }
    let same = |left: &Column, right: &Column| {
        rows.submission.iter().zip(&rows.answers).all(|(one, other)| {
            let (one, other) = (left.cell(one), right.cell(other));
            one == other || same_key(&one, &other)
        })
    };
    format.id.iter().chain(&format.columns).all(|name| match (table.column(name), sample.column(name)) {
        (Some(left), Some(right)) => same(left, right),
        (None, None) => true,
        _ => false,
    })
}
