//! What a job is really granted, read back rather than echoed: a few lines of Python look around inside, and the control
//! group of such a job is asked what it holds.
//!
//! Must not know: what was asked for and by whom; who compares the two decides what a difference means.

use std::{collections::BTreeMap, time::Duration};

use podium_types::execution::{Ended, Program};
use serde::{Deserialize, Serialize};

use crate::{Job, Sandbox, SandboxError, job::MOUNTS};

/// Looks around and prints one line of JSON. Runs isolated, so nothing of the workspace is imported. Modules that Python
/// has not loaded by itself take longer than all the rest, so there is one.
const LOOK: &str = "
import os, resource, sys
def told(value):
    if value is None:
        return 'null'
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return '[' + ','.join(map(told, value)) + ']'
    return '\"' + ''.join(c if c.isascii() and (c.isalnum() or c in '-_.:@') else '?' for c in value) + '\"'
def size(path):
    try:
        facts = os.statvfs(path)
        return facts.f_blocks * facts.f_frsize
    except OSError:
        return None
def names(path):
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
def routes(path, column):
    try:
        return {line.split()[column] for line in open(path) if line.strip()} - {'Iface', 'lo'}
    except (OSError, IndexError):
        return set()
found = {
    'affinity': len(os.sched_getaffinity(0)),
    'cpu_count': os.cpu_count() or 0,
    'shm_bytes': size('/dev/shm'),
    'tmp_bytes': size('/tmp'),
    'open_files': resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    'gpu_nodes': [int(name[6:]) for name in names('/dev') if name[:6] == 'nvidia' and name[6:].isdigit()],
    'mounts': names('/mounts'),
    'links': sorted(routes('/proc/net/route', 0) | routes('/proc/net/ipv6_route', -1)),
    'python': '.'.join(map(str, sys.version_info[:3])),
}
print('{' + ','.join(told(name) + ':' + told(value) for name, value in found.items()) + '}')
";

/// How long the look may take; a loaded machine is slow, and so is a first start in a container.
const PATIENCE: Duration = Duration::from_mins(2);

/// What a program finds.
#[derive(Deserialize)]
struct Seen {
    affinity: u32,
    cpu_count: u32,
    shm_bytes: Option<u64>,
    tmp_bytes: Option<u64>,
    open_files: u64,
    gpu_nodes: Vec<u32>,
    mounts: Vec<String>,
    links: Vec<String>,
    python: String,
}

/// What the kernel says it holds a job to, as its control group answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InForce {
    /// Memory of the whole tree, in bytes.
    pub memory_bytes: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// CPU time per second of wall clock, in thousandths of a processor.
    pub cpu_millis: Option<u64>,
}

/// Who holds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// The kernel: it cannot be passed.
    ControlGroup,
    /// The harness, which looks at it again and again.
    Watchdog,
}

/// What is in force, in a form that is stored with a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// Processors that it may run on, by its affinity.
    pub cpus: u32,
    /// What `os.cpu_count()` says inside.
    pub cpu_count: u32,
    /// Memory of the whole tree, in bytes.
    pub memory_bytes: u64,
    /// Who holds it to that.
    pub memory_held_by: Holder,
    /// Processes and threads; `None`: nothing but the machine limits them.
    pub processes: Option<u64>,
    /// Files that one process may have open.
    pub open_files: u64,
    /// Size of `/dev/shm` in bytes.
    pub shm_bytes: Option<u64>,
    /// Size of `/tmp` in bytes.
    pub tmp_bytes: Option<u64>,
    /// What the workspace may grow to, in bytes; looked at again and again.
    pub disk_bytes: u64,
    /// Models of the graphics processors whose nodes it sees.
    pub gpus: Vec<String>,
    /// Read-only folders by name, with their path inside.
    pub mounts: BTreeMap<String, String>,
    /// Whether there is a route to anywhere but itself.
    pub network: bool,
    /// Version of Python.
    pub python: String,
}

/// As [`read_back`], on a thread and runtime of its own, so that it can be called from anywhere.
pub fn read_back_now(sandbox: &dyn Sandbox, job: &Job) -> Result<Granted, SandboxError> {
    let failed = |source| SandboxError::System { call: "starting a runtime", source };
    std::thread::scope(|scope| {
        let work = || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
            runtime.block_on(read_back(sandbox, job))
        };
        let thread = std::thread::Builder::new().name("podium-look".to_owned()).spawn_scoped(scope, work);
        let joined = thread.map_err(failed)?.join();
        joined.unwrap_or_else(|_| Err(failed(std::io::Error::other("the look panicked"))))
    })
}

/// Runs the look in the sandbox as `job` would be run, in its workspace.
pub async fn read_back(sandbox: &dyn Sandbox, job: &Job) -> Result<Granted, SandboxError> {
    let argv = [&job.python.to_string_lossy(), "-I", "-c", LOOK].map(str::to_owned).into();
    let look = Job {
        program: Program::Command { argv },
        timeout: PATIENCE,
        submission: None,
        submission_check: None,
        ..job.clone()
    };
    let execution = sandbox.execute(&look).await?;
    let text = execution.output.text();
    let seen: Option<Seen> = text.lines().rev().find_map(|line| serde_json::from_str(line).ok());
    let (Ended::Exit(0), Some(seen)) = (execution.ended, seen) else {
        let limit = execution.limit.map(|limit| format!("{limit}; ")).unwrap_or_default();
        let last = text
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it printed nothing")
            .to_owned();
        return Err(SandboxError::NotReadBack { message: format!("{limit}{last}") });
    };
    let held = sandbox.in_force(job)?;
    let gpus = job.gpus.gpus.iter().filter(|gpu| seen.gpu_nodes.contains(&gpu.minor));
    let place = |name: &String, path: &std::path::Path| {
        // Nothing is mounted for a plain process.
        if seen.mounts.contains(name) { format!("{MOUNTS}/{name}") } else { path.display().to_string() }
    };
    Ok(Granted {
        cpus: seen.affinity,
        cpu_count: seen.cpu_count,
        memory_bytes: held.memory_bytes.unwrap_or(job.limits.memory_bytes),
        memory_held_by: if held.memory_bytes.is_some() { Holder::ControlGroup } else { Holder::Watchdog },
        processes: held.processes,
        open_files: seen.open_files,
        shm_bytes: seen.shm_bytes,
        tmp_bytes: seen.tmp_bytes,
        disk_bytes: job.limits.workspace_bytes,
        gpus: gpus.map(|gpu| gpu.name.clone()).collect(),
        mounts: job.mounts.iter().map(|(name, path)| (name.clone(), place(name, path))).collect(),
        network: !seen.links.is_empty(),
        python: seen.python,
    })
}
