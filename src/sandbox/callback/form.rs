//! The file in a form: `multipart/form-data` as browsers, curl and Python's clients send it (RFC 7578).
//!
//! Fed in pieces of any size, it keeps no more than one piece and a delimiter. Only the part named `file` is taken;
//! names of files are not looked at, and nothing after that part.

/// Bytes of the headers of one part.
const HEADERS: usize = 8 << 10;
/// Parts before the file.
const PARTS: usize = 32;
/// The longest boundary, with room to spare beyond the 70 bytes of RFC 2046.
const BOUNDARY: usize = 200;

/// Reads one form.
#[derive(Debug)]
pub(super) struct Form {
    delimiter: Vec<u8>,
    buffer: Vec<u8>,
    state: State,
    parts: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first part, or in one that is not wanted.
    Skipping,
    /// Behind a delimiter: another part, or the end.
    Delimited,
    Headers,
    File,
    /// The file was read to its end.
    Done,
    /// The form has ended without it.
    Ended,
}

/// Why there is no file, for whoever sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoFile {
    #[error("the form has no part named `file`")]
    Absent,
    #[error("the form ends before its file does")]
    Cut,
    #[error("the body is not a form in parts")]
    Broken,
}

impl Form {
    /// A form with the boundary of this content type; `None` when that is no form's.
    pub(super) fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("multipart/form-data") {
            return None;
        }
        let boundary =
            parameter(content_type, "boundary").filter(|text| (1..=BOUNDARY).contains(&text.len()))?;
        let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
        // The first delimiter may stand at the very beginning.
        Some(Self { delimiter, buffer: b"\r\n".to_vec(), state: State::Skipping, parts: 0 })
    }

    /// Takes the next piece; what of it belongs to the file is added to `file`.
    pub(super) fn push(&mut self, piece: &[u8], file: &mut Vec<u8>) -> Result<(), NoFile> {
        self.buffer.extend_from_slice(piece);
        let buffer = std::mem::take(&mut self.buffer);
        let mut rest = buffer.as_slice();
        while let Some(after) = self.step(rest, file)? {
            rest = after;
        }
        self.buffer = match self.state {
            State::Skipping | State::File => {
                // A delimiter may have begun.
                let (gone, kept) = rest.split_at(rest.len().saturating_sub(self.delimiter.len() - 1));
                if self.state == State::File {
                    file.extend_from_slice(gone);
                }
                kept.to_vec()
            }
            State::Headers if rest.len() > HEADERS => return Err(NoFile::Broken),
            State::Headers | State::Delimited => rest.to_vec(),
            State::Done | State::Ended => Vec::new(),
        };
        Ok(())
    }

    /// To be called when there is no more.
    pub(super) fn finish(self) -> Result<(), NoFile> {
        match self.state {
            State::Done => Ok(()),
            State::File => Err(NoFile::Cut),
            State::Ended => Err(NoFile::Absent),
            State::Skipping | State::Delimited | State::Headers if self.parts > 0 => Err(NoFile::Absent),
            State::Skipping | State::Delimited | State::Headers => Err(NoFile::Broken),
        }
    }

    /// Goes on to the next state and returns what is left, or `None` when more is needed.
    fn step<'a>(&mut self, rest: &'a [u8], file: &mut Vec<u8>) -> Result<Option<&'a [u8]>, NoFile> {
        match self.state {
            State::Skipping | State::File => {
                let Some((before, after)) = split(rest, &self.delimiter) else { return Ok(None) };
                if self.state == State::File {
                    file.extend_from_slice(before);
                    self.state = State::Done;
                } else {
                    self.state = State::Delimited;
                }
                Ok(Some(after))
            }
            State::Delimited => match rest {
                [b'-', b'-', ..] => {
                    self.state = State::Ended;
                    Ok(None)
                }
                // The line's end stays: before the empty line that ends the headers there may be none.
                [b'\r', b'\n', ..] => {
                    self.parts += 1;
                    self.state = State::Headers;
                    if self.parts > PARTS { Err(NoFile::Broken) } else { Ok(Some(rest)) }
                }
                [_, _, ..] => Err(NoFile::Broken),
                _ => Ok(None),
            },
            State::Headers => {
                let Some((headers, after)) = split(rest, b"\r\n\r\n") else { return Ok(None) };
                self.state = if is_file(headers) { State::File } else { State::Skipping };
                // An empty part's delimiter begins with the line's end that ends its headers.
                let from = rest.len() - after.len() - 2;
                Ok(Some(if self.state == State::File { after } else { rest.get(from..).unwrap_or_default() }))
            }
            State::Done | State::Ended => Ok(None),
        }
    }
}

/// The part that is wanted.
fn is_file(headers: &[u8]) -> bool {
    String::from_utf8_lossy(headers).lines().any(|line| {
        line.split_once(':').is_some_and(|(name, value)| {
            name.trim().eq_ignore_ascii_case("content-disposition")
                && parameter(value, "name").as_deref() == Some("file")
        })
    })
}

/// A parameter of a header's value, unquoted.
fn parameter(value: &str, wanted: &str) -> Option<String> {
    let mut rest = value.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (text, after) = match after.trim_start().strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let (text, after) = after.split_once(';').unwrap_or((after, ""));
                (text.trim().to_owned(), after)
            }
        };
        if name.trim().trim_start_matches(';').trim().eq_ignore_ascii_case(wanted) {
            return Some(text);
        }
        rest = after;
    }
}

/// The text up to the closing quote, and what follows it.
fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((text, quoted.get(at + 1..)?)),
            '\\' => text.push(letters.next()?.1),
            letter => text.push(letter),
        }
    }
    None
}

/// What stands before and behind the first `needle`.
fn split<'a>(text: &'a [u8], needle: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(needle.len()).position(|window| window == needle)?;
    Some((text.get(..at)?, text.get(at + needle.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=XX";

    fn read(body: &[u8], size: usize) -> Result<Vec<u8>, NoFile> {
        let mut form = Form::of(KIND).unwrap();
        let mut file = Vec::new();
        for piece in body.chunks(size.max(1)) {
            form.push(piece, &mut file)?;
            assert!(form.buffer.len() <= HEADERS + size + 64, "memory is bounded");
        }
        form.finish().map(|()| file)
    }

    #[test]
    fn the_file_is_found_whatever_the_pieces() {
        let curl = "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"s.csv\"\r\n\
                    Content-Type: text/csv\r\n\r\nid,y\r\n--X\r\n1,2\n\r\n--XX--\r\n";
        let second = "ignored\r\n--XX\r\ncontent-disposition: form-data; name=other; x=\"; name=\\\"file\\\"\"\r\n\r\n\
                      \r\n--XX\r\nContent-Disposition:form-data;name=file\r\n\r\nid,y\r\n--X\r\n1,2\n\r\n--XX\r\n\r\n\r\n--XX--";
        let bare = "--XX\r\n\r\nno headers\r\n--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\
                    id,y\r\n--X\r\n1,2\n\r\n--XX";
        let empty = "--XX\r\n\r\n--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nid,y\r\n--X\r\n1,2\n\r\n--XX";
        for body in [curl, second, bare, empty] {
            for size in 1..=body.len() {
                let got = read(body.as_bytes(), size);
                assert_eq!(got.as_deref(), Ok(b"id,y\r\n--X\r\n1,2\n".as_slice()), "{size}: {body}");
            }
        }
        let nothing = "--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\r\n--XX--";
        assert_eq!(read(nothing.as_bytes(), 7).as_deref(), Ok(b"".as_slice()));
    }

    #[test]
    fn what_has_no_file_says_so() {
        let many = "--XX\r\n\r\n\r\n".repeat(100);
        let endless = format!("--XX\r\n{}", "a: b\r\n".repeat(5000));
        let cases = [
            ("", NoFile::Broken),
            ("id,y\n1,2\n", NoFile::Broken),
            ("--XX--", NoFile::Absent),
            ("--XXjunk", NoFile::Broken),
            ("--XX\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nx\r\n--XX--", NoFile::Absent),
            (
                "--XX\r\nContent-Disposition: form-data; filename=\"name=file\"\r\n\r\nx\r\n--XX--",
                NoFile::Absent,
            ),
            ("--XX\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nid,y\n", NoFile::Cut),
            (many.as_str(), NoFile::Broken),
            (endless.as_str(), NoFile::Broken),
        ];
        for (body, want) in cases {
            for size in [1, 3, 64, 100_000] {
                assert_eq!(read(body.as_bytes(), size), Err(want), "{size}: {body:.60}");
            }
        }
    }

    #[test]
    fn a_boundary_is_needed() {
        for kind in [
            "text/csv",
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/mixed; boundary=a",
            "",
        ] {
            assert!(Form::of(kind).is_none(), "{kind}");
        }
        let quoted = Form::of("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"").unwrap();
        assert_eq!(quoted.delimiter, b"\r\n--a b");
        assert!(Form::of(&format!("multipart/form-data; boundary={}", "x".repeat(BOUNDARY + 1))).is_none());
    }
}
