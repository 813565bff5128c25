//! An execution as prompts tell it: how it ended, the format check of its submission, and its output cut to a bearable
//! length. Values only: the sentences are the templates'.

use podium_types::execution::{Ended, Execution, Output};
use podium_types::verdict::Verdict;

use crate::prompts::variables::RunVariables;
use crate::spec::OutputSpec;

impl RunVariables {
    /// What a finished execution and the check of its submission come to.
    pub fn new(execution: &Execution, verdict: &Verdict, spec: &OutputSpec) -> Self {
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
        let Shown { head, tail, dropped_chars } = shown(&execution.output, spec);
        Self {
            output_head: head,
            output_tail: tail,
            dropped_chars,
            lost_bytes: execution.output.dropped_bytes,
            wall_ms: execution.wall_ms,
            exit_code,
            signal,
            limit: execution.limit.clone(),
            submission,
            submission_problem,
            remarks: Vec::new(),
        }
    }
}

/// The two ends of an output; everything is head when it is short enough.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    head: String,
    tail: String,
    dropped_chars: usize,
}

fn shown(output: &Output, spec: &OutputSpec) -> Shown {
    if output.dropped_bytes == 0 {
        let text = readable(&format!("{}{}", output.head, output.tail));
        let length = text.chars().count();
        if length <= spec.max_chars {
            return Shown { head: text, tail: String::new(), dropped_chars: 0 };
        }
        return Shown {
            head: first(&text, spec.head_chars).to_owned(),
            tail: last(&text, spec.tail_chars).to_owned(),
            dropped_chars: length - spec.head_chars - spec.tail_chars,
        };
    }
    let (head, tail) = (readable(&output.head), readable(&output.tail));
    let over = |text: &str, limit: usize| text.chars().count().saturating_sub(limit);
    Shown {
        head: first(&head, spec.head_chars).to_owned(),
        tail: last(&tail, spec.tail_chars).to_owned(),
        dropped_chars: over(&head, spec.head_chars) + over(&tail, spec.tail_chars),
    }
}

fn first(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn last(text: &str, chars: usize) -> &str {
    let skipped = text.chars().count().saturating_sub(chars);
    text.char_indices().nth(skipped).and_then(|(start, _)| text.get(start..)).unwrap_or_default()
}

/// Output as a reader of a terminal would have seen it: a progress bar is its last state, colours are gone.
pub(crate) fn readable(output: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SPEC: OutputSpec = OutputSpec { max_chars: 30, head_chars: 10, tail_chars: 15 };

    fn output(head: &str, tail: &str, dropped_bytes: u64) -> Output {
        Output { head: head.into(), tail: tail.into(), dropped_bytes }
    }

    #[test]
    fn progress_bars_and_colours_are_folded() {
        assert_eq!(readable("a\rb\r100%\r\n\u{1b}[1;31mred\u{1b}[0m\tx\u{0}\n"), "100%\nred\tx\n");
    }

    #[test]
    fn output_that_was_not_kept_whole_is_two_ends_however_short() {
        let expected = Shown { head: "begin".into(), tail: "end".into(), dropped_chars: 0 };
        assert_eq!(shown(&output("begin", "end", 70_000), &SPEC), expected);
        let long = output(&"é".repeat(12), &format!("{}0.5", "x".repeat(20)), 1);
        let expected =
            Shown { head: "é".repeat(10), tail: format!("{}0.5", "x".repeat(12)), dropped_chars: 2 + 8 };
        assert_eq!(shown(&long, &SPEC), expected);
    }

    proptest! {
        #[test]
        fn output_is_cut_at_both_ends_and_nothing_is_lost_count_of(text in "\\PC{0,80}") {
            let Shown { head, tail, dropped_chars } = shown(&output(&text, "", 0), &SPEC);
            let length = text.chars().count();
            prop_assert!(text.starts_with(&head) && text.ends_with(&tail));
            prop_assert_eq!(head.chars().count() + tail.chars().count() + dropped_chars, length);
            prop_assert_eq!(dropped_chars == 0, length <= 30);
        }
    }
}
