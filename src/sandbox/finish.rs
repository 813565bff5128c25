//! What all kinds of sandbox do before and after a program runs.

use std::{collections::BTreeMap, io, path::Path, time::Duration};

use podium_types::execution::{Collected, Ended, Exception, Execution, LimitHit};
use rustix::process::Resource;

use crate::{
    Job, Limits, SandboxError, callback::Told, cgroup::Usage, collect::collect, program, traceback,
    watch::Ending, workspace,
};

/// What is known of an ended program besides its output.
pub(crate) struct Evidence {
    pub(crate) ended: Ended,
    pub(crate) usage: Usage,
    pub(crate) network: Network,
    /// CPU time of the whole tree, where it is known.
    pub(crate) cpu: Option<Duration>,
}

/// What the program did with the network that it does not have.
#[derive(Debug, Default)]
pub(crate) struct Network {
    /// Packets that the kernel refused.
    pub(crate) refused: u64,
    /// What the harness was asked.
    pub(crate) told: Told,
}

/// Makes the workspace ready: the old submission is gone, so what is found later was written by this program.
pub(crate) async fn prepare(job: &Job) -> Result<(), SandboxError> {
    for folder in [Some(&job.workspace), job.input.as_ref()].into_iter().flatten() {
        if !folder.is_absolute() {
            return Err(SandboxError::Job {
                message: format!("`{}` is not an absolute path", folder.display()),
            });
        }
    }
    job.limits.check().map_err(|message| SandboxError::Job { message })?;
    program::check_environment(job)?;
    let (workspace, submission) =
        (job.workspace.clone(), job.submission.as_ref().map(|rule| rule.path.clone()));
    blocking("preparing", &job.workspace, move || workspace::prepare(&workspace, submission.as_deref())).await
}

/// File work of unknown length, off the runtime's threads.
async fn blocking<T: Send + 'static>(
    action: &'static str,
    path: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, SandboxError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(SandboxError::io(action, path))
}

/// Per-process limits that hold in every kind. The CPU time of one process backs up the polled one of the tree.
pub(crate) fn rlimits(limits: &Limits) -> Vec<(Resource, u64)> {
    let mut rlimits = vec![
        (Resource::Core, 0),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
        // What a program as root could raise for itself otherwise.
        (Resource::Nice, 0),
        (Resource::Rtprio, 0),
    ];
    if let Some(limit) = limits.cpu_time {
        rlimits.push((Resource::Cpu, limit.as_secs() + 1));
    }
    rlimits
}

/// The processors granted.
pub(crate) fn affinity(limits: &Limits) -> rustix::thread::CpuSet {
    let mut set = rustix::thread::CpuSet::new();
    limits
        .cpus
        .ids()
        .into_iter()
        .filter(|cpu| *cpu < rustix::thread::CpuSet::MAX_CPU)
        .for_each(|cpu| set.set(cpu));
    set
}

/// Puts the result together and collects the submission. Every process must be dead.
pub(crate) async fn execution(
    job: &Job,
    ending: Ending,
    evidence: Evidence,
) -> Result<Execution, SandboxError> {
    let Evidence { ended, usage, network: Network { refused, told }, cpu } = evidence;
    let exception = program::script(job)
        .filter(|_| ended != Ended::Exit(0))
        .and_then(|script| traceback::exception(&ending.output, script));
    let limit = ending.limit.or_else(|| limit_of(job, ended, exception.as_ref(), usage, cpu));
    let mut blocked = BTreeMap::new();
    let network_attempts = refused.saturating_add(told.questions);
    // A program that coped with a limit was held by it all the same.
    for (name, count) in
        [("network", network_attempts), ("memory", usage.oom_kills), ("processes", usage.forks_refused)]
    {
        if count > 0 {
            blocked.insert(name.to_owned(), count);
        }
    }
    let submission = match &job.submission {
        Some(rule) => {
            let (workspace, rule) = (job.workspace.clone(), rule.clone());
            let take = move || collect(&workspace, &rule.path, &rule.store, rule.max_bytes);
            blocking("collecting from", &job.workspace, take).await?
        }
        None => Collected::Missing { found: "nothing was asked for".to_owned() },
    };
    Ok(Execution {
        ended,
        limit,
        output: ending.output,
        exception,
        submission,
        wall_ms: millis(ending.wall),
        cpu_ms: cpu.map(millis),
        peak_memory_bytes: usage.peak_memory,
        blocked,
        names_asked: told.names,
        submission_checks: told.verdicts,
        interrupted: false,
    })
}

/// The limit that ended a program, by what the kernel counted or said. A program that ended well was not ended by one.
/// What a program's traceback says is its own claim, and used only where nothing else tells.
fn limit_of(
    job: &Job,
    ended: Ended,
    exception: Option<&Exception>,
    usage: Usage,
    cpu: Option<Duration>,
) -> Option<LimitHit> {
    let limits = &job.limits;
    let says = |errno: &str| exception.is_some_and(|exception| exception.message.starts_with(errno));
    if ended == Ended::Exit(0) {
        None
    } else if usage.oom_kills > 0 {
        Some(LimitHit::Memory { limit_bytes: limits.memory_bytes })
    } else if usage.forks_refused > 0 {
        Some(LimitHit::Processes { limit: limits.processes })
    } else if ended == Ended::Signal(libc::SIGXFSZ) || says("[Errno 27]") {
        Some(LimitHit::FileSize { limit_bytes: limits.file_bytes })
    } else if says("[Errno 24]") {
        Some(LimitHit::OpenFiles { limit: limits.open_files })
    } else if let (Ended::Signal(libc::SIGXCPU | libc::SIGKILL), Some(limit)) = (ended, limits.cpu_time)
        && (ended == Ended::Signal(libc::SIGXCPU) || cpu.is_some_and(|cpu| cpu >= limit))
    {
        Some(LimitHit::CpuTime { limit_ms: millis(limit) })
    } else {
        None
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
