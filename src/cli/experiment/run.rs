//! `podium experiment run` and `resume`: plan, tell the plan, run what is left of it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use podium_report::statistics::verdict::{LEVEL, smallest_p};
use tokio::sync::watch;

use crate::cli::experiment::ask::Matrix;
use crate::cli::experiment::progress::Progress;
use crate::cli::experiment::status::{counts, print};
use crate::cli::experiment::{code, runs_dir};
use crate::cli::failure::Failure;
use crate::cli::run::watch_signals;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{runtime, values};
use crate::experiment::executor::InProcess;
use crate::experiment::plan::{Needs, Plan};
use crate::experiment::queue::Room;
use crate::experiment::scheduler::{self, Retries};
use crate::experiment::spec::ExperimentSpec;
use crate::experiment::stored::{Experiment, State};
use crate::run::driver::Interrupt;
use crate::run::machine;
use crate::run::site::Site;

/// How runs are scheduled.
#[derive(Debug, Args)]
struct Schedule {
    /// Runs at the same time at most [default: as many as their processors, memory and GPUs allow]
    #[arg(long, value_name = "N", value_parser = values::count)]
    parallel: Option<usize>,
    /// Further tries of a run that a service or the harness failed
    #[arg(long, value_name = "N", default_value_t = 2)]
    retries: u32,
    /// Before the first of them; doubled for each
    #[arg(long, value_name = "D", default_value = "30s", value_parser = values::duration)]
    retry_wait: u64,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

/// Plan a matrix of runs and run what of it was not run yet
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium experiment run --name ab --scaffolds aide,dummy --split offline --model playbook \
    --seeds 3 --steps 8 --cpus 1 --memory 1GiB\n  podium experiment run examples/steps.toml --dry-run"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    matrix: Matrix,
    #[command(flatten)]
    schedule: Schedule,
    /// Where experiments' folders are made [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    /// Print the plan; run nothing
    #[arg(long)]
    dry_run: bool,
    /// Write the plan and run nothing here: `podium experiment plan` prints what other machines run of it
    #[arg(long, conflicts_with = "dry_run")]
    only_plan: bool,
}

/// Go on with an experiment that was stopped or killed
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  podium experiment resume ab --cap-cost 20")]
pub(crate) struct ResumeArguments {
    /// Its name, or its folder
    experiment: String,
    #[command(flatten)]
    schedule: Schedule,
    /// Where it is looked for by its name [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    /// Change the dollar cap to this
    #[arg(long, value_name = "USD", value_parser = values::dollars)]
    cap_cost: Option<podium_types::money::Usd>,
    /// Change the token cap to this
    #[arg(long, value_name = "N")]
    cap_tokens: Option<u64>,
}

pub(super) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let mut site = site.open(terminal)?;
    let asked = arguments.matrix.spec()?;
    let folder = runs_dir(arguments.runs_dir.as_ref()).join(&asked.name);
    // What an experiment of this name has already stays part of it.
    let spec = match Experiment::open(&folder) {
        Ok(earlier) => earlier.stored.spec.extended(&asked),
        Err(crate::experiment::error::ExperimentError::Absent(_)) => asked,
        Err(error) => return Err(error.into()),
    };
    let plan = spec.plan(&mut site)?;
    let room = room(&site, arguments.schedule.parallel);
    tell(&spec, &plan, room, terminal);
    if arguments.dry_run {
        if arguments.schedule.json {
            terminal.json(&plan);
        }
        terminal.error_line("nothing was run or spent");
        return Ok(ExitCode::SUCCESS);
    }
    let _lock = Experiment::lock(&folder)?;
    let experiment = Experiment::write(&folder, spec, plan, site.place())?;
    if arguments.only_plan {
        print(&experiment, &counts(&experiment), arguments.schedule.json, terminal);
        return Ok(ExitCode::SUCCESS);
    }
    go(&experiment, site, room, &arguments.schedule, terminal)
}

pub(super) fn resume(
    arguments: &ResumeArguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let mut experiment = Experiment::find(&arguments.experiment, &runs_dir(arguments.runs_dir.as_ref()))?;
    let _lock = Experiment::lock(&experiment.folder)?;
    if arguments.cap_cost.is_some() || arguments.cap_tokens.is_some() {
        let mut spec = experiment.stored.spec.clone();
        spec.cap_cost = arguments.cap_cost.map(podium_types::money::Usd::dollars).or(spec.cap_cost);
        spec.cap_tokens = arguments.cap_tokens.or(spec.cap_tokens);
        let (plan, place) = (experiment.stored.plan.clone(), experiment.stored.place.clone());
        experiment = Experiment::write(&experiment.folder, spec, plan, place)?;
    }
    let site = site.open_for(Some(&experiment.stored.place), terminal)?;
    let room = room(&site, arguments.schedule.parallel);
    go(&experiment, site, room, &arguments.schedule, terminal)
}

fn room(site: &Site, parallel: Option<usize>) -> Room {
    let machine = Needs {
        cpus: podium_sandbox::CpuSet::default().count(),
        memory_bytes: machine::memory(),
        gpus: site.gpus().len(),
    };
    Room { machine, runs: parallel.unwrap_or(usize::MAX) }
}

/// The plan in a few lines, before anything is spent.
fn tell(spec: &ExperimentSpec, plan: &Plan, room: Room, terminal: &Terminal) {
    let (arms, competitions, seeds) = (spec.arms().len(), plan.competitions.len(), spec.seeds.all().len());
    terminal.error_line(&terminal.bold(&escape(&format!(
        "experiment {}: {arms} arms × {competitions} competitions × {seeds} seeds = {} runs",
        spec.name,
        plan.runs.len()
    ))));
    let cost = plan.worst_cost().map_or_else(
        || "not bounded: a run has no dollar limit (--max-cost)".to_owned(),
        |cost| format!("at most {cost}"),
    );
    terminal.error_line(&format!("dollars   {cost}"));
    if let Some(hours) = plan.worst_hours() {
        let needs = plan.runs.iter().map(|run| run.needs.cpus).max().unwrap_or(1).max(1);
        let at_once = (room.machine.cpus / needs).clamp(1, room.runs.max(1));
        terminal.error_line(&format!(
            "run time  at most {hours:.1} h one after the other; {at_once} at a time by their processors (--cpus)"
        ));
    }
    let smallest = smallest_p(competitions);
    if arms > 1 && smallest > LEVEL {
        terminal.error_line(&format!(
            "{} with {competitions} competitions the smallest p of a sign flip is {smallest:.3}: nothing can be significant",
            terminal.yellow("note:")
        ));
    }
}

fn go(
    experiment: &Experiment,
    site: Site,
    room: Room,
    schedule: &Schedule,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let runtime = runtime()?;
    let (interrupter, interrupt) = watch::channel(Interrupt::None);
    let signals = runtime.spawn(watch_signals(interrupter.clone()));
    let executor = InProcess::new(site, runtime.handle().clone(), interrupter);
    let plan = &experiment.stored.plan;
    let states: Vec<State> = plan.runs.iter().map(|run| experiment.state(run)).collect();
    let mut progress = Progress::new(terminal, plan, &states);
    let retries = Retries { number: schedule.retries, wait: Duration::from_millis(schedule.retry_wait) };
    let stop = || *interrupt.borrow();
    let ended =
        scheduler::run(experiment, &executor, room, retries, &stop, &mut |event| progress.event(event));
    progress.close();
    signals.abort();
    runtime.shutdown_background();
    print(experiment, &counts(experiment), schedule.json, terminal);
    if ended.interrupted || ended.capped || ended.failed > 0 {
        let folder = experiment.folder.display();
        let cap = if ended.capped { " with a higher --cap-cost or --cap-tokens" } else { "" };
        terminal.error_line(&format!("go on with: podium experiment resume {folder}{cap}"));
    }
    Ok(code(ended))
}
