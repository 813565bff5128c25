//! `podium resume`: go on from the journal.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use podium_types::money::Usd;

use crate::cli::failure::Failure;
use crate::cli::progress::events_file;
use crate::cli::run::{Options, sit};
use crate::cli::site::SiteArguments;
use crate::cli::terminal::Terminal;
use crate::cli::{runtime, values};
use crate::run::limits::Raise;
use crate::run::sitting::StoredRun;

/// Go on with a run that was stopped or killed
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium resume runs/aide-segment-1\n  podium resume runs/aide-segment-1 --steps 40"
)]
pub(crate) struct Arguments {
    /// The run's folder
    run: PathBuf,
    /// Raise the step limit to this
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    steps: Option<u32>,
    /// Raise the run time limit to this
    #[arg(long, value_name = "D", value_parser = values::duration)]
    time_limit: Option<u64>,
    /// Raise the dollar limit to this
    #[arg(long, value_name = "USD", value_parser = values::dollars, allow_negative_numbers = true)]
    max_cost: Option<Usd>,
    /// Raise the token limit to this
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Go on with changed files of the strategy's own program, read from this folder: one that still asks for all that
    /// it asked before. The journal and the report tell of it
    #[arg(long, value_name = "DIR")]
    scaffold_files: Option<PathBuf>,
    /// Write the event stream to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let run = StoredRun::open(&arguments.run)?;
    let run = match &arguments.scaffold_files {
        Some(folder) => run.with_files(folder)?,
        None => run,
    };
    let lock = run.lock()?;
    let site = site.open_for(Some(&run.place), terminal)?;
    let runtime = runtime()?;
    let equipment = {
        let _inside = runtime.enter();
        site.equip(&run.config, run.folder.path(), &mut |line| {
            terminal.error_line(&format!("environment  {line}"));
        })?
    };
    run.place.same_services(&equipment.endpoints())?;
    let raise = Raise {
        steps: arguments.steps,
        run_ms: arguments.time_limit,
        tokens: arguments.max_tokens,
        cost: arguments.max_cost,
    };
    let options = Options { raise, events: events_file(arguments.events.as_deref())?, json: arguments.json };
    sit(&run, lock, equipment, options, runtime, terminal)
}
