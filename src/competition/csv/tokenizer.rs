//! Cuts a stream of UTF-8 bytes into rows of cells, as the pandas C tokenizer does.
//!
//! A state machine over bytes, named after the states of pandas' `tokenizer.c`: lines end in LF, CRLF or a lone CR;
//! lines that are empty or only blanks are skipped; a quote opens quotes only at the start of a cell; text after a
//! closing quote is appended; an unclosed quote is an error. One difference: pandas loses its place when a lone CR
//! is followed by a line that starts with blanks (it overflows or repeats the row); here such a line is a line.

use crate::csv::error::CsvError;

/// One row: its cells, end to end, and where each ends.
#[derive(Debug, Default)]
pub(crate) struct Row {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Line of the file on which the row ends, from 1.
    pub(crate) line: u64,
}

impl Row {
    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The cells in order. A NUL cuts its cell.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        let has_nul = self.bytes.contains(&0);
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let cell = self.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            if has_nul { cell.split(|byte| *byte == 0).next().unwrap_or_default() } else { cell }
        })
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn end_field(&mut self) {
        self.ends.push(self.bytes.len());
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    StartRecord,
    BlankLine,
    StartField,
    InField,
    InQuotes,
    QuoteInQuotes,
    /// After a CR that ends a row.
    EatCrlf,
    /// After a CR that ends a skipped line.
    EatCrlfOfNothing,
}

/// Number of LF bytes.
#[expect(clippy::naive_bytecount, reason = "quoted text is rare; not worth a dependency")]
pub(crate) fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// How many bytes at the front are none of these; eight are looked at at once.
fn until_any<const N: usize>(stops: [u8; N], bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let patterns = stops.map(|stop| ONES * u64::from(stop));
    let (words, rest) = bytes.as_chunks::<8>();
    for (position, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The high bit of every byte that is a stop; one above a true find may be wrong, the lowest never is.
        let found = patterns.iter().fold(0, |found, pattern| {
            let difference = word ^ pattern;
            found | (difference.wrapping_sub(ONES) & !difference & (ONES << 7))
        });
        if found != 0 {
            return position * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    words.len() * 8 + rest.iter().take_while(|byte| !stops.contains(byte)).count()
}

/// The state machine; [`Tokenizer::feed`] it, then [`Tokenizer::finish`].
#[derive(Debug)]
pub(crate) struct Tokenizer {
    state: State,
    row: Row,
    lines: u64,
    quote_line: u64,
    delimiter: u8,
}

impl Tokenizer {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self { state: State::StartRecord, row: Row::default(), lines: 0, quote_line: 0, delimiter }
    }

    /// Takes a piece of the file; calls `sink` with every row that is complete.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(&Row) -> Result<(), CsvError>,
    ) -> Result<(), CsvError> {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            match self.state {
                State::StartRecord => match byte {
                    b'\n' => self.lines += 1,
                    b'\r' => self.state = State::EatCrlfOfNothing,
                    b' ' | b'\t' if byte != self.delimiter => {
                        self.row.bytes.push(byte);
                        self.state = State::BlankLine;
                    }
                    _ => {
                        // The byte is looked at once more, as the first of a cell.
                        self.state = State::StartField;
                        continue;
                    }
                },
                State::BlankLine => match byte {
                    b'\n' | b'\r' => {
                        self.row.clear();
                        self.lines += u64::from(byte == b'\n');
                        self.state = if byte == b'\n' { State::StartRecord } else { State::EatCrlfOfNothing };
                    }
                    b' ' | b'\t' if byte != self.delimiter => self.row.bytes.push(byte),
                    _ => self.in_field(byte, sink)?,
                },
                State::StartField if byte == b'"' => {
                    self.quote_line = self.lines + 1;
                    self.state = State::InQuotes;
                }
                State::StartField | State::InField => {
                    // The hot loop: take everything up to the next byte that means something, and that byte.
                    let plain = until_any([self.delimiter, b'\n', b'\r'], rest);
                    let Some((cell @ [_, ..], after)) = rest.split_at_checked(plain) else {
                        self.in_field(byte, sink)?;
                        rest = after;
                        continue;
                    };
                    self.row.bytes.extend_from_slice(cell);
                    self.state = State::InField;
                    let Some((&byte, after)) = after.split_first() else { break };
                    self.in_field(byte, sink)?;
                    rest = after;
                    continue;
                }
                State::InQuotes => {
                    let plain = until_any([b'"'], rest);
                    if let (1.., Some((cell, after))) = (plain, rest.split_at_checked(plain)) {
                        self.row.bytes.extend_from_slice(cell);
                        self.lines += line_ends(cell);
                        rest = after;
                        continue;
                    }
                    self.state = State::QuoteInQuotes;
                }
                State::QuoteInQuotes => match byte {
                    b'"' => {
                        self.row.bytes.push(byte);
                        self.state = State::InQuotes;
                    }
                    _ => self.in_field(byte, sink)?,
                },
                State::EatCrlf => {
                    self.end_line(sink)?;
                    if byte != b'\n' {
                        continue;
                    }
                }
                State::EatCrlfOfNothing => {
                    self.lines += 1;
                    self.state = State::StartRecord;
                    if byte != b'\n' {
                        continue;
                    }
                }
            }
            rest = after;
        }
        Ok(())
    }

    /// The end of the file.
    pub(crate) fn finish(
        &mut self,
        sink: &mut impl FnMut(&Row) -> Result<(), CsvError>,
    ) -> Result<(), CsvError> {
        match self.state {
            State::StartRecord | State::BlankLine | State::EatCrlfOfNothing => Ok(()),
            State::InQuotes => Err(CsvError::UnclosedQuote { line: self.quote_line }),
            State::StartField | State::InField | State::QuoteInQuotes => {
                self.row.end_field();
                self.end_line(sink)
            }
            State::EatCrlf => self.end_line(sink),
        }
    }

    /// A byte outside quotes: ends the cell or the row, or belongs to the cell.
    fn in_field(
        &mut self,
        byte: u8,
        sink: &mut impl FnMut(&Row) -> Result<(), CsvError>,
    ) -> Result<(), CsvError> {
        match byte {
            _ if byte == self.delimiter => {
                self.row.end_field();
                self.state = State::StartField;
            }
            b'\n' => {
                self.row.end_field();
                self.end_line(sink)?;
            }
            b'\r' => {
                self.row.end_field();
                self.state = State::EatCrlf;
            }
            _ => {
                self.row.bytes.push(byte);
                self.state = State::InField;
            }
        }
        Ok(())
    }

    fn end_line(&mut self, sink: &mut impl FnMut(&Row) -> Result<(), CsvError>) -> Result<(), CsvError> {
        self.lines += 1;
        self.row.line = self.lines;
        self.state = State::StartRecord;
        sink(&self.row)?;
        self.row.clear();
        Ok(())
    }
}
