//! Reads a large table in three stages that work at the same time: one thread reads ahead, this one cuts rows into cells,
//! others find the type of each block of cells and store it in its narrowest form. So never more of a table is there as it
//! is spelled than a few blocks.
//!
//! What comes of it does not depend on how many threads there are.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::csv::{CsvError, Kept, ReadOptions, Taker, read_by_blocks};
use crate::prepare::frame::Frame;
use crate::prepare::stored::{ROWS, Stored};

/// More threads than this would wait for the one that cuts.
const TYPERS: usize = 4;

/// The columns of one block, with its place among the others.
type Block = (usize, Vec<Kept>);

/// Reads a table.
pub(super) fn read_frame(input: impl Read + Send, options: &ReadOptions) -> Result<Frame, CsvError> {
    let blocks: Mutex<BTreeMap<usize, Vec<Stored>>> = Mutex::default();
    let store = |(place, columns): Block| {
        // A block that has ended has a column.
        let columns = columns
            .into_iter()
            .filter_map(|column| column.typed(options.decimals))
            .map(Stored::from)
            .collect();
        blocks.lock().unwrap_or_else(PoisonError::into_inner).insert(place, columns);
    };
    let table = thread::scope(|scope| {
        let typers = thread::available_parallelism().map_or(1, usize::from).min(TYPERS);
        let mut typers: Vec<Option<SyncSender<Block>>> = (0..typers)
            .map(|_| {
                let (sender, blocks): (_, Receiver<Block>) = sync_channel(0);
                let typer = move || blocks.iter().for_each(store);
                thread::Builder::new().spawn_scoped(scope, typer).ok().map(|_| sender)
            })
            .collect();
        let mut place = 0;
        let mut take = |columns: Vec<Kept>| {
            let count = typers.len().max(1);
            let unsent = match typers.get_mut(place % count) {
                Some(Some(typer)) => typer.send((place, columns)).err().map(|unsent| unsent.0),
                _ => Some((place, columns)),
            };
            // Where there is no thread it is done here.
            unsent.into_iter().for_each(store);
            place += 1;
        };
        read_by_blocks(input, options, Taker { multiple: ROWS, take: &mut take })
    })?;
    let mut columns: Vec<Vec<Stored>> = Vec::new();
    for block in blocks.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
        columns.resize_with(block.len(), Vec::new);
        for (parts, part) in columns.iter_mut().zip(block) {
            parts.push(part);
        }
    }
    if columns.is_empty() {
        return Ok(Frame::from(table));
    }
    let (labels, rows) = (table.row_labels.len(), table.rows);
    let names = table.into_columns().map(|(name, _)| name).collect();
    let columns = columns.into_iter().skip(labels).filter_map(Stored::joined).collect();
    Ok(Frame::of_stored(names, columns, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv;
    use crate::prepare::writer::{Style, to_text};

    /// As many columns as a block may have that is stored as it is.
    const WIDTH: usize = 127;

    /// Of each kind of column one whose first, second and third block are not alike.
    const CELLS: [[&str; 3]; 10] = [
        ["1", "2", "300000"],
        ["1", "2.5", "-7"],
        ["", "3", "x"],
        ["True", "False", "True"],
        ["True", "", "2"],
        ["a", "NA", "7"],
        ["", "", "18446744073709551615"],
        ["9223372036854775808", "1", "1"],
        ["2009-06-15 17:26:21", "naïve", "\"a \"\"b\"\"\""],
        ["0.1", "nan", "1e300"],
    ];

    #[test]
    fn what_is_read_by_blocks_is_what_is_read_at_once() {
        let names: Vec<String> = (0..WIDTH).map(|column| format!("c{column}")).collect();
        let rest = ",1".repeat(WIDTH - CELLS.len());
        // Whole blocks, a part of one, and no row at all.
        for rows in [0, 3, ROWS, 2 * ROWS, 2 * ROWS + 5] {
            let mut text = format!("{}\n", names.join(","));
            for row in 0..rows {
                let cells = CELLS.map(|cells| cells[row / ROWS]);
                text.extend([&cells.join(","), &rest, "\n"].map(|part| part as &str));
            }
            let options = ReadOptions::default();
            let expected = csv::read_text(&text, &options).unwrap();
            let found = read_frame(text.as_bytes(), &options).unwrap();
            assert_eq!((found.rows() as usize, found.names()), (expected.rows, expected.names.as_slice()));
            for (name, column) in expected.columns().take(CELLS.len()) {
                let view = found.column(name).unwrap();
                assert_eq!(view.is_numeric(), column.is_numeric(), "{name} of {rows} rows");
                for row in [0, rows / 2, rows.saturating_sub(1)] {
                    let cell = view.cell(u32::try_from(row).unwrap());
                    assert_eq!(cell.as_cell(), column.cell(row), "{name}, row {row} of {rows}");
                }
            }
            if rows == 2 * ROWS + 5 {
                let texts =
                    [to_text(&found, Style::default()), to_text(&Frame::from(expected), Style::default())];
                assert!(texts[0] == texts[1]);
            }
        }
        let long = format!("a,b\n{}1,2,3\n", "1,2\n".repeat(10));
        let fault = read_frame(long.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
        assert_eq!(fault, csv::read_text(&long, &ReadOptions::default()).unwrap_err().to_string());
    }
}
