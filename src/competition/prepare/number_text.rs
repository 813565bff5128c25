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

/// Appends a whole number.
pub(super) fn push_whole(text: &mut String, value: i64) {
    if value < 0 {
        text.push('-');
    }
    push_digits(text, value.unsigned_abs(), 0);
}

/// Appends the digits of a number, of which so many stand behind the point.
fn push_digits(text: &mut String, number: u64, decimals: usize) {
    /// As many as a number has at most, and a point.
    const MOST: usize = 24;
    let (mut digits, mut left, mut first) = ([b'0'; MOST], number, MOST);
    while left > 0 || MOST - first < decimals.saturating_add(1 + usize::from(decimals > 0)) {
        first -= 1;
        let Some(digit) = digits.get_mut(first) else { return };
        if decimals > 0 && MOST - first == decimals + 1 {
            *digit = b'.';
            continue;
        }
        *digit = b'0' + u8::try_from(left % 10).unwrap_or_default();
        left /= 10;
    }
    text.push_str(
        digits.get(first..).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or_default(),
    );
}

/// Appends a double that is a decimal of few digits, as most are; false where it is none. Up to fifteen digits no other
/// decimal of as few reads as the same double, so where one does it is the shortest, but for zeros at its end.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number below 10^15")]
fn is_pushed_quickly(text: &mut String, value: f64) -> bool {
    /// The most decimals that numbers below the first one have in so few digits, and their power of ten.
    const MOST: [(f64, usize, f64); 3] = [(1e9, 6, 1e6), (1e12, 3, 1e3), (1e15, 0, 1.0)];
    let whole = value.abs();
    let Some((_, mut decimals, power)) = MOST.into_iter().find(|(most, ..)| whole < *most) else {
        return false;
    };
    let scaled = whole * power + 0.5;
    if scaled >= 1e15 {
        return false;
    }
    let mut digits = scaled as u64;
    #[expect(clippy::float_cmp, reason = "it is that double or it is not")]
    if digits as f64 / power != whole {
        return false;
    }
    while decimals > 1 && digits.is_multiple_of(10) {
        (digits, decimals) = (digits / 10, decimals - 1);
    }
    if value.is_sign_negative() {
        text.push('-');
    }
    // At least one decimal stands there.
    let (digits, decimals) = if decimals == 0 { (digits * 10, 1) } else { (digits, decimals) };
    push_digits(text, digits, decimals);
    true
}

/// Whether a double may lie in the middle of two decimals of so many places: only one whose binary places are one more
/// may, for the middle has a last place of five.
fn may_be_middle(value: f64, decimals: usize) -> bool {
    let bits = value.abs().to_bits();
    let (exponent, mantissa) = (bits >> 52, bits & ((1 << 52) - 1) | 1 << 52);
    let places = 1075_u64.saturating_sub(exponent).saturating_sub(u64::from(mantissa.trailing_zeros()));
    places == decimals as u64 + 1
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(arguments);
}

fn push_shortest(text: &mut String, value: f64) {
    /// A text with fewer letters has too few digits to lie beside the middle of two.
    const LONG: usize = 17;
    if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        if is_pushed_quickly(text, value) {
            return;
        }
        let start = text.len();
        push(text, format_args!("{value:?}"));
        let written = text.get(start..).unwrap_or_default();
        let decimals = written.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        if written.len() >= LONG && may_be_middle(value, decimals) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Without the short ways.
    fn slowly(value: f64) -> String {
        let text = format!("{value:?}");
        if text.len() >= 17 { even(&text, value) } else { text }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn short_ways_give_the_same_digits(
            number in any::<i64>(), digits in 0_u32..17, decimals in 0_i32..16, bits in any::<u64>(), word in any::<u32>(), places in 0_i32..60,
        ) {
            let number = number % 10_i64.pow(digits);
            let whole = f64::from(1_u32 << 20).mul_add(f64::from(word), (bits >> 44) as f64);
            for value in [number as f64 / 10_f64.powi(decimals), f64::from_bits(bits), whole * 2_f64.powi(-places), -0.0] {
                if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
                    prop_assert_eq!(shortest(value), slowly(value));
                }
            }
            let mut text = String::new();
            push_whole(&mut text, number);
            prop_assert_eq!(text, number.to_string());
        }
    }
}
