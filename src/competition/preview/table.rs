//! A table in words: its columns with their types and, unless only the schema is wanted, what values they hold. All
//! figures are of the rows that were read, and say so when there are more.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::csv::{self, Cell, Column, ReadOptions, Table};
use crate::preview::head::Head;
use crate::preview::tree::escape;

const COLUMNS: usize = 40;
const NAMES: usize = 15;
const FEW: usize = 10;
const FREQUENT: usize = 4;
const LONGEST: usize = 40;

/// How much is told of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Each column with its values.
    Values,
    /// Each column with its type.
    Schema,
    /// The first column names.
    Names,
}

/// Describes the table in `head`.
pub(crate) fn describe(head: &Head, delimiter: u8, detail: Detail) -> String {
    let options = ReadOptions { delimiter, head_only: !head.whole, ..ReadOptions::default() };
    match csv::read_text(&head.text, &options) {
        Ok(table) if table.names.is_empty() => "an empty table\n".to_owned(),
        Ok(table) => words(&table, head.whole, detail),
        Err(error) => format!("cannot be read as a table: {error}\n"),
    }
}

fn words(table: &Table, whole: bool, detail: Detail) -> String {
    let mut text = String::new();
    let (rows, columns) = (table.rows, table.names.len());
    let (row_noun, column_noun) =
        (if rows == 1 { "row" } else { "rows" }, if columns == 1 { "column" } else { "columns" });
    if whole {
        let _ = writeln!(text, "{rows} {row_noun}, {columns} {column_noun}");
    } else {
        let _ = writeln!(text, "{columns} {column_noun}; described by the first {rows} {row_noun} of more");
    }
    if detail == Detail::Names {
        let names: Vec<String> = table.names.iter().take(NAMES).map(|name| escape(name)).collect();
        let more = columns.saturating_sub(NAMES);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(text, "columns: {}{rest}", names.join(", "));
        return text;
    }
    for (name, column) in table.columns().take(COLUMNS) {
        let _ = write!(text, "- {} ({})", escape(name), column.dtype());
        if detail == Detail::Values {
            let _ = write!(text, ": {}", values(column));
        }
        text.push('\n');
    }
    if columns > COLUMNS {
        let _ = writeln!(text, "... and {} more columns", columns - COLUMNS);
    }
    text
}

fn values(column: &Column) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut missing, mut least, mut most) = (0usize, f64::INFINITY, f64::NEG_INFINITY);
    for cell in column.cells() {
        if cell == Cell::Missing {
            missing += 1;
            continue;
        }
        if let Some(number) = cell.number() {
            least = least.min(number);
            most = most.max(number);
        }
        *counts.entry(cell.to_string()).or_default() += 1;
    }
    let mut text = summary(column, &counts, least, most);
    if missing > 0 && missing < column.len() {
        let _ = write!(text, ", {missing} missing");
    }
    text
}

fn summary(column: &Column, counts: &BTreeMap<String, usize>, least: f64, most: f64) -> String {
    if counts.is_empty() {
        return "no values".to_owned();
    }
    if let Column::Boolean(cells) = column {
        let share = cells.iter().filter(|cell| **cell).count() as f64 / cells.len() as f64;
        return format!("{:.1} % True, {:.1} % False", 100.0 * share, 100.0 * (1.0 - share));
    }
    if counts.len() < FEW {
        let mut distinct: Vec<&String> = counts.keys().collect();
        if column.is_numeric() {
            distinct.sort_by(|left, right| number(left).total_cmp(&number(right)));
        }
        let values: Vec<String> = distinct
            .into_iter()
            .map(|value| if column.is_numeric() { value.clone() } else { cut(value) })
            .collect();
        let noun = if values.len() == 1 { "value" } else { "values" };
        return format!("{} {noun}: {}", values.len(), values.join(", "));
    }
    if matches!(column, Column::Integer(_) | Column::Unsigned(_)) {
        return format!("{least} to {most}");
    }
    if column.is_numeric() {
        return format!("{least:.2} to {most:.2}");
    }
    let mut frequent: Vec<(&String, &usize)> = counts.iter().collect();
    frequent.sort_by(|left, right| right.1.cmp(left.1).then(left.0.cmp(right.0)));
    let values: Vec<String> = frequent.into_iter().take(FREQUENT).map(|(value, _)| cut(value)).collect();
    format!("{} distinct values, for example {}", counts.len(), values.join(", "))
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// A value in quotes, on one line, cut where it is long.
fn cut(value: &str) -> String {
    let mut text: String = value.chars().take(LONGEST).collect();
    if text.len() < value.len() {
        text.push('…');
    }
    format!("{text:?}")
}
