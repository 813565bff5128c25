//! One job: what is run, where, with what, and within which limits.
//!
//! A job is plain data. Paths are the host's; inside a jail the workspace is `/workspace`, the input `./input`, and
//! the read-only mounts stand at the same path as outside. A workspace belongs to one job at a time.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use podium_types::execution::Program;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{Service, SubmissionCheck, environment::Environment, gpu::GpuGrant};

/// Where the named mounts of a job stand, inside: `/mounts/NAME`.
pub const MOUNTS: &str = "/mounts";

/// Names of mounts that libraries look for, each with its variables; `{}` is the path inside. What stands in such a
/// folder is all there is, for nothing can be downloaded, so the libraries are told that they are offline.
const KNOWN_MOUNTS: [(&str, &[(&str, &str)]); 2] = [
    (
        "hf",
        &[
            ("HF_HOME", "{}"),
            ("HF_HUB_OFFLINE", "1"),
            ("HF_DATASETS_OFFLINE", "1"),
            ("TRANSFORMERS_OFFLINE", "1"),
            ("HF_HUB_DISABLE_TELEMETRY", "1"),
        ],
    ),
    ("torch", &[("TORCH_HOME", "{}")]),
];

/// What to run in the sandbox.
#[derive(Clone, Debug)]
pub struct Job {
    /// The script or command.
    pub program: Program,
    /// Host folder that the program may write; made with [`workspace::create`](crate::workspace::create).
    pub workspace: PathBuf,
    /// Host folder that the program may read as `./input`.
    pub input: Option<PathBuf>,
    /// Files of the input that the program sees with the content of another host file: their names, without a folder,
    /// and these files. They must be readable by all: a container's user is
    /// another one. What the input does not have stays absent. The process kind shows the input as it is.
    pub input_instead: Vec<(String, PathBuf)>,
    /// Host folders that the program may read beside the input: their names in the workspace, and these folders. The
    /// process kind shows none.
    pub beside: Vec<(String, PathBuf)>,
    /// Host folders mounted read-only at the same path: the Python environment and what it stands on.
    pub read_only: Vec<PathBuf>,
    /// Host folders or files mounted read-only by name, as `/mounts/NAME`; a plain process is told their own path. The
    /// names `hf` and `torch` also set the variables by which Hugging Face's libraries and `PyTorch` find their caches.
    pub mounts: BTreeMap<String, PathBuf>,
    /// The graphics processors it may use. There is no limit on the address space: CUDA reserves huge ranges.
    pub gpus: GpuGrant,
    /// Host folders that the program must never see: a job with a mount that is or contains one of them is refused.
    /// Means something in a jail only; the process kind shows everything.
    pub hidden: Vec<PathBuf>,
    /// The interpreter that runs scripts, a path that is valid inside as well.
    pub python: PathBuf,
    /// Wall-clock limit. Then SIGINT, a grace, and SIGKILL.
    pub timeout: Duration,
    /// Everything else that is limited.
    pub limits: Limits,
    /// Variables added to the allow-listed environment; they win over it.
    pub env: BTreeMap<String, String>,
    /// The submission to remove before and to collect afterwards.
    pub submission: Option<SubmissionRule>,
    /// Other files to remove before and to collect afterwards.
    pub collect: Vec<SubmissionRule>,
    /// A check of submissions that the program may ask for while it runs. Needs a sandbox with
    /// [`Facts::callbacks`](crate::Facts::callbacks); elsewhere such a job is refused.
    pub submission_check: Option<SubmissionCheck>,
    /// Requests that the program may make of the harness while it runs; on the same terms.
    pub service: Option<Service>,
    /// Others like it are to follow, in workspaces beside this one: once this one runs, what can be made ahead for the
    /// next is made.
    pub more_follow: bool,
    /// When it fires, the program is stopped as at its wall-clock limit, and what it left is collected.
    pub stop: CancellationToken,
    /// When it fires, everything is killed and the execution returns [`SandboxError::Cancelled`](crate::SandboxError::Cancelled).
    pub cancel: CancellationToken,
}

impl Job {
    /// A job with the default limits, ten minutes of time and nothing to collect.
    pub fn new(program: Program, workspace: impl Into<PathBuf>, environment: &Environment) -> Self {
        Self {
            program,
            workspace: workspace.into(),
            input: None,
            input_instead: Vec::new(),
            beside: Vec::new(),
            read_only: environment.read_only(),
            mounts: BTreeMap::new(),
            gpus: GpuGrant::default(),
            hidden: Vec::new(),
            python: environment.python().to_owned(),
            timeout: Duration::from_mins(10),
            limits: Limits::default(),
            env: BTreeMap::new(),
            submission: None,
            collect: Vec::new(),
            submission_check: None,
            service: None,
            more_follow: false,
            stop: CancellationToken::new(),
            cancel: CancellationToken::new(),
        }
    }
}

/// The variables that named mounts bring, where a mount stands at what `place` says.
pub(crate) fn mount_variables(
    mounts: &BTreeMap<String, PathBuf>,
    place: impl Fn(&str, &Path) -> PathBuf,
) -> Vec<(&'static str, std::ffi::OsString)> {
    let mut found = Vec::new();
    for (name, path) in mounts {
        let known = KNOWN_MOUNTS.iter().filter(|(known, _)| known == name);
        for (variable, value) in known.flat_map(|(_, variables)| *variables) {
            let value = if *value == "{}" { place(name, path).into_os_string() } else { (*value).into() };
            found.push((*variable, value));
        }
    }
    found
}

/// Says why a mount cannot have this name, if it cannot: it becomes a folder's name inside.
pub fn check_mount_name(name: &str) -> Result<(), String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.bytes().all(allowed) {
        Err(format!("`{name}` is no name of a mount: letters, digits, `-`, `_` and `.`, at most 64"))
    } else {
        Ok(())
    }
}

/// Where a submission is looked for, and where its copy goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionRule {
    /// Path inside the workspace, `submission/submission.csv` by custom.
    pub path: String,
    /// Folder outside the workspace; the copy is named by its SHA-256.
    pub store: PathBuf,
    /// A larger file is not taken.
    pub max_bytes: u64,
}

impl SubmissionRule {
    /// Says why nothing can be collected from such a path, if that is so.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut components = Path::new(&self.path).components().peekable();
        let is_inside =
            components.peek().is_some() && components.all(|part| matches!(part, Component::Normal(_)));
        if is_inside && !self.path.contains('\0') {
            Ok(())
        } else {
            Err(format!("the submission `{}` is no path inside the workspace", self.path))
        }
    }
}

/// The limits of one execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Memory of the whole tree, `/tmp` and `/dev/shm` included, swap included.
    pub memory_bytes: u64,
    /// The processors it may run on. With a cpuset control group this is strict; without one a program can move to
    /// others, in no more time than granted where there is a cpu control group.
    pub cpus: CpuSet,
    /// Processes and threads at one time.
    pub processes: u64,
    /// Bytes of output kept from its beginning.
    pub output_head_bytes: usize,
    /// Bytes of output kept from its end.
    pub output_tail_bytes: usize,
    /// Size of `/tmp`.
    pub tmp_bytes: u64,
    /// Size of `/dev/shm`.
    pub shm_bytes: u64,
    /// Size of one file; strict.
    pub file_bytes: u64,
    /// Size of the workspace. Polled (see `watchdog`): at most this and one second of writes.
    pub workspace_bytes: u64,
    /// Files and folders in the workspace; polled as well.
    pub workspace_files: u64,
    /// Files that one process may have open at one time; strict.
    pub open_files: u64,
    /// CPU time of the whole tree; polled ten times a second. `None` for no limit besides the wall clock.
    pub cpu_time: Option<Duration>,
}

/// Less memory than this and the jail itself, or a Python that only starts, would be killed.
const LEAST_MEMORY: u64 = 24 << 20;
/// Bubblewrap's own two processes, a shell and what it starts.
const LEAST_PROCESSES: u64 = 8;
/// Python opens a few while it starts, the loader as well.
const LEAST_OPEN_FILES: u64 = 32;
/// Bubblewrap writes the small files of a jail under the same limit.
const LEAST_FILE: u64 = 64 << 10;
/// No kernel has more (`PID_MAX_LIMIT`).
const MOST_PROCESSES: u64 = 4 << 20;

impl Limits {
    /// Says which limit is too small for anything to run within it, or larger than any kernel takes.
    pub(crate) fn check(&self) -> Result<(), String> {
        let least = [
            ("a memory limit", self.memory_bytes, LEAST_MEMORY, "bytes"),
            ("a process limit", self.processes, LEAST_PROCESSES, "processes"),
            ("an open files limit", self.open_files, LEAST_OPEN_FILES, "files"),
            ("a file size limit", self.file_bytes, LEAST_FILE, "bytes"),
        ];
        if let Some((name, limit, least, unit)) = least.iter().find(|(_, limit, least, _)| limit < least) {
            return Err(format!("{name} of {limit} {unit} is below the least, {least} {unit}"));
        }
        if self.processes > MOST_PROCESSES {
            let limit = self.processes;
            return Err(format!(
                "a process limit of {limit} processes is above the most, {MOST_PROCESSES} processes"
            ));
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 4 << 30,
            cpus: CpuSet::first(1),
            processes: 512,
            output_head_bytes: 64 << 10,
            output_tail_bytes: 64 << 10,
            tmp_bytes: 1 << 30,
            shm_bytes: 1 << 30,
            file_bytes: 16 << 30,
            workspace_bytes: 32 << 30,
            workspace_files: 500_000,
            open_files: 8192,
            cpu_time: None,
        }
    }
}

/// A set of processors, by number. Empty means all that the harness may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CpuSet(Vec<usize>);

impl CpuSet {
    /// The `count` lowest processors that this process may run on; all of them when there are fewer.
    pub fn first(count: usize) -> Self {
        let mut allowed = allowed_cpus();
        allowed.truncate(count.max(1));
        Self(allowed)
    }

    /// These processors; parallel executions get disjoint sets.
    pub fn of(ids: impl IntoIterator<Item = usize>) -> Self {
        let mut ids: Vec<usize> = ids.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        Self(ids)
    }

    /// The numbers, ascending.
    pub fn ids(&self) -> Vec<usize> {
        if self.0.is_empty() { allowed_cpus() } else { self.0.clone() }
    }

    /// The numbers as the kernel reads them, `0,2,3`.
    pub(crate) fn list(&self) -> String {
        let ids: Vec<String> = self.ids().iter().map(ToString::to_string).collect();
        ids.join(",")
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.ids().len()
    }
}

/// The processors that this process may run on.
fn allowed_cpus() -> Vec<usize> {
    rustix::thread::sched_getaffinity(None).map_or_else(
        |_| vec![0],
        |set| (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect(),
    )
}
