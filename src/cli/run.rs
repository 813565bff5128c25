//! `podium run`: resolve, show what will happen, run, report.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use podium_sandbox::SandboxKind;
use podium_types::money::Usd;
use tokio::sync::watch;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::grants::GrantArguments;
use crate::cli::own::{self, OwnArguments};
use crate::cli::progress::{Progress, events_file};
use crate::cli::site::{SiteArguments, tell_models};
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{dry_run, runtime, summary, values};
use crate::run::config::{Place, PreviewMode, RunConfig};
use crate::run::driver::Interrupt;
use crate::run::error::RunError;
use crate::run::folder::RunFolder;
use crate::run::folder::lock::RunLock;
use crate::run::grants::Asked;
use crate::run::limits::Raise;
use crate::run::order::{Order, default_runs_dir, packages_of, packages_pinned};
use crate::run::site::Site;
use crate::run::sitting::StoredRun;
use crate::run::wording::Wording;
use crate::run::world::Equipment;

/// Run a scaffold on a competition
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium run --scaffold aide --competition segment --model playbook --steps 8\n  \
    OPENAI_API_KEY=… podium run --scaffold aide -c segment --model openai/gpt-4.1-mini --time-limit 1h --max-cost 2\n  \
    podium run --data churn.csv --target churned --metric auc --model openai/gpt-4.1-mini --steps 10"
)]
pub(crate) struct Arguments {
    /// The scaffold: its id (see `podium scaffolds list`), or the path of its file
    #[arg(
        short,
        long,
        default_value = "aide",
        default_value_if("command", ArgPredicate::IsPresent, "command"),
        value_name = "S"
    )]
    scaffold: String,
    /// An agent of your own, as a shell's command line, run in the sandbox (docs/command.md); the scaffold is `command` then
    #[arg(long, value_name = "LINE")]
    command: Option<String>,
    /// The competition: see `podium competitions list`
    #[arg(short, long, value_name = "C", required_unless_present = "data")]
    competition: Option<String>,
    /// A folder of your own data, or one table: a competition is made of it first
    #[arg(long, value_name = "DIR", conflicts_with = "competition", help_heading = "Your own data")]
    data: Option<PathBuf>,
    #[command(flatten)]
    own: OwnArguments,
    /// What of the data an overview shows to the model: full, or schema (names and types, no values)
    #[arg(long, value_name = "WHAT", default_value = "full", help_heading = "Your own data")]
    preview: PreviewWord,
    /// The model for all roles, as provider/name; `playbook` is the built-in stand-in, `replay/RUN_FOLDER` a recorded run
    #[arg(short, long, value_name = "M", value_parser = values::model)]
    model: Option<String>,
    /// The model for one role; may be repeated
    #[arg(long, value_name = "ROLE=M", value_parser = values::role)]
    role: Vec<(String, String)>,
    /// Seed of the policy's random numbers and of every call [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Step limit [default: the scaffold's]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    steps: Option<u32>,
    /// Run time limit, such as 2h; waiting for a model service does not count [default: the scaffold's]
    #[arg(long, value_name = "D", value_parser = values::duration)]
    time_limit: Option<u64>,
    /// Limit of one execution, such as 10m [default: the scaffold's]
    #[arg(long, value_name = "D", value_parser = values::duration)]
    execution_limit: Option<u64>,
    /// Dollar limit: no try is sent whose worst case would pass it (an estimate of the prompt and the output limit)
    #[arg(long, value_name = "USD", value_parser = values::dollars, allow_negative_numbers = true)]
    max_cost: Option<Usd>,
    /// Token limit, input and output together
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Change one value of the scaffold, such as policy.rule.debug.probability=1; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
    set: Vec<(String, String)>,
    /// Where agents' code runs: jail, docker, or process (limits only, no boundary) [default: jail]
    #[arg(long, value_name = "KIND")]
    sandbox: Option<SandboxKind>,
    #[command(flatten)]
    grants: GrantArguments,
    /// The description the agent is shown: original, obfuscated (no names, from MLE-bench's checkout), or a file
    #[arg(long, value_name = "WORDING", default_value = "original")]
    description: Wording,
    /// A checkout of MLE-bench's repository, for obfuscated descriptions
    #[arg(long, env = "PODIUM_MLE_BENCH", value_name = "DIR")]
    mle_bench: Option<PathBuf>,
    /// Where runs' folders are made
    #[arg(long, value_name = "DIR", conflicts_with = "into")]
    runs_dir: Option<PathBuf>,
    /// Exactly this folder, which must be empty or absent
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Write the event stream to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
    /// Show the resolved configuration, the first prompt and its worst-case price; run nothing
    #[arg(long)]
    dry_run: bool,
}

/// What of the data a model is shown before it has run anything.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PreviewWord {
    Full,
    Schema,
}

impl Arguments {
    /// The competition that is named, or one made of the user's own data.
    fn competition(&self, site: &Site, terminal: &Terminal) -> Result<String, Failure> {
        let Some(from) = &self.data else {
            if self.own.given() {
                return Err(Failure::usage("--target, --metric and the like belong to --data")
                    .hint("name your own data with --data, or leave them out"));
            }
            return Ok(self.competition.clone().unwrap_or_default());
        };
        let mut request = self.own.request(None, from.clone(), None)?;
        request.schema_only = matches!(self.preview, PreviewWord::Schema);
        let made = own::make(&request, site, terminal)?;
        let done = if made.fresh { "made of" } else { "there already, of" };
        let id = &made.competition.id;
        terminal.error_line(&escape(&format!("competition  {id} ({done} {})", from.display())));
        Ok(made.competition.id)
    }

    /// The values of the scaffold that are changed.
    fn overrides(&self) -> Vec<(String, String)> {
        let line = self.command.iter().map(|line| {
            let words = ["sh", "-c", line].map(str::to_owned).map(toml::Value::String);
            ("agent.command".to_owned(), toml::Value::Array(words.into()).to_string())
        });
        line.chain(self.set.iter().cloned()).collect()
    }

    fn order(&self, competition: String) -> Result<Order, Failure> {
        Ok(Order {
            scaffold: self.scaffold.clone(),
            overrides: self.overrides(),
            competition,
            model: self.model.clone(),
            roles: self.role.iter().cloned().collect(),
            seed: self.seed,
            steps: self.steps,
            run_ms: self.time_limit,
            execution_ms: self.execution_limit,
            tokens: self.max_tokens,
            cost: self.max_cost,
            sandbox: Asked { kind: self.sandbox, ..self.grants.asked()? },
            description: self.description.clone(),
            mle_bench: self.mle_bench.clone(),
            preview: match self.preview {
                PreviewWord::Full => PreviewMode::Full,
                PreviewWord::Schema => PreviewMode::Schema,
            },
        })
    }
}

pub(crate) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let mut site = site.open(terminal)?;
    let asks =
        || site.scaffold(&arguments.scaffold, &[]).map_or(true, |scaffold| !scaffold.roles().is_empty());
    if arguments.model.is_none() && arguments.role.is_empty() && asks() {
        return Err(Failure::usage("no model was named").hint(
            "give one with --model provider/name, or --model playbook for the built-in stand-in that needs no key",
        ));
    }
    if let (Some(profile), Some(python)) = (&arguments.grants.environment, &site.python) {
        return Err(Failure::usage(format!(
            "--environment {profile} and --python {} exclude each other",
            python.display()
        ))
        .hint("leave out --python for the pinned profile, or --environment for your own Python"));
    }
    let mut order = arguments.order(arguments.competition(&site, terminal)?)?;
    site.mounts.clone_from(&order.sandbox.mounts);
    order.name_recordings(&mut site)?;
    if site.python.is_none() && site.requirements(&order.sandbox.environment).is_empty() {
        return Err(Failure::usage(format!(
            "there is no environment profile `{}`",
            order.sandbox.environment
        ))
        .hint("profiles are the files of benchmark/environments, for example `base`"));
    }
    // Resolved first against the pins: whatever is wrong with the order is said before anything is built.
    let pinned = packages_pinned(&site.requirements(&order.sandbox.environment));
    let mut resolved = order.resolve(&site, pinned)?;
    tell_models(resolved.config.own_models.as_ref(), terminal);
    if arguments.dry_run {
        return dry_run::main(&resolved, &site, arguments.json, terminal);
    }
    let runs = arguments.runs_dir.clone().unwrap_or_else(default_runs_dir);
    let place = arguments.into.as_ref().unwrap_or(&runs);
    let place = std::path::absolute(place).unwrap_or_else(|_| place.clone());
    let (runtime, equipment) = equip(&mut resolved.config, &site, &place, terminal)?;
    let existed = arguments.into.as_ref().is_some_and(|folder| folder.exists());
    let folder = match &arguments.into {
        Some(folder) => RunFolder::create_exactly(folder),
        None => RunFolder::create(&runs, &order.folder_name()),
    };
    let folder = folder.map_err(RunError::from)?;
    // The file may be meant to lie in the run's folder, which is there from now on, and must not stay for nothing.
    let events = events_file(arguments.events.as_deref()).inspect_err(|_| folder.discard(!existed))?;
    let place = Place { endpoints: equipment.endpoints(), ..site.place() };
    let run = StoredRun::create(folder, resolved.config, place)?;
    let lock = run.lock()?;
    let options = Options { raise: Raise::default(), events, json: arguments.json };
    sit(&run, lock, equipment, options, runtime, terminal)
}

/// Opens the sandbox and the Python environment, and tells the configuration what they really are.
pub(super) fn equip(
    config: &mut RunConfig,
    site: &Site,
    runs: &Path,
    terminal: &Terminal,
) -> Result<(tokio::runtime::Runtime, Equipment), Failure> {
    let runtime = runtime()?;
    let equipment = {
        let _inside = runtime.enter();
        site.equip(config, runs, &mut |line| terminal.error_line(&format!("environment  {line}")))?
    };
    let description = equipment.environment.describe();
    config.task.submission_check = equipment.submission_check;
    config.task.packages = packages_of(&description, &config.sandbox.requirements);
    if let Some(grants) = equipment.grants() {
        config.task.grants = grants;
    }
    Ok((runtime, equipment))
}

/// How a sitting is shown.
pub(crate) struct Options {
    /// Limits to raise.
    pub(crate) raise: Raise,
    /// Where the event stream goes.
    pub(crate) events: Option<File>,
    /// JSON on standard output.
    pub(crate) json: bool,
}

/// One sitting with live progress and a summary at its end; for `run` and `resume`.
pub(crate) fn sit(
    run: &StoredRun,
    lock: RunLock,
    equipment: Equipment,
    options: Options,
    runtime: tokio::runtime::Runtime,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let mut progress = Progress::new(terminal, &run.config, options.events);
    summary::header(run, &equipment, terminal);
    let (interrupter, interrupt) = watch::channel(Interrupt::None);
    let signals = runtime.spawn(watch_signals(interrupter));
    let report = runtime.block_on(run.sit(lock, equipment, &options.raise, interrupt, &mut progress));
    signals.abort();
    // A check of a huge file may still be at work on a thread of its own: nobody waits for it any more.
    runtime.shutdown_background();
    let report = report.map_err(|error| kept(error, run))?;
    if options.json {
        terminal.json(&report);
    } else {
        summary::footer(run, &report, terminal);
    }
    if report.stopped_by.is_of_program() && run.keeps_a_program() {
        // As it is it would come to the same place again.
        terminal.error_line(&format!(
            "the run keeps the files of its program, so an edit does not reach it. Mend the program and begin a new run; or, \
             where it still asks for all that it asked before: podium resume {} --scaffold-files FOLDER",
            run.folder.path().display()
        ));
    } else if report.stopped_by.resumes_as_it_is() {
        terminal.error_line(&format!("go on with: podium resume {}", run.folder.path().display()));
    }
    Ok(exit::of_stop(report.stopped_by))
}

/// An error in the middle of a run also says where the run lies, unless going on cannot help.
fn kept(error: RunError, run: &StoredRun) -> Failure {
    if error.is_damage() || error.is_divergence() {
        return Failure::from(error);
    }
    let resume = format!("podium resume {}", run.folder.path().display());
    let hint = error.hint().map_or_else(|| resume.clone(), |hint| format!("{hint} ({resume})"));
    Failure::from(error).hint(hint)
}

/// Ctrl-C: gently; SIGTERM: soon; any second one: at once.
pub(super) async fn watch_signals(interrupter: watch::Sender<Interrupt>) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut int), Ok(mut term)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    let first = tokio::select! {
        _ = int.recv() => Interrupt::Gently,
        _ = term.recv() => Interrupt::Soon,
    };
    interrupter.send_replace(first);
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
    }
    interrupter.send_replace(Interrupt::AtOnce);
    std::future::pending::<()>().await;
}
