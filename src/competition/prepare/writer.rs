//! Frames as CSV, byte for byte as pandas' `to_csv(index=False)` under Python 3.11: LF line ends, a cell in quotes
//! only where it must be (a lone CR is no reason there), a missing cell empty, doubles by their shortest digits.

use std::io::{self, Write};
use std::ops::Range;

use crate::csv::Cell;
use crate::parallel::ordered;
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
    ordered(blocks, text, |text| output.write_all(text.as_bytes()))
}

/// Some rows as text, column by column first: rows of a split lie anywhere in what was read, and the processor then waits
/// for many cells at once.
fn block_text(columns: &[View<'_>], rows: Range<u32>, style: Style) -> String {
    let (mut cells, mut ends) = (String::new(), Vec::with_capacity(columns.len() * rows.len()));
    let mut scratch = String::new();
    for column in columns {
        column.touch(rows.clone());
        for row in rows.clone() {
            push_cell(&mut cells, column.cell_in(row, &mut scratch), style, columns.len() == 1);
            ends.push(cells.len());
        }
    }
    let mut text = String::with_capacity(cells.len() + ends.len());
    let separator = char::from(style.delimiter);
    for row in 0..rows.len() {
        for column in 0..columns.len() {
            if column > 0 {
                text.push(separator);
            }
            let place = column * rows.len() + row;
            let end = |place: usize| ends.get(place).copied().unwrap_or_default();
            text.push_str(cells.get(place.checked_sub(1).map_or(0, end)..end(place)).unwrap_or_default());
        }
        text.push('\n');
    }
    text
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
