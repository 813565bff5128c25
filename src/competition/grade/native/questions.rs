//! Open questions about a page, each with a long and a short answer given as a span of tokens:
//! `tensorflow2-question-answering`. The answers are JSON lines with what annotators marked.

use std::collections::HashMap;

use podium_metric as metric;
use podium_metric::literal::{Integer, integer, is_blank};
use serde_json::Value;

use crate::csv::{Cell, Table};
use crate::grade::align::column;
use crate::grade::hash::FastHash;
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::single::{misfit, row_name};
use crate::grade::python::text_of;

/// Endings of the two rows that each question has.
const LONG: &str = "_long";
const SHORT: &str = "_short";

/// What is predicted or accepted. Bounds are whole numbers of any size.
#[derive(Debug, PartialEq)]
enum Reply {
    Span(Integer, Integer),
    Word(String),
}

/// Share of rows with the right decision: an accepted reply, or none where none is accepted.
///
/// Officially a micro F1 over both labels, which is the accuracy.
pub(crate) fn answer_spans(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, lines) = (input.submission, input.lines()?);
    let format = &input.competition.submission;
    let ([key], [target]) = (format.id.as_slice(), format.columns.as_slice()) else {
        return Err(Fault::answers("the grader takes one key column and one predicted column"));
    };
    if submission.rows != 2 * lines.len() {
        let (found, expected) = (submission.rows, 2 * lines.len());
        return Err(Fault::Submission(format!(
            "the file has {found} data rows, expected {expected}: a long and a short one for each question"
        )));
    }
    let questions = annotations(lines)?;
    let replies = replies(submission, key, target)?;
    let mut seen = vec![[false; 2]; lines.len()];
    let mut hits = 0u64;
    let keys = column(submission, key)?;
    for (row, reply) in replies.iter().enumerate() {
        let id = spelled(keys.cell(row));
        let refuse = |problem| Fault::Submission(format!("{}: {problem}", row_name(key, keys, row)));
        let (question, long) = match (id.strip_suffix(LONG), id.strip_suffix(SHORT)) {
            (Some(question), _) => (question, true),
            (None, Some(question)) => (question, false),
            (None, None) => return Err(refuse("the id does not end in `_long` or `_short`")),
        };
        let Some((number, _)) = questions.get(question) else {
            return Err(refuse("the id is not one of the rows to predict"));
        };
        let twice = seen.get_mut(*number).and_then(|seen| seen.get_mut(usize::from(long)));
        if twice.is_none_or(|seen| std::mem::replace(seen, true)) {
            return Err(refuse("the id stands twice"));
        }
        // Officially the id is cut at the first such ending, not at the last.
        let cut = id.split(if long { LONG } else { SHORT }).next().unwrap_or_default();
        let annotation = questions.get(cut).and_then(|(_, annotation)| accepted(annotation, long));
        let accepted = annotation.ok_or_else(|| Fault::answers("an annotation is malformed"))?;
        let right = match reply {
            Some(reply) => accepted.contains(reply),
            None => accepted.is_empty(),
        };
        hits += u64::from(right);
    }
    if replies.is_empty() {
        return Err(Fault::answers("there are no questions"));
    }
    let rows = replies.len() as u64;
    Ok(Score::python(metric::f1_from_counts(hits, rows, rows)))
}

/// The first annotation of each question by id, with the number of the question.
fn annotations(lines: &[Value]) -> Result<HashMap<&str, (usize, &Value), FastHash>, Fault> {
    let mut questions = HashMap::with_capacity_and_hasher(lines.len(), FastHash::default());
    for (number, line) in lines.iter().enumerate() {
        let id = line.get("example_id").and_then(Value::as_str);
        let annotation = line.get("annotations").and_then(|all| all.get(0));
        match (id, annotation) {
            (Some(id), Some(annotation)) => questions.insert(id, (number, annotation)),
            _ => return Err(Fault::answers("a question has no textual id or no annotation")),
        };
    }
    Ok(questions)
}

/// The cell as text; a missing one is empty here.
fn spelled(cell: Cell<'_>) -> std::borrow::Cow<'_, str> {
    match cell {
        Cell::Missing => "".into(),
        cell => text_of(cell),
    }
}

/// What the rows predict; nothing is a reply too.
fn replies(submission: &Table, key: &str, target: &str) -> Result<Vec<Option<Reply>>, Fault> {
    let (keys, guess) = (column(submission, key)?, column(submission, target)?);
    let expected = "a span `start:end` of whole numbers, `YES`, `NO` or nothing";
    guess
        .cells()
        .enumerate()
        .map(|(row, cell)| {
            let text = spelled(cell);
            let refuse = || {
                let row_name = row_name(key, keys, row);
                Fault::Submission(misfit(target, guess, &row_name, row, expected))
            };
            match text.trim_matches(is_blank) {
                "" => Ok(None),
                word @ ("YES" | "NO") => Ok(Some(Reply::Word(word.to_owned()))),
                span => match span.split_once(':') {
                    Some((start, end)) if !end.contains(':') => match (integer(start), integer(end)) {
                        (Some(start), Some(end)) => Ok(Some(Reply::Span(start, end))),
                        _ => Err(refuse()),
                    },
                    _ => Err(refuse()),
                },
            }
        })
        .collect()
}

/// All replies that count as right for one row.
fn accepted(annotation: &Value, long: bool) -> Option<Vec<Reply>> {
    if long {
        let answer = annotation.get("long_answer")?;
        if answer.get("start_token")?.as_f64() == Some(-1.0) {
            return Some(Vec::new());
        }
        return Some(vec![span(answer)?]);
    }
    let mut replies: Vec<Reply> =
        annotation.get("short_answers")?.as_array()?.iter().map(span).collect::<Option<_>>()?;
    match annotation.get("yes_no_answer")? {
        Value::String(word) if word == "NONE" => {}
        Value::String(word) => replies.push(Reply::Word(word.clone())),
        // Something else is accepted by the official grader too, but no prediction equals it.
        _ => replies.push(Reply::Word(String::new())),
    }
    Some(replies)
}

fn span(answer: &Value) -> Option<Reply> {
    let bound = |name| match answer.get(name)? {
        Value::String(text) => integer(text),
        Value::Bool(value) => Some(Integer::Small(i128::from(*value))),
        Value::Number(number) => match number.as_i128() {
            Some(value) => Some(Integer::Small(value)),
            None => integer(&format!("{:.0}", number.as_f64()?.trunc())),
        },
        _ => None,
    };
    Some(Reply::Span(bound("start_token")?, bound("end_token")?))
}
