//! Cells as numbers, as the pandas C parser takes them: what is missing, an integer, a float or a boolean.
//!
//! Integers overflow before trailing rubbish is seen, floats are converted correctly rounded, and a positive overflow
//! is no number (pandas' round-trip converter compares with `+HUGE_VAL` only) while a negative one is −∞.

use std::sync::LazyLock;

/// Why a cell is no integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoInteger {
    /// It is one, but too large.
    Overflow,
    /// It is none.
    Invalid,
}

/// Whether a cell is one of pandas' words for a missing value; exact and case-sensitive.
#[inline]
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    /// Bytes of the longest word.
    const LONGEST: usize = 8;
    // Most cells are told by their length or their first byte.
    let possible = match cell {
        [] => true,
        _ if cell.len() > LONGEST => false,
        [b'0' | b'2'..=b'9', ..] => false,
        [b'1', second, ..] => *second == b'.',
        [first, ..] => matches!(first, b'#' | b'-' | b'<' | b'N' | b'n'),
    };
    possible && is_word_for_missing(cell)
}

fn is_word_for_missing(cell: &[u8]) -> bool {
    matches!(
        cell,
        b"" | b"#N/A"
            | b"#N/A N/A"
            | b"#NA"
            | b"-1.#IND"
            | b"-1.#QNAN"
            | b"-NaN"
            | b"-nan"
            | b"1.#IND"
            | b"1.#QNAN"
            | b"<NA>"
            | b"N/A"
            | b"NA"
            | b"NULL"
            | b"NaN"
            | b"None"
            | b"n/a"
            | b"nan"
            | b"null"
    )
}

/// Blanks by C's `isspace`.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn trim_start(cell: &[u8]) -> &[u8] {
    let blanks = cell.iter().take_while(|byte| is_space(**byte)).count();
    cell.get(blanks..).unwrap_or_default()
}

fn trim_end(cell: &[u8]) -> &[u8] {
    let blanks = cell.iter().rev().take_while(|byte| is_space(**byte)).count();
    cell.get(..cell.len() - blanks).unwrap_or_default()
}

fn take_sign(cell: &[u8]) -> (bool, &[u8]) {
    match cell.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, cell),
    }
}

/// A cell as a 64-bit signed integer.
pub(crate) fn int64(cell: &[u8]) -> Result<i64, NoInteger> {
    if let Some(number) = short_integer(cell) {
        return Ok(number);
    }
    let (negative, mut rest) = take_sign(trim_start(cell));
    if !rest.first().is_some_and(u8::is_ascii_digit) {
        return Err(NoInteger::Invalid);
    }
    let mut number = 0i64;
    while let Some((digit @ b'0'..=b'9', after)) = rest.split_first() {
        let digit = i64::from(digit - b'0');
        let shifted = number.checked_mul(10);
        let next = shifted
            .and_then(|number| if negative { number.checked_sub(digit) } else { number.checked_add(digit) });
        number = next.ok_or(NoInteger::Overflow)?;
        rest = after;
    }
    if trim_start(rest).is_empty() { Ok(number) } else { Err(NoInteger::Invalid) }
}

/// A plain integer that is too short to overflow; none of anything else.
fn short_integer(cell: &[u8]) -> Option<i64> {
    const DIGITS: usize = 18;
    let (negative, digits) = take_sign(cell);
    if digits.is_empty() || digits.len() > DIGITS {
        return None;
    }
    let number = digits
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))?;
    Some(if negative { -number } else { number })
}

/// What pandas remembers while it tries a column as unsigned integers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnsignedSeen {
    /// A value beyond the signed range.
    pub(crate) unsigned: bool,
    /// A minus sign.
    pub(crate) signed: bool,
    /// A missing cell.
    pub(crate) missing: bool,
}

/// A cell as a 64-bit unsigned integer. A minus sign is noted, and the rest of the cell is not looked at.
pub(crate) fn uint64(cell: &[u8], seen: &mut UnsignedSeen) -> Result<u64, NoInteger> {
    let trimmed = trim_start(cell);
    if trimmed.first() == Some(&b'-') {
        seen.signed = true;
        return Ok(0);
    }
    let (_, mut rest) = take_sign(trimmed);
    if !rest.first().is_some_and(u8::is_ascii_digit) {
        return Err(NoInteger::Invalid);
    }
    let mut number = 0u64;
    while let Some((digit @ b'0'..=b'9', after)) = rest.split_first() {
        let next = number.checked_mul(10).and_then(|number| number.checked_add(u64::from(digit - b'0')));
        number = next.ok_or(NoInteger::Overflow)?;
        rest = after;
    }
    if !trim_start(rest).is_empty() {
        return Err(NoInteger::Invalid);
    }
    seen.unsigned |= i64::try_from(number).is_err();
    Ok(number)
}

/// How a decimal becomes a double.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decimals {
    /// Correctly rounded: pandas' `float_precision="round_trip"`.
    #[default]
    Exact,
    /// As pandas does it where nothing else is asked for: seventeen digits are gathered in a double, which is then
    /// scaled by a power of ten, so that the last bit may be another.
    Quick,
}

impl Decimals {
    /// A cell as a double.
    pub(crate) fn double(self, cell: &[u8]) -> Option<f64> {
        match self {
            Self::Exact => float64(cell),
            Self::Quick => quick_float64(cell),
        }
    }
}

/// Digits that pandas' quick conversion gathers, zeros in front among them.
pub(crate) const DIGITS: usize = 17;

/// pandas' `xstrtod`.
fn quick_float64(cell: &[u8]) -> Option<f64> {
    let body = trim_end(trim_start(cell));
    let (negative, rest) = take_sign(body);
    if let Some(digits) = Digits::of(rest).filter(|digits| digits.count <= DIGITS && is_exact(digits.number))
    {
        // All digits are gathered without loss and scaled once, which is the correctly rounded value.
        return Some(ratio(negative, digits.number, digits.behind.unwrap_or_default()));
    }
    if !is_decimal(body) {
        return float64(cell);
    }
    let mantissa = rest.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(rest.len());
    let (mantissa, written) = rest.split_at(mantissa);
    let (mut number, mut digits, mut power, mut point) = (0f64, 0, 0i64, false);
    for byte in mantissa {
        match byte {
            b'.' => point = true,
            digit if digits < DIGITS => {
                number = number * 10.0 + f64::from(digit - b'0');
                digits += 1;
                power -= i64::from(point);
            }
            _ => power += i64::from(!point),
        }
    }
    if let Some((_, exponent)) = written.split_first() {
        let (below, exponent) = take_sign(exponent);
        let value = exponent.iter().fold(0i64, |value, digit| {
            value.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(1 << 40)
        });
        power += if below { -value } else { value };
    }
    if negative {
        number = -number;
    }
    let scaled = match power {
        309.. => number * f64::INFINITY,
        1..=308 => number * ten(power),
        -308..=0 => number / ten(-power),
        -616..-308 => number / ten(-308 - power) / 1e308,
        _ => number / 1e308 / 1e308,
    };
    // Zero times infinity is no number there either, but zero.
    let scaled = if number == 0.0 { number } else { scaled };
    if scaled.is_infinite() { None } else { Some(scaled) }
}

/// A correctly rounded power of ten.
fn ten(power: i64) -> f64 {
    static POWERS: LazyLock<Vec<f64>> =
        LazyLock::new(|| (0..=308).map(|power| format!("1e{power}").parse().unwrap_or(f64::NAN)).collect());
    usize::try_from(power).ok().and_then(|power| POWERS.get(power).copied()).unwrap_or(f64::INFINITY)
}

/// A cell as a double.
pub(crate) fn float64(cell: &[u8]) -> Option<f64> {
    if let Some(number) = short_decimal(cell) {
        return Some(number);
    }
    let body = trim_end(trim_start(cell));
    if is_decimal(body) {
        // `body` is ASCII of a form that Rust's parser accepts, and both round correctly.
        let number: f64 = std::str::from_utf8(body).ok()?.parse().ok()?;
        return if number == f64::INFINITY { None } else { Some(number) };
    }
    // The words of infinity bear no blanks.
    let (negative, word) = take_sign(cell);
    if word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity") {
        return Some(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    None
}

/// A plain decimal: digits, perhaps with a point among them or at an end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digits {
    /// All of them as a whole number, below 10^17.
    pub(crate) number: u64,
    /// How many they are, zeros in front among them; at least 1.
    pub(crate) count: usize,
    /// How many of them stand behind the point, where there is one; at most [`BEHIND`].
    pub(crate) behind: Option<usize>,
}

/// Most digits behind the point: those of any double of 17 digits that Python spells without an exponent. Ten to this
/// power is exact as a double.
pub(crate) const BEHIND: usize = 21;

impl Digits {
    /// What follows the sign of a cell, where it is that.
    #[inline]
    pub(crate) fn of(body: &[u8]) -> Option<Self> {
        /// A zero, a point and the digits behind it.
        const LONGEST: usize = 2 + BEHIND;
        /// One more digit would be the eighteenth.
        const FULL: u64 = 10u64.pow(16);
        if body.len() > LONGEST {
            return None;
        }
        let (mut number, mut count, mut before) = (0u64, 0, None);
        for byte in body {
            match byte {
                b'0'..=b'9' if number < FULL => {
                    number = number * 10 + u64::from(byte - b'0');
                    count += 1;
                }
                b'.' if before.is_none() => before = Some(count),
                _ => return None,
            }
        }
        let behind = before.map(|before| count - before);
        (count > 0 && behind.is_none_or(|behind| behind <= BEHIND)).then_some(Self { number, count, behind })
    }
}

/// A plain decimal of few digits. None of anything else.
fn short_decimal(cell: &[u8]) -> Option<f64> {
    let (negative, body) = take_sign(cell);
    let digits = Digits::of(body)?;
    Some(ratio(negative, digits.number, digits.behind.unwrap_or_default()))
}

/// Whether a double holds every whole number up to this one.
pub(crate) const fn is_exact(number: u64) -> bool {
    number < 1 << f64::MANTISSA_DIGITS
}

/// A decimal, correctly rounded, whose digits make this whole number below 10^17, at most [`BEHIND`] of them behind its
/// point.
pub(crate) fn ratio(negative: bool, digits: u64, behind: usize) -> f64 {
    const POWERS: [f64; BEHIND + 1] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18, 1e19, 1e20, 1e21,
    ];
    let value = if is_exact(digits) {
        // Both are exact, and a division rounds correctly.
        digits as f64 / POWERS.get(behind).copied().unwrap_or(f64::NAN)
    } else {
        long_ratio(digits, behind)
    };
    if negative { -value } else { value }
}

/// The same of digits that no double holds: a division of whole numbers with at least 57 bits of result, the lowest of
/// which is set when something is left over, so that the one rounding is that of the conversion.
fn long_ratio(digits: u64, behind: usize) -> f64 {
    let Some(power) = u32::try_from(behind).ok().and_then(|behind| 10u128.checked_pow(behind)) else {
        return f64::NAN;
    };
    let shift = u128::from(digits).leading_zeros();
    let shifted = u128::from(digits) << shift;
    let (quotient, rest) = match u64::try_from(power) {
        // By one machine word, which is several times quicker.
        Ok(power) => (shifted / u128::from(power), shifted % u128::from(power)),
        Err(_) => (shifted / power, shifted % power),
    };
    let scale = f64::from_bits((1023 - u64::from(shift)) << (f64::MANTISSA_DIGITS - 1));
    (quotient | u128::from(rest != 0)) as f64 * scale
}

/// Whether the bytes are `[+-] digits [. digits] [e [+-] digits]` with a digit in the mantissa.
fn is_decimal(body: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (_, rest) = take_sign(body);
    let whole = digits(rest);
    let mut rest = rest.get(whole..).unwrap_or_default();
    let mut fraction = 0;
    if let Some((b'.', after)) = rest.split_first() {
        fraction = digits(after);
        rest = after.get(fraction..).unwrap_or_default();
    }
    if whole + fraction == 0 {
        return false;
    }
    match rest.split_first() {
        None => true,
        Some((b'e' | b'E', after)) => {
            let (_, exponent) = take_sign(after);
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
        Some(_) => false,
    }
}

/// A cell as a boolean: `true` or `false` in any case, without blanks.
pub(crate) fn boolean(cell: &[u8]) -> Option<bool> {
    if cell.eq_ignore_ascii_case(b"true") {
        Some(true)
    } else if cell.eq_ignore_ascii_case(b"false") {
        Some(false)
    } else {
        None
    }
}
