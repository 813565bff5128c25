//! Rows with the bytes they have in the file: for tables from which some rows are taken out and the others stay as they
//! are, byte for byte. The tokenizer says where a row ends, so a line end inside quotes is none.
//!
//! Only one row is held at a time. Blank lines belong to the row behind them.

use std::io::BufRead;

use crate::csv::error::CsvError;
use crate::csv::tokenizer::{Row, Tokenizer};

/// One row of a file.
#[derive(Debug, Default)]
pub(crate) struct RawRow {
    /// Its bytes, with its line end.
    pub(crate) bytes: Vec<u8>,
    /// Its cells, unquoted.
    pub(crate) cells: Vec<Vec<u8>>,
}

impl RawRow {
    /// The cell at `position`; empty where the row is too short.
    pub(crate) fn cell(&self, position: usize) -> &[u8] {
        self.cells.get(position).map(Vec::as_slice).unwrap_or_default()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.cells.clear();
    }
}

/// Calls `each` with every row, the header first, with its number from 0.
pub(crate) fn each_row<E: From<CsvError>>(
    mut input: impl BufRead,
    each: impl FnMut(u64, &RawRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut cutter = Cutter { tokenizer: Tokenizer::new(b','), row: RawRow::default(), number: 0, each };
    let (mut line, mut first) = (Vec::new(), true);
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(CsvError::from)? == 0 {
            return cutter.finish();
        }
        let mut rest = line.as_slice();
        if let Some(text) = rest.strip_prefix(b"\xef\xbb\xbf").filter(|_| first) {
            cutter.row.bytes.extend_from_slice(b"\xef\xbb\xbf");
            rest = text;
        }
        first = false;
        // A lone carriage return may end a row, too, which shows at the byte behind it.
        while let Some(cut) = rest.windows(2).position(|pair| pair.first() == Some(&b'\r') && pair != b"\r\n")
        {
            let (piece, behind) = rest.split_at(cut + 1);
            cutter.feed(piece)?;
            let (next, others) = behind.split_at(1);
            cutter.feed_next(next)?;
            rest = others;
        }
        cutter.feed(rest)?;
    }
}

/// Bytes that are fed on, and the row that they make.
struct Cutter<F> {
    tokenizer: Tokenizer,
    row: RawRow,
    number: u64,
    each: F,
}

impl<F> Cutter<F> {
    /// Bytes of which the last may end a row, and no other.
    fn feed<E: From<CsvError>>(&mut self, piece: &[u8]) -> Result<(), E>
    where
        F: FnMut(u64, &RawRow) -> Result<(), E>,
    {
        self.row.bytes.extend_from_slice(piece);
        let ended = self.tokenize(piece)?;
        self.end(ended)
    }

    /// A byte at which it shows whether the row before it has ended.
    fn feed_next<E: From<CsvError>>(&mut self, byte: &[u8]) -> Result<(), E>
    where
        F: FnMut(u64, &RawRow) -> Result<(), E>,
    {
        let ended = self.tokenize(byte)?;
        self.end(ended)?;
        self.row.bytes.extend_from_slice(byte);
        Ok(())
    }

    fn finish<E: From<CsvError>>(mut self) -> Result<(), E>
    where
        F: FnMut(u64, &RawRow) -> Result<(), E>,
    {
        let (mut ended, cells) = (false, &mut self.row.cells);
        self.tokenizer.finish(&mut |row: &Row<'_>| {
            ended = true;
            cells.extend(row.raw_cells().map(<[u8]>::to_vec));
            Ok(())
        })?;
        self.end(ended)
    }

    fn tokenize(&mut self, bytes: &[u8]) -> Result<bool, CsvError> {
        let (mut ended, cells) = (false, &mut self.row.cells);
        self.tokenizer.feed_bytes(bytes, &mut |row: &Row<'_>| {
            ended = true;
            cells.extend(row.raw_cells().map(<[u8]>::to_vec));
            Ok(())
        })?;
        Ok(ended)
    }

    fn end<E>(&mut self, ended: bool) -> Result<(), E>
    where
        F: FnMut(u64, &RawRow) -> Result<(), E>,
    {
        if ended {
            (self.each)(self.number, &self.row)?;
            self.row.clear();
            self.number += 1;
        }
        Ok(())
    }
}

/// A cell as a writer spells it: in quotes where it must be.
pub(crate) fn cell(bytes: &[u8]) -> Vec<u8> {
    let plain = !bytes.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r'))
        && bytes.first() != Some(&b' ')
        && bytes.last() != Some(&b' ');
    if plain {
        return bytes.to_vec();
    }
    let mut quoted = vec![b'"'];
    for byte in bytes {
        if *byte == b'"' {
            quoted.push(b'"');
        }
        quoted.push(*byte);
    }
    quoted.push(b'"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &[u8]) -> Result<Vec<RawRow>, CsvError> {
        let mut rows = Vec::new();
        each_row::<CsvError>(text, |_, row| {
            rows.push(RawRow { bytes: row.bytes.clone(), cells: row.cells.clone() });
            Ok(())
        })?;
        Ok(rows)
    }

    #[test]
    fn rows_keep_their_bytes() {
        let text = b"\xef\xbb\xbfid,text\r\n1,\"a\nb, \"\"c\"\"\"\r\n\n2,x\n3,";
        let found = rows(text).unwrap();
        let bytes: Vec<&[u8]> = found.iter().map(|row| row.bytes.as_slice()).collect();
        let expected: [&[u8]; 4] =
            [b"\xef\xbb\xbfid,text\r\n", b"1,\"a\nb, \"\"c\"\"\"\r\n", b"\n2,x\n", b"3,"];
        assert_eq!(bytes, expected);
        assert_eq!(found[0].cells, [b"id".to_vec(), b"text".to_vec()]);
        assert_eq!(found[1].cells[1], b"a\nb, \"c\"");
        assert_eq!(found[3].cell(1), b"");
        assert_eq!(found[3].cell(9), b"");
        assert!(rows(b"").unwrap().is_empty());
        // A lone carriage return ends a row outside quotes and is text inside.
        let found = rows(b"a,b\r1,2\r\r3,\"x\ry\"\r\n4,5\r").unwrap();
        let bytes: Vec<&[u8]> = found.iter().map(|row| row.bytes.as_slice()).collect();
        let expected: [&[u8]; 4] = [b"a,b\r", b"1,2\r", b"\r3,\"x\ry\"\r\n", b"4,5\r"];
        assert_eq!(bytes, expected);
        assert_eq!(found[2].cells, [b"3".to_vec(), b"x\ry".to_vec()]);
        assert!(matches!(rows(b"a\n\"b\n"), Err(CsvError::UnclosedQuote { line: 2 })));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(cells in prop::collection::vec("[a ,\"\n\r|é]{0,6}", 1..5)) {
            let mut line: Vec<u8> = b"x".to_vec();
            for text in &cells {
                line.push(b',');
                line.extend(cell(text.as_bytes()));
            }
            line.push(b'\n');
            let found = rows(&line).unwrap();
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].bytes, &line);
            let read: Vec<&[u8]> = found[0].cells.iter().skip(1).map(Vec::as_slice).collect();
            let written: Vec<&[u8]> = cells.iter().map(String::as_bytes).collect();
            prop_assert_eq!(read, written);
        }
    }
}
