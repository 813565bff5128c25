//! `podium competitions prepare`: unpacks what is built in, or prepares a raw download.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use podium_competition::prepare::{PrepareError, Request, prepare};
use podium_competition::{Catalog, Competition, Folders, Status, folders, status};
use serde_json::json;

use crate::cli::failure::{Failure, with_causes};
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::RunError;
use crate::run::site::Site;

/// What is prepared from what.
#[derive(Debug, Args)]
pub(crate) struct PrepareArguments {
    /// Their ids
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// Folder of the raw download, inner archives as they are; of several competitions, a folder with one ID/ for each
    #[arg(long, value_name = "DIR")]
    raw: Option<PathBuf>,
    /// Another number of the recipe, such as `prepare.constants.test_rows=100`; `competitions show ID --json` has them
    #[arg(long, value_name = "KEY=NUMBER", value_parser = constant, requires = "raw")]
    set: Vec<(String, i64)>,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

/// `prepare.constants.NAME=NUMBER`.
fn constant(text: &str) -> Result<(String, i64), String> {
    let found = text.split_once('=').and_then(|(key, value)| {
        let name = key.trim().strip_prefix("prepare.constants.")?;
        Some((name.to_owned(), value.trim().replace('_', "").parse().ok()?))
    });
    found.ok_or_else(|| format!("`{text}` is not of the form `prepare.constants.NAME=NUMBER`"))
}

/// Prepares them one after another.
pub(crate) fn main(
    arguments: &PrepareArguments,
    catalog: &Catalog,
    site: &Site,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let mut prepared = Vec::new();
    for id in &arguments.ids {
        let competition = catalog.get(id).map_err(RunError::from)?;
        let folders = match &arguments.raw {
            None => site.prepared(competition)?,
            Some(raw) => {
                let raw = if arguments.ids.len() > 1 { raw.join(id) } else { raw.clone() };
                from_raw(competition, &raw, arguments, &site.data_dir)?
            }
        };
        if !arguments.json {
            terminal.line(&escape(&format!("{id}: ready in {}", folders.public.display())));
        }
        prepared.push(json!({"id": id, "public": folders.public, "private": folders.private}));
    }
    if arguments.json {
        terminal.json(&prepared);
    }
    Ok(())
}

/// Prepares a download, unless that was done before by the catalog's own numbers.
fn from_raw(
    competition: &Competition,
    raw: &Path,
    arguments: &PrepareArguments,
    data_dir: &Path,
) -> Result<Folders, Failure> {
    if arguments.set.is_empty() && status(data_dir, competition) == Status::Prepared {
        return Ok(folders(data_dir, &competition.id));
    }
    let constants: BTreeMap<String, i64> = arguments.set.iter().cloned().collect();
    prepare(competition, &Request { raw, data_dir, constants: &constants }).map_err(|error| failure(&error))
}

fn failure(error: &PrepareError) -> Failure {
    let words = with_causes(error);
    let failure = match error {
        PrepareError::NoConstant { .. } => Failure::usage(words),
        _ => Failure::environment(words),
    };
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
