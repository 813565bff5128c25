//! Functions as text: `<function=NAME>`, `<parameter=P>value</parameter>` for each argument, `</function>`.
//!
//! Read as the agents that brought the form up read it: the first function is the call, the text before it the thought,
//! and a missing end is mended. On purpose otherwise:
//! - further calls and text behind the call are listed; the original dropped them silently;
//! - a name needs no line break behind it;
//! - a value ends at a `</parameter>` only where a parameter or the end of the call follows, so that a value may hold one;
//! - a value on lines of its own loses the two line breaks of its marks and nothing else;
//! - a mark whose `<` has a backslash behind it is text, so that every value can be written down.

use serde_json::{Map, Value};

use super::{Call, Dropped, Reading, escape, without_cut_closing};

/// Ends an answer: one call is all.
pub const STOP: &str = "</function";

const OPEN: &str = "<function=";
const CLOSE: &str = "</function>";
const PARAMETER: &str = "<parameter=";
const END_PARAMETER: &str = "</parameter>";

/// What stands behind the `<` of each mark.
const MARKS: &[&str] = &["function=", "/function", "parameter=", "/parameter"];

/// Longer names are none.
const LONGEST_NAME: usize = 64;

/// Reads an answer.
pub fn read(text: &str) -> Reading {
    let Some(start) = opening(text, 0) else {
        return Reading { thought: escape::unescape(text, MARKS), ..Reading::default() };
    };
    let mut scan = Scan { text, at: start, dropped: Vec::new() };
    let (call, open) = scan.function();
    while let Some(next) = opening(text, scan.at) {
        scan.drop_text(next);
        scan.at = next;
        let mut inner = Scan { text, at: next, dropped: Vec::new() };
        let (further, _) = inner.function();
        let raw = text.get(next..inner.at).unwrap_or_default().trim_end().to_owned();
        scan.dropped.push(Dropped { name: Some(further.name), text: raw });
        scan.at = inner.at;
    }
    scan.drop_text(text.len());
    let before = text.get(..start).unwrap_or_default();
    let thought = escape::unescape(before, MARKS).trim().to_owned();
    Reading { thought, calls: vec![call], dropped: scan.dropped, open }
}

/// The first place at or behind `from` where a call begins.
fn opening(text: &str, from: usize) -> Option<usize> {
    let mut found = text.get(from..)?.match_indices(OPEN).map(|(at, _)| from + at);
    found.find(|at| opens(text, *at))
}

/// Whether a call begins here: a name in its mark, and behind it a line break, a parameter, the end of the call, or
/// nothing more. In a sentence that only speaks of the form none does.
fn opens(text: &str, at: usize) -> bool {
    if !starts(text, at, OPEN) {
        return false;
    }
    let Some((_, behind)) = name(text, at + OPEN.len()) else { return false };
    let rest = text.get(behind..).unwrap_or_default();
    let line = rest.trim_start_matches([' ', '\t', '\r']);
    line.is_empty() || [PARAMETER, STOP, "\n"].iter().any(|mark| line.starts_with(mark))
}

/// The name at a place, and the place behind its `>`.
fn name(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = text.get(at..)?;
    let length = rest.find(|c: char| c == '>' || c == '<' || c.is_whitespace())?;
    let name = rest.get(..length)?;
    let is_name = (1..=LONGEST_NAME).contains(&length) && rest.get(length..)?.starts_with('>');
    is_name.then_some((name, at + length + 1))
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    dropped: Vec<Dropped>,
}

impl Scan<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Reads the call that begins here, and says whether it has no end.
    fn function(&mut self) -> (Call, bool) {
        self.at += OPEN.len();
        let name = match name(self.text, self.at) {
            Some((name, behind)) => {
                self.at = behind;
                name.to_owned()
            }
            None => String::new(),
        };
        let mut arguments = Map::new();
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with(STOP) {
                self.at += if rest.starts_with(CLOSE) { CLOSE.len() } else { STOP.len() };
                return (Call::text(&name, arguments), false);
            }
            if CLOSE.starts_with(rest) {
                self.at = self.text.len();
                return (Call::text(&name, arguments), true);
            }
            if rest.starts_with(PARAMETER) {
                self.at += PARAMETER.len();
                self.parameter(&mut arguments);
                continue;
            }
            // Text where none may stand.
            let end = self.mark(self.at, |text, at| {
                starts(text, at, PARAMETER) || starts(text, at, STOP) || opens(text, at)
            });
            self.drop_text(end);
            self.at = end;
            if self.rest().starts_with(OPEN) {
                return (Call::text(&name, arguments), true);
            }
        }
    }

    /// The first `<` at or behind `from` for which `wanted` holds, or the end of the text.
    fn mark(&self, from: usize, wanted: impl Fn(&str, usize) -> bool) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        let mut places = rest.match_indices('<').map(|(at, _)| from + at);
        places.find(|at| wanted(self.text, *at)).unwrap_or(self.text.len())
    }

    /// Reads the parameter whose name begins here. `<parameter=x=value` stands for `<parameter=x>value`.
    fn parameter(&mut self, arguments: &mut Map<String, Value>) {
        let rest = self.rest();
        let length =
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or_default().to_owned();
        let mark = rest.get(length..).is_some_and(|rest| rest.starts_with(['>', '=']));
        self.at += length + usize::from(mark);
        let (raw, behind) = value(self.text, self.at);
        let value = escape::unescape(unwrapped(raw), MARKS);
        self.at = behind;
        if let Some(earlier) = arguments.insert(name.clone(), Value::from(value)) {
            let text = earlier.as_str().unwrap_or_default().to_owned();
            self.dropped.push(Dropped { name: None, text: format!("{name}: {text}") });
        }
    }

    /// Lists the text from here to `end` as not run, where there is any.
    fn drop_text(&mut self, end: usize) {
        let text = self.text.get(self.at..end).unwrap_or_default().trim();
        if !text.is_empty() {
            self.dropped.push(Dropped { name: None, text: text.to_owned() });
        }
    }
}

/// The value that begins at a place, and the place behind it. Without an end of its own it ends with the call, or with
/// the answer.
fn value(text: &str, begin: usize) -> (&str, usize) {
    let rest = text.get(begin..).unwrap_or_default();
    for (at, _) in rest.match_indices('<') {
        if starts(rest, at, STOP) {
            let raw = rest.get(..at).unwrap_or_default();
            return (raw, begin + at);
        }
        if !starts(rest, at, END_PARAMETER) {
            continue;
        }
        let behind = at + END_PARAMETER.len();
        let follows = rest.get(behind..).unwrap_or_default().trim_start();
        // A call that was cut in its own end is at its end, too.
        let ends = follows.starts_with(PARAMETER) || follows.starts_with(STOP) || CLOSE.starts_with(follows);
        if ends {
            return (rest.get(..at).unwrap_or_default(), begin + behind);
        }
    }
    (without_cut_closing(without_cut_closing(rest, END_PARAMETER), CLOSE), text.len())
}

fn starts(text: &str, at: usize, mark: &str) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(mark))
}

/// Without the line breaks that a value on lines of its own has at its ends.
fn unwrapped(raw: &str) -> &str {
    let raw = raw.strip_prefix('\n').unwrap_or(raw);
    raw.strip_suffix('\n').unwrap_or(raw)
}

/// Writes a message and its call.
pub fn write(thought: &str, call: Option<&Call>) -> String {
    let thought = escape::escape(thought, MARKS);
    let Some(call) = call else { return thought };
    let separator = if thought.is_empty() { "" } else { "\n\n" };
    let mut text = format!("{thought}{separator}{OPEN}{}>\n", call.name);
    for (name, value) in call.arguments.as_ref().into_iter().flatten() {
        let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = escape::escape(&plain, MARKS);
        let feed = if plain.contains(['\n', '\r']) { "\n" } else { "" };
        text.extend([PARAMETER, name.as_str(), ">", feed, &value, feed, END_PARAMETER, "\n"]);
    }
    text.push_str(CLOSE);
    text
}
