//! JSON as Python reads and writes it: keys keep their order, whole numbers of any size stay what they are, and text may
//! hold half of a surrogate pair. `read` parses, `python` writes as `json.dump` does, `pandas` as `to_json` does.
//!
//! A number is kept as it is spelled; what it means is the writer's question, since Python and pandas parse differently.

mod pandas;
mod python;
mod read;

pub use pandas::{pandas_line, pandas_number};
pub use python::{Layout, float_of, python_json};
pub use read::{Bad, Encoding, parse, parse_as};

/// A text: UTF-8 that may also hold lone surrogates, three bytes each (WTF-8).
pub type Text = Box<[u8]>;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number as it is spelled, or `NaN`, `Infinity`, `-Infinity`.
    Number(Box<str>),
    /// A text.
    Text(Text),
    /// An array.
    List(Vec<Json>),
    /// An object; no key comes twice.
    Object(Vec<(Text, Json)>),
}

impl Json {
    /// A text value.
    pub fn text(text: &str) -> Self {
        Self::Text(text.as_bytes().into())
    }

    /// A whole number.
    pub fn integer(value: impl std::fmt::Display) -> Self {
        Self::Number(value.to_string().into())
    }

    /// The value under a key of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(known, _)| **known == *key.as_bytes()).map(|(_, value)| value)
    }

    /// Sets a key of an object; a new one comes last.
    pub fn set(&mut self, key: &str, value: Self) {
        let Self::Object(members) = self else { return };
        match members.iter_mut().find(|(known, _)| **known == *key.as_bytes()) {
            Some((_, old)) => *old = value,
            None => members.push((key.as_bytes().into(), value)),
        }
    }

    /// Takes a key out of an object.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        let Self::Object(members) = self else { return None };
        let place = members.iter().position(|(known, _)| **known == *key.as_bytes())?;
        Some(members.remove(place).1)
    }

    /// The items of an array; none of anything else.
    pub fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    /// The members of an object; none of anything else.
    pub fn members(&self) -> &[(Text, Self)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    /// A text that is plain UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { std::str::from_utf8(text).ok() } else { None }
    }

    /// A text, or a number or word as Python prints it: a key to compare by, or the text of a path.
    pub fn label(&self) -> String {
        match self {
            Self::Text(text) => String::from_utf8_lossy(text).into_owned(),
            other => python_json(other, Layout::Line),
        }
    }
}
