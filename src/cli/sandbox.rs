//! `podium sandbox exec`: one command in the sandbox, so that anyone can try an attack by hand.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use podium_sandbox::{Environment, Job, SandboxKind, Strength};
use podium_types::execution::{Ended, Program};
use serde_json::json;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::session::{self, SessionArguments};
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{runtime, values};
use crate::run::config::SandboxConfig;
use crate::run::error::RunError;
use crate::run::site::{Site, execution_limits, open_sandbox};

/// The sandbox by hand
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one command in the sandbox
    #[command(
        after_help = "Example:\n  podium sandbox exec --timeout 10s -- python -c 'import os; print(os.listdir(\"/\"))'"
    )]
    Exec {
        /// jail, docker or process
        #[arg(long, default_value = "jail", value_name = "KIND")]
        kind: SandboxKind,
        /// Refuse a sandbox weaker than this
        #[arg(long, value_name = "STRENGTH")]
        require_sandbox: Option<Strength>,
        /// The folder that the command may write [default: a temporary one]
        #[arg(long, value_name = "DIR")]
        workspace: Option<PathBuf>,
        /// A folder that the command may read as ./input
        #[arg(long, value_name = "DIR")]
        input: Option<PathBuf>,
        /// Wall-clock limit
        #[arg(long, default_value = "10m", value_name = "D", value_parser = values::duration)]
        timeout: u64,
        /// Memory of the whole process tree
        #[arg(long, default_value = "4GiB", value_name = "SIZE", value_parser = values::size)]
        memory: u64,
        /// Processors
        #[arg(long, default_value_t = 1, value_name = "N", value_parser = values::count)]
        cpus: usize,
        /// Profile of the Python environment
        #[arg(long, default_value = "base", value_name = "NAME")]
        environment: String,
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
        /// The command
        #[arg(last = true, required = true, value_name = "CMD")]
        command: Vec<String>,
    },
    /// Open a shell or a Python kernel that keeps its state, and read commands from standard input
    #[command(
        after_help = "Examples:\n  podium sandbox session\n  printf 'x = 3\\n\\nx + 1\\n' | podium sandbox session --kernel"
    )]
    Session(Box<SessionArguments>),
}

pub(crate) fn main(
    command: &Command,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let site = site.open(terminal)?;
    let Command::Exec {
        kind,
        require_sandbox,
        workspace,
        input,
        timeout,
        memory,
        cpus,
        environment,
        json,
        command,
    } = command
    else {
        let Command::Session(arguments) = command else { return Ok(ExitCode::SUCCESS) };
        return session::main(arguments, &site, terminal);
    };
    let config = SandboxConfig {
        kind: *kind,
        require: *require_sandbox,
        memory_bytes: *memory,
        cpus: *cpus,
        environment: environment.clone(),
        requirements: site.requirements(environment),
    };
    let temporary = tempfile::tempdir()
        .map_err(|error| Failure::environment(format!("no temporary folder could be made: {error}")))?;
    let workspace = match workspace {
        Some(folder) => usable_workspace(folder)?,
        None => {
            let path = temporary.path().join("workspace");
            podium_sandbox::workspace::create(&path)
                .map_err(|error| Failure::environment(format!("no workspace could be made: {error}")))?;
            path
        }
    };
    let runtime = runtime()?;
    let _inside = runtime.enter();
    let sandbox = open_sandbox(&config)?;
    let python = python(&site, &config, terminal)?;
    let mut job = Job::new(program(command, &python), workspace, &python);
    job.input = input.as_deref().map(existing).transpose()?;
    job.timeout = Duration::from_millis(*timeout);
    job.limits = execution_limits(&config);
    let execution = runtime.block_on(sandbox.execute(&job)).map_err(RunError::from)?;
    if *json {
        let mut value = serde_json::to_value(&execution).unwrap_or_default();
        if let Some(map) = value.as_object_mut() {
            map.insert("sandbox".to_owned(), json!(sandbox.facts()));
            map.insert("text".to_owned(), json!(execution.output.text()));
        }
        terminal.json(&value);
        return Ok(ExitCode::SUCCESS);
    }
    let text = execution.output.text();
    if !text.is_empty() {
        terminal.line(escape(&text).trim_end_matches('\n'));
    }
    if let Some(limit) = &execution.limit {
        terminal.error_line(&format!("{} {limit}", terminal.yellow("limit:")));
    }
    Ok(match execution.ended {
        Ended::Exit(code) => ExitCode::from(u8::try_from(code & 0xFF).unwrap_or(exit::BUG)),
        Ended::Signal(signal) => ExitCode::from(u8::try_from(128 + (signal & 0x7F)).unwrap_or(exit::BUG)),
    })
}

/// The environment when it is built, else the machine's own Python: trying an attack needs no packages.
pub(super) fn python(
    site: &Site,
    config: &SandboxConfig,
    terminal: &Terminal,
) -> Result<Environment, Failure> {
    if let Some(python) = &site.python {
        return Ok(Environment::of_user(python).map_err(RunError::from)?);
    }
    let interpreter = podium_sandbox::environment::Interpreter::find(None).map_err(RunError::from)?;
    match Environment::find(&site.cache_dir, &config.environment, &config.requirements, &interpreter) {
        Some(environment) => Ok(environment),
        None => {
            terminal.error_line(&format!(
                "{} the environment `{}` is not built; using {} without its packages",
                terminal.yellow("note:"),
                config.environment,
                interpreter.path.display()
            ));
            Ok(Environment::of_user(&interpreter.path).map_err(RunError::from)?)
        }
    }
}

/// `python` means the environment's.
fn program(command: &[String], environment: &Environment) -> Program {
    let mut argv = command.to_vec();
    if let Some(first) = argv.first_mut()
        && (first == "python" || first == "python3")
    {
        *first = environment.python().display().to_string();
    }
    Program::Command { argv }
}

/// A folder of the user's that may be written. The sandbox makes folders of its own in it, and would replace a file
/// of the same name; whole systems are refused.
pub(super) fn usable_workspace(folder: &Path) -> Result<PathBuf, Failure> {
    let path = existing(folder)?;
    if path.components().count() < 3 {
        return Err(Failure::usage(format!(
            "{} is no workspace: everything in it could be written",
            path.display()
        ))
        .hint("give a folder made for the purpose, or none for a temporary one"));
    }
    for name in ["submission", "working", "input", ".home"] {
        let taken = path.join(name);
        if std::fs::symlink_metadata(&taken).is_ok_and(|facts| !facts.is_dir()) {
            return Err(Failure::usage(format!("{} would be replaced by a folder", taken.display()))
                .hint("a workspace holds folders of these names: submission, working, input, .home"));
        }
    }
    Ok(path)
}

pub(super) fn existing(folder: &Path) -> Result<PathBuf, Failure> {
    folder.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(|| {
        Failure::usage(format!("{} is no folder", folder.display()))
            .hint("--workspace and --input name folders that are there")
    })
}
