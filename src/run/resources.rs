//! What a run holds of this machine while it goes on, and what the sandbox really grants of it.
//!
//! Processors are leased for the whole sitting, so that harnesses side by side keep out of each other's way; what is in
//! force is read back from inside before anything is spent.

use std::path::Path;

use podium_sandbox::environment::Description;
use podium_sandbox::{
    CpuLease, CpuSet, Facts, Gpu, GpuLease, GpuRoot, Granted, Job, Leases, Sandbox, SandboxKind,
    read_back_now, scratch, workspace,
};
use podium_scaffold::context::Grants;
use serde::{Deserialize, Serialize};

use crate::run::config::{Allowances, SandboxConfig};
use crate::run::error::RunError;
use crate::run::site::Site;

/// Processors of one run, given back when this is dropped.
#[derive(Debug)]
pub struct Resources {
    cpus: CpuLease,
    gpus: GpuLease,
    gpu_root: GpuRoot,
    unheld: bool,
}

impl Resources {
    /// Leases what `workers` executions at a time need, as far as the machine has it.
    ///
    /// # Errors
    /// When graphics processors are held by others, or no lease of one can be kept.
    pub fn take(site: &Site, config: &SandboxConfig, workers: u32) -> Result<Self, RunError> {
        let workers = usize::try_from(workers).unwrap_or(usize::MAX).max(1);
        let (all, count) = (CpuSet::default(), config.cpus.saturating_mul(workers));
        let gpu_root = site.gpu_root();
        let leases = match Leases::open(&site.cache_dir) {
            Ok(leases) => leases,
            // A cache that cannot be written is no reason not to run, unless something must not be shared.
            Err(error) if config.gpus == 0 => {
                tracing::debug!(%error, "processors cannot be leased");
                let (cpus, gpus) = (CpuLease::unheld(&all, count), GpuLease::default());
                return Ok(Self { cpus, gpus, gpu_root, unheld: true });
            }
            Err(error) => return Err(error.into()),
        };
        let gpus = leases.gpus(&site.gpus(), config.gpus.saturating_mul(workers))?;
        Ok(Self { cpus: leases.cpus(&all, count)?, gpus, gpu_root, unheld: false })
    }

    /// The processors.
    pub const fn cpus(&self) -> &CpuSet {
        &self.cpus.cpus
    }

    /// The graphics processors.
    pub fn gpus(&self) -> &[Gpu] {
        &self.gpus.gpus
    }

    /// Where their files are.
    pub const fn gpu_root(&self) -> &GpuRoot {
        &self.gpu_root
    }

    /// What is shared with other harnesses, in words.
    pub fn shared(&self) -> Option<String> {
        if self.unheld {
            return Some(
                "the cache folder cannot be written: other runs may use the same processors".to_owned(),
            );
        }
        let (shared, all) = (self.cpus.shared.len(), self.cpus.cpus.count());
        (shared > 0).then(|| format!("{shared} of {all} processors are in use by other runs as well"))
    }
}

/// Room for looking around.
const LOOK_BYTES: u64 = 16 << 20;

/// Looks around as `job` would, in a workspace of its own.
///
/// # Errors
/// When the environment's Python does not start in the sandbox.
pub fn look(sandbox: &dyn Sandbox, job: &Job) -> Result<Granted, RunError> {
    let folder = scratch::folder()?;
    let place = folder.path().join("workspace");
    workspace::create(&place).map_err(|source| podium_sandbox::SandboxError::Io {
        action: "creating",
        path: place.clone(),
        source,
    })?;
    let mut look = Job { workspace: place.clone(), ..job.clone() };
    // It looks from another disk than the run's, which may be full: that is for the run to say.
    look.limits.workspace_bytes = look.limits.workspace_bytes.max(LOOK_BYTES);
    let granted = read_back_now(sandbox, &look)
        .map(|granted| Granted { disk_bytes: job.limits.workspace_bytes, ..granted });
    // The temporary folder would not remove what a program has locked.
    let _ = workspace::remove(&place);
    Ok(granted?)
}

/// The room that a workspace has on the disk of `folder`, or of the nearest folder above it that is there.
pub fn room(folder: &Path) -> u64 {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    // A file system that does not tell is taken at its word: the writes themselves will.
    rustix::fs::statvfs(there).map_or(u64::MAX, |facts| facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// What a workspace on the disk of `folder` may grow to, of what is `asked` for, as an agent is told it. What the disk
/// has less of is rounded down to a power of two: a prompt must not change with every file that somebody writes.
pub fn disk(folder: &Path, asked: u64) -> u64 {
    let room = room(folder);
    let room = room - room / 8;
    if room >= asked { asked } else { 1 << room.max(1).ilog2() }
}

/// What the disk has less of than was asked for, in words; of the default nobody has to hear.
pub fn disk_cut(asked: u64, granted: u64) -> Option<String> {
    let gib = |bytes: u64| bytes >> 30;
    let named = asked != Allowances::default().disk_bytes;
    (named && granted < asked).then(|| {
        format!("disk: {} GiB for a working folder, about {} GiB are free", gib(asked), gib(granted))
    })
}

/// The sandbox in a run's report: what it was, what it granted, and with what code ran in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// Kind, strength, what is missing.
    #[serde(flatten)]
    pub facts: Facts,
    /// What was in force, read back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted: Option<Granted>,
    /// The machine by name that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What this machine has less of than was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// What was shared with other harnesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<String>,
    /// Version of the graphics driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_driver: Option<String>,
    /// Python and its packages with their versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Description>,
    /// Said wherever code ran without a boundary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// The warning of a kind that has no boundary.
pub fn warning(kind: SandboxKind) -> Option<String> {
    let text = "agents' code runs as you, without a boundary: it can read your files and use the network";
    (kind == SandboxKind::Process).then(|| text.to_owned())
}

/// What the agent was told when the run began and does not hold any more, in words: a resume on another machine, say.
pub fn changed(told: &Grants, now: &Granted) -> Option<String> {
    let mib = |bytes: Option<u64>| {
        bytes.map_or_else(|| "unlimited memory".to_owned(), |bytes| format!("{} MiB", bytes >> 20))
    };
    let words = |grants: &Grants| {
        format!("{} CPUs, {}, {} GPUs", grants.cpus, mib(grants.memory_bytes), grants.gpus.len())
    };
    let (before, after) = (words(told), words(&self::told(now)));
    (before != after)
        .then(|| format!("the agent was told of {before} when the run began; now it has {after}"))
}

/// What a strategy is told of what was read back.
pub fn told(granted: &Granted) -> Grants {
    Grants {
        cpus: granted.cpus,
        memory_bytes: Some(granted.memory_bytes),
        gpus: granted.gpus.clone(),
        network: granted.network,
        shm_bytes: granted.shm_bytes,
        disk_bytes: Some(granted.disk_bytes),
        mounts: granted.mounts.values().cloned().collect(),
    }
}
