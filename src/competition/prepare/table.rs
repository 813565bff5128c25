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
        let columns = columns.into_iter().filter_map(Kept::typed).map(Stored::from).collect();
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
