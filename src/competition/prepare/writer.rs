//! Frames as CSV, byte for byte as pandas' `to_csv(index=False)` under Python 3.11: LF line ends, a cell in quotes
//! only where it must be (a lone CR is no reason there), a missing cell empty, doubles by their shortest digits.

use std::io::{self, Write};
use std::ops::Range;

use crate::csv::Cell;
use crate::parallel::ordered;
use crate::prepare::cells::{Cells, WIDE, put};
use crate::prepare::frame::{Frame, View};
use crate::prepare::number_text::{FloatStyle, push_float, push_whole};

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// What parts cells.
    pub delimiter: u8,
    /// Whether everything that is no number stands in quotes.
    pub quote_texts: bool,
    /// How doubles are written.
    pub floats: FloatStyle,
}

impl Default for Style {
    fn default() -> Self {
        Self { delimiter: b',', quote_texts: false, floats: FloatStyle::Shortest }
    }
}

/// Rows that become text at once; a large frame is shared out among threads by so many.
const BLOCK: u32 = 1 << 10;

/// Rows whose cells are gathered before they are laid out: few enough to be near the processor.
const PART: u32 = 1 << 8;

/// Writes a frame. Rows of a split lie anywhere in what was read, so it is waiting for memory that threads share.
pub fn write(frame: &Frame, style: Style, output: &mut impl Write) -> io::Result<()> {
    let mut line = String::new();
    let only = frame.names().len() == 1;
    let separator = char::from(style.delimiter);
    for (place, name) in frame.names().iter().enumerate() {
        if place > 0 {
            line.push(separator);
        }
        push_text(&mut line, name, style, only);
    }
    line.push('\n');
    output.write_all(line.as_bytes())?;
    let columns: Vec<View<'_>> = frame.columns().collect();
    let blocks = frame.rows().div_ceil(BLOCK);
    let text = |block: u32| {
        let first = block * BLOCK;
        block_text(&columns, first..frame.rows().min(first.saturating_add(BLOCK)), style)
    };
    ordered(blocks, text, |text| output.write_all(&text))
}

/// Some rows as text, column by column first: rows of a split lie anywhere in what was read, and the processor then waits
/// for many cells at once.
fn block_text(columns: &[View<'_>], rows: Range<u32>, style: Style) -> Vec<u8> {
    let mut text = Vec::new();
    let mut spelled: Vec<Spelled> = columns.iter().map(|_| Spelled::default()).collect();
    for first in rows.clone().step_by(PART as usize) {
        let rows = first..rows.end.min(first.saturating_add(PART));
        for (spelled, column) in spelled.iter_mut().zip(columns) {
            spelled.fill(*column, rows.clone(), style, columns.len() == 1);
        }
        lay_out(&spelled, rows.len(), style.delimiter, &mut text);
    }
    text
}

/// The cells of one column, as they are written.
#[derive(Default)]
struct Spelled {
    cells: Cells,
    /// Each stands in quotes that are not among its bytes.
    quoted: bool,
}

impl Spelled {
    /// The cells of these rows in the place of those before.
    fn fill(&mut self, column: View<'_>, rows: Range<u32>, style: Style, only: bool) {
        self.cells.clear();
        column.touch(rows.clone());
        // A table of one column has its empty cells in quotes.
        if !only && column.gather(rows.clone(), &mut self.cells) {
            self.quoted = column.is_text() && style.quote_texts;
            if !column.is_text() || is_plain(self.cells.bytes(), style) {
                return;
            }
            self.cells.clear();
        }
        self.quoted = false;
        let (mut cell, mut scratch) = (String::new(), String::new());
        for row in rows {
            cell.clear();
            push_cell(&mut cell, column.cell_in(row, &mut scratch), style, only);
            self.cells.push(cell.as_bytes());
        }
    }
}

/// Whether none of these bytes asks for quotes, or in quotes for another one.
fn is_plain(bytes: &[u8], style: Style) -> bool {
    /// Bytes that are looked at without a branch for each.
    const TOGETHER: usize = 64;
    let delimiter = if style.quote_texts { b'"' } else { style.delimiter };
    let line_end = if style.quote_texts { b'"' } else { b'\n' };
    let special =
        |byte: &u8| u8::from(*byte == delimiter) | u8::from(*byte == b'"') | u8::from(*byte == line_end);
    bytes.chunks(TOGETHER).all(|bytes| bytes.iter().fold(0, |found, byte| found | special(byte)) == 0)
}

/// Appends rows of these columns.
fn lay_out(columns: &[Spelled], rows: usize, delimiter: u8, text: &mut Vec<u8>) {
    let mut closing = false;
    let mut leads = Vec::with_capacity(columns.len());
    for (place, column) in columns.iter().enumerate() {
        let between = (place > 0).then_some(delimiter);
        leads.push((Between::of(closing, between, column.quoted), &column.cells));
        closing = column.quoted;
    }
    let end = Between::of(closing, Some(b'\n'), false);
    let mut cursors: Vec<_> =
        leads.iter().map(|(lead, cells)| (lead, cells.roomy(), cells.ends().iter(), 0)).collect();
    let mut place = text.len();
    let cells: usize = columns.iter().map(|column| column.cells.bytes().len()).sum();
    // Room for all of it, so that what is copied wide always has some.
    text.resize(place + cells + (rows + 1) * (columns.len() + 1) * Between::WIDE + WIDE, 0);
    for _ in 0..rows {
        for (lead, bytes, ends, start) in &mut cursors {
            place = lead.put(text, place);
            let end = ends.next().copied().unwrap_or(*start);
            place = put(text, place, bytes, std::mem::replace(start, end)..end);
        }
        place = end.put(text, place);
    }
    text.truncate(place);
}

/// What stands between two cells of a row: the quote that closes one, the delimiter, the quote that opens the next.
struct Between {
    bytes: [u8; Self::WIDE],
    length: usize,
}

impl Between {
    const WIDE: usize = 4;

    fn of(closing: bool, delimiter: Option<u8>, opening: bool) -> Self {
        let found = [closing.then_some(b'"'), delimiter, opening.then_some(b'"')];
        let mut bytes = [0; Self::WIDE];
        bytes.iter_mut().zip(found.iter().flatten()).for_each(|(to, from)| *to = *from);
        Self { bytes, length: found.iter().flatten().count() }
    }

    /// Puts it at a place that has room, and gives the place behind it.
    fn put(&self, text: &mut [u8], place: usize) -> usize {
        if let Some(room) = text.get_mut(place..).and_then(<[u8]>::first_chunk_mut) {
            *room = self.bytes;
        }
        place + self.length
    }
}

/// A frame as text.
pub fn to_text(frame: &Frame, style: Style) -> String {
    let mut bytes = Vec::new();
    // Writing to memory does not fail, and what is written is text.
    let _ = write(frame, style, &mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

fn push_cell(line: &mut String, cell: Cell<'_>, style: Style, only: bool) {
    use std::fmt::Write as _;
    // Writing to a string does not fail.
    let _ = match cell {
        Cell::Missing => {
            push_text(line, "", style, only);
            Ok(())
        }
        Cell::Text(text) => {
            push_text(line, text, style, only);
            Ok(())
        }
        Cell::Float(value) => {
            push_float(line, value, style.floats);
            Ok(())
        }
        Cell::Boolean(true) => line.write_str("True"),
        Cell::Boolean(false) => line.write_str("False"),
        Cell::Integer(value) => {
            push_whole(line, value);
            Ok(())
        }
        Cell::Unsigned(value) => write!(line, "{value}"),
    };
}

fn push_text(line: &mut String, text: &str, style: Style, only: bool) {
    let special = |byte: u8| byte == style.delimiter || byte == b'"' || byte == b'\n';
    if !(style.quote_texts || text.is_empty() && only || text.bytes().any(special)) {
        return line.push_str(text);
    }
    line.push('"');
    if !text.as_bytes().contains(&b'"') {
        line.push_str(text);
        return line.push('"');
    }
    for (place, piece) in text.split('"').enumerate() {
        if place > 0 {
            line.push_str("\"\"");
        }
        line.push_str(piece);
    }
    line.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::{Column, MixedCell};
    use crate::prepare::frame::texts;

    /// More rows than a block, of each kind of column; few cells ask for quotes, and not in all parts of the rows.
    fn frame() -> Frame {
        let rows = BLOCK + 3 * PART + 7;
        let words = ["plain", "", "longer than what is copied at once", "naïve", "0"];
        let odd = ["a,b", "say \"so\"", "two\nlines", "semi;colon", "\""];
        let text = |row: u32| {
            let row = row as usize;
            if row % 401 == 7 { odd[row % odd.len()] } else { words[row % words.len()] }
        };
        let whole = |row: u32| i64::from(row).pow(3) * if row.is_multiple_of(2) { 1 } else { -1 };
        let number = |row: u32| if row % 5 == 1 { f64::NAN } else { f64::from(row) / 8.0 };
        Frame::default()
            .with("whole", Column::Integer((0..rows).map(whole).collect()))
            .with("text", texts((0..rows).map(|row| (row % 11 != 3).then(|| text(row)))))
            .with("stamp", texts((0..rows).map(|row| Some(format!("2009-06-15 {row:06}")))))
            .with("few", texts((0..rows).map(|row| Some(words[row as usize / 900]))))
            .with("float", Column::Float((0..rows).map(number).collect()))
            .with("flag", Column::Boolean((0..rows).map(|row| row % 3 == 0).collect()))
            .with_same("same", MixedCell::Text("x,y".into()))
    }

    #[test]
    fn what_is_laid_out_by_columns_is_what_is_written_cell_by_cell() {
        let frame = frame();
        let scattered: Vec<u32> = (0..frame.rows()).map(|row| row * 7919 % frame.rows()).collect();
        let frames = [
            frame.take(&scattered),
            frame.filter(|row| row % 10 != 4),
            frame.keep(&["text"]).unwrap(),
            frame,
        ];
        for (frame, quote_texts, delimiter) in
            frames.iter().flat_map(|frame| [(frame, false, b','), (frame, false, b';'), (frame, true, b',')])
        {
            let style = Style { delimiter, quote_texts, ..Style::default() };
            let columns: Vec<View<'_>> = frame.columns().collect();
            let (mut expected, mut scratch) = (String::new(), String::new());
            for row in 0..frame.rows() {
                for (place, column) in columns.iter().enumerate() {
                    if place > 0 {
                        expected.push(char::from(delimiter));
                    }
                    push_cell(&mut expected, column.cell_in(row, &mut scratch), style, columns.len() == 1);
                }
                expected.push('\n');
            }
            let found = to_text(frame, style);
            let (_, found) = found.split_once('\n').unwrap();
            assert!(found == expected, "{style:?} of {} columns", columns.len());
        }
    }
}
