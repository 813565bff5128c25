//! `podium experiment export`: an experiment in MLE-bench's own files, for scripts that read those.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::experiment::runs_dir;
use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, escape};
use crate::experiment::outcomes::{axes, told_apart};
use crate::experiment::published;
use crate::experiment::stored::Experiment;
use crate::run::error::RunError;

/// Write an experiment as MLE-bench has it: grading reports by run group, and the list of those
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  podium experiment export ab --into mle-bench/runs")]
pub(crate) struct Arguments {
    /// Its name, or its folder
    experiment: String,
    /// The folder to write
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// Where the experiment is looked for by its name [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
}

pub(super) fn main(arguments: &Arguments, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let experiment = Experiment::find(&arguments.experiment, &runs_dir(arguments.runs_dir.as_ref()))?;
    let axes = told_apart(&axes(&experiment), None);
    let written = published::write(&experiment, &axes, &arguments.into).map_err(RunError::from)?;
    for folder in written {
        terminal.line(&escape(&folder.display().to_string()));
    }
    if experiment
        .stored
        .plan
        .competitions
        .values()
        .any(|facts| facts.board == podium_competition::BoardKind::Baselines)
    {
        terminal
            .error_line("note: boards of baselines are no people: those reports are no MLE-bench numbers");
    }
    Ok(ExitCode::SUCCESS)
}
