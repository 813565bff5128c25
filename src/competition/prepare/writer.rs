//! Frames as CSV, byte for byte as pandas' `to_csv(index=False)` under Python 3.11: LF line ends, a cell in quotes
//! only where it must be (a lone CR is no reason there), a missing cell empty, doubles by their shortest digits.

use std::io::{self, Write};

use crate::csv::Cell;
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

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

/// Writes a frame.
pub fn write(frame: &Frame, style: Style, output: &mut impl Write) -> io::Result<()> {
    let mut line = String::with_capacity(BUFFER + 1024);
    let only = frame.names().len() == 1;
    let separator = char::from(style.delimiter);
    for (place, name) in frame.names().iter().enumerate() {
        if place > 0 {
            line.push(separator);
        }
        push_text(&mut line, name, style, only);
    }
    line.push('\n');
    let columns: Vec<View<'_>> = frame.columns().collect();
    for row in 0..frame.rows() {
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                line.push(separator);
            }
            push_cell(&mut line, column.cell(row), style, only);
        }
        line.push('\n');
        if line.len() >= BUFFER {
            output.write_all(line.as_bytes())?;
            line.clear();
        }
    }
    output.write_all(line.as_bytes())
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
