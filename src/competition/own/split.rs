//! How rows are parted into those to learn from and those to predict. The rule and the seed decide, and nothing of this
//! machine. Random and stratified splits count rows as they pass and hold nothing; a split by group holds the groups, one
//! by time 8 bytes a row until its cut is known.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;

use podium_types::rng::Rng;
use sha2::{Digest as _, Sha256};

use crate::csv::{float64, is_missing};
use crate::own::dates;
use crate::own::dialect::Dialect;
use crate::own::error::OwnError;
use crate::own::profile::Profile;
use crate::own::rows;
use crate::own::target::{Target, place};

/// How the test rows are chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitRule {
    /// By chance.
    Random,
    /// By chance, with the shares of the classes kept.
    Stratified,
    /// Whole groups: rows with equal cells in this column stay together.
    Group(String),
    /// The latest rows by this column.
    Time(String),
    /// No row: there are no answers. The test rows are those of the set's own test table, where it has one.
    None,
}

impl FromStr for SplitRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "random" => Ok(Self::Random),
            None if text == "stratified" => Ok(Self::Stratified),
            None if text == "none" => Ok(Self::None),
            Some(("group", column)) if !column.is_empty() => Ok(Self::Group(column.to_owned())),
            Some(("time", column)) if !column.is_empty() => Ok(Self::Time(column.to_owned())),
            _ => Err(format!("`{text}` is none of random, stratified, group:COLUMN, time:COLUMN, none")),
        }
    }
}

impl std::fmt::Display for SplitRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Stratified => f.write_str("stratified"),
            Self::Group(column) => write!(f, "group:{column}"),
            Self::Time(column) => write!(f, "time:{column}"),
            Self::None => f.write_str("none"),
        }
    }
}

/// Decides row by row, in the order of the table.
pub(super) enum Split {
    /// Of each stratum so many rows are left, of which so many are to be taken.
    Drawn {
        /// By label; one stratum under the empty one where classes do not count.
        left: BTreeMap<String, (u64, u64)>,
        by_class: bool,
        rng: Rng,
    },
    /// The groups of the test set.
    Groups { place: usize, test: BTreeSet<u64> },
    /// The test set is what is not before this.
    Time { place: usize, cut: f64, order: dates::Order },
    /// Every row is for training.
    Nothing,
}

/// The table whose rows are parted.
#[derive(Clone, Copy)]
pub(super) struct Parted<'a> {
    pub(super) path: &'a Path,
    pub(super) dialect: &'a Dialect,
    pub(super) profile: &'a Profile,
    pub(super) target: &'a Target,
    /// Rows that have a label.
    pub(super) labelled: u64,
    pub(super) seed: u64,
    pub(super) share: f64,
}

impl Split {
    /// Makes the decisions that need the whole table.
    pub(super) fn plan(rule: &SplitRule, table: Parted<'_>) -> Result<Self, OwnError> {
        match rule {
            SplitRule::None => Ok(Self::Nothing),
            SplitRule::Random => {
                let left =
                    BTreeMap::from([(String::new(), (table.labelled, take(table.labelled, table.share)))]);
                Ok(Self::Drawn { left, by_class: false, rng: Rng::new(table.seed) })
            }
            SplitRule::Stratified => Self::stratified(table),
            SplitRule::Group(column) => Self::groups(column, table),
            SplitRule::Time(column) => Self::time(column, table),
        }
    }

    fn stratified(table: Parted<'_>) -> Result<Self, OwnError> {
        let column = table.target.places.first().and_then(|place| table.profile.columns.get(*place));
        let values = column.and_then(|column| column.values.as_ref());
        let Some(values) = values.filter(|_| table.target.has_classes()) else {
            return Err(OwnError::asked(
                "a stratified split keeps the shares of classes, and the target has none",
                "take --split random, group:COLUMN or time:COLUMN",
            ));
        };
        let mut left = BTreeMap::new();
        for (value, count) in values {
            // A class of one row stays where it can be learnt from.
            let taken = if *count < 2 { 0 } else { take(*count, table.share) };
            left.insert(value.clone(), (*count, taken));
        }
        Ok(Self::Drawn { left, by_class: true, rng: Rng::new(table.seed) })
    }

    fn groups(column: &str, table: Parted<'_>) -> Result<Self, OwnError> {
        let place = place(table.path, table.profile, column)?;
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        each_labelled(table, |row| {
            *sizes.entry(group(row.cell(place), table.seed)).or_default() += 1;
            Ok(())
        })?;
        if sizes.len() < 2 {
            return Err(OwnError::unfit(
                table.path,
                format!("`{column}` has one value only, so its rows cannot be parted by it"),
                "name another column with --split group:COLUMN",
            ));
        }
        // The keys are hashes with the seed: their order is a shuffle.
        let (wanted, mut test, mut rows) = (take(table.labelled, table.share), BTreeSet::new(), 0);
        for (group, size) in &sizes {
            if rows >= wanted || test.len() + 1 == sizes.len() {
                break;
            }
            if rows + size <= wanted + wanted / 4 {
                test.insert(*group);
                rows += size;
            }
        }
        // Where each group is too large, the smallest is the least evil.
        if test.is_empty() {
            test.extend(sizes.iter().min_by_key(|(_, size)| **size).map(|(group, _)| *group));
        }
        Ok(Self::Groups { place, test })
    }

    fn time(column: &str, table: Parted<'_>) -> Result<Self, OwnError> {
        let place = place(table.path, table.profile, column)?;
        let order = table.profile.columns.get(place).map_or(dates::Order::MonthFirst, |column| column.order);
        let mut times = Vec::new();
        each_labelled(table, |row| {
            times.push(time(row.cell(place), order).ok_or_else(|| {
                OwnError::unfit(
                    table.path,
                    format!(
                        "line {}: `{}` in `{column}` is no date and no number",
                        row.line,
                        row.cell(place)
                    ),
                    "dates are read as 2024-03-31, 2024-03-31 12:00:00, 31.03.2024 or 3/31/2024",
                )
            })?);
            Ok(())
        })?;
        times.sort_by(f64::total_cmp);
        let taken = usize::try_from(take(table.labelled, table.share)).unwrap_or(usize::MAX);
        let cut = times.get(times.len().saturating_sub(taken)).copied().unwrap_or(f64::INFINITY);
        // Rows of one time stay together; where the first rows have it, the cut is behind them.
        let first = times.first().copied().unwrap_or(cut);
        let cut = if cut > first { Some(cut) } else { times.iter().copied().find(|time| *time > first) };
        match cut {
            Some(cut) => Ok(Self::Time { place, cut, order }),
            None => Err(OwnError::unfit(
                table.path,
                format!("`{column}` has one value only, so its rows cannot be parted by it"),
                "name another column with --split time:COLUMN",
            )),
        }
    }

    /// Whether the next labelled row is for the test set.
    pub(super) fn is_test(&mut self, row: &crate::csv::Row<'_>, label: &str, seed: u64) -> bool {
        match self {
            Self::Nothing => false,
            Self::Groups { place, test } => test.contains(&group(row.cell(*place), seed)),
            Self::Time { place, cut, order } => {
                time(row.cell(*place), *order).is_some_and(|time| time >= *cut)
            }
            Self::Drawn { left, by_class, rng } => {
                let Some((rows, taken)) = left.get_mut(if *by_class { label } else { "" }) else {
                    return false;
                };
                let chance = rng.below(usize::try_from(*rows).unwrap_or(usize::MAX).max(1)) as u64;
                let take = chance < *taken;
                *rows = rows.saturating_sub(1);
                *taken = taken.saturating_sub(u64::from(take));
                take
            }
        }
    }

    /// Whether the order of the test rows means something and is kept.
    pub(super) const fn keeps_order(&self) -> bool {
        matches!(self, Self::Time { .. })
    }
}

/// Calls `each` with every row that has its labels.
fn each_labelled(
    table: Parted<'_>,
    mut each: impl FnMut(&crate::csv::Row<'_>) -> Result<(), OwnError>,
) -> Result<(), OwnError> {
    rows::each(table.path, table.dialect, |number, row| {
        if number == 0 || !has_labels(table.target, row) { Ok(()) } else { each(row) }
    })
}

/// Whether a row has a value in every target column.
pub(super) fn has_labels(target: &Target, row: &crate::csv::Row<'_>) -> bool {
    target.places.iter().all(|place| !is_missing(row.cell(*place).trim().as_bytes()))
}

fn take(rows: u64, share: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
    let part = (rows as f64 * share).round() as u64;
    part.clamp(1, rows.saturating_sub(1).max(1))
}

/// A group by a hash of its cell and the seed.
fn group(cell: &str, seed: u64) -> u64 {
    let digest = Sha256::new().chain_update(seed.to_le_bytes()).chain_update(cell.trim()).finalize();
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(digest).for_each(|(byte, of)| *byte = of);
    u64::from_le_bytes(bytes)
}

/// A cell as something that comes earlier or later.
fn time(cell: &str, order: dates::Order) -> Option<f64> {
    let cell = cell.trim();
    float64(cell.as_bytes()).filter(|number| number.is_finite()).or_else(|| dates::seconds(cell, order))
}
