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
    mut each: impl FnMut(u64, &RawRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut tokenizer = Tokenizer::new(b',');
    let (mut row, mut number) = (RawRow::default(), 0);
    loop {
        let start = row.bytes.len();
        let read = input.read_until(b'\n', &mut row.bytes).map_err(CsvError::from)?;
        let (bytes, cells) = (&row.bytes, &mut row.cells);
        let mut ended = 0;
        let mut sink = |found: &Row<'_>| {
            ended += 1;
            if ended > 1 {
                return Err(CsvError::LineEnd { line: found.line });
            }
            cells.extend(found.raw_cells().map(<[u8]>::to_vec));
            Ok(())
        };
        let piece = bytes.get(start..).unwrap_or_default();
        let mark = if number == 0 && start == 0 { piece.strip_prefix(b"\xef\xbb\xbf") } else { None };
        tokenizer.feed_bytes(mark.unwrap_or(piece), &mut sink)?;
        if read == 0 {
            tokenizer.finish(&mut sink)?;
        }
        if ended == 1 {
            each(number, &row)?;
            row.clear();
            number += 1;
        }
        if read == 0 {
            return Ok(());
        }
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
        assert!(matches!(rows(b"a,b\r1,2\r3,4\n"), Err(CsvError::LineEnd { .. })));
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
