//! Python's way with cells, where an official grader leaves it to Python: `str` of a cell, `int` within 64 bits. Texts
//! of numbers are read by [`literal`].

use std::borrow::Cow;

use podium_metric::literal::{self, Integer};

use crate::csv::Cell;

/// `str(cell)` of a cell of a pandas column: a missing one is `nan`.
pub(crate) fn text_of(cell: Cell<'_>) -> Cow<'_, str> {
    match cell {
        Cell::Text(text) => Cow::Borrowed(text),
        Cell::Missing => Cow::Borrowed("nan"),
        Cell::Float(value) => Cow::Owned(float_text(value)),
        Cell::Boolean(true) => Cow::Borrowed("True"),
        Cell::Boolean(false) => Cow::Borrowed("False"),
        Cell::Integer(value) => Cow::Owned(value.to_string()),
        Cell::Unsigned(value) => Cow::Owned(value.to_string()),
    }
}

/// `repr(value)`: the shortest digits that read back, with an exponent below 1e-4 and from 1e16.
pub(crate) fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if value == 0.0 || (-4..16).contains(&exponent) {
        // Fixed notation; Rust's `Debug` would switch elsewhere.
        let fixed = format!("{value}");
        return if fixed.contains('.') { fixed } else { fixed + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `int(text)` where the result fits 64 bits.
pub(crate) fn int(text: &str) -> Option<i64> {
    match literal::integer(text)? {
        Integer::Small(value) => i64::try_from(value).ok(),
        Integer::Huge { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_python_spells_them() {
        let table = [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (123_456_789.125, "123456789.125"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ];
        for (value, text) in table {
            assert_eq!(float_text(value), text);
        }
    }
}
