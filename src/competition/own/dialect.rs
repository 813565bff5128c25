//! What a table is written in: encoding, separator, decimal mark, and whether its first line holds names. It is told from
//! the whole file (encoding) and from its head (the rest); what cannot be a table with names is refused in words.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use crate::csv::{float64, is_missing};
use crate::own::error::OwnError;
use crate::own::rows;

/// The rest is told from so many bytes.
const HEAD: u64 = 1 << 20;
/// And from so many rows.
const HEAD_ROWS: u64 = 1000;

/// How bytes are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// UTF-8, with or without its mark.
    Utf8,
    /// Latin 1, as Windows has it.
    Latin1,
}

/// How a table is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(super) encoding: Encoding,
    pub(super) delimiter: u8,
    /// The names of the columns, trimmed.
    pub(super) names: Vec<String>,
    /// Columns of numbers with decimal commas.
    pub(super) commas: Vec<bool>,
    /// The first column has no name and is left out: row numbers, as pandas writes them.
    pub(super) unnamed: bool,
}

impl Dialect {
    /// Looks at the table at `path`.
    pub(super) fn sniff(path: &Path) -> Result<Self, OwnError> {
        let mut head = Vec::new();
        let read = rows::open(path)?.take(HEAD).read_to_end(&mut head);
        read.map_err(OwnError::io("read", path))?;
        refuse_other_formats(path, &head)?;
        let encoding = encoding(path)?;
        // A line that the head cuts is none.
        if head.len() as u64 == HEAD
            && let Some(end) = head.iter().rposition(|byte| *byte == b'\n')
        {
            head.truncate(end + 1);
        }
        let plain =
            |delimiter| Self { encoding, delimiter, names: Vec::new(), commas: Vec::new(), unnamed: false };
        let read = |delimiter| head_rows(path, &head, &plain(delimiter));
        let tried = [b',', b';', b'\t', b'|'].map(|delimiter| (delimiter, read(delimiter)));
        // The last of equals wins: the comma stands last.
        let best = tried.into_iter().rev().max_by_key(|(_, rows)| fitness(rows));
        let Some((delimiter, rows)) = best else { return Ok(plain(b',')) };
        let mut dialect = plain(delimiter);
        dialect.name(path, &rows)?;
        dialect.commas = (0..dialect.names.len()).map(|place| dialect.has_commas(&rows, place)).collect();
        Ok(dialect)
    }

    /// Takes the names, or says what is wrong with them.
    fn name(&mut self, path: &Path, rows: &[Vec<String>]) -> Result<(), OwnError> {
        let Some((header, body)) = rows.split_first() else {
            return Err(OwnError::unfit(
                path,
                "it is empty",
                "give a table with a first line of column names",
            ));
        };
        if body.is_empty() {
            return Err(OwnError::unfit(
                path,
                "it has a first line and no rows",
                "give a table with a first line of column names and a row for each case",
            ));
        }
        if header.len() < 2 {
            return Err(OwnError::unfit(
                path,
                format!("it has one column only, `{}`", header.first().map_or("", String::as_str)),
                "columns are parted by commas, semicolons, tabs or bars; at least one is a feature and one the target",
            ));
        }
        if let Some(why) = lacks_header(header, body) {
            return Err(OwnError::unfit(
                path,
                format!("its first line holds no column names: {why}"),
                "put a line of column names first",
            ));
        }
        self.names = header.iter().map(|name| name.trim().to_owned()).collect();
        self.unnamed = self.names.first().is_some_and(String::is_empty);
        let mut seen = BTreeSet::new();
        for (place, name) in self.names.iter().enumerate().skip(usize::from(self.unnamed)) {
            if name.is_empty() {
                let problem = format!("column {} has no name", place + 1);
                return Err(OwnError::unfit(path, problem, "name every column in the first line"));
            }
            if !seen.insert(name) {
                let problem = format!("two columns are named `{name}`");
                return Err(OwnError::unfit(path, problem, "rename one of them, or leave it out"));
            }
        }
        Ok(())
    }

    fn has_commas(&self, rows: &[Vec<String>], place: usize) -> bool {
        if self.delimiter == b',' {
            return false;
        }
        let cells = rows.iter().skip(1).filter_map(|row| row.get(place)).map(|cell| cell.trim());
        let mut cells = cells.filter(|cell| !is_missing(cell.as_bytes())).peekable();
        let mut any = false;
        cells.peek().is_some()
            && cells.all(|cell| {
                any |= cell.contains(',');
                point(cell).is_some() || float64(cell.as_bytes()).is_some()
            })
            && any
    }

    /// The cell at `place` as it is laid down.
    pub(super) fn cell<'c>(&self, place: usize, cell: &'c str) -> std::borrow::Cow<'c, str> {
        if self.commas.get(place) == Some(&true)
            && let Some(plain) = point(cell.trim())
        {
            return plain.into();
        }
        cell.into()
    }

    /// What a user should know.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.encoding == Encoding::Latin1 {
            notes.push("the table is not UTF-8 and was read as Latin 1 (Windows 1252)".to_owned());
        }
        match self.delimiter {
            b';' => notes.push("columns are parted by semicolons".to_owned()),
            b'\t' => notes.push("columns are parted by tabs".to_owned()),
            b'|' => notes.push("columns are parted by bars".to_owned()),
            _ => {}
        }
        let commas = self.names.iter().zip(&self.commas).filter(|(_, commas)| **commas);
        let commas: Vec<String> = commas.map(|(name, _)| format!("`{name}`")).collect();
        if !commas.is_empty() {
            notes.push(format!("decimal commas became points in {}", commas.join(", ")));
        }
        if self.unnamed {
            notes.push("the first column has no name (row numbers?) and is left out".to_owned());
        }
        notes
    }
}

/// `1.234,5` as `1234.5`; none where it is no number with a decimal comma.
fn point(cell: &str) -> Option<String> {
    let (whole, fraction) = cell.split_once(',')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let mut groups = unsigned.split('.');
    let first = groups.next().is_some_and(digits);
    if !first || !groups.all(|group| group.len() == 3 && digits(group)) {
        return None;
    }
    let exponent = fraction.split_once(['e', 'E']).map_or(fraction, |(fraction, _)| fraction);
    digits(exponent).then(|| format!("{}.{fraction}", whole.replace('.', "")))
}

/// Files that are named CSV and are something else.
fn refuse_other_formats(path: &Path, head: &[u8]) -> Result<(), OwnError> {
    let kinds: [(&[u8], &str); 5] = [
        (b"PK\x03\x04", "a zip archive or an Excel workbook"),
        (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
        (b"\xff\xfe", "text in UTF-16"),
        (b"\xfe\xff", "text in UTF-16"),
        (b"PAR1", "a Parquet file"),
    ];
    let kind = kinds.iter().find(|(start, _)| head.starts_with(start)).map(|(_, kind)| *kind);
    let kind = kind.or_else(|| head.contains(&0).then_some("a binary file"));
    match kind {
        Some(kind) => {
            Err(OwnError::unfit(path, format!("it is {kind}, not CSV"), "save the table as CSV in UTF-8"))
        }
        None => Ok(()),
    }
}

/// UTF-8 when the whole file is.
fn encoding(path: &Path) -> Result<Encoding, OwnError> {
    let mut input = rows::open(path)?;
    let mut buffer = vec![0; 1 << 18];
    let mut held = 0;
    loop {
        let free = buffer.get_mut(held..).unwrap_or_default();
        let read = input.read(free).map_err(OwnError::io("read", path))?;
        let bytes = buffer.get(..held + read).unwrap_or_default();
        match std::str::from_utf8(bytes) {
            Ok(_) => held = 0,
            Err(error) if error.error_len().is_some() || read == 0 => return Ok(Encoding::Latin1),
            Err(error) => {
                let (from, to) = (error.valid_up_to(), bytes.len());
                buffer.copy_within(from..to, 0);
                held = to - from;
            }
        }
        if read == 0 {
            return Ok(Encoding::Utf8);
        }
    }
}

/// The rows of a head, as far as it can be read.
fn head_rows(path: &Path, head: &[u8], dialect: &Dialect) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    // What stops the reading of a head is told when the whole is read.
    let _ = rows::each_of(head, path, dialect, |number, row| {
        rows.push(row.cells().map(str::to_owned).collect());
        if number < HEAD_ROWS { Ok(()) } else { Err(OwnError::Share(0.0)) }
    });
    rows
}

/// How well a separator fits: rows as wide as the header, then its width.
fn fitness(rows: &[Vec<String>]) -> (usize, usize) {
    let width = rows.first().map_or(0, Vec::len);
    let alike = rows.iter().filter(|row| row.len() == width).count();
    if width < 2 { (0, 0) } else { (alike * 1000 / rows.len().max(1), width) }
}

/// Why the first line is a row like the others.
fn lacks_header(header: &[String], body: &[Vec<String>]) -> Option<String> {
    let number = |cell: &str| float64(cell.trim().replace(',', ".").as_bytes()).is_some();
    let numeric = |place: usize| {
        let mut cells = body.iter().filter_map(|row| row.get(place)).filter(|cell| !cell.trim().is_empty());
        cells.clone().next().is_some() && cells.all(|cell| number(cell))
    };
    let over_numbers: Vec<&String> =
        header.iter().enumerate().filter(|(place, _)| numeric(*place)).map(|(_, name)| name).collect();
    let whole: Vec<i64> = over_numbers.iter().filter_map(|name| name.trim().parse().ok()).collect();
    // `0, 1, 2, …` and years are names that numbers can be.
    let counted = whole.len() == over_numbers.len()
        && whole.windows(2).all(|pair| matches!(pair, [a, b] if a + 1 == *b));
    let counted = counted && whole.first().is_some_and(|first| matches!(first, 0 | 1 | 1800..2200));
    if !over_numbers.is_empty() && !counted && over_numbers.iter().all(|name| number(name)) {
        return Some(format!(
            "`{}` stands over numbers",
            over_numbers.first().map_or("", |name| name.trim())
        ));
    }
    let repeated = header.iter().enumerate().find(|(place, name)| {
        let same = |row: &Vec<String>| row.get(*place) == Some(name);
        !name.trim().is_empty() && !numeric(*place) && body.iter().any(same)
    });
    repeated.map(|(_, name)| format!("`{name}` is also a value below it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_commas_become_points() {
        let cases = [
            ("1,5", Some("1.5")),
            ("-0,25", Some("-0.25")),
            ("1.234,5", Some("1234.5")),
            ("1,5e3", Some("1.5e3")),
            ("1.5", None),
            ("1,", None),
            ("a,b", None),
            ("1.23,5", None),
            ("1,2,3", None),
        ];
        for (cell, expected) in cases {
            assert_eq!(point(cell).as_deref(), expected, "{cell}");
        }
    }
}
