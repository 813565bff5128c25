//! A scaffold file as its readers see it: as it was written, so that an error has a line; or with overrides in it, so
//! that an error names the override.

use std::collections::BTreeMap;

use podium_types::nearest::nearest;
use serde::de::{DeserializeOwned, IgnoredAny};
use toml::Spanned;

use crate::parts::{KIND, PartFault, WrongPart};
use crate::spec::SpecError;

/// A scaffold file, from which head and strategy each read their part.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    text: &'a str,
    pub(super) table: toml::Table,
    /// The override that was applied last, path and value.
    last: Option<&'a (String, String)>,
}

impl<'a> Source<'a> {
    /// The file as it was written.
    pub fn new(text: &'a str) -> Result<Self, SpecError> {
        let table = toml::from_str(text).map_err(|error| in_text(text, &error))?;
        Ok(Self { text, table, last: None })
    }

    /// With `table`, into which `last` was put, in the place of what was written.
    pub(super) fn overridden(self, table: toml::Table, last: &'a (String, String)) -> Self {
        Self { table, last: Some(last), ..self }
    }

    /// Reads the keys of `T` and leaves all others alone.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, SpecError> {
        match self.last {
            None => toml::from_str(self.text).map_err(|error| in_text(self.text, &error)),
            Some(last) => {
                self.table.clone().try_into().map_err(|error: toml::de::Error| wrong(last, error.message()))
            }
        }
    }

    /// Fails at the first key of the file that is not among `known`.
    pub(super) fn check_keys<'k>(
        &self,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Result<(), SpecError> {
        let keys: BTreeMap<Spanned<String>, toml::Value> =
            toml::from_str(self.text).map_err(|error| in_text(self.text, &error))?;
        let unknown = keys.into_keys().filter(|key| !known.clone().any(|name| name == key.get_ref()));
        match unknown.min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => Err(SpecError::Unknown {
                line: line(self.text, key.span().start),
                nearest: nearest(key.get_ref(), known),
                name: key.into_inner(),
                among: None,
            }),
        }
    }

    /// The error for a table that is no part of a kind.
    pub(crate) fn wrong_part(&self, PartFault { path, what }: PartFault) -> SpecError {
        let line = header(self.text, &path);
        let message = match &what {
            WrongPart::NoKind => format!("missing field `{KIND}`"),
            WrongPart::UnknownKind { nearest, kinds, .. } => {
                let hint = nearest.as_ref().map_or_else(String::new, |name| format!("; nearest: `{name}`"));
                format!("there is no such kind{hint}; {}", there_are(kinds.iter().copied()))
            }
            WrongPart::Values(message) => message.clone(),
        };
        match (self.last, what) {
            (Some(last), _) => wrong(last, &message),
            (None, WrongPart::UnknownKind { name, nearest, kinds }) => {
                let line = line + lines_to(self.text, line, &name);
                SpecError::Unknown { line, name, nearest, among: Some(there_are(kinds.into_iter())) }
            }
            (None, _) => said(self.text, line, &message),
        }
    }

    /// The error for a `strategy` that nobody has written.
    pub(super) fn unknown_strategy<'k>(&self, name: &str, known: impl Iterator<Item = &'k str>) -> SpecError {
        #[derive(serde::Deserialize)]
        struct Named {
            strategy: Spanned<IgnoredAny>,
        }
        let known: Vec<&str> = known.collect();
        let nearest = nearest(name, known.iter().copied());
        let among = there_are(known.into_iter());
        if let Some(last) = self.last {
            let hint = nearest.map_or_else(String::new, |name| format!("; nearest: `{name}`"));
            return wrong(last, &format!("there is no such strategy{hint}; {among}"));
        }
        let start = toml::from_str::<Named>(self.text).map_or(0, |named| named.strategy.span().start);
        SpecError::Unknown {
            line: line(self.text, start),
            name: name.to_owned(),
            nearest,
            among: Some(among),
        }
    }
}

/// The words that this program has, and who may have more.
fn there_are<'k>(names: impl Iterator<Item = &'k str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    format!("there are {}; a program of your own may have more (docs/guide.md)", names.join(", "))
}

/// The line of a table's header, from 1; the first line where the table has none of its own.
fn header(text: &str, path: &str) -> usize {
    let heads = |line: &str| {
        let name = line.trim_start().trim_start_matches('[').split(']').next().unwrap_or_default();
        line.trim_start().starts_with('[') && name.trim() == path
    };
    text.lines().position(heads).map_or(1, |place| place + 1)
}

fn wrong((path, value): &(String, String), message: &str) -> SpecError {
    SpecError::Override { path: path.clone(), value: value.clone(), message: message.to_owned() }
}

fn in_text(text: &str, error: &toml::de::Error) -> SpecError {
    said(text, line(text, error.span().map_or(0, |span| span.start)), error.message())
}

/// What a reader says of the table that begins in `line`, or of a place in it.
fn said(text: &str, line: usize, message: &str) -> SpecError {
    // serde says: unknown field `tirs`, expected one of `prompt`, `role`, ...
    let mut names = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown"), names.next()) {
        (true, Some(name)) => {
            // In a table whose `kind` says what it is, the error's place is the table's: the key stands further down.
            let line = line + lines_to(text, line, name);
            SpecError::Unknown { line, name: name.to_owned(), nearest: nearest(name, names), among: None }
        }
        _ => SpecError::Syntax { line, message: message.to_owned() },
    }
}

/// Lines from `line` (from 1) down to the first whose key or quoted value is `name`; 0 when there is none.
fn lines_to(text: &str, line: usize, name: &str) -> usize {
    let quoted = format!("\"{name}\"");
    let has =
        |text: &str| text.split('=').next().is_some_and(|key| key.trim() == name) || text.contains(&quoted);
    text.lines().skip(line.saturating_sub(1)).position(has).unwrap_or_default()
}

/// The line of a place in `text`, from 1.
fn line(text: &str, place: usize) -> usize {
    text.get(..place).unwrap_or_default().matches('\n').count() + 1
}
