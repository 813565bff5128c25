//! The files of a strategy's own program that are in force: those that the run began with, until a resume brought others.
//!
//! A changed program may go on with a run where it asks for all that the journal holds as the one before it did; the
//! replay decides that before anything is written. The journal then holds the new files, with the sitting that brought
//! them, and the run report names them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::run::config::RunConfig;
use crate::run::error::RunError;
use crate::run::external::{self, ExternalSpec};
use crate::run::journal::{Entry, Record};

/// Files by their names.
pub(crate) type Files = BTreeMap<String, String>;

/// Reads the files of the run's program anew, from `folder`.
pub(super) fn read(config: &RunConfig, folder: &Path) -> Result<Files, RunError> {
    let Some(spec) = ExternalSpec::of(&config.scaffold()?) else {
        return Err(RunError::NoProgram(config.scaffold.id.clone()));
    };
    Ok(external::files::read(folder, &spec.external.files)?)
}

/// Those that a sitting brought, one after another.
fn brought(entries: &[Entry]) -> impl DoubleEndedIterator<Item = &Files> {
    entries.iter().filter_map(|entry| match &entry.record {
        Record::Started { files, .. } => files.as_ref(),
        _ => None,
    })
}

/// Those in force after a journal.
pub(super) fn in_force<'a>(config: &'a RunConfig, entries: &'a [Entry]) -> &'a Files {
    brought(entries).next_back().unwrap_or(&config.scaffold.files)
}

/// The names of those that were another text at some time than when the run began.
pub(super) fn changed(config: &RunConfig, entries: &[Entry]) -> Vec<String> {
    let first = &config.scaffold.files;
    let differing = brought(entries)
        .flat_map(|files| files.iter().filter(|(name, text)| first.get(*name) != Some(*text)));
    differing.map(|(name, _)| name.clone()).collect::<BTreeSet<String>>().into_iter().collect()
}
