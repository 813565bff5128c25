//! Grading: a submission and the answers make a score, or a reason why not.
//!
//! `validate` runs the same code as `grade` and drops the score, so the two cannot disagree. A reason names the
//! column, the data row (from 1) and the id, and says what was expected; it never holds a word of the answers
//! beyond the ids, which the test table shows as well.

mod file;
mod hash;
mod keys;
mod outcome;
mod reason;
mod score;
mod sheet;

use std::fs::File;
use std::path::Path;

use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;

use crate::catalog::{Competition, ValueRule};
use crate::csv::{self, CsvError, ReadOptions, Table};
use podium_types::nearest::nearest;

pub use outcome::{AnswersFault, GradeError, Graded, Outcome};

use file::{Found, Hashing};
use keys::{AnswerKeys, KeyColumns};
use reason::{count, quote, quote_all};
use score::{Fault, Pair};
use sheet::{Expected, Sheet};

/// Grades the file at `submission` against the file at `answers`. A symbolic link at `submission` itself counts as
/// no file: an agent could point it anywhere.
pub fn grade(competition: &Competition, submission: &Path, answers: &Path) -> Result<Graded, GradeError> {
    examine(competition, submission, answers, None)
}

/// Whether the grader would accept the file at `submission`; says whether it repeats the file at `sample`.
pub fn validate(
    competition: &Competition,
    submission: &Path,
    answers: &Path,
    sample: Option<&Path>,
) -> Result<Verdict, GradeError> {
    let graded = examine(competition, submission, answers, sample)?;
    Ok(match (graded.outcome, graded.sha256) {
        (Outcome::Scored { .. }, Some(sha256)) => {
            Verdict::Valid { sha256, copies_sample: graded.copies_sample.unwrap_or(false) }
        }
        // What has a score was read to its end, and what was read to its end has a hash.
        (Outcome::Scored { .. }, None) => Verdict::Missing { found: "a file that was not read".to_owned() },
        (Outcome::Invalid { reason }, _) => Verdict::Invalid { reason },
        (Outcome::Missing { found }, _) => Verdict::Missing { found },
    })
}

/// [`grade`], and [`validate`]'s comparison with the sample submission where one is given.
pub fn examine(
    competition: &Competition,
    submission: &Path,
    answers: &Path,
    sample: Option<&Path>,
) -> Result<Graded, GradeError> {
    let answers = read_answers(competition, answers)?;
    let unfit = |problem: AnswersFault| GradeError::Unfit { competition: competition.id.clone(), problem };
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

    let ended = |outcome| Ok(Graded { outcome, sha256: None, copies_sample: None });
    let file = match file::open(submission) {
        Found::File(file) => file,
        Found::Other(found) => return ended(Outcome::Missing { found: found.to_owned() }),
        Found::Unfit(reason) => return ended(Outcome::Invalid { reason }),
    };
    let (table, sha256) = match read_submission(competition, file, answers.rows) {
        Ok(read) => read,
        Err(reason) => return ended(Outcome::Invalid { reason }),
    };
    let invalid = |reason| {
        Ok(Graded { outcome: Outcome::Invalid { reason }, sha256: Some(sha256.clone()), copies_sample: None })
    };
    let guess = match align(competition, &table, &index) {
        Ok(guess) => guess,
        Err(reason) => return invalid(reason),
    };
    match (Pair { competition, truth: &truth, guess: &guess }).score() {
        Err(Fault::Answers(problem)) => Err(unfit(problem)),
        Err(Fault::Submission(reason)) => invalid(reason),
        Ok(mut score) => {
            score.notes.extend(remarks(competition, &table));
            Ok(Graded {
                outcome: Outcome::Scored { raw_score: score.value, notes: score.notes },
                copies_sample: sample.map(|sample| copies(competition, &guess, sample, &index)),
                sha256: Some(sha256),
            })
        }
    }
}

/// Cells that are read as the file spells them: those of labels and text, so that a label `NA` stays one.
fn options(competition: &Competition, predicted: &[String]) -> ReadOptions {
    let key = &competition.submission.id;
    let class_names = predicted.len() == 1 && competition.submission.columns.len() > 1;
    let as_text = !competition.submission.value.is_numeric() || class_names;
    ReadOptions {
        keep: Some(key.iter().chain(predicted).cloned().collect()),
        as_text: if as_text { predicted.to_vec() } else { Vec::new() },
        ..ReadOptions::default()
    }
}

fn read_answers(competition: &Competition, path: &Path) -> Result<Table, GradeError> {
    let id = || competition.id.clone();
    let file = File::open(path).map_err(|source| GradeError::Open { competition: id(), source })?;
    csv::read(file, &options(competition, competition.answer_columns()))
        .map_err(|source| GradeError::Read { competition: id(), source })
}

/// The table in a submission with the hash of its bytes, or why it cannot be read.
fn read_submission(competition: &Competition, file: File, rows: usize) -> Result<(Table, Sha256), String> {
    let mut options = options(competition, &competition.submission.columns);
    // Far more rows than asked for are refused before they fill the memory.
    options.max_rows = Some(2 * rows as u64 + 1000);
    let mut reader = Hashing::new(file);
    let table = csv::read(&mut reader, &options).map_err(|error| match error {
        CsvError::Io(source) => format!("the file cannot be read: {source}"),
        CsvError::TooManyRows { .. } => format!("{error}, expected {rows}"),
        other => other.to_string(),
    })?;
    Ok((table, reader.finish()))
}

/// The submission in the order of the answers, or why it cannot be aligned.
fn align<'a>(
    competition: &'a Competition,
    table: &'a Table,
    answers: &AnswerKeys<'_>,
) -> Result<Sheet<'a>, String> {
    let format = &competition.submission;
    if table.names.is_empty() {
        return Err("the file is empty".to_owned());
    }
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

fn missing_column(name: &str, table: &Table) -> String {
    let names = || table.names.iter().map(String::as_str);
    let reason = format!("column {} is missing, the file has {}", quote(name), quote_all(names()));
    if let [only] = table.names.as_slice()
        && only.contains([';', '\t'])
    {
        return format!("{reason}; cells are separated by commas");
    }
    match nearest(name, names()) {
        Some(nearest) => format!("{reason}; is {} meant?", quote(&nearest)),
        None => reason,
    }
}

/// Says that the first data row is longer than the header, which shifts all columns.
fn shift(table: &Table) -> Option<String> {
    let extra = count(table.row_labels.len(), "extra cell");
    (!table.row_labels.is_empty()).then(|| {
        format!("the first data row has {extra} beyond the header, so as many at the start of each row are left out")
    })
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

/// Whether the predictions equal those of the sample submission; false where that cannot be read.
fn copies(competition: &Competition, guess: &Sheet<'_>, sample: &Path, answers: &AnswerKeys<'_>) -> bool {
    let Some((table, _)) =
        File::open(sample).ok().and_then(|file| read_submission(competition, file, answers.rows()).ok())
    else {
        return false;
    };
    let Ok(sample) = align(competition, &table, answers) else { return false };
    let numeric = competition.submission.value.is_numeric();
    let label = competition.submission.value == ValueRule::Label;
    competition.submission.columns.iter().all(|column| {
        if numeric {
            let numbers = |sheet: &Sheet<'_>| sheet.numbers(column, Expected::Number).ok();
            numbers(guess).is_some_and(|guess| Some(guess) == numbers(&sample))
        } else {
            let texts = [guess, &sample].map(|sheet| sheet.texts(column, !label).ok());
            let [guess, sample] = texts;
            guess.is_some() && guess == sample
        }
    })
}
