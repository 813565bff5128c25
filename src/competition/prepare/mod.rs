//! From a raw download to a graded competition: what MLE-bench's preparation does, byte for byte, so that scores stay
//! comparable.
//!
//! The usual preparation is declared in the competition's TOML (`[prepare]`, run by `steps`); an unusual one is a file in
//! `native`. Both stand on small tested blocks: `random` and `split` draw as numpy, scikit-learn and Python do, `frame`
//! and `writer` carry tables as pandas does, `json` and `archive` read and write the rest. The raw
//! download is never changed; the result is made beside its place and renamed at the end, so that
//! it is whole or not there. One process at a time works on a competition (`hold`).
//!
//! A competition that is known to tell its answers has a fixed variant beside the original (`fixed`), under an id of its
//! own.
//!
//! Nothing here grades, and nothing here knows a run.

mod archive;
mod bench;
mod cells;
mod copies;
mod declared;
mod error;
mod fixed;
pub mod frame;
mod groups;
mod hold;
pub mod json;
mod members;
mod native;
pub mod number_text;
pub mod parquet;
mod parts;
mod pattern;
mod python_text;
pub mod random;
mod raw;
pub mod split;
mod steps;
mod stored;
mod table;
mod unzip;
mod window;
pub mod writer;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub use archive::{Packing, unpack};
pub use declared::{Preparation, Step};
pub use error::PrepareError;
pub(crate) use fixed::variant;
pub use fixed::{Fixed, Telling, original};
pub use hold::{Hold, remove_tree};
pub use unzip::unpacked_bytes;

use crate::catalog::Competition;
use crate::data::{Folders, folders};
use bench::Workbench;

/// What to prepare from what.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The folder of the raw download, or its archive, which is read where it lies.
    pub raw: &'a Path,
    /// The result goes to `<data_dir>/<id>/prepared`.
    pub data_dir: &'a Path,
    /// Numbers of the recipe that are to be others than the catalog's.
    pub constants: &'a BTreeMap<String, i64>,
}

/// Prepares a competition from its raw download.
pub fn prepare(competition: &Competition, request: &Request<'_>) -> Result<Folders, PrepareError> {
    // Refused before there is a folder for it.
    recipe(competition, request)?;
    let hold = Hold::take(request.data_dir, &competition.id)?;
    prepare_held(competition, request, &hold)
}

/// As [`prepare`], in a folder that the caller holds already.
pub fn prepare_held(
    competition: &Competition,
    request: &Request<'_>,
    hold: &Hold,
) -> Result<Folders, PrepareError> {
    let (preparation, constants) = recipe(competition, request)?;
    let home = hold.home();
    let prepared = home.join("prepared");
    let temporary = tempfile::Builder::new()
        .prefix(hold::UNDER_WAY)
        .tempdir_in(home)
        .map_err(PrepareError::io("create a folder in", home))?;
    let out = temporary.path();
    for folder in ["public", "private", "work"] {
        let folder = out.join(folder);
        fs::create_dir(&folder).map_err(PrepareError::io("create", &folder))?;
    }
    let fixed = preparation.fixed.as_ref().filter(|_| competition.variant_of.is_some());
    let bench = Workbench::new(competition, request, out, &constants)?;
    match &preparation.native {
        Some(name) => native::run(name, &bench)?,
        None => steps::run(&preparation.steps, &bench)?,
    }
    if let Some(description) = &competition.description {
        bench.write_text("public/description.md", description)?;
    }
    remove_tree(&out.join("work"))?;
    if let Some(fixed) = fixed {
        fixed.clear(out)?;
    }
    settle(out, hold)?;
    match fs::rename(out, &prepared) {
        // It has moved away: there is nothing left to delete.
        Ok(()) => drop(temporary.keep()),
        Err(_) if prepared.exists() => return Err(PrepareError::Exists { folder: prepared }),
        Err(source) => return Err(PrepareError::Io { action: "create", path: prepared, source }),
    }
    let _ = hold.folder().sync_all();
    Ok(folders(request.data_dir, &competition.id))
}

/// How it is done, where it can be.
fn recipe<'a>(
    competition: &'a Competition,
    request: &Request<'_>,
) -> Result<(&'a Preparation, BTreeMap<String, i64>), PrepareError> {
    let id = &competition.id;
    let Some(preparation) = &competition.prepare else {
        return Err(PrepareError::NoPreparation { id: id.clone() });
    };
    let constants = chosen(id, preparation, request.constants)?;
    let prepared = request.data_dir.join(id).join("prepared");
    if prepared.exists() {
        return Err(PrepareError::Exists { folder: prepared });
    }
    if !request.raw.exists() {
        return Err(PrepareError::NoRaw { file: request.raw.display().to_string() });
    }
    Ok((preparation, constants))
}

/// Modes as those of the offline competitions, and everything on the disk before the rename.
fn settle(out: &Path, hold: &Hold) -> Result<(), PrepareError> {
    let mode = |folder: &Path, mode| {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode))
            .map_err(PrepareError::io("set the mode of", folder))
    };
    mode(&out.join("private"), 0o700)?;
    mode(out, 0o755)?;
    rustix::fs::syncfs(hold.folder()).map_err(|error| PrepareError::io("sync", hold.home())(error.into()))
}

/// The constants of the recipe, with those that are set.
fn chosen(
    id: &str,
    preparation: &Preparation,
    set: &BTreeMap<String, i64>,
) -> Result<BTreeMap<String, i64>, PrepareError> {
    let mut constants = preparation.constants.clone();
    for (name, value) in set {
        match constants.get_mut(name) {
            Some(known) => *known = *value,
            None => {
                let known = constants.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                return Err(PrepareError::NoConstant { id: id.to_owned(), name: name.clone(), known });
            }
        }
    }
    Ok(constants)
}
