//! Words for a reason: values from a submission are quoted, escaped and cut, because an agent wrote them.

use std::fmt::Write;

use podium_types::nearest::nearest;

use crate::csv::Table;

const LONGEST: usize = 40;

/// A value in backticks, control characters escaped, at most 40 characters of it.
pub(crate) fn quote(value: &str) -> String {
    let mut quoted = String::from("`");
    for (count, character) in value.chars().enumerate() {
        if count == LONGEST {
            quoted.push('…');
            break;
        }
        if character.is_control() || character == '`' {
            let _ = write!(quoted, "{}", character.escape_unicode());
        } else {
            quoted.push(character);
        }
    }
    quoted.push('`');
    quoted
}

/// Names in backticks, at most eight of them.
pub(crate) fn quote_all<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(8);
    let mut quoted: Vec<String> = names.take(8).map(quote).collect();
    if more > 0 {
        quoted.push(format!("{more} more"));
    }
    quoted.join(", ")
}

/// `1 row`, `2 rows`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Says that a column is missing, and which there are.
pub(crate) fn missing_column(name: &str, table: &Table) -> String {
    if table.names.is_empty() {
        return "the file is empty".to_owned();
    }
    let names = || table.names.iter().map(String::as_str);
    let reason = format!("column {} is missing, the file has {}", quote(name), quote_all(names()));
    if let [only] = table.names.as_slice()
        && only.contains([';', '\t'])
    {
        return format!("{reason}; cells are separated by commas");
    }
    match nearest(name, names()) {
        Some(nearest) => format!("{reason}; is {} meant?", quote(&nearest)),
        None => reason,
    }
}

/// Says that the first data row is longer than the header, which shifts all columns.
pub(crate) fn shift(table: &Table) -> Option<String> {
    let extra = count(table.row_labels.len(), "extra cell");
    (!table.row_labels.is_empty()).then(|| {
        format!("the first data row has {extra} beyond the header, so as many at the start of each row are left out")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_text_is_tamed() {
        assert_eq!(quote("a\n\u{1b}[31m`"), "`a\\u{a}\\u{1b}[31m\\u{60}`");
        assert_eq!(quote(&"x".repeat(50)).chars().count(), 43);
        assert_eq!(quote_all(["a"; 10].into_iter()).matches("`a`").count(), 8);
        assert_eq!((count(1, "row"), count(0, "row")), ("1 row".into(), "0 rows".into()));
    }
}
