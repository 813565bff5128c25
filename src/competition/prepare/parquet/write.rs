//! Writes a parquet file, row group by row group: every column optional, plain, packed by Snappy; what is no number is
//! missing.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::prepare::error::PrepareError;
use crate::prepare::parquet::thrift::{Encoder, low_bits};
use crate::prepare::parquet::{Kind, Values};

/// Rows of a page.
const PAGE: usize = 1 << 20;

/// A file that is being written.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    output: BufWriter<File>,
    columns: Vec<(String, Kind)>,
    position: i64,
    rows: i64,
    groups: Vec<Encoder>,
}

impl Writer {
    /// Begins a file with these columns.
    pub fn create(path: &Path, columns: Vec<(String, Kind)>) -> Result<Self, PrepareError> {
        let file = File::create(path).map_err(PrepareError::io("create", path))?;
        let output = BufWriter::new(file);
        let mut writer =
            Self { path: path.to_owned(), output, columns, position: 0, rows: 0, groups: Vec::new() };
        writer.put(b"PAR1")?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), PrepareError> {
        self.position += count(bytes.len());
        self.output.write_all(bytes).map_err(PrepareError::io("write", &self.path))
    }

    /// Writes a row group: one list of values a column, all of one length.
    pub fn group(&mut self, columns: &[Values]) -> Result<(), PrepareError> {
        let rows = columns.first().map_or(0, |column| column.bits.len());
        if rows == 0 {
            return Ok(());
        }
        let start = self.position;
        let mut chunks = Vec::new();
        for (place, column) in columns.iter().enumerate() {
            chunks.push(self.column(place, column)?);
        }
        let group =
            Encoder::default().structures(1, chunks).int64(2, self.position - start).int64(3, count(rows));
        self.groups.push(group);
        self.rows += count(rows);
        Ok(())
    }

    fn column(&mut self, place: usize, column: &Values) -> Result<Encoder, PrepareError> {
        let name = self.columns.get(place).map(|(name, _)| name.clone()).unwrap_or_default();
        let start = self.position;
        let mut plain_size = 0;
        let rows: Vec<usize> = (0..column.bits.len()).collect();
        for page in rows.chunks(PAGE) {
            let content = content(column, page);
            let packed = snap::raw::Encoder::new()
                .compress_vec(&content)
                .map_err(|error| PrepareError::archive(&self.path, error))?;
            let data = Encoder::default().int32(1, count(page.len())).int32(2, 0).int32(3, 3).int32(4, 3);
            let head = Encoder::default()
                .int32(1, 0)
                .int32(2, count(content.len()))
                .int32(3, count(packed.len()))
                .structure(5, data)
                .finish();
            plain_size += count(head.len() + content.len());
            self.put(&head)?;
            self.put(&packed)?;
        }
        let data = Encoder::default()
            .int32(1, column.kind.number())
            .int32s(2, &[0, 3])
            .texts(3, &[&name])
            .int32(4, 1)
            .int64(5, count(column.bits.len()))
            .int64(6, plain_size)
            .int64(7, self.position - start)
            .int64(9, start);
        Ok(Encoder::default().int64(2, start).structure(3, data))
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<(), PrepareError> {
        let mut schema = vec![Encoder::default().text(4, "schema").int32(5, count(self.columns.len()))];
        for (name, kind) in &self.columns {
            schema.push(Encoder::default().int32(1, kind.number()).int32(3, 1).text(4, name));
        }
        let foot = Encoder::default()
            .int32(1, 1)
            .structures(2, schema)
            .int64(3, self.rows)
            .structures(4, std::mem::take(&mut self.groups))
            .text(6, "podium")
            .finish();
        self.put(&foot)?;
        self.put(&u32::try_from(foot.len()).unwrap_or(u32::MAX).to_le_bytes())?;
        self.put(b"PAR1")?;
        self.output.flush().map_err(PrepareError::io("write", &self.path))
    }
}

/// A number of things, as the heads have it.
fn count(things: usize) -> i64 {
    i64::try_from(things).unwrap_or(i64::MAX)
}

/// Which values are there, then the values.
fn content(column: &Values, rows: &[usize]) -> Vec<u8> {
    let known = |row: usize| {
        let bits = column.bits.get(row).copied().unwrap_or_default();
        let number = match column.kind {
            Kind::Float => !f32::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or_default()).is_nan(),
            Kind::Double => !f64::from_bits(bits).is_nan(),
            Kind::Int32 | Kind::Int64 => true,
        };
        number && column.is_known(row)
    };
    let mut levels = Vec::new();
    let groups = rows.len().div_ceil(8);
    let mut head = (groups as u64) << 1 | 1;
    while head >= 0x80 {
        levels.push(low_bits(head) | 0x80);
        head >>= 7;
    }
    levels.push(low_bits(head));
    for eight in rows.chunks(8) {
        let bits = eight.iter().enumerate().filter(|(_, row)| known(**row));
        levels.push(bits.fold(0u8, |bits, (place, _)| bits | 1 << place));
    }
    let mut content = u32::try_from(levels.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    content.extend(levels);
    for row in rows.iter().filter(|row| known(**row)) {
        let bytes = column.bits.get(*row).copied().unwrap_or_default().to_le_bytes();
        content.extend(bytes.iter().take(column.kind.size()));
    }
    content
}
