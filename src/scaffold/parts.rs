//! Parts of a strategy that a file chooses by the word `kind`: search policies and operators. Each kind is a struct that is
//! read from the table, so a program may bring kinds of its own beside the shipped ones (see
//! [`Registry`](crate::Registry)).
//!
//! A table is read when the scaffold is loaded, and a part that was read is whole: nothing asks the registry later.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use podium_types::nearest::nearest;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

/// The key that says which kind a table is of.
pub(crate) const KIND: &str = "kind";

/// How a kind reads its table, from which `kind` was taken.
pub(crate) type Reader<T> = fn(toml::Table) -> Result<(Arc<T>, Json), toml::de::Error>;

/// The kinds of one sort of part, by the words that files use.
#[derive(Debug)]
pub(crate) struct Kinds<T: ?Sized> {
    readers: BTreeMap<&'static str, Reader<T>>,
}

/// A part as a file chose it, with its values.
#[derive(Debug)]
pub struct Part<T: ?Sized> {
    kind: String,
    values: Json,
    read: Arc<T>,
}

/// Why a table is no part. Where it stands, the reader of the file knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartFault {
    /// Path of the table.
    pub(crate) path: String,
    /// What is wrong with it.
    pub(crate) what: WrongPart,
}

/// What is wrong with a part's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WrongPart {
    /// No `kind`, or one that is no word.
    NoKind,
    /// A kind that there is not.
    UnknownKind { name: String, nearest: Option<String>, kinds: Vec<&'static str> },
    /// The words of the kind's own reader.
    Values(String),
}

impl<T: ?Sized> Kinds<T> {
    /// With one more, or with another in the place of the one of that name.
    pub(crate) fn insert(&mut self, kind: &'static str, reader: Reader<T>) {
        self.readers.insert(kind, reader);
    }

    /// All words, in alphabetical order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.readers.keys().copied()
    }

    /// Reads the table that stands at `path`.
    pub(crate) fn read(&self, path: &str, mut table: toml::Table) -> Result<Part<T>, PartFault> {
        let fault = |what| PartFault { path: path.to_owned(), what };
        let Some(toml::Value::String(kind)) = table.remove(KIND) else {
            return Err(fault(WrongPart::NoKind));
        };
        let Some(reader) = self.readers.get(kind.as_str()) else {
            let nearest = nearest(&kind, self.names());
            let kinds = self.names().collect();
            return Err(fault(WrongPart::UnknownKind { name: kind, nearest, kinds }));
        };
        let (part, mut values) =
            reader(table).map_err(|error| fault(WrongPart::Values(error.message().to_owned())))?;
        if let Json::Object(values) = &mut values {
            values.insert(KIND.to_owned(), Json::from(kind.as_str()));
        }
        Ok(Part { kind, values, read: part })
    }
}

impl<T: ?Sized> Part<T> {
    /// Which kind it is.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Its table as read, `kind` included.
    pub const fn values(&self) -> &Json {
        &self.values
    }
}

impl<T: ?Sized> Deref for Part<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.read
    }
}

impl<T: ?Sized> Clone for Part<T> {
    fn clone(&self) -> Self {
        Self { kind: self.kind.clone(), values: self.values.clone(), read: Arc::clone(&self.read) }
    }
}

impl<T: ?Sized> Serialize for Part<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}

impl<T: ?Sized> Default for Kinds<T> {
    fn default() -> Self {
        Self { readers: BTreeMap::new() }
    }
}

impl<T: ?Sized> Clone for Kinds<T> {
    fn clone(&self) -> Self {
        Self { readers: self.readers.clone() }
    }
}
