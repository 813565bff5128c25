//! `podium replay`: the strategy against the journal.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::runtime;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::run::events::RunEvent;
use crate::run::sitting::StoredRun;

/// Check that a run's strategy and journal agree, with no model and no execution
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  podium replay runs/aide-segment-1")]
pub(crate) struct Arguments {
    /// The run's folder
    run: PathBuf,
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
    let runtime = runtime()?;
    let stage = if run.keeps_a_program() {
        let _inside = runtime.enter();
        let site = site.open_for(Some(&run.place), terminal)?;
        site.stage(&run.config, run.folder.path(), &mut |line| {
            terminal.error_line(&format!("environment  {line}"));
        })?
    } else {
        None
    };
    let mut entries = 0_u64;
    let mut count = |event: &RunEvent| entries += u64::from(matches!(event, RunEvent::Entry { .. }));
    let (stop, tally) = runtime.block_on(run.replay(stage, &mut count))?;
    if arguments.json {
        terminal.json(&json!({
            "run": run.folder.path().display().to_string(),
            "entries": entries,
            "steps": tally.steps,
            "stopped_by": stop.by,
            "detail": stop.detail,
            "agrees": true,
        }));
    } else {
        terminal.line(&format!(
            "{} entries, {} steps: strategy and journal agree; stopped by {}: {}",
            entries,
            tally.steps,
            stop.by.word(),
            escape(&stop.detail)
        ));
    }
    Ok(ExitCode::SUCCESS)
}
