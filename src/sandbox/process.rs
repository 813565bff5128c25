//! The process kind: a plain child with limits. It is no boundary.
//!
//! The program can read and write whatever the harness's user can, and reach the network. It gets a cleared
//! environment, a session of its own, limits, a control group where there is one, and a wall-clock limit. At the end
//! everything that is in its control group, its process group, or still carries its mark in the environment is killed;
//! without a control group a program that clears its own environment and leaves its session can escape that.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    os::fd::{BorrowedFd, OwnedFd},
    path::Path,
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
};

use podium_types::execution::Ended;
use rustix::process::{Pid, Resource, Signal};

use crate::{
    DialogueFuture, ExecutionFuture, Facts, InForce, Job, Sandbox, SandboxError, SandboxKind, SessionFuture,
    SessionJob, Settings, Strength,
    cgroup::{CpuClock, Group, Groups, Usage},
    finish::{self, Evidence, Network},
    place::{Place, execute},
    program,
    program::Launch,
    session,
    spawn::Preparation,
    supervisor,
    tree::{Fate, Killer, Live, Tree},
    trial, workspace,
};

/// Names the execution in the environment of everything that it starts.
const MARK: &str = "PODIUM_EXECUTION";

/// The kind, with what the machine offers.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    groups: Option<Groups>,
    settings: Settings,
    facts: Facts,
}

pub(crate) struct ProcessTree {
    leader: Pid,
    mark: String,
    group: Option<Group>,
}

impl Process {
    /// Finds out whether control groups can be used, by running a program in one.
    pub(crate) fn open(settings: &Settings) -> Result<Self, SandboxError> {
        let mut missing =
            vec!["a plain process has no boundary: no namespaces, no system call filter".to_owned()];
        let groups = if settings.cgroups { Groups::detect() } else { None };
        let facts = Facts {
            kind: SandboxKind::Process,
            strength: Strength::Limits,
            bubblewrap: None,
            engine: None,
            cgroup: groups.as_ref().map(Groups::facts),
            seccomp: false,
            nested_namespaces_refused: false,
            callbacks: false,
            missing: Vec::new(),
        };
        let mut process = Self { groups, settings: settings.clone(), facts };
        if let Err(error) = trial::run(&process, &["/bin/sh", "-c", ":"]) {
            if process.groups.take().is_none() {
                return Err(error);
            }
            process.facts.cgroup = None;
            missing.push("the control groups that can be made cannot be joined".to_owned());
        }
        process.facts.missing = missing;
        Ok(process)
    }

    fn preparation(&self, job: &Job, group: Option<&Group>) -> Result<Preparation, SandboxError> {
        let mut rlimits = finish::rlimits(&job.limits);
        if self.groups.is_none() {
            // Counts all processes of the user, so it is a stop for fork bombs and no exact limit.
            rlimits.push((Resource::Nproc, job.limits.processes.saturating_mul(4)));
        }
        Ok(Preparation {
            cgroups: group.map(Group::procs).transpose()?.unwrap_or_default(),
            affinity: Some(finish::affinity(&job.limits)),
            rlimits,
            inherit: Vec::new(),
            new_session: true,
            user_namespace: None,
            sees_our_end: false,
        })
    }
}

impl Place for Process {
    type Tree = ProcessTree;

    fn start(&self, job: &Job, launch: Launch, _: &OwnedFd) -> Result<Live<Self::Tree>, SandboxError> {
        link_input(job)?;
        let group = self.groups.as_ref().map(|groups| groups.create(&job.limits)).transpose()?;
        let mark = mark();
        let (command, inherit) = command(job, launch, &mark)?;
        let preparation = Preparation { inherit, ..self.preparation(job, group.as_ref())? };
        let child = supervisor::spawn(command, preparation)?;
        let leader = child.pid();
        Ok(Live::new(ProcessTree { leader, mark, group }, child))
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn found(&self) -> &Facts {
        &self.facts
    }

    fn is_polled(&self) -> bool {
        !self.groups.as_ref().is_some_and(|groups| groups.has("memory"))
    }
}

impl Sandbox for Process {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Nothing is mounted, and everything is seen.
    fn check(&self, _: &Job) -> Result<(), SandboxError> {
        Ok(())
    }

    fn in_force(&self, job: &Job) -> Result<InForce, SandboxError> {
        self.groups.as_ref().map_or_else(|| Ok(InForce::default()), |groups| groups.in_force(&job.limits))
    }

    fn execute<'a>(&'a self, job: &'a Job) -> ExecutionFuture<'a> {
        Box::pin(execute(self, job))
    }

    fn open_dialogue<'a>(&'a self, job: &'a Job) -> DialogueFuture<'a> {
        Box::pin(session::dialogue::open(self, job))
    }

    fn open_session<'a>(&'a self, job: &'a SessionJob) -> SessionFuture<'a> {
        Box::pin(session::open(self, job))
    }
}

impl Tree for ProcessTree {
    fn interrupt(&self) {
        let _ = rustix::process::kill_process_group(self.leader, Signal::INT);
    }

    fn resume(&self) {
        let _ = rustix::process::kill_process_group(self.leader, Signal::CONT);
    }

    fn kill(&self) {
        // The leader is not reaped before the tree is dead, so the group's number is still its own.
        let _ = rustix::process::kill_process_group(self.leader, Signal::KILL);
        if let Some(group) = &self.group {
            group.kill();
        }
        while kill_marked(&self.mark) {}
    }

    /// By the mark alone: the group's number may be another's by then.
    fn killer(&self) -> Killer {
        let mark = self.mark.clone();
        Box::new(move || while kill_marked(&mark) {})
    }

    fn last(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn first(&self) -> Pid {
        self.leader
    }

    fn usage(&self) -> Usage {
        self.group.as_ref().map(Group::usage).unwrap_or_default()
    }

    fn clock(&self) -> Option<CpuClock> {
        self.group.as_ref().and_then(Group::cpu_clock)
    }

    fn evidence(&mut self, fate: &Fate<'_>) -> Result<Evidence, SandboxError> {
        let usage = self.usage();
        let ended = match (fate.reaped.code, fate.reaped.signal) {
            (Some(code), _) => Ended::Exit(code),
            (None, signal) => Ended::Signal(signal.unwrap_or(libc::SIGKILL)),
        };
        let cpu = usage.cpu.or(Some(fate.reaped.cpu));
        Ok(Evidence { ended, usage, network: Network::default(), cpu, warm: false })
    }
}

/// Kills every process that carries the mark; false when there was none.
fn kill_marked(mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    let mut found = false;
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw)
        else {
            continue;
        };
        // A zombie's environment is empty, so the dead do not count.
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()) {
            found |= rustix::process::kill_process(pid, Signal::KILL).is_ok();
        }
    }
    found
}

/// `./input` is a symbolic link here; that it is not written is the program's good will.
fn link_input(job: &Job) -> Result<(), SandboxError> {
    let path = job.workspace.join(workspace::INPUT);
    let failed = |source| SandboxError::Io { action: "linking", path: path.clone(), source };
    match &job.input {
        Some(input) => {
            workspace::remove(&path).map_err(failed)?;
            std::os::unix::fs::symlink(input, &path).map_err(failed)
        }
        None => Ok(()),
    }
}

fn command(job: &Job, mut launch: Launch, mark: &str) -> Result<(Command, Vec<OwnedFd>), SandboxError> {
    let Some((program, rest)) = launch.argv.split_first() else {
        return Err(SandboxError::Job { message: "the command is empty".to_owned() });
    };
    let mut environment: BTreeMap<String, OsString> = program::environment(job, Path::new(&job.workspace));
    environment.insert(MARK.to_owned(), mark.into());
    let mut command = Command::new(program);
    command.args(rest).env_clear().envs(environment).current_dir(&job.workspace);
    let [stdin, stdout, stderr] = launch.streams()?;
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    Ok((command, launch.inherit))
}

/// A mark that no other execution has.
fn mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
