//! Seeing a container's processes from the machine, where the engine is the machine's own.
//!
//! The engine tells the number of the container's first process. A descriptor of it becomes readable when it has
//! ended, and by then the kernel has killed all the others of its PID namespace. Its control group can still be read at
//! that moment. An engine in a virtual machine shows nothing of this; then the engine's own word has to do.

use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags};

use crate::{
    cgroup::{CpuClock, Foreign, Usage},
    jail::network::Counters,
    watchdog::Watched,
};

/// The first process of a container, and what its group counts.
pub(super) struct Witness {
    pub(super) pid: Pid,
    /// Becomes readable when every process has ended.
    pub(super) first: OwnedFd,
    pub(super) meters: Meters,
}

/// The counters of a container.
pub(super) struct Meters {
    group: Option<Foreign>,
    counters: Counters,
    last: Usage,
}

impl Witness {
    /// Takes hold of the first process; `None` where it cannot be seen. The container's id must be in the name of its
    /// control group, or the number belongs to another machine's process.
    pub(super) fn of(pid: Option<i64>, id: &str) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid?).ok()?)?;
        let first = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", pid.as_raw_pid())).ok()?;
        let meters =
            Meters { group: Foreign::of(pid), counters: Counters::open(pid), last: Usage::default() };
        groups.contains(id).then_some(Self { pid, first, meters })
    }

    /// The processes, for limits that are polled. Memory is held by the engine's control group.
    pub(super) fn watched(&self) -> Watched {
        Watched { first: Some(self.pid), beside: None, memory: false, cpu: self.meters.clock() }
    }
}

impl Meters {
    /// Reads the counters, and keeps what was seen before of a group that is gone.
    pub(super) fn look(&mut self) {
        if let Some(now) = self.group.as_ref().and_then(Foreign::usage) {
            self.last = Usage {
                oom_kills: now.oom_kills.max(self.last.oom_kills),
                forks_refused: now.forks_refused.max(self.last.forks_refused),
                peak_memory: now.peak_memory.max(self.last.peak_memory),
                cpu: now.cpu.max(self.last.cpu),
            };
        }
    }

    /// What was counted at the last look.
    pub(super) const fn seen(&self) -> Usage {
        self.last
    }

    /// What reads the CPU time.
    pub(super) fn clock(&self) -> Option<CpuClock> {
        self.group.as_ref().map(Foreign::cpu_clock)
    }

    /// What was counted, and what tried to leave.
    pub(super) fn finish(self) -> (Usage, u64) {
        (self.last, self.counters.attempts())
    }
}
