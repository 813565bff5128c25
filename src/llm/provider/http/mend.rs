//! Mends JSON text that strict parsers refuse though its meaning is plain: lone surrogate escapes.
//!
//! Models write `\ud83d` without its other half, and servers pass it on. Each lone half becomes U+FFFD.

use std::borrow::Cow;

/// `text` with every lone surrogate escape replaced.
pub(super) fn lone_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let (written, used) = escape(tail);
        out.push_str(written);
        rest = tail.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The escape at the head of `tail`, mended, and how many bytes it took.
fn escape(tail: &str) -> (&str, usize) {
    const PAIR: usize = 12;
    const UNIT: usize = 6;
    match unit(tail) {
        Some(0xD800..=0xDBFF) => match tail.get(UNIT..).and_then(unit) {
            Some(0xDC00..=0xDFFF) => (tail.get(..PAIR).unwrap_or(tail), PAIR),
            _ => ("\\ufffd", UNIT),
        },
        Some(0xDC00..=0xDFFF) => ("\\ufffd", UNIT),
        Some(_) => (tail.get(..UNIT).unwrap_or(tail), UNIT),
        // Another escape: its second character must not be taken for the head of a next one.
        None => {
            let length = tail.chars().take(2).map(char::len_utf8).sum();
            (tail.get(..length).unwrap_or(tail), length)
        }
    }
}

/// The code unit of a `\uXXXX` at the head of `text`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_lone_halves_are_replaced() {
        for (text, mended) in [
            (r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"\ud83d\ude00"}"#),
            (r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
            (r#"{"a":"\ude00\uD83Dx"}"#, r#"{"a":"\ufffd\ufffdx"}"#),
            (r#"{"a":"\\ud83d"}"#, r#"{"a":"\\ud83d"}"#),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ud83d\ude00"}"#),
            (r"\ud8", r"\ud8"),
            (r"\", r"\"),
        ] {
            assert_eq!(lone_surrogates(text), mended);
        }
    }

    proptest! {
        #[test]
        fn mended_strings_parse(units in proptest::collection::vec(any::<u16>(), 0..20)) {
            let escaped: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let text = format!("\"{}\"", escaped.concat());
            let parsed: String = serde_json::from_str(&lone_surrogates(&text)).unwrap();
            prop_assert_eq!(parsed, String::from_utf16_lossy(&units));
        }

        #[test]
        fn valid_json_is_left_alone(text: String) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(lone_surrogates(&json), json.clone());
        }
    }
}
