//! Values as Python's `json.dump` writes them: ASCII only, doubles by their shortest digits, whole numbers of any size.

use crate::prepare::json::Json;
use crate::prepare::number_text::{FloatStyle, push_float};

/// How a document is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// On one line, `, ` and `: ` between parts.
    Line,
    /// Four blanks a level.
    Indented,
    /// As that, the keys of every object sorted by code point.
    Sorted,
}

/// The text of a value; no line end behind it.
pub fn python_json(value: &Json, layout: Layout) -> String {
    let mut text = String::new();
    push(&mut text, value, layout, 0);
    text
}

fn push(text: &mut String, value: &Json, layout: Layout, level: usize) {
    match value {
        Json::Null => text.push_str("null"),
        Json::Boolean(true) => text.push_str("true"),
        Json::Boolean(false) => text.push_str("false"),
        Json::Number(spelled) => push_number(text, spelled),
        Json::Text(bytes) => push_text(text, bytes, true),
        Json::List(items) => push_many(text, layout, level, ['[', ']'], items.iter(), |text, item| {
            push(text, item, layout, level + 1);
        }),
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            if layout == Layout::Sorted {
                members.sort_by(|(left, _), (right, _)| left.cmp(right));
            }
            push_many(text, layout, level, ['{', '}'], members.into_iter(), |text, (key, value)| {
                push_text(text, key, true);
                text.push_str(": ");
                push(text, value, layout, level + 1);
            });
        }
    }
}

fn push_many<T>(
    text: &mut String,
    layout: Layout,
    level: usize,
    [open, close]: [char; 2],
    parts: impl ExactSizeIterator<Item = T>,
    mut each: impl FnMut(&mut String, T),
) {
    text.push(open);
    let empty = parts.len() == 0;
    let line = |text: &mut String, level: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("    ", level));
    };
    for (place, part) in parts.enumerate() {
        match layout {
            Layout::Line if place > 0 => text.push_str(", "),
            Layout::Line => {}
            _ => {
                if place > 0 {
                    text.push(',');
                }
                line(text, level + 1);
            }
        }
        each(text, part);
    }
    if layout != Layout::Line && !empty {
        line(text, level);
    }
    text.push(close);
}

/// What Python makes of a number that has a point or an exponent, or is a word; none of a whole number.
pub fn float_of(spelled: &str) -> Option<f64> {
    match spelled {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ if spelled.contains(['.', 'e', 'E']) => spelled.parse().ok(),
        _ => None,
    }
}

fn push_number(text: &mut String, spelled: &str) {
    match float_of(spelled) {
        None => {
            let (sign, digits) = spelled.split_at(usize::from(spelled.starts_with('-')));
            let digits = digits.trim_start_matches('0');
            if digits.is_empty() {
                return text.push('0');
            }
            text.push_str(sign);
            text.push_str(digits);
        }
        Some(value) if value.is_nan() => text.push_str("NaN"),
        Some(value) if value.is_infinite() => {
            text.push_str(if value < 0.0 { "-Infinity" } else { "Infinity" });
        }
        Some(value) => push_float(text, value, FloatStyle::Shortest),
    }
}

/// A text in quotes. `python` says who writes it: pandas escapes `/`, and leaves 0x7f as it is.
pub(crate) fn push_text(text: &mut String, bytes: &[u8], python: bool) {
    text.push('"');
    each_unit(bytes, |unit| match unit {
        0x22 => text.push_str("\\\""),
        0x5c => text.push_str("\\\\"),
        0x2f if !python => text.push_str("\\/"),
        8 => text.push_str("\\b"),
        9 => text.push_str("\\t"),
        10 => text.push_str("\\n"),
        12 => text.push_str("\\f"),
        13 => text.push_str("\\r"),
        0x7f if !python => text.push('\u{7f}'),
        0x20..=0x7e => text.push(char::from_u32(unit).unwrap_or(' ')),
        0x1_0000.. => {
            let above = unit - 0x1_0000;
            push_escape(text, 0xd800 + (above >> 10));
            push_escape(text, 0xdc00 + (above & 0x3ff));
        }
        _ => push_escape(text, unit),
    });
    text.push('"');
}

fn push_escape(text: &mut String, unit: u32) {
    text.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        text.push(char::from_digit(unit >> shift & 15, 16).unwrap_or('0'));
    }
}

/// Calls `each` with every code point, lone surrogates among them.
fn each_unit(bytes: &[u8], mut each: impl FnMut(u32)) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let (good, bad) = match std::str::from_utf8(rest) {
            Ok(text) => (text, &[][..]),
            Err(error) => {
                let (good, bad) = rest.split_at(error.valid_up_to());
                (std::str::from_utf8(good).unwrap_or_default(), bad)
            }
        };
        good.chars().for_each(|character| each(character.into()));
        rest = match bad {
            [first, second, third, after @ ..] => {
                let six = |byte: u8| u32::from(byte & 0x3f);
                each(u32::from(first & 0x0f) << 12 | six(*second) << 6 | six(*third));
                after
            }
            _ => &[],
        };
    }
}
