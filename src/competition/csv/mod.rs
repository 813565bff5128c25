//! CSV as pandas reads it (C parser, round-trip floats), because a submission means what the official grader's
//! reader makes of it: types are those of whole columns, certain words are missing values, short rows are padded.
//!
//! The file is streamed: bytes are checked to be UTF-8, cut into rows (`tokenizer`), collected by column
//! in blocks of rows and typed block by block, with pandas' block size, so that a large file gets pandas' types too.
//! No bytes make it panic.

mod column;
mod ends;
mod error;
mod infer;
mod marks;
mod number;
mod packed;
mod pieces;
mod raw;
mod table;
mod tokenizer;

use std::io::Read;
use std::sync::atomic::AtomicU64;

pub use column::{Cell, Column, MixedCell, Texts};
pub use error::CsvError;
pub use number::Decimals;
pub(crate) use number::{boolean, float64, int64, is_missing};
pub use table::{MAX_COLUMNS, ReadOptions, Table};

pub(crate) use raw::{RawRow, cell, each_row};
pub(crate) use tokenizer::{Row, Tokenizer, line_ends};

use pieces::{Direct, Held, Piece, Pieces, ahead};
use table::TableBuilder;
pub(crate) use table::{Kept, Taker};

/// Reads a table.
pub fn read(input: impl Read, options: &ReadOptions) -> Result<Table, CsvError> {
    let limit = AtomicU64::new(options.max_rows.unwrap_or(u64::MAX));
    read_pieces(Direct(input), options, &limit).0
}

/// Reads a table of at most `limit` data rows, whatever the options say; another thread may lower the limit meanwhile.
/// Also tells how many data rows were begun, so that what came of a limit that was late can be settled afterwards. Where
/// the file is long, another thread reads ahead.
pub(crate) fn read_within(
    mut input: impl Read + Send,
    long: bool,
    options: &ReadOptions,
    limit: &AtomicU64,
) -> (Result<Table, CsvError>, u64) {
    let ahead = if long { ahead(&mut input, |pieces| read_pieces(pieces, options, limit)) } else { None };
    ahead.unwrap_or_else(|| read_pieces(Direct(input), options, limit))
}

/// Reads a table block by block: who takes them finds the type of each, and another thread reads ahead.
pub(crate) fn read_by_blocks(
    mut input: impl Read + Send,
    options: &ReadOptions,
    taker: Taker<'_>,
) -> Result<Table, CsvError> {
    let limit = AtomicU64::new(options.max_rows.unwrap_or(u64::MAX));
    let Taker { multiple, take } = taker;
    let mut build = |pieces: &mut dyn Pieces| {
        let mut builder = TableBuilder::for_taker(options, &limit, Taker { multiple, take: &mut *take });
        feed(pieces, options, &mut builder).map(|()| builder.finish())
    };
    let read = ahead(&mut input, |mut pieces| build(&mut pieces));
    read.unwrap_or_else(|| build(&mut Direct(input)))
}

fn read_pieces(
    pieces: impl Pieces,
    options: &ReadOptions,
    limit: &AtomicU64,
) -> (Result<Table, CsvError>, u64) {
    let mut builder = TableBuilder::new(options, limit);
    let end = feed(pieces, options, &mut builder);
    let rows = builder.rows();
    (end.map(|()| builder.finish()), rows)
}

fn feed(
    mut pieces: impl Pieces,
    options: &ReadOptions,
    builder: &mut TableBuilder<'_>,
) -> Result<(), CsvError> {
    let mut tokenizer = Tokenizer::new(options.delimiter);
    let mut sink = |row: &tokenizer::Row<'_>| builder.row(row);
    let mut piece = pieces.next(Piece::new())?;
    let mut last = piece.bytes().is_empty();
    let mut offset = 0u64;
    loop {
        let bytes = piece.bytes();
        // What stands before a bad byte is taken first: the first fault of the file is told, wherever a piece ends.
        let (text, bad) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, false),
            Err(error) => {
                let whole = bytes.get(..error.valid_up_to()).unwrap_or_default();
                (std::str::from_utf8(whole).unwrap_or_default(), error.error_len().is_some() || last)
            }
        };
        let mark = if offset == 0 { text.strip_prefix('\u{feff}') } else { None };
        tokenizer.feed(mark.unwrap_or(text), &mut sink)?;
        offset += text.len() as u64;
        if bad {
            return Err(CsvError::NotUtf8 { offset });
        }
        if last {
            if !options.head_only {
                tokenizer.finish(&mut sink)?;
            }
            return Ok(());
        }
        let held = Held::of(bytes.get(text.len()..).unwrap_or_default());
        piece = pieces.next(piece)?;
        last = piece.bytes().is_empty();
        piece.put_in_front(&held);
    }
}

/// Reads a table from text in memory.
pub fn read_text(text: &str, options: &ReadOptions) -> Result<Table, CsvError> {
    read(text.as_bytes(), options)
}
