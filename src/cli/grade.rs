//! `podium grade`: the score of a submission.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::site::SiteArguments;
use crate::cli::summary;
use crate::cli::terminal::Terminal;
use crate::run::error::RunError;
use crate::run::summary::grading_report;

/// Score a submission as the competition would
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium grade -c segment submission.csv\n  podium grade -c segment submission.csv --json"
)]
pub(crate) struct Arguments {
    /// The competition
    #[arg(short, long, value_name = "C")]
    competition: String,
    /// The submission
    submission: PathBuf,
    /// The answers, instead of the prepared ones
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
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
    let catalog = site.competitions()?;
    let competition = catalog.get(&arguments.competition).map_err(RunError::from)?;
    let answers = match &arguments.answers {
        Some(answers) => answers.clone(),
        None => site.prepared(competition)?.answers(competition),
    };
    let graded =
        podium_competition::grade(competition, &arguments.submission, &answers).map_err(RunError::from)?;
    let report = grading_report(competition, &graded.outcome, &arguments.submission);
    if arguments.json {
        terminal.json(&report);
    } else {
        summary::grade(&report, terminal);
    }
    Ok(if report.valid_submission { ExitCode::SUCCESS } else { ExitCode::from(exit::INVALID) })
}
