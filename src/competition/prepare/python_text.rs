//! Texts as Python cuts and reads them.

/// Whether Python's `str` takes a character for a blank: Unicode's white space and four control characters.
pub(crate) fn is_blank(character: char) -> bool {
    character.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&character)
}

/// `str.split()`.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_blank).filter(|word| !word.is_empty())
}

/// `name.endswith(end)`: upper and lower case are two things there, and so for every file ending here.
pub(crate) fn has_end(name: &str, end: &str) -> bool {
    name.as_bytes().ends_with(end.as_bytes())
}

/// `str.strip()`.
pub(crate) fn stripped(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// `int(text)` of a number that fits 64 bits: a sign, leading zeros and single underscores between digits are fine.
pub(crate) fn python_integer(text: &str) -> Option<i64> {
    let text = stripped(text);
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.get(..1)?, digits),
        None => ("", text),
    };
    let plain =
        digits.split('_').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if plain { format!("{sign}{}", digits.replace('_', "")).parse().ok() } else { None }
}

/// Python's `round` of a number of things: half to even.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, which is meant"
)]
pub(crate) fn python_round(value: f64) -> u32 {
    value.round_ties_even() as u32
}
