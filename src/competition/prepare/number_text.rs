//! Doubles as the official preparation writes them: Python's `repr` (the shortest digits that read back), numpy's text
//! of a 32-bit float, and C's `%.10g` and `%.10f`. A text is appended to a buffer, so that a column costs no allocation.

use std::fmt::Write as _;

/// How a column of doubles is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum FloatStyle {
    /// The shortest digits that read back.
    #[default]
    #[serde(rename = "shortest")]
    Shortest,
    /// C's `%.10g`.
    #[serde(rename = "%.10g")]
    General,
    /// C's `%.10f`.
    #[serde(rename = "%.10f")]
    Fixed,
}

/// Appends `value` in this style; a missing value (NaN) is `nan`.
pub fn push_float(text: &mut String, value: f64, style: FloatStyle) {
    match style {
        _ if value.is_nan() => text.push_str("nan"),
        _ if value.is_infinite() => text.push_str(if value < 0.0 { "-inf" } else { "inf" }),
        FloatStyle::Shortest => push_shortest(text, value),
        FloatStyle::General => push_general(text, value),
        FloatStyle::Fixed => push(text, format_args!("{value:.10}")),
    }
}

/// Python's `repr` of a double.
pub fn shortest(value: f64) -> String {
    let mut text = String::new();
    push_float(&mut text, value, FloatStyle::Shortest);
    text
}

/// numpy's text of a 32-bit float.
pub fn shortest32(value: f32) -> String {
    let wide = f64::from(value);
    if !value.is_finite() || value == 0.0 {
        return shortest(wide);
    }
    let mut text = String::new();
    if (1e-4..1e16).contains(&wide.abs()) {
        push(&mut text, format_args!("{value:?}"));
        // Beyond 2^24 the zeros at the end of a text are no digits of the value.
        return if text.len() > 8 && wide.abs() < 16_777_216.0 { even(&text, wide) } else { text };
    }
    push_exponent(&mut text, &format!("{value:e}"));
    text
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(arguments);
}

fn push_shortest(text: &mut String, value: f64) {
    /// A text with fewer letters has too few digits to lie beside the middle of two.
    const LONG: usize = 17;
    if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        let start = text.len();
        push(text, format_args!("{value:?}"));
        if text.len() - start >= LONG {
            let exact = even(text.get(start..).unwrap_or_default(), value);
            text.truncate(start);
            text.push_str(&exact);
        }
    } else {
        let short = format!("{value:e}");
        let decimals = short.split_once(['.', 'e']).map_or(0, |(_, rest)| rest.find('e').unwrap_or(0));
        push_exponent(text, &if short.len() >= LONG { format!("{value:.decimals$e}") } else { short });
    }
}

/// The text of as many decimals that is nearest to the value; of two that are equally near the one with an even digit at
/// its end, which is Python's choice and not Rust's.
fn even(shortest: &str, value: f64) -> String {
    let decimals = shortest.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{value:.decimals$}")
}

/// Rust's `1e-7` as C's and Python's `1e-07`.
fn push_exponent(text: &mut String, rust: &str) {
    let Some((digits, exponent)) = rust.split_once('e') else { return text.push_str(rust) };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    push(text, format_args!("{digits}e{sign}{exponent:0>2}"));
}

/// `%.10g`: ten significant digits without zeros at the end; an exponent below -4 or from 10 on.
fn push_general(text: &mut String, value: f64) {
    if value == 0.0 {
        return text.push_str(if value.is_sign_negative() { "-0" } else { "0" });
    }
    let rust = format!("{value:.9e}");
    let Some((digits, exponent)) = rust.split_once('e') else { return };
    let power: i32 = exponent.parse().unwrap_or_default();
    if (-4..10).contains(&power) {
        let decimals = usize::try_from(9 - power).unwrap_or_default();
        let fixed = format!("{value:.decimals$}");
        text.push_str(without_zeros(&fixed));
    } else {
        push_exponent(text, &format!("{}e{exponent}", without_zeros(digits)));
    }
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}
