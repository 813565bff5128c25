//! `podium validate`: the format of a submission, and never a score.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use podium_types::verdict::Verdict;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::RunError;

/// Check a submission's format, without a score
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  podium validate -c segment submission.csv")]
pub(crate) struct Arguments {
    /// The competition
    #[arg(short, long, value_name = "C")]
    competition: String,
    /// The submission
    submission: PathBuf,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let site = site.open(terminal)?;
    let competition = site.competition(&arguments.competition)?;
    let data = site.prepared(&competition)?;
    let sample = data.sample_submission(&competition);
    let answers = data.answers(&competition);
    let verdict = podium_competition::validate(&competition, &arguments.submission, &answers, Some(&sample))
        .map_err(RunError::from)?;
    if arguments.json {
        terminal.json(&verdict);
    } else {
        terminal.line(&escape(&match &verdict {
            Verdict::Valid { copies_sample: true, .. } => {
                "valid (its predictions are the sample submission's)".to_owned()
            }
            Verdict::Valid { .. } => "valid".to_owned(),
            Verdict::Invalid { reason } => format!("invalid: {reason}"),
            Verdict::Missing { found } => {
                format!("invalid: no file at {}: found {found}", arguments.submission.display())
            }
        }));
    }
    Ok(if verdict.is_valid() { ExitCode::SUCCESS } else { ExitCode::from(exit::INVALID) })
}
