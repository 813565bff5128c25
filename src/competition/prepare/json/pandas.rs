//! Values as pandas reads and writes them, through ujson: numbers by its own decimal arithmetic, which is not correctly
//! rounded, and doubles with at most ten decimals.

use std::fmt::Write as _;

use crate::prepare::json::python::push_text;
use crate::prepare::json::{Json, float_of};

/// One record as `to_json(orient="records", lines=True)` writes it; no line end behind it.
pub fn pandas_line(value: &Json) -> String {
    let mut text = String::new();
    push(&mut text, value);
    text
}

fn push(text: &mut String, value: &Json) {
    match value {
        Json::Null => text.push_str("null"),
        Json::Boolean(true) => text.push_str("true"),
        Json::Boolean(false) => text.push_str("false"),
        Json::Number(spelled) => match pandas_number(spelled) {
            Some(value) => push_double(text, value),
            None => push_whole(text, spelled),
        },
        Json::Text(bytes) => push_text(text, bytes, false),
        Json::List(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                push(text, item);
            }
            text.push(']');
        }
        Json::Object(members) => {
            text.push('{');
            for (place, (key, value)) in members.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                push_text(text, key, false);
                text.push(':');
                push(text, value);
            }
            text.push('}');
        }
    }
}

fn push_whole(text: &mut String, spelled: &str) {
    let (sign, digits) = spelled.split_at(usize::from(spelled.starts_with('-')));
    match digits.trim_start_matches('0') {
        "" => text.push('0'),
        digits => {
            text.push_str(sign);
            text.push_str(digits);
        }
    }
}

/// What ujson makes of a number that has a point or an exponent; none of a whole number. The whole part is a 64-bit
/// integer, at most 15 decimals count, and powers of ten are multiplied.
pub fn pandas_number(spelled: &str) -> Option<f64> {
    /// Correctly rounded 10^-k.
    const PARTS: [f64; 16] =
        [1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15];
    let value = float_of(spelled)?;
    if !spelled.ends_with(|last: char| last.is_ascii_digit()) {
        return Some(value);
    }
    let (mantissa, exponent) = match spelled.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (spelled, None),
    };
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => (-1.0, mantissa),
        None => (1.0, mantissa),
    };
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.parse::<u64>().unwrap_or(u64::MAX) as f64;
    let counted = decimals.get(..decimals.len().min(15)).unwrap_or_default();
    let fraction = counted.bytes().fold(0.0, |sum, digit| sum * 10.0 + f64::from(digit.wrapping_sub(b'0')));
    let scale = PARTS.get(counted.len()).copied().unwrap_or_default();
    let base = (whole + fraction * scale) * sign;
    let exponent = exponent.map(|exponent| {
        exponent.parse().unwrap_or(if exponent.starts_with('-') { i32::MIN } else { i32::MAX })
    });
    Some(match exponent {
        None => base,
        Some(exponent) => base * 10f64.powf(f64::from(exponent)),
    })
}

/// A double with at most ten decimals, rounded as ujson does; very large and very small ones by C's `%.10g`.
fn push_double(text: &mut String, value: f64) {
    const POWER: f64 = 1e10;
    if !value.is_finite() {
        return text.push_str("null");
    }
    if value.abs() > 1e16 - 1.0 || value != 0.0 && value.abs() < 1e-15 {
        return crate::prepare::number_text::push_float(
            text,
            value,
            crate::prepare::number_text::FloatStyle::General,
        );
    }
    if value < 0.0 {
        text.push('-');
    }
    let value = value.abs();
    let mut whole = value.trunc();
    let scaled = (value - whole) * POWER;
    let mut fraction = scaled.trunc();
    let rest = scaled - fraction;
    #[expect(clippy::float_cmp, reason = "the original compares exactly")]
    if rest > 0.5 || rest == 0.5 && (fraction == 0.0 || fraction % 2.0 == 1.0) {
        fraction += 1.0;
    }
    if fraction >= POWER {
        fraction = 0.0;
        whole += 1.0;
    }
    // Writing to a string does not fail.
    let _ = write!(text, "{whole:.0}.");
    let digits = format!("{fraction:010.0}");
    let digits = digits.trim_end_matches('0');
    text.push_str(if digits.is_empty() { "0" } else { digits });
}
