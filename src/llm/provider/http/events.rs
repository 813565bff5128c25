//! Takes a body apart into events, each handed on as one `data:` line: whatever ends its lines, however its bytes
//! were packed, and whether it is a stream of events or one JSON text, which then counts as one event.
//!
//! It does what the standard of server-sent events asks, except that an event which the end of the body cuts off is
//! handed on too, for some servers leave out the last empty line. Time and memory are linear in the bytes. What stands
//! in the events it does not know; names, ids and comments are dropped.

use std::borrow::Cow;

use super::mend::lone_surrogates;

/// What a body turned out to be, told by its first bytes: content types lie.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Form {
    #[default]
    Unknown,
    Events,
    Whole,
}

/// A body on its way.
#[derive(Default)]
pub(super) struct Events {
    form: Form,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were taken apart.
    taken: usize,
    /// Bytes of the buffer that hold no further end of a line.
    searched: usize,
    /// The last line ended with a carriage return, so a line feed belongs to it.
    returned: bool,
    /// A byte other than white space was seen, or a byte order mark.
    begun: bool,
    /// The event whose lines are coming, as it is handed on.
    open: Option<String>,
}

const MARK: &[u8] = b"\xEF\xBB\xBF";
const DATA: &str = "data: ";

impl Events {
    /// Adds the next bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
        self.buffer.extend_from_slice(bytes);
        if self.form == Form::Unknown {
            self.look();
        }
    }

    /// The next whole event.
    pub(super) fn next(&mut self) -> Option<String> {
        while self.form == Form::Events {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(length) = unsearched.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.searched = self.buffer.len();
                return None;
            };
            let (start, end) = (self.taken, self.searched + length);
            let feed = self.buffer.get(end) == Some(&b'\n');
            let second_half = feed && self.returned && start == end;
            self.returned = !feed;
            self.taken = end + 1;
            self.searched = self.taken;
            if second_half {
                continue;
            }
            if let Some(event) = self.line(start, end) {
                return Some(event);
            }
        }
        None
    }

    /// What is left at the end of the body, after all whole events.
    pub(super) fn last(&mut self) -> Option<String> {
        if self.form == Form::Events {
            let end = self.buffer.len();
            return self.line(self.taken, end).or_else(|| self.dispatched());
        }
        let text = String::from_utf8_lossy(&self.buffer);
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let mut event = String::with_capacity(DATA.len() + text.len() + 2);
        event.push_str(DATA);
        // Line ends inside a JSON text are white space; inside an event they would end the line.
        event.extend(text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
        self.buffer = Vec::new();
        Some(ended(event))
    }

    /// Drops what may stand before a body, and looks what it is.
    fn look(&mut self) {
        if !self.begun && MARK.starts_with(&self.buffer) {
            if self.buffer.len() < MARK.len() {
                return;
            }
            self.buffer.clear();
            self.begun = true;
        } else if !self.begun && self.buffer.starts_with(MARK) {
            self.buffer.drain(..MARK.len());
        }
        let blanks = self.buffer.len() - self.buffer.trim_ascii_start().len();
        self.buffer.drain(..blanks);
        self.begun |= blanks > 0 || !self.buffer.is_empty();
        self.form = form(&self.buffer);
    }

    /// Takes a line; the event, if it ends one.
    fn line(&mut self, start: usize, end: usize) -> Option<String> {
        let line = self.buffer.get(start..end).unwrap_or_default();
        if line.is_empty() {
            return self.dispatched();
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => line.split_at(colon),
            None => (line, &b":"[..]),
        };
        if name == b"data" {
            let value = value.strip_prefix(b":").unwrap_or(value);
            let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
            match &mut self.open {
                // The standard joins lines with a line feed, which between the tokens of a JSON text is a blank.
                Some(open) => {
                    open.push(' ');
                    open.push_str(&value);
                }
                None => self.open = Some([DATA, &value].concat()),
            }
        }
        None
    }

    /// The open event, unless it says nothing.
    fn dispatched(&mut self) -> Option<String> {
        let event = self.open.take()?;
        let blank = event.get(DATA.len()..).is_none_or(|data| data.trim().is_empty());
        (!blank).then(|| ended(event))
    }
}

fn ended(event: String) -> String {
    let mended = match lone_surrogates(&event) {
        Cow::Borrowed(_) => None,
        Cow::Owned(mended) => Some(mended),
    };
    let mut event = mended.unwrap_or(event);
    event.push_str("\n\n");
    event
}

fn form(head: &[u8]) -> Form {
    const FIELDS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];
    if FIELDS.iter().any(|field| head.starts_with(field)) {
        Form::Events
    } else if FIELDS.iter().any(|field| field.starts_with(head)) {
        Form::Unknown
    } else {
        Form::Whole
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The events of a body that comes in these pieces.
    fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut events = Events::default();
        let mut all = Vec::new();
        for piece in pieces {
            events.add(piece);
            all.extend(std::iter::from_fn(|| events.next()));
        }
        all.extend(events.last());
        all
    }

    #[test]
    fn a_body_is_taken_apart() {
        for (body, expected) in [
            ("", &[][..]),
            (" \r\n", &[]),
            ("data", &["data"]),
            ("data: 1\n\ndata: 2\n\n", &["1", "2"]),
            ("data: 1\n\ndata: 2", &["1", "2"]),
            ("data: 1\r\n\r\ndata: 2\r\n\r\n", &["1", "2"]),
            ("data: 1\r\rdata: 2\r\r", &["1", "2"]),
            ("\u{feff}data:1\n\n", &["1"]),
            ("\u{feff} {\"a\":\r\n1}\n", &["{\"a\":  1}"]),
            (": hi\n\nevent: x\nid: 1\ndata: [1,\ndata: 2]\nfoo\n\n", &["[1, 2]"]),
            ("data:\n\ndata\n\ndata:  \n\ndata: 1\n\n", &["1"]),
            ("event: x\n\n:\n\n", &[]),
            ("data:  two blanks\n\n", &[" two blanks"]),
            ("data: \\ud83d\n\n", &["\\ufffd"]),
            ("<html>\n\ndata: 1\n\n</html>", &["<html>  data: 1  </html>"]),
            ("database", &["database"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|data| format!("data: {data}\n\n")).collect();
            assert_eq!(events([body.as_bytes()]), expected, "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_packed_is_of_no_matter(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("data"), Just(":"), Just(" "), Just("\n"), Just("\r"), Just("\r\n"), Just("x"),
                    Just("event"), Just("\u{feff}"), Just("é"), Just("\\ud83d"), Just("{"),
                ],
                0..40,
            ),
            sizes in proptest::collection::vec(1_usize..8, 1..40),
        ) {
            let body = parts.concat().into_bytes();
            let mut pieces = Vec::new();
            let mut rest = &body[..];
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, tail) = rest.split_at((*size).min(rest.len()));
                pieces.push(piece);
                rest = tail;
            }
            prop_assert_eq!(events(pieces), events([&body[..]]));
        }

        #[test]
        fn any_bytes_are_one_line_each(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            for event in events([&body[..]]) {
                let data = event.strip_prefix(DATA).and_then(|event| event.strip_suffix("\n\n")).unwrap();
                prop_assert!(!data.contains(['\n', '\r']));
            }
        }
    }
}
