//! What came of an execution, as prompts tell it: how it ended, its output cut to a bearable length, and the format
//! check of its submission.

use podium_types::execution::{Ended, Execution};
use podium_types::verdict::Verdict;

use crate::prompts::variables::RunVariables;
use crate::spec::OutputSpec;

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

#[cfg(test)]
mod tests {
    use super::*;
    use podium_types::execution::{Collected, Exception, LimitHit, Output};
    use proptest::prelude::*;

    fn execution(ended: Ended) -> Execution {
        Execution {
            ended,
            limit: None,
            output: Output::default(),
            exception: None,
            submission: Collected::Missing { found: "nothing".into() },
            wall_ms: 1,
            cpu_ms: None,
            peak_memory_bytes: None,
            blocked: std::collections::BTreeMap::new(),
            interrupted: false,
        }
    }

    #[test]
    fn each_way_to_fail_has_its_words() {
        let exception = |message: &str, line| {
            Some(Exception { kind: "ValueError".into(), message: message.into(), line })
        };
        let memory = Some(LimitHit::Memory { limit_bytes: 1 << 30 });
        let cases = [
            (execution(Ended::Exit(0)), None),
            (execution(Ended::Exit(3)), Some("exit code 3")),
            (execution(Ended::Signal(11)), Some("ended by signal 11")),
            (
                Execution { limit: memory, ..execution(Ended::Signal(9)) },
                Some("memory limit (1024 MiB) reached"),
            ),
            (
                Execution { exception: exception("bad\nvalue", Some(7)), ..execution(Ended::Exit(1)) },
                Some("ValueError: bad in line 7"),
            ),
            (
                Execution { exception: exception("bad", None), ..execution(Ended::Exit(0)) },
                Some("ValueError: bad"),
            ),
            (
                Execution { interrupted: true, ..execution(Ended::Exit(0)) },
                Some("the execution was interrupted"),
            ),
        ];
        for (execution, expected) in cases {
            assert_eq!(failure(&execution).as_deref(), expected);
        }
    }

    #[test]
    fn progress_bars_and_colours_are_folded() {
        assert_eq!(readable("a\rb\r100%\r\n\u{1b}[1;31mred\u{1b}[0m\tx\u{0}\n"), "100%\nred\tx\n");
    }

    proptest! {
        #[test]
        fn output_is_cut_at_both_ends_and_nothing_is_lost_count_of(text in "\\PC{0,80}") {
            let spec = OutputSpec { max_chars: 30, head_chars: 10, tail_chars: 15 };
            let (head, tail, dropped) = cut(&text, &spec);
            let length = text.chars().count();
            prop_assert!(text.starts_with(&head) && text.ends_with(&tail));
            prop_assert_eq!(head.chars().count() + tail.chars().count() + dropped, length);
            prop_assert_eq!(dropped == 0, length <= 30);
        }
    }
}
