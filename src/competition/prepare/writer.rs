//! Frames as CSV, byte for byte as pandas' `to_csv(index=False)` under Python 3.11: LF line ends, a cell in quotes
//! only where it must be (a lone CR is no reason there), a missing cell empty, doubles by their shortest digits.

use std::io::{self, Write};

use crate::csv::Cell;
use crate::parallel::ordered;
use crate::prepare::frame::{Frame, View};
use crate::prepare::number_text::{FloatStyle, push_float};

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
        let mut text = String::new();
        let first = block * BLOCK;
        let rows = first..frame.rows().min(first.saturating_add(BLOCK));
        // Column by column first: the processor then waits for many cells at once, and not for each before the next.
        let cells: Vec<Vec<Cell<'_>>> =
            columns.iter().map(|column| rows.clone().map(|row| column.cell(row)).collect()).collect();
        let mut cells: Vec<_> = cells.iter().map(|cells| cells.iter().copied()).collect();
        for _ in rows {
            for (place, cells) in cells.iter_mut().enumerate() {
                if place > 0 {
                    text.push(separator);
                }
                push_cell(&mut text, cells.next().unwrap_or(Cell::Missing), style, only);
            }
            text.push('\n');
        }
        text
    };
    ordered(blocks, text, |text| output.write_all(text.as_bytes()))
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
        Cell::Integer(value) => write!(line, "{value}"),
        Cell::Unsigned(value) => write!(line, "{value}"),
    };
}

fn push_text(line: &mut String, text: &str, style: Style, only: bool) {
    let special = |byte: u8| byte == style.delimiter || byte == b'"' || byte == b'\n';
    if !(style.quote_texts || text.is_empty() && only || text.bytes().any(special)) {
        return line.push_str(text);
    }
    line.push('"');
    for (place, piece) in text.split('"').enumerate() {
        if place > 0 {
            line.push_str("\"\"");
        }
        line.push_str(piece);
    }
    line.push('"');
}
