//! A word in all texts of a run: prompts, answers, code, outputs. Bodies are searched as they stand, without being read
//! as JSON, so that a journal of some hundred megabytes takes a moment. Letters of ASCII match in either case.

use std::ops::ControlFlow;

use podium_types::key::EffectKey;
use serde::Serialize;

use super::outline::open;
use crate::run::error::RunError;
use crate::run::sitting::StoredRun;

/// Bytes of text around a hit.
const AROUND: usize = 70;
/// A number of hits that nobody reads to the end.
const MOST: usize = 200;

/// Where it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The node or step.
    pub number: Option<u32>,
    /// The effect key.
    pub key: String,
    /// `chat`, `execution`, `node`, ...
    pub effect: String,
    /// What stands before it.
    pub before: String,
    /// What was found.
    pub found: String,
    /// What stands behind it.
    pub after: String,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// One hit for each effect at most, in the order of the journal.
    pub hits: Vec<Hit>,
    /// Whether there may be more.
    pub more: bool,
}

/// Searches a run until `enough` says so.
///
/// # Errors
/// When its journal does not read.
pub fn search(run: &StoredRun, word: &str, mut enough: impl FnMut() -> bool) -> Result<Found, RunError> {
    let mut found = Found::default();
    let wanted = serde_json::to_string(word).unwrap_or_default();
    let wanted = wanted.trim_matches('"').as_bytes();
    if wanted.is_empty() || !run.folder.journal_path().exists() {
        return Ok(found);
    }
    open(run)?.each(0, |glance| {
        if found.hits.len() >= MOST || enough() {
            found.more = true;
            return ControlFlow::Break(());
        }
        let (Some(key), Ok(body)) = (glance.key, glance.body()) else { return ControlFlow::Continue(()) };
        if let Some(at) = find(&body, wanted) {
            let (before, rest) = body.split_at(at);
            let (hit, after) = rest.split_at(wanted.len());
            found.hits.push(Hit {
                number: EffectKey::from_journal(key.to_owned()).number(),
                key: key.to_owned(),
                effect: glance.effect.unwrap_or(glance.kind).to_owned(),
                before: told(end_of(before)),
                found: told(hit),
                after: told(begin_of(after)),
            });
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The first place of `wanted`, in either case.
fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted.first()?.to_ascii_lowercase();
    let last = text.len().checked_sub(wanted.len())?;
    let mut from = 0;
    while from <= last {
        let ahead = text.get(from..=last)?;
        from += ahead.iter().position(|byte| byte.to_ascii_lowercase() == first)?;
        if text.get(from..from + wanted.len())?.eq_ignore_ascii_case(wanted) {
            return Some(from);
        }
        from += 1;
    }
    None
}

/// What stands before a hit in the same string.
fn end_of(text: &[u8]) -> &[u8] {
    let mut from = text.len().saturating_sub(AROUND);
    // Not from the middle of an escape.
    let before = text.get(..from).unwrap_or_default();
    from += before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2;
    let near = text.get(from..).unwrap_or_default();
    let quotes = (0..near.len()).rev().find(|place| is_end(near, *place));
    quotes.and_then(|place| near.get(place + 1..)).unwrap_or(near)
}

/// What stands behind it in the same string.
fn begin_of(text: &[u8]) -> &[u8] {
    let near = text.get(..AROUND).unwrap_or(text);
    let quotes = (0..near.len()).find(|place| is_end(near, *place));
    quotes.and_then(|place| near.get(..place)).unwrap_or(near)
}

/// Whether a string begins or ends there. Backslashes before the piece are not seen, which costs a few letters at most.
fn is_end(text: &[u8], place: usize) -> bool {
    let before = text.get(..place).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'\\');
    text.get(place) == Some(&b'"') && before.count() % 2 == 0
}

/// A piece of JSON for people: its escapes read, as far as a piece can be.
fn told(piece: &[u8]) -> String {
    let text = String::from_utf8_lossy(piece);
    let mut out = String::with_capacity(text.len());
    let mut letters = text.trim_matches('\u{fffd}').chars();
    while let Some(letter) = letters.next() {
        let escaped = if letter == '\\' { letters.next() } else { Some(letter) };
        match escaped {
            None => out.push(' '),
            Some('n' | 'r' | 't') if letter == '\\' => out.push(' '),
            Some(escaped) => out.push(escaped),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_either_case_and_told_as_text() {
        let table = [
            ("abc", "b", Some(1)),
            ("abC", "c", Some(2)),
            ("aab", "AB", Some(1)),
            ("ab", "abc", None),
            ("", "a", None),
            ("a", "", None),
            ("grün", "RÜN", None),
            ("grün", "grün", Some(0)),
        ];
        for (text, wanted, place) in table {
            assert_eq!(find(text.as_bytes(), wanted.as_bytes()), place, "{wanted} in {text}");
        }
        assert_eq!(told(br#"a\n\"b\" \\ c\"#), "a \"b\" \\ c ");
        assert_eq!(end_of(br#"{"content":"a \"b"#), br#"a \"b"#);
        assert_eq!(begin_of(br#" \"b\\","c":1"#), br#" \"b\\"#);
        assert_eq!(told(&"ü".as_bytes()[1..]), "");
    }
}
