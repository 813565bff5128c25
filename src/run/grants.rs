//! What one execution is to be granted: its part of the machine, with the origin of each value.
//!
//! What is asked for, else what a named machine had, else an even share of this machine; never more than there is.
//! Nothing is probed or leased here: what is really in force is read back later (see [`resources`](super::resources)).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use podium_sandbox::{DockerSettings, GpuRoot, SandboxKind, Strength};

use crate::run::config::{Allowances, SandboxConfig, WarmStarts};
use crate::run::error::RunError;
use crate::run::machine;
use crate::run::order::{Origin, given};
use crate::run::preset::MachinePreset;
use crate::run::site::Site;

/// What a user asks of the sandbox. `None`: the default.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Kind of sandbox; the jail by default.
    pub kind: Option<SandboxKind>,
    /// Image and runtime of the docker kind.
    pub docker: DockerSettings,
    /// Warm starts; by default see [`Self::warm_starts`].
    pub warm: Option<bool>,
    /// Refuse anything weaker.
    pub require: Option<Strength>,
    /// A machine by name.
    pub machine: Option<String>,
    /// Memory of an execution in bytes.
    pub memory_bytes: Option<u64>,
    /// Processors of an execution.
    pub cpus: Option<usize>,
    /// Graphics processors of an execution.
    pub gpus: Option<usize>,
    /// Size of `/dev/shm` in bytes.
    pub shm_bytes: Option<u64>,
    /// Size of `/tmp` in bytes.
    pub tmp_bytes: Option<u64>,
    /// What a workspace may grow to, in bytes.
    pub disk_bytes: Option<u64>,
    /// Read-only folders by name.
    pub mounts: BTreeMap<String, PathBuf>,
    /// Name of the Python environment's profile.
    pub environment: String,
}

/// The machine as far as it can be granted.
struct Machine {
    memory: u64,
    cpus: usize,
    gpus: usize,
}

/// Values as they are resolved.
struct Resolving<'a> {
    asked: &'a Asked,
    preset: Option<MachinePreset>,
    machine: Machine,
    workers: usize,
    cut: Vec<String>,
    origins: &'a mut Vec<Origin>,
}

impl Asked {
    /// Which scripts begin warm. Unasked: all of an offline competition, which are short of themselves, and else those
    /// with a short time limit; where training takes hours the imports do not count. Only a jail can.
    pub fn warm_starts(&self, is_offline: bool) -> WarmStarts {
        match (self.kind.unwrap_or(SandboxKind::Jail), self.warm) {
            (SandboxKind::Docker | SandboxKind::Process, _) | (_, Some(false)) => WarmStarts::Off,
            (SandboxKind::Jail, Some(true)) => WarmStarts::All,
            (SandboxKind::Jail, None) if is_offline => WarmStarts::All,
            (SandboxKind::Jail, None) => WarmStarts::Short,
        }
    }

    /// Refuses what would otherwise be passed over in silence: an environment that there is not, and what only
    /// containers have.
    fn check_names(&self, site: &Site) -> Result<(), RunError> {
        let kind = self.kind.unwrap_or(SandboxKind::Jail);
        let named = [("image", &self.docker.image), ("runtime", &self.docker.runtime)];
        if let Some((option, _)) = named.into_iter().find(|(_, name)| name.is_some())
            && kind != SandboxKind::Docker
        {
            return Err(RunError::NoContainer { option, kind });
        }
        if site.python.is_none() && site.requirements(&self.environment).is_empty() {
            let name = self.environment.clone();
            let known = site.environments();
            let nearest = podium_types::nearest::nearest(&name, known.iter().map(String::as_str));
            return Err(RunError::UnknownEnvironment { name, known, nearest });
        }
        Ok(())
    }

    /// The grant of one execution where `workers` of them may run at the same time.
    ///
    /// # Errors
    /// When the machine cannot give that to all of them, or a name is unknown.
    pub fn resolve(
        &self,
        site: &Site,
        workers: u32,
        origins: &mut Vec<Origin>,
    ) -> Result<SandboxConfig, RunError> {
        self.check_names(site)?;
        let preset = self.machine.as_ref().map(|name| MachinePreset::load(site, name)).transpose()?;
        let machine = Machine {
            memory: machine::memory(),
            cpus: podium_sandbox::CpuSet::default().count(),
            gpus: site.gpus().len(),
        };
        let workers = usize::try_from(workers).unwrap_or(usize::MAX).max(1);
        let mut resolving = Resolving { asked: self, preset, machine, workers, cut: Vec::new(), origins };
        resolving.tell(
            "sandbox",
            self.kind.unwrap_or(SandboxKind::Jail).to_string(),
            given(self.kind.is_some()),
        );
        if let Some(name) = &self.machine {
            let text = resolving.preset.as_ref().map(|preset| preset.description.clone()).unwrap_or_default();
            resolving.tell("machine", text, format!("benchmark/machines/{name}.toml"));
        }
        let memory_bytes = resolving.memory()?;
        let cpus = resolving.cpus()?;
        let gpus = resolving.gpus()?;
        let allowances = resolving.allowances(memory_bytes);
        let own_python = site.python.is_some();
        let in_image = self.kind == Some(SandboxKind::Docker) && self.docker.image.is_some();
        let environment = match (own_python, in_image) {
            (true, true) => "image".to_owned(),
            (true, false) => "user".to_owned(),
            (false, _) => self.environment.clone(),
        };
        resolving.tell(
            "python environment",
            environment.clone(),
            if own_python { "command line" } else { "machine" }.to_owned(),
        );
        for (name, path) in &self.mounts {
            resolving.tell(&format!("mount {name}"), path.display().to_string(), given(true));
        }
        Ok(SandboxConfig {
            kind: self.kind.unwrap_or(SandboxKind::Jail),
            require: self.require,
            memory_bytes,
            cpus,
            environment,
            requirements: if own_python { String::new() } else { site.requirements(&self.environment) },
            gpus,
            allowances,
            mounts: self.mounts.keys().cloned().collect(),
            warm: self.warm_starts(false),
            image: self.docker.image.clone(),
            runtime: self.docker.runtime.clone(),
            machine: self.machine.clone(),
            cut: resolving.cut,
        })
    }
}

impl Resolving<'_> {
    fn tell(&mut self, name: &str, value: String, origin: String) {
        self.origins.push(Origin { name: name.to_owned(), value, origin });
    }

    /// Where a value of a preset or of the machine comes from.
    fn origin(&self, asked: bool, cut: bool) -> String {
        let source = match (asked, &self.asked.machine) {
            (true, _) => "command line".to_owned(),
            (false, Some(name)) => format!("benchmark/machines/{name}.toml"),
            (false, None) => "machine".to_owned(),
        };
        let shared = if !asked && self.workers > 1 {
            format!(", shared by {} executions at a time", self.workers)
        } else {
            String::new()
        };
        format!("{source}{shared}{}", if cut { ", cut to what the machine has" } else { "" })
    }

    /// What is granted of what this machine has less of, in words; kept with the run.
    fn cut(&mut self, what: &str, wanted: &str, has: &str) {
        let who = self
            .asked
            .machine
            .as_ref()
            .map_or_else(|| "the command line".to_owned(), |name| format!("`{name}`"));
        self.cut.push(format!("{what}: {who} asks for {wanted}, this machine has {has}"));
    }

    fn memory(&mut self) -> Result<u64, RunError> {
        let (machine, workers) = (self.machine.memory, self.workers as u64);
        let asked = self.asked.memory_bytes;
        let preset = self.preset.as_ref().map(MachinePreset::memory_bytes);
        // Three quarters of the memory by default: the rest is for the harness and its neighbours.
        let whole = preset.map_or(machine / 4 * 3, |preset| preset.min(machine));
        // What is really granted, for the agent is told: no more than the machine has.
        let granted = asked.map_or(whole / workers, |asked| asked.min(machine));
        let wanted = asked.or(preset).filter(|wanted| *wanted > machine);
        if let Some(wanted) = wanted {
            self.cut("memory", &mib(wanted), &mib(machine));
        }
        if asked.is_some() && granted.saturating_mul(workers) > machine && workers > 1 {
            let needed = mib(granted.saturating_mul(workers));
            return Err(self.overcommitted(mib(granted), needed, mib(machine)));
        }
        let origin = self.origin(asked.is_some(), wanted.is_some());
        self.tell("memory", mib(granted), origin);
        Ok(granted)
    }

    fn cpus(&mut self) -> Result<usize, RunError> {
        let (machine, workers) = (self.machine.cpus, self.workers);
        let asked = self.asked.cpus;
        let preset = self.preset.as_ref().map(|preset| preset.cpus);
        let whole = preset.map_or(machine, |preset| preset.min(machine));
        let granted = asked.map_or(whole / workers, |asked| asked.min(machine)).max(1);
        let wanted = asked.or(preset).filter(|wanted| *wanted > machine);
        if let Some(wanted) = wanted {
            self.cut("processors", &wanted.to_string(), &machine.to_string());
        }
        // One processor is the least there is: with more workers than processors, executions share them.
        if asked.is_some() && workers > 1 && granted > 1 && granted * workers > machine {
            let named = |count: usize| format!("{count} processors");
            return Err(self.overcommitted(named(granted), named(granted * workers), named(machine)));
        }
        let origin = self.origin(asked.is_some(), wanted.is_some());
        self.tell("cpus", granted.to_string(), origin);
        Ok(granted)
    }

    /// A preset's are cut; those that the command line asks for must be there.
    fn gpus(&mut self) -> Result<usize, RunError> {
        let (machine, workers) = (self.machine.gpus, self.workers);
        let asked = self.asked.gpus;
        let preset = self.preset.as_ref().map(|preset| preset.gpus);
        if let Some(asked) = asked.filter(|asked| *asked > machine) {
            let error = podium_sandbox::SandboxError::Gpus { asked, found: machine, busy: Vec::new() };
            return Err(error.into());
        }
        if let Some(asked) = asked.filter(|asked| asked * workers > machine) {
            let named = |count: usize| format!("{count} GPUs");
            return Err(self.overcommitted(named(asked), named(asked * workers), named(machine)));
        }
        let wanted = preset.filter(|wanted| asked.is_none() && *wanted > machine);
        if let Some(wanted) = wanted {
            self.cut(
                "GPUs",
                &wanted.to_string(),
                &if machine == 0 { "none".to_owned() } else { machine.to_string() },
            );
        }
        let shared = preset.map_or(0, |preset| preset.min(machine));
        let granted = asked.unwrap_or(shared / workers);
        let origin = if asked.is_none() && preset.is_none() {
            "default".to_owned()
        } else {
            self.origin(asked.is_some(), wanted.is_some())
        };
        self.tell("gpus", granted.to_string(), origin);
        Ok(granted)
    }

    /// Shared memory counts as memory, so there is never more of it.
    fn allowances(&mut self, memory_bytes: u64) -> Allowances {
        let (default, asked) = (Allowances::default(), self.asked);
        let gib = |value: Option<u64>| value.map(|gib| gib.saturating_mul(1 << 30));
        let shm = gib(self.preset.as_ref().and_then(|preset| preset.shm_gib));
        let disk = gib(self.preset.as_ref().and_then(|preset| preset.disk_gib));
        let mut value = |name: &str, asked: Option<u64>, preset: Option<u64>, default: u64, most: u64| {
            let origin = if asked.is_some() || preset.is_some() {
                self.origin(asked.is_some(), false)
            } else {
                "default".to_owned()
            };
            let value = asked.or(preset).unwrap_or(default).min(most);
            self.tell(name, mib(value), origin);
            value
        };
        Allowances {
            shm_bytes: value("shm", asked.shm_bytes, shm, default.shm_bytes, memory_bytes),
            tmp_bytes: value("tmp", asked.tmp_bytes, None, default.tmp_bytes, memory_bytes),
            disk_bytes: value("disk", asked.disk_bytes, disk, default.disk_bytes, u64::MAX),
        }
    }

    fn overcommitted(&self, each: String, needed: String, machine: String) -> RunError {
        RunError::Overcommitted { workers: self.workers, each, needed, machine }
    }
}

/// A size in words.
fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

/// What the sandbox that a run asks for is opened with.
pub fn sandbox_settings(config: &SandboxConfig) -> podium_sandbox::Settings {
    let (image, runtime) = (config.image.clone(), config.runtime.clone());
    let docker =
        podium_sandbox::DockerSettings { image, runtime, ..podium_sandbox::DockerSettings::default() };
    let warm = match config.warm {
        WarmStarts::Off => None,
        WarmStarts::Short => Some(podium_sandbox::WARM),
        WarmStarts::All => Some(Duration::MAX),
    };
    podium_sandbox::Settings { require: config.require, docker, warm, ..podium_sandbox::Settings::default() }
}

/// Processes and threads of an execution for each of its processors, where that is more than the default.
const PROCESSES_PER_CPU: u64 = 128;

/// Limits of one execution.
pub fn execution_limits(config: &SandboxConfig) -> podium_sandbox::Limits {
    let default = podium_sandbox::Limits::default();
    podium_sandbox::Limits {
        memory_bytes: config.memory_bytes,
        cpus: podium_sandbox::CpuSet::first(config.cpus),
        // Numeric libraries start a few threads per processor, and data loaders a few of those.
        processes: default.processes.max(config.cpus as u64 * PROCESSES_PER_CPU),
        shm_bytes: config.allowances.shm_bytes,
        tmp_bytes: config.allowances.tmp_bytes,
        workspace_bytes: config.allowances.disk_bytes,
        // A file may be as large as all of them.
        file_bytes: default.file_bytes.max(config.allowances.disk_bytes),
        ..default
    }
}

impl Site {
    /// Where graphics processors are looked for; a tree that stands for the machine's is for tests.
    pub fn gpu_root(&self) -> GpuRoot {
        self.variables.get("PODIUM_GPU_ROOT").map_or_else(GpuRoot::default, GpuRoot::below)
    }

    /// The graphics processors that there are for us.
    pub fn gpus(&self) -> Vec<podium_sandbox::Gpu> {
        self.gpu_root().find(self.variables.get("CUDA_VISIBLE_DEVICES").map(String::as_str))
    }
}
