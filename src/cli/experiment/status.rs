//! `podium experiment status`: how far each run has come, from the run folders alone.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::cli::experiment::runs_dir;
use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, escape, one_line};
use crate::experiment::spec::Arm;
use crate::experiment::stored::{Experiment, State};

/// How far each run has come; reads run folders only
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  podium experiment status ab --json")]
pub(crate) struct Arguments {
    /// Its name, or its folder
    experiment: String,
    /// Where it is looked for by its name [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

/// One run.
#[derive(Debug, Serialize)]
struct Row {
    folder: String,
    identity: String,
    arm: Arm,
    competition: String,
    seed: u64,
    state: &'static str,
    stopped_by: Option<&'static str>,
    score: Option<podium_types::number::Number>,
    /// Steps begun, of a run without a report.
    steps: Option<u32>,
    /// Who works on it, or was killed at it: the host, and when it last gave a sign of life.
    holder: Option<(String, jiff::Timestamp)>,
    /// Tries that a service or the harness failed.
    failed_tries: usize,
    /// Why the last of them did.
    last_failure: Option<String>,
}

/// All runs of a plan, counted.
#[derive(Debug, Serialize)]
pub(super) struct Counts {
    experiment: String,
    planned: usize,
    ended: usize,
    /// Outcomes of runs with a report; `begun` and `not_begun` for the others. They add up to the plan.
    states: BTreeMap<String, usize>,
    runs: Vec<Row>,
}

/// Reads all run folders.
pub(super) fn counts(experiment: &Experiment) -> Counts {
    let mut states = BTreeMap::new();
    let mut ended = 0;
    let row = |run: &crate::experiment::plan::PlannedRun| {
        let state = experiment.state(run);
        ended += usize::from(state.is_ended());
        *states.entry(kind(&state).to_owned()).or_insert(0) += 1;
        let report = state.report();
        let mut failed = experiment.failed_tries(run);
        let (steps, holder) = if state == State::Begun { experiment.at_work(run) } else { (None, None) };
        Row {
            steps,
            holder: holder.map(|holder| (holder.host, holder.heartbeat)),
            failed_tries: failed.len(),
            last_failure: failed.pop().map(|last| last.why),
            folder: run.folder.clone(),
            identity: run.identity.clone(),
            arm: run.arm.clone(),
            competition: run.competition.clone(),
            seed: run.seed,
            state: kind(&state),
            stopped_by: report.map(|report| report.stopped_by.word()),
            score: report.and_then(|report| report.report.as_ref()?.score),
        }
    };
    let runs: Vec<Row> = experiment.stored.plan.runs.iter().map(row).collect();
    Counts { experiment: experiment.stored.spec.name.clone(), planned: runs.len(), ended, states, runs }
}

fn kind(state: &State) -> &'static str {
    state.report().map_or_else(|| state.word(), |report| report.outcome.word())
}

/// Prints them.
pub(super) fn print(experiment: &Experiment, counts: &Counts, json: bool, terminal: &Terminal) {
    if json {
        terminal.json(counts);
        return;
    }
    let parts: Vec<String> = counts.states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    terminal.line(&escape(&format!(
        "{}: {} planned = {}",
        counts.experiment,
        counts.planned,
        parts.join(" + ")
    )));
    terminal.line(&format!("{} ended, {} left", counts.ended, counts.planned - counts.ended));
    terminal.line(&escape(&experiment.folder.display().to_string()));
}

pub(super) fn main(arguments: &Arguments, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let experiment = Experiment::find(&arguments.experiment, &runs_dir(arguments.runs_dir.as_ref()))?;
    let counts = counts(&experiment);
    if !arguments.json {
        for row in &counts.runs {
            let stopped = row.stopped_by.map(|by| format!(" · {by}")).unwrap_or_default();
            let score = row.score.map(|score| format!(" · {score}")).unwrap_or_default();
            let failed = row.last_failure.as_ref().map(|why| {
                let tries = if row.failed_tries == 1 { "try" } else { "tries" };
                format!(" · {} failed {tries}, the last: {}", row.failed_tries, one_line(why, 100))
            });
            let failed = failed.unwrap_or_default();
            let steps = row.steps.map(|steps| format!(" · step {steps}")).unwrap_or_default();
            let holder = row.holder.as_ref().map(|(host, seen)| {
                let seconds = jiff::Timestamp::now().duration_since(*seen).as_secs().max(0);
                format!(" · on {host}, last seen {seconds} s ago")
            });
            let holder = holder.unwrap_or_default();
            let (folder, state) = (&row.folder, row.state);
            terminal.line(&escape(&format!("{folder:<48}  {state}{steps}{holder}{stopped}{score}{failed}")));
        }
    }
    print(&experiment, &counts, arguments.json, terminal);
    Ok(ExitCode::SUCCESS)
}
