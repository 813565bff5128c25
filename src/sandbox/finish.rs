//! What all kinds of sandbox do before and after a program runs.

use std::{collections::BTreeMap, io, time::Duration};

use podium_types::execution::{Collected, Ended, Exception, Execution, LimitHit};
use rustix::process::Resource;

use crate::{
    Job, Limits, SandboxError, SubmissionRule, callback::Told, cgroup::Usage, collect::collect, program,
    traceback, watch::Ending, workspace,
};

/// What is known of an ended program besides its output.
pub(crate) struct Evidence {
    pub(crate) ended: Ended,
    pub(crate) usage: Usage,
    pub(crate) network: Network,
    /// CPU time of the whole tree, where it is known.
    pub(crate) cpu: Option<Duration>,
    /// The program began in a copy of a warm interpreter.
    pub(crate) warm: bool,
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
/// Blocks for as long as the removal of a large one takes.
pub(crate) fn make_ready(job: &Job) -> Result<(), SandboxError> {
    for folder in [Some(&job.workspace), job.input.as_ref()].into_iter().flatten() {
        if !folder.is_absolute() {
            return Err(SandboxError::Job {
                message: format!("`{}` is not an absolute path", folder.display()),
            });
        }
    }
    job.limits.check().map_err(|message| SandboxError::Job { message })?;
    for rule in job.submission.iter().chain(&job.collect) {
        rule.check().map_err(|message| SandboxError::Job { message })?;
    }
    program::check_environment(job)?;
    let submission = job.submission.as_ref().map(|rule| rule.path.as_str());
    let collected = job.collect.iter().map(|rule| rule.path.as_str());
    let beside = job.beside.iter().map(|(name, _)| name.as_str());
    workspace::prepare_for(&job.workspace, submission.into_iter().chain(collected), beside)
        .map_err(SandboxError::io("preparing", &job.workspace))
}

/// The same, off the runtime's threads.
pub(crate) async fn prepare(job: &Job) -> Result<(), SandboxError> {
    let job = job.clone();
    blocking(move || make_ready(&job)).await
}

/// Work that blocks, off the runtime's threads. Where nobody waits for it any more its result is dropped.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SandboxError> + Send + 'static,
) -> Result<T, SandboxError> {
    let result = tokio::task::spawn_blocking(work).await;
    result.unwrap_or_else(|error| {
        Err(SandboxError::System { call: "running on another thread", source: io::Error::other(error) })
    })
}

/// Takes the submission that the job asks for, when every process is dead.
pub(crate) async fn submission(job: &Job) -> Result<Collected, SandboxError> {
    let Some(rule) = job.submission.clone() else {
        return Ok(Collected::Missing { found: "nothing was asked for".to_owned() });
    };
    let workspace = job.workspace.clone();
    blocking(move || {
        collect(&workspace, &rule.path, &rule.store, rule.max_bytes)
            .map_err(SandboxError::io("collecting from", &workspace))
    })
    .await
}

/// Takes the other files that the job asks for.
async fn collected(job: &Job) -> Result<BTreeMap<String, Collected>, SandboxError> {
    let (workspace, rules) = (job.workspace.clone(), job.collect.clone());
    if rules.is_empty() {
        return Ok(BTreeMap::new());
    }
    blocking(move || {
        let take = |rule: SubmissionRule| {
            let found = collect(&workspace, &rule.path, &rule.store, rule.max_bytes)
                .map_err(SandboxError::io("collecting from", &workspace))?;
            Ok((rule.path, found))
        };
        rules.into_iter().map(take).collect()
    })
    .await
}

/// Per-process limits that hold in every kind. The CPU time of one process backs up the polled one of the tree.
pub(crate) fn rlimits(limits: &Limits) -> Vec<(Resource, u64)> {
    let mut rlimits = vec![
        (Resource::Core, 0),
        // The kernel compares it as a signed number, so that more would be less than nothing.
        (Resource::Fsize, limits.file_bytes.min(i64::MAX.unsigned_abs())),
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
    let Evidence { ended, usage, network: Network { refused, told }, cpu, warm } = evidence;
    let exception = program::script(job)
        .filter(|_| ended != Ended::Exit(0))
        .and_then(|script| traceback::exception(&ending.output, script));
    let limit = ending.limit.or_else(|| limit_of(&job.limits, ended, exception.as_ref(), usage, cpu));
    // The last reading may be older than what ended it.
    let least = if let Some(LimitHit::CpuTime { limit_ms }) = limit { limit_ms } else { 0 };
    let cpu_ms = cpu.map(|used| millis(used).max(least));
    let blocked = blocked(usage, refused.saturating_add(told.questions));
    let submission = submission(job).await?;
    let collected = collected(job).await?;
    Ok(Execution {
        ended,
        limit,
        output: ending.output,
        exception,
        submission,
        collected,
        wall_ms: millis(ending.wall),
        cpu_ms,
        peak_memory_bytes: usage.peak_memory,
        blocked,
        names_asked: told.names,
        requests_refused: BTreeMap::new(),
        submission_checks: told.verdicts,
        interrupted: false,
        warm,
    })
}

/// What the sandbox stopped on the way. A program that coped with a limit was held by it all the same.
pub(crate) fn blocked(usage: Usage, network_attempts: u64) -> BTreeMap<String, u64> {
    [("network", network_attempts), ("memory", usage.oom_kills), ("processes", usage.forks_refused)]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name.to_owned(), count))
        .collect()
}

/// The limit that ended a program, by what the kernel counted or said. A program that ended well was not ended by one.
/// What a program's traceback says is its own claim, and used only where nothing else tells.
pub(crate) fn limit_of(
    limits: &Limits,
    ended: Ended,
    exception: Option<&Exception>,
    usage: Usage,
    cpu: Option<Duration>,
) -> Option<LimitHit> {
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

/// Whole milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
