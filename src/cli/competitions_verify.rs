//! `podium competitions verify`: the checksums that MLE-bench recorded, taken anew from the prepared data.

use std::fmt::Write as _;
use std::process::ExitCode;

use podium_competition::{Catalog, Competition, Verified};

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::RunError;
use crate::run::site::Site;

pub(crate) fn main(
    ids: &[String],
    as_json: bool,
    catalog: &Catalog,
    site: &Site,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let mut wanted: Vec<&Competition> = Vec::new();
    for id in ids {
        wanted.push(catalog.get(id).map_err(RunError::from)?);
    }
    let verified = podium_competition::verify(&site.data_dir, &wanted);
    if as_json {
        terminal.json(&verified);
    } else {
        for one in &verified {
            terminal.line(&escape(&words(one)));
        }
    }
    Ok(ExitCode::from(verified.iter().map(code).max().unwrap_or_default()))
}

fn code(verified: &Verified) -> u8 {
    match (verified.is_prepared, verified.is_right()) {
        (false, _) => exit::ENVIRONMENT,
        (true, false) => exit::INVALID,
        (true, true) => 0,
    }
}

fn words(verified: &Verified) -> String {
    let id = &verified.id;
    if !verified.is_prepared {
        return format!("{id}: not prepared");
    }
    let mut text = match verified.same {
        0 if verified.is_right() => format!("{id}: no checksum is recorded"),
        1 => format!("{id}: 1 file as recorded"),
        count => format!("{id}: {count} files as recorded"),
    };
    for (file, sum) in &verified.differs {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  differs: {file} ({sum})");
    }
    for (what, files) in [("missing", &verified.missing), ("not recorded", &verified.not_recorded)] {
        for file in files {
            let _ = write!(text, "\n  {what}: {file}");
        }
    }
    text
}
