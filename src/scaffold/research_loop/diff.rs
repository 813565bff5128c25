//! What an edit changed, line by line, as people and models read it: a unified diff.
//!
//! The middle between the common beginning and end is compared by longest common subsequences where it is small, and
//! told as one change where it is not: no edit costs more than linear time and memory beyond that.

use std::fmt::Write as _;

/// Lines of context around a change.
const AROUND: usize = 3;
/// The most cells of the table of common subsequences.
const CELLS: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The difference between two texts; empty when there is none.
pub(crate) fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let lines = compare(&old.lines().collect::<Vec<_>>(), &new.lines().collect::<Vec<_>>());
    if lines.iter().all(|line| matches!(line, Line::Same(_))) {
        return String::new();
    }
    let mut shown = vec![false; lines.len()];
    for (place, line) in lines.iter().enumerate() {
        if !matches!(line, Line::Same(_)) {
            let (from, to) = (place.saturating_sub(AROUND), (place + AROUND + 1).min(lines.len()));
            shown.iter_mut().take(to).skip(from).for_each(|shown| *shown = true);
        }
    }
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    let (mut before, mut after, mut open) = (1_usize, 1_usize, false);
    for (line, shown) in lines.iter().zip(shown) {
        if shown && !open {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "@@ -{before} +{after} @@");
        }
        open = shown;
        let (mark, content) = match line {
            Line::Same(content) => (' ', content),
            Line::Gone(content) => ('-', content),
            Line::New(content) => ('+', content),
        };
        before += usize::from(mark != '+');
        after += usize::from(mark != '-');
        if shown {
            text.push(mark);
            text.push_str(content);
            text.push('\n');
        }
    }
    text
}

fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let middle = |rest: &[&'a str]| rest.get(..rest.len() - tail).unwrap_or_default().to_vec();
    let (gone, fresh) = (middle(old_rest), middle(new_rest));
    let mut lines: Vec<Line<'a>> = old.iter().take(head).map(|line| Line::Same(line)).collect();
    if gone.len().saturating_mul(fresh.len()) <= CELLS {
        subsequence(&gone, &fresh, &mut lines);
    } else {
        lines.extend(gone.into_iter().map(Line::Gone));
        lines.extend(fresh.into_iter().map(Line::New));
    }
    lines.extend(old_rest.iter().skip(old_rest.len() - tail).map(|line| Line::Same(line)));
    lines
}

fn subsequence<'a>(old: &[&'a str], new: &[&'a str], lines: &mut Vec<Line<'a>>) {
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    let at = |lengths: &[u32], i: usize, j: usize| lengths.get(i * width + j).copied().unwrap_or_default();
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let length = if old.get(i) == new.get(j) {
                at(&lengths, i + 1, j + 1) + 1
            } else {
                at(&lengths, i + 1, j).max(at(&lengths, i, j + 1))
            };
            if let Some(cell) = lengths.get_mut(i * width + j) {
                *cell = length;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    loop {
        match (old.get(i), new.get(j)) {
            (Some(gone), Some(fresh)) if gone == fresh => {
                lines.push(Line::Same(gone));
                (i, j) = (i + 1, j + 1);
            }
            (Some(gone), fresh) if fresh.is_none() || at(&lengths, i + 1, j) >= at(&lengths, i, j + 1) => {
                lines.push(Line::Gone(gone));
                i += 1;
            }
            (_, Some(fresh)) => {
                lines.push(Line::New(fresh));
                j += 1;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_change_is_shown_with_what_stands_around_it() {
        let old = "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n";
        let new = old.replace("line 5\n", "line five\nand more\n");
        assert_eq!(
            unified(old, &new, "a", "b"),
            "--- a\n+++ b\n@@ -2 +2 @@\n line 2\n line 3\n line 4\n-line 5\n+line five\n+and more\n line 6\n line 7\n line 8\n"
        );
        assert_eq!(unified(old, old, "a", "b"), "");
    }

    proptest! {
        #[test]
        fn both_texts_can_be_had_from_the_lines(
            old in prop::collection::vec("[ab]", 0..12),
            new in prop::collection::vec("[ab]", 0..12),
        ) {
            let texts = |words: &[String]| words.iter().map(String::as_str).collect::<Vec<_>>().join("\n");
            let (old, new) = (texts(&old), texts(&new));
            let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
            let lines = compare(&old, &new);
            let side = |skip: fn(&Line<'_>) -> bool| {
                let kept = lines.iter().filter(|line| !skip(line));
                kept.map(|line| match line { Line::Same(l) | Line::Gone(l) | Line::New(l) => *l }).collect::<Vec<_>>()
            };
            prop_assert_eq!(side(|line| matches!(line, Line::New(_))), old);
            prop_assert_eq!(side(|line| matches!(line, Line::Gone(_))), new);
        }
    }
}
