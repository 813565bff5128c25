//! What came of an execution, as prompts tell it: how it ended, its output cut to a bearable length, and the format
//! check of its submission.

use podium_types::execution::{Ended, Execution};
use podium_types::verdict::Verdict;

use crate::prompts::variables::RunVariables;
use crate::spec::model::OutputSpec;

/// The variables of a finished execution.
pub fn describe(execution: &Execution, verdict: &Verdict, spec: &OutputSpec) -> RunVariables {
    let (exit_code, signal) = match execution.ended {
        Ended::Exit(code) => (Some(code), None),
        Ended::Signal(signal) => (None, Some(signal)),
    };
    let (submission, submission_problem) = match verdict {
        Verdict::Valid { copies_sample: false, .. } => ("valid", String::new()),
        Verdict::Valid { copies_sample: true, .. } => ("sample", String::new()),
        Verdict::Invalid { reason } => ("invalid", reason.clone()),
        Verdict::Missing { found } => ("missing", found.clone()),
    };
    let (output_head, output_tail, dropped_chars) = cut(&readable(&execution.output.text()), spec);
    RunVariables {
        output_head,
        output_tail,
        dropped_chars,
        wall_ms: execution.wall_ms,
        exit_code,
        signal,
        limit: execution.limit.as_ref().map(ToString::to_string).unwrap_or_default(),
        submission,
        submission_problem,
    }
}

/// How an execution failed, for the journal; `None`: it did not.
pub fn failure(execution: &Execution) -> Option<String> {
    if let Some(limit) = &execution.limit {
        return Some(limit.to_string());
    }
    if let Some(exception) = &execution.exception {
        let line = exception.line.map_or_else(String::new, |line| format!(" in line {line}"));
        let message = exception.message.lines().next().unwrap_or_default();
        return Some(format!("{}: {message}{line}", exception.kind));
    }
    match execution.ended {
        Ended::Exit(0) if execution.interrupted => Some("the execution was interrupted".to_owned()),
        Ended::Exit(0) => None,
        Ended::Exit(code) => Some(format!("exit code {code}")),
        Ended::Signal(signal) => Some(format!("ended by signal {signal}")),
    }
}

/// Output as a reader of a terminal would have seen it: a progress bar is its last state, colours are gone.
fn readable(output: &str) -> String {
    let mut text = String::with_capacity(output.len());
    for line in output.split('\n') {
        let shown = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
        let mut characters = shown.chars().peekable();
        while let Some(character) = characters.next() {
            if character == '\u{1b}' && characters.next_if_eq(&'[').is_some() {
                while characters.next_if(|next| !next.is_ascii_alphabetic()).is_some() {}
                characters.next();
            } else if character == '\t' || !character.is_control() {
                text.push(character);
            }
        }
        text.push('\n');
    }
    text.pop();
    text
}

/// Head, tail and the number of characters between them; everything is head when the text is short enough.
fn cut(text: &str, spec: &OutputSpec) -> (String, String, usize) {
    let length = text.chars().count();
    if length <= spec.max_chars {
        return (text.to_owned(), String::new(), 0);
    }
    let head = text.chars().take(spec.head_chars).collect();
    let tail = text.chars().skip(length - spec.tail_chars).collect();
    (head, tail, length - spec.head_chars - spec.tail_chars)
}
