//! `podium predict`: the best script of a run on new rows.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use podium_sandbox::SandboxKind;

use crate::cli::failure::Failure;
use crate::cli::runtime;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::run::alone::Alone;
use crate::run::predict;
use crate::run::sitting::StoredRun;

/// Predict new rows with the best script of a run, in the sandbox
///
/// The script learns from the run's training data once more and finds the new rows where the test rows were. Nothing is
/// asked of a model.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  podium predict runs/aide-churn-1 new.csv --out predictions.csv")]
pub(crate) struct Arguments {
    /// The run's folder
    run: PathBuf,
    /// A table with the columns of the test table
    #[arg(value_name = "NEW.csv")]
    table: PathBuf,
    /// Where the predictions go [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Where the script runs: jail, docker, or process [default: as in the run]
    #[arg(long, value_name = "KIND")]
    sandbox: Option<SandboxKind>,
}

pub(crate) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let run = StoredRun::open(&arguments.run)?;
    let site = site.open_for(Some(&run.place), terminal)?;
    let competition = run.config.competition()?;
    let data = site.prepared(&competition)?;
    let mut config = run.config.sandbox.clone();
    config.kind = arguments.sandbox.unwrap_or(config.kind);
    let runtime = runtime()?;
    let text = {
        let _inside = runtime.enter();
        let mut progress = |line: &str| terminal.error_line(&format!("environment  {line}"));
        let mut alone = Alone::open(&site, &config, &data, &mut progress)?;
        let predicted =
            runtime.block_on(predict::predict(&mut alone, &run, &competition, &data, &arguments.table))?;
        for note in &predicted.rows.notes {
            terminal.error_line(&format!("{} {}", terminal.yellow("note:"), escape(note)));
        }
        terminal.error_line(&format!("{} rows predicted", predicted.rows.rows));
        std::fs::read_to_string(&predicted.file)
            .map_err(|error| Failure::environment(format!("the predictions cannot be read: {error}")))?
    };
    match &arguments.out {
        Some(file) => std::fs::write(file, text).map_err(|error| {
            Failure::environment(format!("{} cannot be written: {error}", file.display()))
        })?,
        None => terminal.line(escape(&text).trim_end_matches('\n')),
    }
    Ok(ExitCode::SUCCESS)
}
