//! `podium environments`: the pinned Python environments in which agents' code runs.

use std::process::ExitCode;

use clap::Subcommand;
use podium_sandbox::Environment;
use podium_sandbox::environment::Interpreter;
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::RunError;

/// Python environments for agents' code
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build an environment, once per machine
    #[command(after_help = "Example:\n  podium environments build base")]
    Build {
        /// The profile: a file of benchmark/environments
        #[arg(default_value = "base")]
        profile: String,
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn main(
    command: &Command,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let site = site.open(terminal)?;
    let Command::Build { profile, json: as_json } = command;
    let requirements = site.requirements(profile);
    if requirements.is_empty() {
        return Err(Failure::usage(format!("there is no environment profile `{profile}`"))
            .hint("profiles are the files of benchmark/environments, for example `base`"));
    }
    let interpreter = Interpreter::find(site.python.as_deref()).map_err(RunError::from)?;
    let mut progress = |line: &str| terminal.error_line(&escape(line));
    let environment =
        Environment::build(&site.cache_dir, profile, &requirements, &interpreter, &mut progress)
            .map_err(RunError::from)?;
    let description = environment.describe();
    if *as_json {
        terminal.json(&json!(description));
    } else {
        terminal.line(&format!(
            "{profile}: Python {} at {}",
            description.version,
            description.python.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}
