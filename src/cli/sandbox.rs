//! `podium sandbox`: one command in the sandbox, so that anyone can try an attack by hand; and what a sandbox would
//! allow, as data.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use podium_sandbox::{
    CpuSet, Environment, GpuGrant, Job, Sandbox, SandboxKind, Settings, SubmissionRule, scratch, workspace,
};
use podium_types::execution::{Ended, Execution, Program};
use serde_json::json;
use tempfile::TempDir;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::grants::GrantArguments;
use crate::cli::session::{self, SessionArguments};
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{policy, runtime, values};
use crate::run::config::SandboxConfig;
use crate::run::error::RunError;
use crate::run::grants::Asked;
use crate::run::resources::{Resources, disk, disk_cut, look};
use crate::run::site::{Site, execution_limits, sandbox_settings};

/// The sandbox by hand
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one command in the sandbox
    #[command(
        after_help = "Examples:\n  podium sandbox exec --timeout 10s -- python -c 'import os; print(os.listdir(\"/\"))'\n  \
        podium sandbox exec --memory 512MiB --processes 50 --json --script attack.py"
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
    /// Print one JSON document on standard output: the execution, the sandbox, and what was granted, read back
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

/// What both take.
#[derive(Debug, Args)]
struct JobArguments {
    /// jail, docker or process
    #[arg(long, default_value = "jail", value_name = "KIND")]
    kind: SandboxKind,
    #[command(flatten)]
    grants: GrantArguments,
    /// The folder that the command may write [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// A folder that the command may read as ./input
    #[arg(long, value_name = "DIR")]
    input: Option<PathBuf>,
    /// A file of the workspace to collect as a submission, such as submission/submission.csv
    #[arg(long, value_name = "PATH")]
    submission: Option<String>,
    /// A variable of its environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::pair)]
    env: Vec<(String, String)>,
    /// Wall-clock limit
    #[arg(long, default_value = "10m", value_name = "D", value_parser = values::duration, help_heading = "Limits")]
    timeout: u64,
    /// CPU time of the whole process tree [default: none]
    #[arg(long, value_name = "D", value_parser = values::duration, help_heading = "Limits")]
    cpu_time: Option<u64>,
    /// Processes and threads at one time [default: 512, or 128 for each processor]
    #[arg(long, value_name = "N", value_parser = values::number, help_heading = "Limits")]
    processes: Option<u64>,
    /// Files that one process has open [default: 8192]
    #[arg(long, value_name = "N", value_parser = values::number, help_heading = "Limits")]
    open_files: Option<u64>,
    /// Size of one file [default: 32GiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = "Limits")]
    file_size: Option<u64>,
    /// Files and folders in the workspace [default: 500000]
    #[arg(long, value_name = "N", value_parser = values::number, help_heading = "Limits")]
    files: Option<u64>,
    /// Output that is kept, half from its beginning and half from its end [default: 128KiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = "Limits")]
    output: Option<u64>,
    /// Use no control groups, as on a machine that has none: to see the weaker tier
    #[arg(long, help_heading = "Limits")]
    without_cgroups: bool,
}

/// A job that is ready, with what must outlive it.
struct Ready {
    sandbox: Arc<dyn Sandbox>,
    job: Job,
    config: SandboxConfig,
    resources: Resources,
    _temporary: TempDir,
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
            let mut ready = arguments.job.ready(&mut site, terminal)?;
            ready.job.program = arguments.program(&ready.job.python)?;
            let look = arguments.json.then(|| look(&*ready.sandbox, &ready.job));
            let granted = look.transpose()?;
            let execution = runtime.block_on(ready.sandbox.execute(&ready.job)).map_err(RunError::from)?;
            if arguments.json {
                let mut value = serde_json::to_value(&execution).unwrap_or_default();
                if let Some(map) = value.as_object_mut() {
                    map.insert("sandbox".to_owned(), json!(ready.sandbox.facts()));
                    map.insert("granted".to_owned(), json!(granted));
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
            let ready = arguments.job.ready(&mut site, terminal)?;
            let policy = ready.sandbox.explain(&ready.job).map_err(RunError::from)?;
            if arguments.json {
                terminal.json(&policy);
            } else {
                ready.tell(terminal);
                policy::print(&policy, terminal);
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Session(arguments) => session::main(arguments, &site, terminal),
    }
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

impl JobArguments {
    /// Opens the sandbox and makes a job that does nothing yet.
    fn ready(&self, site: &mut Site, terminal: &Terminal) -> Result<Ready, Failure> {
        let asked = self.asked()?;
        site.mounts.clone_from(&asked.mounts);
        let mut config = asked.resolve(site, 1, &mut Vec::new())?;
        let temporary = scratch::folder().map_err(RunError::from)?;
        let place = match &self.workspace {
            Some(folder) => usable_workspace(folder)?,
            None => {
                let path = temporary.path().join("workspace");
                workspace::create(&path)
                    .map_err(|error| Failure::environment(format!("no workspace could be made: {error}")))?;
                path
            }
        };
        let settings = Settings { cgroups: !self.without_cgroups, ..sandbox_settings(&config) };
        let sandbox = podium_sandbox::open(self.kind, &settings).map_err(RunError::from)?;
        let resources = Resources::take(site, &config, 1)?;
        let python = python(site, &config, terminal)?;
        let mut job = Job::new(Program::Command { argv: Vec::new() }, place, &python);
        job.input = self.input.as_deref().map(existing).transpose()?;
        job.mounts.clone_from(&site.mounts);
        job.gpus = GpuGrant { root: resources.gpu_root().clone(), gpus: resources.gpus().to_vec() };
        job.timeout = Duration::from_millis(self.timeout);
        job.env = self.env.iter().cloned().collect();
        job.limits = self.limits(&config, resources.cpus());
        job.limits.workspace_bytes = disk(&job.workspace, config.allowances.disk_bytes);
        config.cut.extend(disk_cut(config.allowances.disk_bytes, job.limits.workspace_bytes));
        job.submission = self.submission.clone().map(|path| SubmissionRule {
            path,
            store: temporary.path().join("store"),
            max_bytes: 1 << 30,
        });
        Ok(Ready { sandbox: Arc::from(sandbox), job, config, resources, _temporary: temporary })
    }

    /// Small by default: one processor and a little memory, unless a machine or a number is named.
    fn asked(&self) -> Result<Asked, Failure> {
        let mut asked = Asked { kind: Some(self.kind), ..self.grants.asked()? };
        // One execution would start a server for itself alone.
        asked.warm = asked.warm.or(Some(false));
        if asked.machine.is_none() {
            asked.cpus = asked.cpus.or(Some(1));
            asked.memory_bytes = asked.memory_bytes.or(Some(4 << 30));
        }
        Ok(asked)
    }

    fn limits(&self, config: &SandboxConfig, cpus: &CpuSet) -> podium_sandbox::Limits {
        let mut limits = podium_sandbox::Limits { cpus: cpus.clone(), ..execution_limits(config) };
        limits.cpu_time = self.cpu_time.map(Duration::from_millis);
        limits.processes = self.processes.unwrap_or(limits.processes);
        limits.open_files = self.open_files.unwrap_or(limits.open_files);
        limits.file_bytes = self.file_size.unwrap_or(limits.file_bytes);
        limits.workspace_files = self.files.unwrap_or(limits.workspace_files);
        if let Some(bytes) = self.output.and_then(|bytes| usize::try_from(bytes).ok()) {
            limits.output_head_bytes = bytes / 2;
            limits.output_tail_bytes = bytes - bytes / 2;
        }
        limits
    }
}

impl Ready {
    /// What was granted less of than was asked for.
    fn tell(&self, terminal: &Terminal) {
        for note in self.config.cut.iter().cloned().chain(self.resources.shared()) {
            terminal.error_line(&format!("{} {}", terminal.yellow("note:"), escape(&note)));
        }
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
