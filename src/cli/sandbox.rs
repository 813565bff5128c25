//! `podium sandbox`: one command in the sandbox, so that anyone can try an attack by hand; and what a sandbox would
//! allow, as data.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use podium_types::execution::{Ended, Execution, Program};
use serde_json::json;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::job::{JobArguments, Ready};
use crate::cli::session::{self, SessionArguments};
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{policy, runtime, signals};
use crate::run::error::RunError;
use crate::run::resources::look;

/// Of a command, where no limit is given.
const TIMEOUT: Duration = Duration::from_mins(10);

/// The sandbox by hand
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one command in the sandbox
    #[command(
        after_help = "Examples:\n  podium sandbox exec --timeout 10s -- python -c 'import os; print(os.listdir(\"/\"))'\n  \
        podium sandbox exec --memory 512MiB --processes 50 --json --script attack.py\n  \
        podium sandbox exec --sandbox docker --image python:3.12-slim --python python3 -- python -V"
    )]
    Exec(Box<ExecArguments>),
    /// Print what code in the sandbox may do: mounts, environment, limits, refused system calls; nothing is run
    #[command(
        after_help = "Example:\n  podium sandbox explain --memory 8GiB --mount hf=$HOME/.cache/huggingface"
    )]
    Explain(Box<ExplainArguments>),
    /// Open a shell or a Python kernel that keeps its state, and read commands from standard input
    #[command(
        after_help = "Examples:\n  podium sandbox session\n  printf 'x = 3\\n\\nx + 1\\n' | podium sandbox session --kernel"
    )]
    Session(Box<SessionArguments>),
}

#[derive(Debug, Args)]
pub(crate) struct ExecArguments {
    #[command(flatten)]
    job: JobArguments,
    /// Print one JSON document on standard output: the execution, the sandbox, the Python environment, and what was granted, read back
    #[arg(long)]
    json: bool,
    /// Run this file as an agent's script, solution.py, instead of a command
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    script: Option<PathBuf>,
    /// The command; `python` is the environment's
    #[arg(last = true, required_unless_present = "script", value_name = "CMD")]
    command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    job: JobArguments,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(
    command: &Command,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let mut site = site.open(terminal)?;
    match command {
        Command::Exec(arguments) => {
            let runtime = runtime()?;
            let _inside = runtime.enter();
            let mut ready = arguments.job.ready(&mut site, TIMEOUT, terminal)?;
            ready.job.program = arguments.program(&ready.job.python)?;
            let look = arguments.json.then(|| look(&*ready.sandbox, &ready.job));
            let granted = look.transpose()?;
            let execution = runtime.block_on(execute(&ready))?;
            if arguments.json {
                let mut value = serde_json::to_value(&execution).unwrap_or_default();
                if let Some(map) = value.as_object_mut() {
                    map.insert("sandbox".to_owned(), json!(ready.sandbox.facts()));
                    map.insert("granted".to_owned(), json!(granted));
                    let environment = ready.environment.describe();
                    map.insert("environment".to_owned(), json!(environment));
                    map.insert("cut".to_owned(), json!(ready.config.cut));
                    map.insert("text".to_owned(), json!(execution.output.text()));
                }
                terminal.json(&value);
                return Ok(ExitCode::SUCCESS);
            }
            ready.tell(terminal);
            Ok(print(&execution, terminal))
        }
        Command::Explain(arguments) => {
            let runtime = runtime()?;
            let _inside = runtime.enter();
            let ready = arguments.job.ready(&mut site, TIMEOUT, terminal)?;
            let policy = ready.sandbox.explain(&ready.job).map_err(RunError::from)?;
            if arguments.json {
                terminal.json(&policy);
            } else {
                ready.tell(terminal);
                policy::print(&policy, terminal);
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Session(arguments) => session::main(arguments, &mut site, terminal),
    }
}

/// Runs the job; told to stop, it kills everything and says so.
async fn execute(ready: &Ready) -> Result<Execution, Failure> {
    let mut signals = signals::Signals::watch().map_err(|error| signals_failed(&error))?;
    let mut execution = std::pin::pin!(ready.sandbox.execute(&ready.job));
    let ended = tokio::select! {
        ended = &mut execution => ended,
        _ = signals.any() => {
            ready.job.cancel.cancel();
            execution.await
        }
    };
    Ok(ended.map_err(RunError::from)?)
}

/// Without its signals a command would leave things behind.
pub(crate) fn signals_failed(error: &std::io::Error) -> Failure {
    Failure::environment(format!("signals cannot be watched: {error}"))
}

impl ExecArguments {
    /// The script as agents' are run, or the command, in which `python` means the environment's.
    fn program(&self, python: &Path) -> Result<Program, Failure> {
        if let Some(script) = &self.script {
            let code = std::fs::read_to_string(script).map_err(|error| {
                Failure::usage(format!("the script {} cannot be read: {error}", script.display()))
                    .hint("--script names a file of Python source")
            })?;
            return Ok(Program::Python { file: "solution.py".to_owned(), code });
        }
        let mut argv = self.command.clone();
        if let Some(first) = argv.first_mut()
            && (first == "python" || first == "python3")
        {
            *first = python.display().to_string();
        }
        Ok(Program::Command { argv })
    }
}

/// Output and limit; the exit code is the command's.
fn print(execution: &Execution, terminal: &Terminal) -> ExitCode {
    let text = execution.output.text();
    if !text.is_empty() {
        terminal.line(escape(&text).trim_end_matches('\n'));
    }
    if let Some(limit) = &execution.limit {
        terminal.error_line(&format!("{} {limit}", terminal.yellow("limit:")));
    }
    match execution.ended {
        Ended::Exit(code) => ExitCode::from(u8::try_from(code & 0xFF).unwrap_or(exit::BUG)),
        Ended::Signal(signal) => ExitCode::from(u8::try_from(128 + (signal & 0x7F)).unwrap_or(exit::BUG)),
    }
}
