//! The sandbox: where code that a model wrote is run, so that it can harm nothing and see nothing it should not.
//!
//! [`open`] finds out by a real probe what this machine can enforce, and refuses when that is less than required.
//! [`Sandbox::execute`] takes a [`Job`] and returns what happened: a script that crashes, is killed for memory or runs
//! out of time is an ordinary result. When it returns, every process of the job is dead.
//! This package knows nothing of competitions, scaffolds or models.
//!
//! - [`job`]: what is run and within which limits; [`gpu`]: graphics processors; [`lease`]: who uses which processors
//! - [`granted`]: what is really in force, read back; [`policy`]: what a job may do, as data
//! - [`strength`]: what the machine can enforce
//! - `jail`: bubblewrap namespaces, system call filter, control groups
//! - `docker`: a container per execution
//! - `process`: a plain child with limits, by explicit name only
//! - `cgroup`: control groups, version 1 and 2, and the sweep of what a crash left
//! - `callback`: what code inside can ask of the harness: the format of a submission, and names to no avail
//! - `supervisor`, `spawn`: starting children from threads that outlive them
//! - `tree`, `reader`: the processes of an execution as a whole, and its output pipe
//! - `watch`, `watchdog`: following one execution to its end, within its limits
//! - `place`: what a kind offers so that programs run in it
//! - `program`, `finish`: what all kinds do before and after; `trial`: running one while a sandbox is opened
//! - [`session`]: a shell or a kernel that keeps state between calls
//! - [`scratch`]: temporary folders that are swept after a crash
//! - `output`, `traceback`: what the program printed, and the exception that ended it
//! - [`workspace`], [`mod@collect`]: folders a hostile program has written to
//! - `warm`: scripts that begin in a copy of an interpreter with its imports done
//! - [`environment`]: the pinned Python environment
//! - [`error`]: typed errors with hints
//! - `failpoint`: instants at which a test kills the process

mod callback;
mod cgroup;
pub mod collect;
mod docker;
pub mod environment;
pub mod error;
mod failpoint;
mod finish;
pub mod gpu;
pub mod granted;
mod jail;
pub mod job;
pub mod lease;
mod output;
mod place;
pub mod policy;
mod process;
mod program;
mod reader;
pub mod scratch;
pub mod session;
mod spawn;
pub mod strength;
mod supervisor;
mod traceback;
mod tree;
mod trial;
mod warm;
mod watch;
mod watchdog;
pub mod workspace;

use std::{fmt, future::Future, io, path::PathBuf, pin::Pin, str::FromStr, time::Duration};

use podium_types::execution::Execution;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

pub use callback::{Answering, Checker, Service, ServiceAnswer, ServiceRequest, SubmissionCheck};
pub use collect::collect;
pub use docker::DockerSettings;
pub use environment::{Environment, Interpreter};
pub use error::SandboxError;
pub use gpu::{Gpu, GpuGrant, GpuRoot};
pub use granted::{Granted, InForce, read_back, read_back_now};
pub use job::{CpuSet, Job, Limits, SubmissionRule};
pub use lease::{CpuLease, GpuLease, Leases};
pub use policy::Policy;
pub use session::dialogue::{Dialogue, DialogueFuture};
pub use session::{Session, SessionFuture, SessionJob};
pub use strength::{CgroupFacts, EngineFacts, Facts, Strength};
pub use tokio_util::sync::CancellationToken;

/// The kinds of sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxKind {
    /// Namespaces by bubblewrap, a system call filter, control groups.
    Jail,
    /// A container per execution, by an engine that is running.
    Docker,
    /// A plain child with limits. No boundary: only by explicit name.
    Process,
}

impl SandboxKind {
    /// The word used on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Jail => "jail",
            Self::Docker => "docker",
            Self::Process => "process",
        }
    }
}

impl fmt::Display for SandboxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SandboxKind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Jail, Self::Docker, Self::Process]
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

/// Not a kind of sandbox.
#[derive(Debug, thiserror::Error)]
#[error("unknown sandbox kind `{0}`: it is `jail`, `docker` or `process`")]
pub struct UnknownKind(pub String);

/// What a sandbox is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Refuse a sandbox weaker than this.
    pub require: Option<Strength>,
    /// The bubblewrap program; looked up on PATH when not given.
    pub bubblewrap: Option<PathBuf>,
    /// The engine, image and runtime of the docker kind.
    pub docker: DockerSettings,
    /// Use control groups where they are writable. Off only to try the weaker tier.
    pub cgroups: bool,
    /// Time between SIGINT and SIGKILL at the wall-clock limit.
    pub grace: Duration,
    /// How long output is still read after the program has ended, should something hold the pipe.
    pub drain: Duration,
    /// The longest time limit of a script that may begin in a copy of a warm interpreter; `None`: always cold. Only a
    /// jail of full strength does it, and only for scripts whose result is the same.
    pub warm: Option<Duration>,
}

/// The value of [`Settings::warm`] where warm starts are wanted: in a longer script the imports do not count.
pub const WARM: Duration = Duration::from_mins(10);

impl Default for Settings {
    fn default() -> Self {
        Self {
            require: None,
            bubblewrap: None,
            docker: DockerSettings::default(),
            cgroups: true,
            grace: Duration::from_secs(2),
            drain: Duration::from_millis(500),
            warm: None,
        }
    }
}

/// The future of an execution. Dropping it kills every process of the job.
pub type ExecutionFuture<'a> = Pin<Box<dyn Future<Output = Result<Execution, SandboxError>> + Send + 'a>>;

/// What is made ahead for a job, in the background. It is made whether or not anybody waits for it.
#[derive(Debug)]
pub struct Expected(Option<oneshot::Receiver<()>>);

impl Expected {
    const fn nothing() -> Self {
        Self(None)
    }

    /// Waits until it is there; false when nothing is made.
    pub async fn is_made(self) -> bool {
        match self.0 {
            Some(made) => made.await.is_ok(),
            None => false,
        }
    }
}

/// A place where jobs run. Must be used inside a Tokio runtime.
pub trait Sandbox: Send + Sync {
    /// What the probe found.
    fn facts(&self) -> &Facts;

    /// Says whether the job's mounts may be granted, without running anything. [`Self::execute`] asks the same.
    fn check(&self, job: &Job) -> Result<(), SandboxError>;

    /// What a job may do, as data; nothing is run.
    fn explain(&self, job: &Job) -> Result<Policy, SandboxError> {
        Ok(Policy::of(self.facts(), job, program::told_environment(job, &job.workspace)))
    }

    /// What a job would be held to, as the kernel or the engine answers when it is asked. Nothing where no control group
    /// holds anything. Blocks for a few milliseconds.
    fn in_force(&self, _: &Job) -> Result<InForce, SandboxError> {
        Ok(InForce::default())
    }

    /// Says that scripts like this one will come: what all of them begin with is started in the background.
    fn warm_up(&self, _: &Job) {}

    /// Says that a job like this one will come soon, in a workspace beside this one's, which need not be there: what can
    /// be made ahead for it is made in the background.
    fn expect(&self, _: &Job) -> Expected {
        Expected::nothing()
    }

    /// Makes a job's workspace, fresh; none may be there. True when a jail that was made ahead for such a job waits in it.
    /// Blocks for a fraction of a millisecond.
    fn make_workspace(&self, job: &Job) -> io::Result<bool> {
        workspace::create(&job.workspace).map(|()| false)
    }

    /// Drops what was made ahead; nothing of it is left then. Blocks for some milliseconds.
    fn rest(&self) {}

    /// Runs a job to its end.
    fn execute<'a>(&'a self, job: &'a Job) -> ExecutionFuture<'a>;

    /// Starts a program that is spoken with over its standard input and output. Kinds that cannot say so.
    fn open_dialogue<'a>(&'a self, _: &'a Job) -> DialogueFuture<'a> {
        let kind = self.facts().kind;
        Box::pin(async move {
            let message = format!("the {kind} kind of sandbox has no programs that are spoken with");
            Err(SandboxError::Job { message })
        })
    }

    /// Starts a shell or a kernel that keeps its state between calls. Kinds that cannot say so.
    fn open_session<'a>(&'a self, job: &'a SessionJob) -> SessionFuture<'a> {
        let kind = self.facts().kind;
        Box::pin(async move {
            let message = format!("the {kind} kind of sandbox has no {} sessions", job.kind);
            Err(SandboxError::Job { message })
        })
    }
}

/// Removes what killed harnesses left, and only that: control groups and temporary folders whose owner is dead. Returns
/// how many that were. [`open`] does it.
pub fn sweep() -> usize {
    cgroup::sweep() + scratch::sweep()
}

/// Probes this machine and opens a sandbox, or says what is missing and how to mend it. What killed harnesses left is
/// [swept](sweep), with docker their containers as well. Blocks for some ten milliseconds, with docker for about a
/// second.
pub fn open(kind: SandboxKind, settings: &Settings) -> Result<Box<dyn Sandbox>, SandboxError> {
    sweep();
    let sandbox: Box<dyn Sandbox> = match kind {
        SandboxKind::Jail => Box::new(jail::Jail::open(settings)?),
        SandboxKind::Docker => Box::new(docker::Docker::open(settings)?),
        SandboxKind::Process => Box::new(process::Process::open(settings)?),
    };
    let facts = sandbox.facts();
    match settings.require {
        Some(required) if facts.strength < required => {
            Err(SandboxError::TooWeak { required, found: facts.strength, missing: facts.missing.join("; ") })
        }
        _ => Ok(sandbox),
    }
}
