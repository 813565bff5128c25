//! The column that names a row: one of the table's where its cells differ, or numbers of ours. Numbers say nothing of the
//! place that a test row had in the source.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::csv::is_missing;
use crate::own::error::OwnError;
use crate::own::rows;
use crate::own::split::{Parted, has_labels};
use crate::own::target::place;

/// The key column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) name: String,
    /// Its place in the table; none for numbers of ours.
    pub(super) place: Option<usize>,
}

impl Key {
    /// The key that is asked for, that the sample submission has, or that the table seems to have.
    pub(super) fn of(
        asked: Option<&str>,
        sample: Option<&str>,
        table: Parted<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self, OwnError> {
        let names = &table.dialect.names;
        if let Some(name) = asked.or(sample.filter(|name| names.iter().any(|known| known == name))) {
            let place = place(table.path, table.profile, name)?;
            if let Some(problem) = unfit(table, place)? {
                return Err(OwnError::unfit(
                    table.path,
                    format!("`{name}` cannot name rows: {problem}"),
                    "name another column with --id, or none for numbers that Podium gives",
                ));
            }
            return Ok(Self { name: name.to_owned(), place: Some(place) });
        }
        let usual = names.iter().position(|name| name.eq_ignore_ascii_case("id"));
        if let Some(place) = usual.filter(|place| !table.target.places.contains(place)) {
            let name = names.get(place).cloned().unwrap_or_default();
            match unfit(table, place)? {
                None => return Ok(Self { name, place: Some(place) }),
                Some(problem) => notes.push(format!("`{name}` does not name rows: {problem}")),
            }
        }
        let free = ["id", "row_id", "podium_row_id"].into_iter();
        let mut free = free.filter(|name| !names.iter().any(|known| known.eq_ignore_ascii_case(name)));
        let name = free.next().unwrap_or("podium_row_number").to_owned();
        notes.push(format!("rows are named by numbers in a new column `{name}`"));
        Ok(Self { name, place: None })
    }

    /// The columns of a table as they are laid down: the key first where it is ours.
    pub(super) fn shown<'a>(&'a self, names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
        self.place.is_none().then_some(self.name.as_str()).into_iter().chain(names)
    }
}

/// Why a column does not name rows, if it does not. Holds 8 bytes a row meanwhile.
fn unfit(table: Parted<'_>, place: usize) -> Result<Option<String>, OwnError> {
    let mut seen = Vec::new();
    let mut missing = 0_u64;
    rows::each(table.path, table.dialect, |number, row| {
        if number > 0 && has_labels(table.target, row) {
            let cell = row.cell(place);
            missing += u64::from(is_missing(cell.trim().as_bytes()));
            seen.push(hash(cell));
        }
        Ok(())
    })?;
    let rows = seen.len();
    seen.sort_unstable();
    seen.dedup();
    Ok(match (missing, rows - seen.len()) {
        (0, 0) => None,
        (0, twice) => Some(format!("{twice} rows have a value that another row has")),
        (missing, _) => Some(format!("{missing} rows have none")),
    })
}

fn hash(cell: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(Sha256::digest(cell.as_bytes())).for_each(|(byte, of)| *byte = of);
    u64::from_le_bytes(bytes)
}

/// The header of a table, of any dialect that is one.
pub(super) fn header(path: &Path) -> Option<Vec<String>> {
    super::dialect::Dialect::sniff(path).ok().map(|dialect| dialect.names)
}
