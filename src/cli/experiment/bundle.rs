//! `podium experiment bundle` packs an experiment for a stranger, `podium experiment verify` is what the stranger does with
//! it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::exit;
use crate::cli::experiment::runs_dir;
use crate::cli::experiment::terms::TermArguments;
use crate::cli::failure::{Failure, with_causes};
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::experiment::bundle::{BundleError, MOST_BYTES, pack, verify as verification};
use crate::experiment::outcomes::Known;
use crate::experiment::settings::size;
use crate::experiment::stored::Experiment;
use crate::run::error::RunError;

/// Pack what a stranger needs to check an experiment: plan, configurations, reports, submissions
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  podium experiment bundle ab --into ab.tar.gz")]
pub(crate) struct BundleArguments {
    /// Its name, or its folder
    experiment: String,
    /// Where it is looked for by its name [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    /// The bundle [default: NAME.tar.gz]
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Tell arms of the report apart by this axis alone [default: all that vary]
    #[arg(long, value_name = "AXIS")]
    by: Option<String>,
    #[command(flatten)]
    terms: TermArguments,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(super) fn bundle(
    arguments: &BundleArguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let experiment = Experiment::find(&arguments.experiment, &runs_dir(arguments.runs_dir.as_ref()))?;
    let known = Known::of(&site.open_for(Some(&experiment.stored.place), terminal)?)?;
    let asked = arguments.terms.read(&experiment, arguments.by.as_deref(), &known)?;
    if asked.runs.iter().any(|run| run.published) {
        return Err(Failure::usage("published runs cannot be graded again, so a bundle has none")
            .hint("leave out --beside"));
    }
    let into = arguments
        .into
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.tar.gz", experiment.stored.spec.name)));
    let packed = pack::pack(&experiment, &asked.axes, &asked.terms, &known, &into)?;
    if arguments.json {
        terminal.json(&packed);
    } else {
        terminal.line(&escape(&format!(
            "bundle      {}\nsha256      {}\nholds       {} files of {} runs\ncheck       podium experiment verify {}",
            packed.bundle, packed.sha256, packed.files, packed.runs, packed.bundle
        )));
    }
    Ok(ExitCode::SUCCESS)
}

/// Verify a bundle: every file, every submission graded again, the report rebuilt byte for byte
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all is as it was · 1 something differs, or it is refused · 3 answers are missing here\n\n\
    Example:\n  podium experiment verify ab.tar.gz"
)]
pub(crate) struct VerifyArguments {
    /// The bundle
    bundle: PathBuf,
    /// Refuse a bundle whose files have more
    #[arg(long, value_name = "SIZE", value_parser = size, default_value_t = MOST_BYTES)]
    max_size: u64,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(super) fn verify(
    arguments: &VerifyArguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let site = site.open(terminal)?;
    let found = verification::verify(&arguments.bundle, &site, arguments.max_size)?;
    if arguments.json {
        terminal.json(&found);
    } else {
        let say = |text: String| terminal.line(&escape(&text));
        say(format!("{} files, {} runs, {} submissions graded again", found.files, found.runs, found.graded));
        for problem in &found.problems {
            say(format!("differs     {}: {}", problem.file, problem.problem));
        }
        for (run, why) in &found.not_graded {
            say(format!("not graded  {run}: {why}"));
        }
        for note in &found.notes {
            say(format!("note        {note}"));
        }
        say(match (found.problems.len(), found.not_graded.len()) {
            (0, 0) => "verified    every file and every score is as it was, and so is the report".to_owned(),
            (0, open) => format!("open        {open} runs could not be graded again; all else is as it was"),
            (wrong, _) => format!("not so      {wrong} things differ"),
        });
    }
    Ok(ExitCode::from(match (found.problems.is_empty(), found.not_graded.is_empty()) {
        (true, true) => 0,
        (true, false) => exit::ENVIRONMENT,
        (false, _) => exit::INVALID,
    }))
}

/// Why a bundle is not made or not believed.
impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        let words = with_causes(&error);
        match error {
            BundleError::Experiment(source) => Self::from(source),
            BundleError::Run(source) => Self::from(source),
            BundleError::Folder(source) => Self::from(RunError::from(source)),
            BundleError::Report(source) => Self::from(source),
            BundleError::Io { .. } => Self::environment(words),
            BundleError::NotEnded { .. } => {
                Self::usage(words).hint("go on with it first: podium experiment resume NAME")
            }
            BundleError::Damaged { .. } | BundleError::Refused(_) | BundleError::Document { .. } => {
                Self::invalid(words)
            }
        }
    }
}
