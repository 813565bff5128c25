//! What the editor does to a text: pure functions, so that every case can be tried.
//!
//! Lines end as the file's own lines end: what a model writes with plain line feeds is written with the file's, and is
//! found in a file with others. Nothing else of a text is changed, a missing last line end included.

use serde::Serialize;

/// Places that are named at most.
const MOST_PLACES: usize = 20;
/// Lines shown around a change.
pub const AROUND: usize = 4;

/// Lines of a text by number, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lines {
    /// The first.
    pub first: usize,
    /// The last; before `first` where there is none.
    pub last: usize,
}

/// A changed text, and where it was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// All of the new text.
    pub text: String,
    /// The new lines in it.
    pub lines: Lines,
}

/// Why a text was not changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum EditFault {
    /// What is to be replaced is empty.
    NothingToFind,
    /// Both are the same.
    NoChange,
    /// It does not stand there.
    NoMatch {
        /// Where it stands with other blank space, as the lines of that place; none: nowhere.
        similar: Option<Similar>,
        /// It begins with line numbers, as a view shows them.
        numbered: bool,
    },
    /// It stands there more than once.
    SeveralMatches {
        /// How often.
        count: usize,
        /// The first lines at which it begins.
        lines: Vec<usize>,
    },
    /// There is no such line to insert behind.
    NoLine {
        /// As it was asked for.
        line: i64,
        /// Lines of the file.
        count: usize,
    },
    /// The range of a view is none.
    NoRange {
        /// As it was asked for.
        range: Vec<i64>,
        /// Lines of the file.
        count: usize,
    },
}

/// A place that differs in blank space only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Similar {
    /// The first line of it.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

/// How most lines of a text end.
pub fn line_end(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    if text.matches("\r\n").count() * 2 > all { "\r\n" } else { "\n" }
}

/// The number of lines.
pub fn count(text: &str) -> usize {
    text.lines().count()
}

/// Replaces the one place where `old` stands.
pub fn replace(text: &str, old: &str, new: &str) -> Result<Edited, EditFault> {
    if old.is_empty() {
        return Err(EditFault::NothingToFind);
    }
    if old == new {
        return Err(EditFault::NoChange);
    }
    let end = line_end(text);
    let converted = (with_ends(old, end), with_ends(new, end));
    // As it is written, or else with the line ends of the file.
    let (old, new) = if !text.contains(old) {
        converted
    } else if text.contains('\r') {
        (old.to_owned(), converted.1)
    } else {
        (old.to_owned(), new.to_owned())
    };
    let places: Vec<usize> = overlapping(text, &old).take(MOST_PLACES + 1).collect();
    match places.as_slice() {
        [] => Err(EditFault::NoMatch { similar: similar(text, &old), numbered: is_numbered(&old) }),
        [at] => {
            let (head, rest) = text.split_at(*at);
            let tail = rest.get(old.len()..).unwrap_or_default();
            let first = line_of(text, *at);
            let last = first + new.trim_end_matches(['\n', '\r']).matches('\n').count();
            let lines = if new.is_empty() {
                Lines { first, last: first.saturating_sub(1) }
            } else {
                Lines { first, last }
            };
            Ok(Edited { text: [head, &new, tail].concat(), lines })
        }
        places => Err(EditFault::SeveralMatches {
            count: overlapping(text, &old).count(),
            lines: places.iter().take(MOST_PLACES).map(|at| line_of(text, *at)).collect(),
        }),
    }
}

/// Puts whole lines behind line `after`; 0: before the first.
pub fn insert(text: &str, after: i64, new: &str) -> Result<Edited, EditFault> {
    let count = count(text);
    let fault = || EditFault::NoLine { line: after, count };
    let after = usize::try_from(after).ok().filter(|after| *after <= count).ok_or_else(fault)?;
    let end = line_end(text);
    let mut new = with_ends(new, end);
    let at = text.split_inclusive('\n').take(after).map(str::len).sum();
    let (head, tail) = text.split_at(at);
    let ends = new.ends_with('\n');
    let separator = if head.is_empty() || head.ends_with('\n') { "" } else { end };
    // At the very end of a text whose last line has no end, the new last line has none either.
    if !ends && (!tail.is_empty() || separator.is_empty()) {
        new.push_str(end);
    }
    let lines = Lines { first: after + 1, last: after + new.lines().count().max(1) };
    Ok(Edited { text: [head, separator, &new, tail].concat(), lines })
}

/// The lines that a view of `range` shows; an end of -1 is the last, and one behind it too.
pub fn range(text: &str, range: &[i64]) -> Result<Lines, EditFault> {
    let count = count(text);
    let fault = || EditFault::NoRange { range: range.to_owned(), count };
    let [first, last] = range else { return Err(fault()) };
    let first =
        usize::try_from(*first).ok().filter(|first| (1..=count.max(1)).contains(first)).ok_or_else(fault)?;
    let last = match usize::try_from(*last) {
        Ok(last) => last.min(count),
        Err(_) if *last == -1 => count,
        Err(_) => return Err(fault()),
    };
    if last < first && count > 0 { Err(fault()) } else { Ok(Lines { first, last }) }
}

/// Lines around a change.
pub fn around(text: &str, lines: Lines) -> Lines {
    Lines {
        first: lines.first.saturating_sub(AROUND).max(1),
        last: lines.last.saturating_add(AROUND).min(count(text)),
    }
}

/// Lines with their numbers, as a view shows them.
pub fn numbered(text: &str, lines: Lines) -> String {
    let shown = text.lines().enumerate().skip(lines.first.saturating_sub(1));
    let shown = shown.take((lines.last + 1).saturating_sub(lines.first));
    let shown = shown.map(|(place, line)| format!("{:>6}\t{line}\n", place + 1));
    shown.collect()
}

/// The text with each of its lines ended as given.
fn with_ends(text: &str, end: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', end)
}

/// The line of a place, from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// All places of `part`, such as overlap included: each of them could be meant.
fn overlapping<'a>(text: &'a str, part: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(part)?;
        from = at + text.get(at..)?.chars().next().map_or(1, char::len_utf8);
        Some(at)
    })
}

/// The first place whose lines are those of `part` but for blank space at their ends.
fn similar(text: &str, part: &str) -> Option<Similar> {
    let wanted: Vec<&str> = part.trim_matches('\n').lines().map(str::trim).collect();
    let first = wanted.iter().find(|line| !line.is_empty())?;
    let lines: Vec<&str> = text.lines().collect();
    let skipped = wanted.iter().take_while(|line| line.is_empty()).count();
    // Only where a line agrees are the others looked at, and of each place no more than the text of `part`.
    let mut places =
        (0..lines.len()).filter(|place| lines.get(*place).is_some_and(|line| line.trim() == *first));
    let at = places.find_map(|place| {
        let start = place.checked_sub(skipped)?;
        let there = lines.get(start..start + wanted.len())?;
        there.iter().zip(&wanted).all(|(line, wanted)| line.trim() == *wanted).then_some(start)
    })?;
    let there = lines.get(at..at + wanted.len())?;
    Some(Similar { line: at + 1, text: there.join("\n") })
}

/// Every line begins with a number and a tab.
fn is_numbered(text: &str) -> bool {
    let number =
        |line: &str| line.split_once('\t').is_some_and(|(number, _)| number.trim().parse::<usize>().is_ok());
    let mut lines = text.lines().skip(1).filter(|line| !line.trim().is_empty()).peekable();
    match lines.peek() {
        Some(_) => lines.all(number),
        None => text.lines().next().is_some_and(number),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replaced(text: &str, old: &str, new: &str) -> Result<String, EditFault> {
        replace(text, old, new).map(|edited| edited.text)
    }

    #[test]
    fn a_place_is_replaced_and_nothing_else_changes() {
        for (text, old, new, expected) in [
            ("a\nb\nc\n", "b", "B", "a\nB\nc\n"),
            ("a\nb", "b", "B\nC", "a\nB\nC"),
            ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
            ("a\r\nb\r\n", "a\r\nb", "x\ny", "x\r\ny\r\n"),
            ("a\r\nb\nc\r\nd\r\n", "b\nc", "x\ny", "a\r\nx\r\ny\r\nd\r\n"),
            ("\tif x:\n\t\ty\n", "\t\ty", "\t\tz", "\tif x:\n\t\tz\n"),
            ("é x é", "x", "", "é  é"),
            ("one line", "one line", "", ""),
        ] {
            assert_eq!(replaced(text, old, new).as_deref(), Ok(expected), "{text:?} {old:?}");
        }
        assert_eq!(replace("a\nb\nc\nd\n", "b\nc\n", "x\n").unwrap().lines, Lines { first: 2, last: 2 });
        assert_eq!(replace("a\nb\nc\n", "b\n", "").unwrap().lines, Lines { first: 2, last: 1 });
    }

    #[test]
    fn no_match_and_several_say_where_to_look() {
        let block = "def f():\n    return 1\n\ndef g():\n    return 1\n";
        assert_eq!(
            replaced(block, "    return 1\n", "    return 2\n"),
            Err(EditFault::SeveralMatches { count: 2, lines: vec![2, 5] })
        );
        assert_eq!(
            replaced("aaa", "aa", "b"),
            Err(EditFault::SeveralMatches { count: 2, lines: vec![1, 1] })
        );
        let similar = Some(Similar { line: 4, text: "def g():\n    return 1".to_owned() });
        assert_eq!(
            replaced(block, "def g():\n\treturn 1", "x"),
            Err(EditFault::NoMatch { similar, numbered: false })
        );
        let numbered = |old| match replaced(block, old, "x") {
            Err(EditFault::NoMatch { numbered, similar: None }) => numbered,
            other => panic!("{other:?}"),
        };
        assert!(numbered("     2\t    return 2\n     3\t"));
        assert!(!numbered("return 3") && numbered("    2\treturn 1"));
        assert_eq!(replaced("a", "", "b"), Err(EditFault::NothingToFind));
        assert_eq!(replaced("a", "a", "a"), Err(EditFault::NoChange));
    }

    #[test]
    fn lines_are_inserted_whole() {
        for (text, after, new, expected) in [
            ("a\nb\n", 1, "x", "a\nx\nb\n"),
            ("a\nb\n", 0, "x\n", "x\na\nb\n"),
            ("a\nb\n", 2, "x", "a\nb\nx\n"),
            ("a\nb", 2, "x", "a\nb\nx"),
            ("a\nb", 1, "x\ny", "a\nx\ny\nb"),
            ("a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"),
            ("", 0, "x", "x\n"),
        ] {
            assert_eq!(
                insert(text, after, new).map(|edited| edited.text).as_deref(),
                Ok(expected),
                "{text:?} {after}"
            );
        }
        for after in [-1, 3, i64::MAX] {
            assert_eq!(insert("a\nb\n", after, "x"), Err(EditFault::NoLine { line: after, count: 2 }));
        }
        assert_eq!(insert("a\nb\n", 1, "x\ny").unwrap().lines, Lines { first: 2, last: 3 });
    }

    #[test]
    fn ranges_are_numbers_of_lines() {
        let text = "a\nb\nc";
        for (given, expected) in [([1, -1], (1, 3)), ([2, 2], (2, 2)), ([3, 99], (3, 3))] {
            assert_eq!(range(text, &given), Ok(Lines { first: expected.0, last: expected.1 }));
        }
        for given in [&[0, 2][..], &[4, 5], &[2, 1], &[1, -2], &[1], &[], &[1, 2, 3]] {
            assert_eq!(range(text, given), Err(EditFault::NoRange { range: given.to_vec(), count: 3 }));
        }
        assert_eq!(numbered(text, Lines { first: 2, last: 3 }), "     2\tb\n     3\tc\n");
        assert_eq!(range("", &[1, -1]), Ok(Lines { first: 1, last: 0 }));
        assert_eq!(numbered("", Lines { first: 1, last: 0 }), "");
    }

    proptest! {
        #[test]
        fn a_replacement_can_be_taken_back(text in "[ab \r\n\té]{0,60}", old in "[ab \n]{1,4}") {
            if let Ok(edited) = replace(&text, &old, "ZZ") {
                let place = edited.text.find("ZZ").unwrap();
                prop_assert!(text.starts_with(&edited.text[..place]) && text.ends_with(&edited.text[place + 2..]));
            }
        }

        #[test]
        fn an_insertion_keeps_every_line(text in "[ab\n]{0,40}", new in "[xy\n]{1,9}", after in -1_i64..12) {
            if let Ok(edited) = insert(&text, after, &new) {
                let kept: Vec<&str> = edited.text.lines().enumerate()
                    .filter(|(place, _)| !(edited.lines.first..=edited.lines.last).contains(&(place + 1)))
                    .map(|(_, line)| line).collect();
                prop_assert_eq!(kept, text.lines().collect::<Vec<_>>());
            }
        }
    }
}
