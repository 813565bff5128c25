//! Why a text is no CSV table. Lines and rows count from 1; a data row is a row after the header.

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CsvError {
    /// The bytes cannot be had.
    #[error("cannot read the file")]
    Io(#[from] std::io::Error),
    /// The text is not UTF-8.
    #[error("not UTF-8 text: the byte at position {offset} fits no character")]
    NotUtf8 {
        /// Position of the byte, from 0.
        offset: u64,
    },
    /// A row has more cells than there are columns.
    #[error("data row {row} (line {line}) has {found} cells where {expected} are expected")]
    RowTooLong {
        /// Data row.
        row: u64,
        /// Line of the file on which the row ends.
        line: u64,
        /// Number of columns.
        expected: usize,
        /// Number of cells.
        found: usize,
    },
    /// A row is absurdly long.
    #[error("the row that begins on line {line} has more than {limit} bytes; is a quote in it never closed?")]
    RowTooLarge {
        /// Line on which it begins.
        line: u64,
        /// The limit.
        limit: usize,
    },
    /// So many rows are short that what they lack would fill the memory.
    #[error(
        "data row {row} (line {line}) has {found} cells where {expected} are expected, and with those before it lacks \
         more than {limit}"
    )]
    TooManyShortRows {
        /// Data row.
        row: u64,
        /// Line of the file on which the row ends.
        line: u64,
        /// Number of columns.
        expected: usize,
        /// Number of cells.
        found: usize,
        /// Cells that the rows of a table may lack.
        limit: usize,
    },
    /// The file ends inside quotes.
    #[error("a quote that opens on line {line} is never closed")]
    UnclosedQuote {
        /// Line of the opening quote.
        line: u64,
    },
    /// There are more rows than the caller wants to see.
    #[error("more than {limit} data rows")]
    TooManyRows {
        /// The limit.
        limit: u64,
    },
    /// The header is absurdly wide.
    #[error("more than {limit} columns")]
    TooManyColumns {
        /// The limit.
        limit: usize,
    },
}
