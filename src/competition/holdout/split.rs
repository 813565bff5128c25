//! The first reading of a training table: which rows belong together, and where each unit of them goes. Of a row only the
//! number of its unit is kept.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::catalog::{Competition, Group, Training};
use crate::csv::{RawRow, each_row};
use crate::holdout::columns::{Columns, open};
use crate::holdout::error::HoldoutError;
use crate::holdout::parts::{Part, Unit, assign};
use crate::holdout::{Counts, Plan};

/// A parted table.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) columns: Columns,
    /// The unit of each data row.
    units: Vec<u32>,
    parts: Vec<Part>,
    pub(super) counts: Counts,
}

impl Split {
    /// Parts the training table of `competition`.
    pub(super) fn make(
        competition: &Competition,
        training: &Training,
        public: &Path,
        plan: &Plan,
    ) -> Result<Self, HoldoutError> {
        // What stands in the table's place is mounted over it, and a link is no place for that.
        if public.join(&training.file).symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            let problem = "it is a symbolic link, over which no other file can be laid".to_owned();
            return Err(HoldoutError::Unsuitable { file: training.file.clone(), problem });
        }
        let columns = Columns::find(competition, training, public)?;
        let path = public.join(&training.file);
        let unsuitable = |problem| HoldoutError::Unsuitable { file: training.file.clone(), problem };
        let mut reading = Reading::new(training.group.as_ref());
        each_row::<Stop>(open(&path)?, |number, row| {
            if number > 0 { reading.row(&columns, number, row).map_err(Stop::Unsuitable) } else { Ok(()) }
        })
        .map_err(|stop| match stop {
            Stop::Unsuitable(problem) => unsuitable(problem),
            Stop::Csv(error) => HoldoutError::read(&path)(error),
        })?;
        let parts = assign(&reading.units(), plan);
        let mut split = Self { columns, units: reading.of_row, parts, counts: Counts::default() };
        split.counts = split.count(&reading.tells);
        let counts = &split.counts;
        for (share, found, what) in
            [(plan.search, counts.search, "search"), (plan.last, counts.last, "final choice")]
        {
            if share > 0.0 && found == 0 {
                return Err(unsuitable(format!("it has too few rows to hold any out for the {what}")));
            }
        }
        if plan.folds > 0 && counts.folds.contains(&0) {
            return Err(unsuitable(format!("it has too few rows for {} folds", plan.folds)));
        }
        Ok(split)
    }

    /// Where the data row of this number, from 0, goes.
    pub(super) fn part(&self, row: usize) -> Part {
        let unit = self.units.get(row).and_then(|unit| usize::try_from(*unit).ok());
        unit.and_then(|unit| self.parts.get(unit)).copied().unwrap_or(Part::Training)
    }

    fn count(&self, tells: &[bool]) -> Counts {
        let folds = self.parts.iter().filter_map(|part| match part {
            Part::Fold(fold) => Some(*fold as usize + 1),
            _ => None,
        });
        let mut counts = Counts { folds: vec![0; folds.max().unwrap_or_default()], ..Counts::default() };
        for (row, tells) in tells.iter().enumerate() {
            let part = self.part(row);
            if part.is_held_out() {
                counts.held_out_rows += 1;
            } else {
                counts.training_rows += 1;
            }
            if *tells {
                match part {
                    Part::Search => counts.search += 1,
                    Part::Final => counts.last += 1,
                    Part::Fold(fold) => {
                        if let Some(count) = counts.folds.get_mut(fold as usize) {
                            *count += 1;
                        }
                    }
                    Part::Training => {}
                }
            }
        }
        counts
    }
}

/// Why the reading stopped.
enum Stop {
    Unsuitable(String),
    Csv(crate::csv::CsvError),
}

impl From<crate::csv::CsvError> for Stop {
    fn from(error: crate::csv::CsvError) -> Self {
        Self::Csv(error)
    }
}

/// Numbers for names, in the order of their first appearance.
#[derive(Default)]
struct Names(HashMap<Vec<u8>, u32>);

impl Names {
    /// The number of `name`, and whether it is new.
    fn number(&mut self, name: &[u8]) -> (u32, bool) {
        if let Some(number) = self.0.get(name) {
            return (*number, false);
        }
        let number = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.insert(name.to_vec(), number);
        (number, true)
    }
}

struct Reading<'a> {
    group: Option<&'a Group>,
    /// Keys, so that one that stands twice is found.
    keys: Names,
    groups: Names,
    strata: Names,
    of_row: Vec<u32>,
    tells: Vec<bool>,
    stratum_of: Vec<u32>,
    answered: Vec<bool>,
    /// Units with a row that says what is true and has no label.
    unlabelled: BTreeSet<u32>,
    told: BTreeSet<u32>,
}

impl<'a> Reading<'a> {
    fn new(group: Option<&'a Group>) -> Self {
        Self {
            group,
            keys: Names::default(),
            groups: Names::default(),
            strata: Names::default(),
            of_row: Vec::new(),
            tells: Vec::new(),
            stratum_of: Vec::new(),
            answered: Vec::new(),
            unlabelled: BTreeSet::new(),
            told: BTreeSet::new(),
        }
    }

    fn row(&mut self, columns: &Columns, number: u64, row: &RawRow) -> Result<(), String> {
        if row.cells.len() > columns.width {
            let found = row.cells.len();
            return Err(format!(
                "data row {number} has {found} cells where the header has {}",
                columns.width
            ));
        }
        let key = columns.key(row);
        if key.iter().any(|cell| cell.is_empty()) {
            return Err(format!("the key of data row {number} is empty"));
        }
        let (key, _) = self.keys.number(&key.join(&0x1f));
        let tells = columns.tells(row);
        if tells && !self.told.insert(key) {
            return Err(format!("data row {number} repeats a key"));
        }
        let unit = self.unit(columns, row, key);
        if usize::try_from(unit).is_ok_and(|unit| unit >= self.stratum_of.len()) {
            let stratum = columns.stratum.map_or(&b""[..], |place| row.cell(place));
            let (stratum, _) = self.strata.number(stratum);
            self.stratum_of.push(stratum);
            self.answered.push(false);
        }
        if tells {
            if columns.answer(row)?.is_none() {
                self.unlabelled.insert(unit);
            } else if let Some(answered) = self.answered.get_mut(unit as usize) {
                *answered = true;
            }
        }
        self.of_row.push(unit);
        self.tells.push(tells);
        Ok(())
    }

    /// The unit of a row. Units have numbers without gaps, in the order of their first rows.
    fn unit(&mut self, columns: &Columns, row: &RawRow, key: u32) -> u32 {
        let (Some(group), Some(place)) = (self.group, columns.group) else { return key };
        let cell = row.cell(place);
        let cell = match group.prefix {
            Some(chars) => prefix(cell, chars),
            None => cell,
        };
        let (number, _) = self.groups.number(cell);
        let span = group.span.and_then(|span| u32::try_from(span).ok()).unwrap_or(1).max(1);
        number / span
    }

    fn units(&self) -> Vec<Unit> {
        let facts = self.stratum_of.iter().zip(&self.answered).enumerate();
        facts
            .map(|(place, (stratum, answered))| {
                let spoiled = u32::try_from(place).is_ok_and(|place| self.unlabelled.contains(&place));
                Unit { stratum: *stratum, labelled: *answered && !spoiled }
            })
            .collect()
    }
}

/// The first `chars` characters of a cell that may be no text.
fn prefix(cell: &[u8], chars: usize) -> &[u8] {
    let Ok(text) = std::str::from_utf8(cell) else { return cell };
    text.char_indices().nth(chars).and_then(|(end, _)| cell.get(..end)).unwrap_or(cell)
}
