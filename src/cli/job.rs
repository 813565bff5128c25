//! What runs in the sandbox by hand: the arguments that `exec`, `explain` and `session` share, and the job they make.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use podium_sandbox::{
    CpuSet, Environment, GpuGrant, Job, Sandbox, SandboxKind, Settings, SubmissionRule, scratch, workspace,
};
use podium_types::execution::Program;
use tempfile::TempDir;

use crate::cli::failure::Failure;
use crate::cli::grants::GrantArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::values;
use crate::run::config::SandboxConfig;
use crate::run::error::RunError;
use crate::run::grants::Asked;
use crate::run::order::default_runs_dir;
use crate::run::resources::{Resources, disk, disk_cut};
use crate::run::site::{Site, execution_limits, sandbox_settings};

/// What every job of `podium sandbox` takes.
#[derive(Debug, Args)]
pub(crate) struct JobArguments {
    /// jail, docker or process
    #[arg(long, visible_alias = "sandbox", default_value = "jail", value_name = "KIND")]
    kind: SandboxKind,
    #[command(flatten)]
    grants: GrantArguments,
    /// The folder that code may write [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// A folder that code may read as ./input
    #[arg(long, value_name = "DIR")]
    input: Option<PathBuf>,
    /// A file of the workspace to collect as a submission, such as submission/submission.csv
    #[arg(long, value_name = "PATH")]
    submission: Option<String>,
    /// A variable of its environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::variable)]
    env: Vec<(String, String)>,
    /// Wall-clock limit [default: 10m; of a session 24h]
    #[arg(long, value_name = "D", value_parser = values::duration, help_heading = "Limits")]
    timeout: Option<u64>,
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
pub(crate) struct Ready {
    pub(crate) sandbox: Arc<dyn Sandbox>,
    pub(crate) job: Job,
    pub(crate) config: SandboxConfig,
    pub(crate) environment: Environment,
    resources: Resources,
    _temporary: TempDir,
}

impl JobArguments {
    /// Opens the sandbox and makes a job that does nothing yet, with this limit where none is given.
    pub(crate) fn ready(
        &self,
        site: &mut Site,
        timeout: Duration,
        terminal: &Terminal,
    ) -> Result<Ready, Failure> {
        let asked = self.asked()?;
        site.mounts.clone_from(&asked.mounts);
        let mut config = asked.resolve(site, 1, &mut Vec::new())?;
        let temporary = scratch::folder().map_err(RunError::from)?;
        let place = match &self.workspace {
            Some(folder) => {
                let folder = usable_workspace(folder, site)?;
                self.submission.iter().try_for_each(|path| spare(&folder, path))?;
                folder
            }
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
        let environment = python(site, &config, &*sandbox, terminal)?;
        let mut job = Job::new(Program::Command { argv: Vec::new() }, place, &environment);
        job.input = self.input.as_deref().map(existing).transpose()?;
        job.mounts.clone_from(&site.mounts);
        job.gpus = GpuGrant { root: resources.gpu_root().clone(), gpus: resources.gpus().to_vec() };
        job.timeout = self.timeout.map_or(timeout, Duration::from_millis);
        job.env = self.env.iter().cloned().collect();
        job.limits = self.limits(&config, resources.cpus());
        job.limits.workspace_bytes = disk(&job.workspace, config.allowances.disk_bytes);
        config.cut.extend(disk_cut(config.allowances.disk_bytes, job.limits.workspace_bytes));
        job.submission = self.submission.clone().map(|path| SubmissionRule {
            path,
            store: temporary.path().join("store"),
            max_bytes: 1 << 30,
        });
        Ok(Ready { sandbox: Arc::from(sandbox), job, config, environment, resources, _temporary: temporary })
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
    pub(crate) fn tell(&self, terminal: &Terminal) {
        for note in self.config.cut.iter().cloned().chain(self.resources.shared()) {
            terminal.error_line(&format!("{} {}", terminal.yellow("note:"), escape(&note)));
        }
    }
}

/// The environment when it is built, else the machine's own Python: trying an attack needs no packages.
fn python(
    site: &Site,
    config: &SandboxConfig,
    sandbox: &dyn Sandbox,
    terminal: &Terminal,
) -> Result<Environment, Failure> {
    if let Some(own) = site.own_python(config, sandbox)? {
        return Ok(own);
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
/// of the same name; whole systems are refused, and what holds more than a job should reach.
fn usable_workspace(folder: &Path, site: &Site) -> Result<PathBuf, Failure> {
    let path = existing(folder)?;
    let refused = |what: &str| {
        Failure::usage(format!("{} is no workspace: {what} could be read and written", path.display()))
            .hint("give a folder made for the purpose, or none for a temporary one")
    };
    if path.components().count() < 3 {
        return Err(refused("everything in it"));
    }
    let (home, runs) = (std::env::home_dir(), default_runs_dir());
    let kept = [
        ("the home folder", home.as_deref()),
        ("Podium's runs", Some(runs.as_path())),
        ("the data of competitions", Some(site.data_dir.as_path())),
        ("the Python environments", Some(site.cache_dir.as_path())),
    ];
    for (what, kept) in kept {
        let kept = kept.and_then(|kept| kept.canonicalize().ok());
        if kept.is_some_and(|kept| kept.starts_with(&path)) {
            return Err(refused(what));
        }
    }
    let is_part = |whole: &Path| whole.canonicalize().is_ok_and(|whole| path.starts_with(whole));
    if is_part(&site.data_dir) || is_part(&site.cache_dir) {
        return Err(refused("a part of Podium's own data"));
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

/// The folder of an old submission is removed before an execution. That is the custom for `submission`; another one of
/// the user's own may hold other things.
fn spare(workspace: &Path, submission: &str) -> Result<(), Failure> {
    let mut parts = Path::new(submission).components();
    let (first, rest) = (parts.next(), parts.as_path());
    let Some(Component::Normal(first)) = first else { return Ok(()) };
    let taken = workspace.join(first);
    let holds_others = || {
        let only = rest.components().next().map(|part| part.as_os_str().to_owned());
        std::fs::read_dir(&taken).is_ok_and(|entries| {
            entries.flatten().any(|entry| Some(entry.file_name()) != only || entry.path().is_dir())
        })
    };
    if first != "submission" && taken.is_dir() && holds_others() {
        return Err(Failure::usage(format!(
            "{} would be emptied: an old submission goes with its folder",
            taken.display()
        ))
        .hint("name a path in a folder of its own, such as submission/submission.csv"));
    }
    Ok(())
}

fn existing(folder: &Path) -> Result<PathBuf, Failure> {
    folder.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(|| {
        Failure::usage(format!("{} is no folder", folder.display()))
            .hint("--workspace and --input name folders that are there")
    })
}
