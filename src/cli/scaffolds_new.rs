//! `podium scaffolds new`: a scaffold of the user's own, made from another.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::assets::MARK;
use crate::cli::failure::{Failure, with_causes};
use crate::cli::terminal::{Terminal, escape};
use crate::run::own_program::{self, COMMAND};
use crate::run::own_scaffold::{self, OwnScaffoldError};
use crate::run::site::Site;

/// Make a scaffold of your own from another: its file and its prompts, to be changed
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium scaffolds new mine --from aide && podium scaffolds check mine\n  \
    podium scaffolds new mine --from external    a strategy in Python\n  \
    podium scaffolds new mine --from command     an agent program that knows nothing of Podium\n\nIt goes to the folder \
    whose scaffolds/ and prompts/ are in force (see --assets); where there is none, to this one, which becomes one."
)]
pub(crate) struct Arguments {
    /// Its id
    name: String,
    /// The scaffold it is made from, or `external` for a strategy that is a program of its own
    #[arg(long, value_name = "S", default_value = "aide")]
    from: String,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: &Arguments, site: &Site, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let name = &arguments.name;
    let files = own_scaffold::copy(site, &arguments.from, name)?;
    let folder = match site.assets.own_folder() {
        Some(folder) => folder.to_owned(),
        None => PathBuf::from("."),
    };
    own_scaffold::write(&folder, name, &files)?;
    let mark = folder.join(MARK);
    if !mark.exists() {
        let text = "# This file marks a folder of Podium's assets: what is in scaffolds/ and prompts/ beside it goes before\n\
                    # what is built in.\n";
        std::fs::write(&mark, text)
            .map_err(|error| Failure::environment(format!("could not write {}: {error}", mark.display())))?;
    }
    if arguments.json {
        let paths: Vec<PathBuf> = files.keys().map(|file| folder.join(file)).collect();
        terminal.json(&json!({"id": name, "from": arguments.from, "folder": folder, "files": paths}));
        return Ok(ExitCode::SUCCESS);
    }
    for file in files.keys() {
        terminal.line(&escape(&folder.join(file).display().to_string()));
    }
    let mount = if arguments.from == COMMAND {
        let agent = folder.join(own_program::agent_folder(name));
        format!(" --mount agent={}", escape(&agent.display().to_string()))
    } else {
        String::new()
    };
    terminal.error_line(&format!("change them, then: podium scaffolds check {name}{mount}"));
    Ok(ExitCode::SUCCESS)
}

impl From<OwnScaffoldError> for Failure {
    fn from(error: OwnScaffoldError) -> Self {
        let words = with_causes(&error);
        match error {
            OwnScaffoldError::From(source) => Self::from(source),
            OwnScaffoldError::Name(_) => Self::usage(words).hint("choose another name"),
            OwnScaffoldError::Taken(name) => {
                Self::usage(words).hint(format!("choose another name, or change scaffolds/{name}.toml"))
            }
            OwnScaffoldError::InTheWay(_) => {
                Self::usage(words).hint("nothing was written; choose another name")
            }
            OwnScaffoldError::Write { .. } => Self::environment(words).hint("nothing was written"),
        }
    }
}
