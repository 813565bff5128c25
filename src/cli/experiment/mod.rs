//! `podium experiment`: many runs planned, run, gone on with and looked at.

mod ask;
mod bundle;
pub(crate) mod compare;
mod compare_runs;
mod export;
mod plan;
mod progress;
pub(crate) mod report;
mod run;
mod status;
pub(crate) mod terms;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::exit;
use crate::cli::failure::{Failure, with_causes};
use crate::cli::site::SiteArguments;
use crate::cli::terminal::Terminal;
use crate::experiment::error::ExperimentError;
use crate::run::order::default_runs_dir;

/// What there is to do with an experiment.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan a matrix of runs and run what of it was not run yet
    Run(Box<run::Arguments>),
    /// Go on with an experiment that was stopped or killed
    Resume(run::ResumeArguments),
    /// How far each run has come; reads run folders only
    Status(status::Arguments),
    /// Print the commands of the runs that are left, for other machines, or a Slurm array script
    Plan(plan::Arguments),
    /// What it came to: rates with their errors, and its arms beside each other
    Report(report::Arguments),
    /// Its arms beside each other: intervals, p-values, verdicts
    Compare(compare::Arguments),
    /// Write it in MLE-bench's own files
    Export(export::Arguments),
    /// Pack what a stranger needs to check it
    Bundle(bundle::BundleArguments),
    /// Verify a bundle: every file, every submission graded again, the report rebuilt byte for byte
    Verify(bundle::VerifyArguments),
}

pub(crate) fn main(
    command: &Command,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(arguments) => run::main(arguments, site, terminal),
        Command::Resume(arguments) => run::resume(arguments, site, terminal),
        Command::Status(arguments) => status::main(arguments, terminal),
        Command::Plan(arguments) => plan::main(arguments, terminal),
        Command::Report(arguments) => report::main(arguments, site, terminal),
        Command::Compare(arguments) => compare::main(arguments, site, terminal),
        Command::Export(arguments) => export::main(arguments, terminal),
        Command::Bundle(arguments) => bundle::bundle(arguments, site, terminal),
        Command::Verify(arguments) => bundle::verify(arguments, site, terminal),
    }
}

fn runs_dir(asked: Option<&PathBuf>) -> PathBuf {
    asked.cloned().unwrap_or_else(default_runs_dir)
}

impl From<ExperimentError> for Failure {
    fn from(error: ExperimentError) -> Self {
        let (hint, words) = (error.hint(), with_causes(&error));
        let failure = match error {
            ExperimentError::Other(source) => return Self::from(source),
            ExperimentError::Run { source, .. } => {
                let of = Self::from(source);
                of.in_words(words)
            }
            ExperimentError::Folder(_) | ExperimentError::Corrupt { .. } => Self::environment(words),
            _ => Self::usage(words),
        };
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

/// The code of a sitting.
fn code(ended: crate::experiment::scheduler::Ended) -> ExitCode {
    ExitCode::from(match ended {
        ended if ended.interrupted => exit::RESUMABLE,
        ended if ended.capped => exit::CAP,
        ended if ended.failed > 0 => exit::INVALID,
        _ => 0,
    })
}
