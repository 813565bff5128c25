//! Cuts a stream of text into rows of cells, as the pandas C tokenizer does.
//!
//! A state machine over bytes, named after the states of pandas' `tokenizer.c`: lines end in LF, CRLF or a lone CR;
//! lines that are empty or only blanks are skipped; a quote opens quotes only at the start of a cell; text after a
//! closing quote is appended; an unclosed quote is an error. One difference: pandas loses its place when a lone CR
//! is followed by a line that starts with blanks (it overflows or repeats the row); here such a line is a line.
//!
//! Nearly all rows are plain: whole in the piece at hand, and each cell stands in it as it is read. Those are cut where
//! they stand; the state machine takes over at the start of any other row, so that both give the same rows.

use crate::csv::error::CsvError;
use crate::csv::marks::Marks;
use crate::csv::table::MAX_COLUMNS;

/// A longer row is refused before it fills the memory: most are a quote that is never closed. The mask of a large image
/// is some ten million bytes.
const MAX_ROW: usize = 256 << 20;

/// Where a cell stands in its row's text.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
}

/// One row: its cells in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    bytes: &'a [u8],
    /// The same, empty where the bytes are no UTF-8.
    text: &'a str,
    spans: &'a [Span],
    /// Line of the file on which the row ends, from 1.
    pub(crate) line: u64,
}

impl<'a> Row<'a> {
    /// Number of cells.
    pub(crate) const fn len(&self) -> usize {
        self.spans.len()
    }

    /// One cell; empty past the last one.
    pub(crate) fn cell(&self, position: usize) -> &'a str {
        self.spans.get(position).map_or("", |span| self.at(*span))
    }

    /// The cells in order.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &'a str> {
        self.spans.iter().map(|span| self.at(*span))
    }

    /// The cells in order, of any bytes.
    pub(crate) fn raw_cells(&self) -> impl Iterator<Item = &'a [u8]> {
        self.spans.iter().map(|span| self.bytes.get(span.start..span.end).unwrap_or_default())
    }

    fn at(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }
}

/// A row that is put together: its cells, end to end, and where each stands.
#[derive(Debug, Default)]
struct Growing {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl Growing {
    fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    fn end_field(&mut self) {
        let start = self.spans.last().map_or(0, |span| span.end);
        self.spans.push(Span { start, end: self.bytes.len() });
    }

    /// A NUL cuts its cell.
    fn cut_at_nul(&mut self) {
        for span in &mut self.spans {
            let cell = self.bytes.get(span.start..span.end).unwrap_or_default();
            if let Some(length) = cell.iter().position(|byte| *byte == 0) {
                span.end = span.start + length;
            }
        }
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

/// The tokenizer; [`Tokenizer::feed`] it, then [`Tokenizer::finish`].
#[derive(Debug)]
pub(crate) struct Tokenizer {
    state: State,
    row: Growing,
    /// Cells of a plain row.
    spans: Vec<Span>,
    lines: u64,
    /// The line on which the row that is put together begins.
    row_line: u64,
    quote_line: u64,
    delimiter: u8,
    /// Most bytes of a row.
    max_row: usize,
}

impl Tokenizer {
    pub(crate) fn new(delimiter: u8) -> Self {
        Self {
            state: State::StartRecord,
            row: Growing::default(),
            spans: Vec::new(),
            lines: 0,
            row_line: 0,
            quote_line: 0,
            delimiter,
            max_row: MAX_ROW,
        }
    }

    /// Takes a piece of the file; calls `sink` with every row that is complete.
    pub(crate) fn feed(
        &mut self,
        text: &str,
        sink: &mut impl FnMut(&Row<'_>) -> Result<(), CsvError>,
    ) -> Result<(), CsvError> {
        let mut rest = text;
        while !rest.is_empty() {
            let plain = if self.state == State::StartRecord { self.plain_rows(rest, sink)? } else { 0 };
            rest = rest.get(plain..).unwrap_or_default();
            let taken = self.row(rest.as_bytes(), sink)?;
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// As [`feed`](Self::feed), of bytes that need not be text.
    pub(crate) fn feed_bytes(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(&Row<'_>) -> Result<(), CsvError>,
    ) -> Result<(), CsvError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = self.row(rest, sink)?;
            rest = rest.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// The plain rows at the front of a text, and how many bytes they are with the empty lines between them.
    fn plain_rows(
        &mut self,
        text: &str,
        sink: &mut impl FnMut(&Row<'_>) -> Result<(), CsvError>,
    ) -> Result<usize, CsvError> {
        let bytes = text.as_bytes();
        let byte = |place: usize| bytes.get(place).copied().unwrap_or_default();
        let mut marks = Marks::new(bytes, self.delimiter);
        let (mut record, mut cell, mut lines) = (0, 0, 1);
        self.spans.clear();
        while cell != record || byte(cell) == self.delimiter || !matches!(byte(cell), b' ' | b'\t') {
            let Some(mut mark) = marks.next() else { break };
            let mut span = Span { start: cell, end: mark };
            let quoted = byte(mark) == b'"' && mark == cell;
            if quoted {
                let closing = marks.by_ref().find(|mark| {
                    lines += u64::from(byte(*mark) == b'\n');
                    matches!(byte(*mark), b'"' | 0)
                });
                let Some(closing) = closing.filter(|closing| byte(*closing) == b'"') else { break };
                let Some(after) = marks.next().filter(|after| *after == closing + 1) else { break };
                span = Span { start: mark + 1, end: closing };
                mark = after;
            }
            match byte(mark) {
                delimiter if delimiter == self.delimiter => {
                    self.spans.push(span);
                    cell = mark + 1;
                    continue;
                }
                b'\n' => {}
                b'\r' if marks.next().is_some_and(|next| next == mark + 1 && byte(next) == b'\n') => {
                    mark += 1;
                }
                b'\r' | 0 => break,
                _ if quoted => break,
                _ => continue,
            }
            self.lines += lines;
            if span.end != record {
                self.spans.push(span);
                sink(&Row { bytes, text, spans: &self.spans, line: self.lines })?;
                self.spans.clear();
            }
            (record, cell, lines) = (mark + 1, mark + 1, 1);
        }
        Ok(record)
    }

    /// The state machine, at most until a row has ended. Returns how many bytes it took.
    fn row(
        &mut self,
        bytes: &[u8],
        sink: &mut impl FnMut(&Row<'_>) -> Result<(), CsvError>,
    ) -> Result<usize, CsvError> {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if self.row.bytes.len() > self.max_row {
                return Err(CsvError::RowTooLarge { line: self.row_line, limit: self.max_row });
            }
            match self.state {
                State::StartRecord => match byte {
                    b'\n' => self.lines += 1,
                    b'\r' => self.state = State::EatCrlfOfNothing,
                    b' ' | b'\t' if byte != self.delimiter => {
                        self.row.bytes.push(byte);
                        self.row_line = self.lines + 1;
                        self.state = State::BlankLine;
                    }
                    _ => {
                        // The byte is looked at once more, as the first of a cell.
                        self.row_line = self.lines + 1;
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
                    // Everything up to the next byte that means something.
                    let plain = until_any([self.delimiter, b'\n', b'\r'], rest);
                    if let (1.., Some((cell, after))) = (plain, rest.split_at_checked(plain)) {
                        self.row.bytes.extend_from_slice(cell);
                        self.state = State::InField;
                        rest = after;
                        continue;
                    }
                    self.in_field(byte, sink)?;
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
                        break;
                    }
                }
                State::EatCrlfOfNothing => {
                    self.lines += 1;
                    self.state = State::StartRecord;
                    if byte != b'\n' {
                        break;
                    }
                }
            }
            rest = after;
            if self.state == State::StartRecord {
                break;
            }
        }
        Ok(bytes.len() - rest.len())
    }

    /// The end of the file.
    pub(crate) fn finish(
        &mut self,
        sink: &mut impl FnMut(&Row<'_>) -> Result<(), CsvError>,
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
        sink: &mut impl FnMut(&Row<'_>) -> Result<(), CsvError>,
    ) -> Result<(), CsvError> {
        match byte {
            _ if byte == self.delimiter => {
                self.row.end_field();
                if self.row.spans.len() >= MAX_COLUMNS {
                    return Err(CsvError::TooManyColumns { limit: MAX_COLUMNS });
                }
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

    fn end_line(&mut self, sink: &mut impl FnMut(&Row<'_>) -> Result<(), CsvError>) -> Result<(), CsvError> {
        self.lines += 1;
        self.state = State::StartRecord;
        if self.row.bytes.contains(&0) {
            self.row.cut_at_nul();
        }
        // Pieces of text are whole characters, and only ASCII is left out of them.
        let bytes = self.row.bytes.as_slice();
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        sink(&Row { bytes, text, spans: &self.row.spans, line: self.lines })?;
        self.row.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All rows with their lines, and the error at the end.
    fn rows<'a>(pieces: impl Iterator<Item = &'a str>, delimiter: u8) -> (Vec<(Vec<String>, u64)>, String) {
        let mut found = Vec::new();
        let mut sink = |row: &Row<'_>| {
            found.push((row.cells().map(str::to_owned).collect(), row.line));
            Ok(())
        };
        let mut tokenizer = Tokenizer::new(delimiter);
        for piece in pieces {
            tokenizer.feed(piece, &mut sink).unwrap();
        }
        let end = tokenizer.finish(&mut sink);
        (found, format!("{end:?}"))
    }

    fn text() -> impl Strategy<Value = String> {
        let bits =
            ["a", "bc", ",", ",", "\"", "\"\"", "\n", "\n", "\r\n", "\r", " ", "\t", "\0", "é", "\u{b}", ";"];
        prop::collection::vec(prop::sample::select(bits.to_vec()), 0..120).prop_map(|bits| bits.concat())
    }

    #[test]
    fn a_row_that_does_not_end_is_refused_before_it_fills_the_memory() {
        let mut tokenizer = Tokenizer { max_row: 1000, ..Tokenizer::new(b',') };
        let mut feed = |text: &str| tokenizer.feed(text, &mut |_| Ok(()));
        feed("a,b\n1,\"two\nlines\"\n\n2,\"never").unwrap();
        let refused = (0..100).find_map(|_| feed(" closed, and so the rest of the file\n").err());
        assert!(matches!(refused, Some(CsvError::RowTooLarge { line: 5, limit: 1000 })), "{refused:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// One character at a time no row is plain, so this compares the two ways of cutting.
        #[test]
        fn plain_rows_are_cut_as_others_are(text in text(), delimiter in prop::sample::select(vec![b',', b';', b'\t'])) {
            let characters: Vec<String> = text.chars().map(String::from).collect();
            let slow = rows(characters.iter().map(String::as_str), delimiter);
            prop_assert_eq!(rows(std::iter::once(text.as_str()), delimiter), slow);
        }
    }
}
