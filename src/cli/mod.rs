//! The command line: one file per subcommand, each of which parses, calls the library and prints.
//!
//! Standard output is data, standard error is everything else. Nothing outside this folder prints.

mod calls;
mod competitions;
mod competitions_check;
mod competitions_import;
mod competitions_prepare;
mod competitions_progress;
mod competitions_show;
mod competitions_verify;
mod doctor;
mod dry_run;
mod environments;
mod exit;
mod experiment;
mod failure;
mod grade;
mod grade_list;
mod grade_nodes;
mod grants;
mod job;
mod live;
mod model;
mod one_page;
mod own;
mod page_file;
mod policy;
mod predict;
mod progress;
mod replay;
mod resume;
mod run;
mod sandbox;
mod scaffolds;
mod scaffolds_check;
mod scaffolds_new;
mod scaffolds_syntax;
mod session;
mod show;
mod signals;
mod site;
mod steps;
mod summary;
mod terminal;
mod validate;
mod values;
mod variables;
mod view;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use podium_scaffold::Registry;

use crate::cli::failure::Failure;
use crate::cli::terminal::Terminal;
use crate::run::strategies;

/// Runs LLM agents on machine-learning competitions and scores them as Kaggle would
#[derive(Debug, Parser)]
#[command(name = "podium", version, propagate_version = true, max_term_width = 110)]
#[command(
    after_help = "Example:\n  podium run --scaffold aide --competition segment --model playbook --steps 8\n\n\
    Exit codes: 0 done · 1 invalid submission or failed runs · 2 usage or configuration · 3 environment · \
    4 dollar or token cap · 5 stopped, resumable · 70 a bug of ours or of the strategy"
)]
struct Cli {
    #[command(flatten)]
    site: site::SiteArguments,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a scaffold on a competition
    Run(Box<run::Arguments>),
    /// Go on with a run that was stopped or killed
    Resume(resume::Arguments),
    /// Check that a run's strategy and journal agree, with no model and no execution
    Replay(replay::Arguments),
    /// Show a run: its tree, its calls, its report, or a page for a browser
    Show(show::Arguments),
    /// Predict new rows with the best script of a run, in the sandbox
    Predict(predict::Arguments),
    /// Show runs and experiments in a browser of this machine
    View(view::Arguments),
    /// Experiments: many runs, planned, run and gone on with
    #[command(subcommand)]
    Experiment(experiment::Command),
    /// Short for `podium experiment report`
    #[command(after_help = "Examples:\n  podium report ab\n  podium report ab --by steps --json")]
    Report(experiment::report::Arguments),
    /// Two experiments or two runs beside each other
    Compare(experiment::compare::PairArguments),
    /// Score a submission as the competition would, or all nodes of an ended run
    Grade(grade::Arguments),
    /// Check a submission's format, without a score
    Validate(validate::Arguments),
    /// Competitions: list, show, prepare, import, new
    #[command(subcommand)]
    Competitions(competitions::Command),
    /// Scaffolds: list, show, make and check your own, and how they read a model's answer
    #[command(subcommand)]
    Scaffolds(scaffolds::Command),
    /// The sandbox by hand
    #[command(subcommand)]
    Sandbox(sandbox::Command),
    /// A model by hand
    #[command(subcommand)]
    Model(model::Command),
    /// Python environments for agents' code
    #[command(subcommand)]
    Environments(environments::Command),
    /// What works on this machine, what does not, and how to mend it
    Doctor(doctor::Arguments),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    main_with(Registry::shipped())
}

/// All commands and options, for the reference.
pub fn command() -> clap::Command {
    Cli::command()
}

/// The same with the strategies, policies, operators, actions and tools of `registry`: the whole of a program of the
/// user's own. Unstable, as what the registry takes.
pub fn main_with(registry: Registry) -> ExitCode {
    strategies::install(registry);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            if error.use_stderr() && failure::wants_json(std::env::args_os()) {
                Terminal::new().json(&Failure::of_clap(&error).document());
            }
            return exit::of_usage(&error);
        }
    };
    start_tracing(cli.site.verbose);
    let terminal = Terminal::new();
    match dispatch(cli, &terminal) {
        Ok(_) if terminal.lost_output() => {
            let failure = Failure::environment("standard output could not be written: the document is lost");
            failure.hint("check the disk behind it").print(&terminal);
            ExitCode::from(exit::ENVIRONMENT)
        }
        Ok(code) => code,
        Err(failure) => {
            failure.print(&terminal);
            // A command that has printed its own document keeps to one.
            if failure::wants_json(std::env::args_os()) && !terminal.has_data() {
                terminal.json(&failure.document());
            }
            failure.exit()
        }
    }
}

fn dispatch(cli: Cli, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let site = &cli.site;
    match cli.command {
        Command::Run(arguments) => run::main(&arguments, site, terminal),
        Command::Resume(arguments) => resume::main(&arguments, site, terminal),
        Command::Replay(arguments) => replay::main(&arguments, site, terminal),
        Command::Show(arguments) => show::main(&arguments, site, terminal),
        Command::Predict(arguments) => predict::main(&arguments, site, terminal),
        Command::View(arguments) => view::main(&arguments, site, terminal),
        Command::Experiment(command) => experiment::main(&command, site, terminal),
        Command::Report(arguments) => experiment::report::main(&arguments, site, terminal),
        Command::Compare(arguments) => experiment::compare::pair(&arguments, &cli.site, terminal),
        Command::Grade(arguments) => grade::main(&arguments, site, terminal),
        Command::Validate(arguments) => validate::main(&arguments, site, terminal),
        Command::Competitions(command) => competitions::main(&command, site, terminal),
        Command::Scaffolds(command) => scaffolds::main(&command, site, terminal),
        Command::Sandbox(command) => sandbox::main(&command, site, terminal),
        Command::Model(command) => model::main(&command, site, terminal),
        Command::Environments(command) => environments::main(&command, site, terminal),
        Command::Doctor(arguments) => doctor::main(&arguments, site, terminal),
    }
}

/// Diagnostics on standard error: warnings, or what `-v` and `PODIUM_LOG` ask for. Crates that would write prompts
/// or keys are silenced whatever is asked for.
fn start_tracing(verbose: u8) {
    use tracing_subscriber::EnvFilter;
    use tracing_subscriber::filter::{FilterExt as _, filter_fn};
    use tracing_subscriber::prelude::*;
    let level = match verbose {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let asked = std::env::var("PODIUM_LOG").unwrap_or_else(|_| level.to_owned());
    let filter = EnvFilter::try_new(&asked).unwrap_or_else(|_| EnvFilter::new(level));
    // Not directives of the filter: a finer one for a part of such a crate would go before them.
    let loud = filter_fn(|record| {
        let target = record.target();
        let of = |silenced: &str| {
            target.strip_prefix(silenced).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        !podium_llm::SILENCED_TARGETS.iter().any(|silenced| of(silenced))
    });
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .without_time()
        .with_filter(filter.and(loud));
    let _ = tracing_subscriber::registry().with(layer).try_init();
}

/// The runtime on which models, sandboxes and runs work. The strategy itself is polled on the calling thread.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::environment(format!("the runtime could not be started: {error}")))
}
