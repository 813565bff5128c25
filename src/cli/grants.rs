//! Arguments that say where code runs and what it is granted, the same for `run` and for `sandbox`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use podium_sandbox::{DockerSettings, Strength};

use crate::cli::failure::Failure;
use crate::cli::values;
use crate::run::grants::Asked;

/// What an execution is granted.
#[derive(Debug, Args)]
pub(crate) struct GrantArguments {
    /// Refuse a sandbox weaker than this: full, namespaces or limits
    #[arg(long, value_name = "STRENGTH", help_heading = "What code is granted")]
    require_sandbox: Option<Strength>,
    /// Image of the docker kind, by name; it is never pulled [default: an empty root over this machine's /usr]
    #[arg(long, value_name = "IMAGE", help_heading = "What code is granted")]
    image: Option<String>,
    /// Runtime of the docker kind, such as sysbox-runc or runsc [default: the engine's]
    #[arg(long, value_name = "NAME", help_heading = "What code is granted")]
    runtime: Option<String>,
    /// Begin scripts in a copy of an interpreter that has its imports done, in a jail. `auto`: all of an offline
    /// competition, else those with a time limit of at most ten minutes [default: auto]. Results are the same
    #[arg(long, value_name = "WHEN", help_heading = "What code is granted")]
    warm: Option<Warm>,
    /// A machine by name, cut to what this one has: `mle-bench-paper` has 36 CPUs, 440 GB, one GPU and 24 h
    #[arg(long, value_name = "NAME", help_heading = "What code is granted")]
    machine: Option<String>,
    /// Memory of an execution, such as 8GiB [default: three quarters of the machine's, shared by the scaffold's workers]
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = "What code is granted")]
    memory: Option<u64>,
    /// Processors of an execution [default: all, shared by the scaffold's workers]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "What code is granted")]
    cpus: Option<usize>,
    /// GPUs of an execution; each is leased to one run alone [default: 0]
    #[arg(long, value_name = "N", help_heading = "What code is granted")]
    gpus: Option<usize>,
    /// Size of /dev/shm, which counts as memory [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = "What code is granted")]
    shm: Option<u64>,
    /// Size of /tmp, which counts as memory [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = "What code is granted")]
    tmp: Option<u64>,
    /// What the working folder may grow to [default: 32GiB]
    #[arg(long, value_name = "SIZE", value_parser = values::size, help_heading = "What code is granted")]
    disk: Option<u64>,
    /// A folder to be read as /mounts/NAME; may be repeated. `hf` sets `HF_HOME` to it, `torch` sets `TORCH_HOME`
    #[arg(long, value_name = "NAME=PATH", value_parser = values::mount, help_heading = "What code is granted")]
    mount: Vec<(String, PathBuf)>,
    /// Profile of the Python environment: see benchmark/environments [default: base]
    #[arg(long, value_name = "NAME", help_heading = "What code is granted")]
    pub(crate) environment: Option<String>,
}

/// When scripts begin warm.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Warm {
    Auto,
    On,
    Off,
}

impl Warm {
    /// As the library takes it.
    const fn asked(self) -> Option<bool> {
        match self {
            Self::Auto => None,
            Self::On => Some(true),
            Self::Off => Some(false),
        }
    }
}

impl GrantArguments {
    /// As the library takes it, the kind of sandbox aside.
    pub(crate) fn asked(&self) -> Result<Asked, Failure> {
        Ok(Asked {
            kind: None,
            warm: self.warm.and_then(Warm::asked),
            docker: DockerSettings {
                image: self.image.clone(),
                runtime: self.runtime.clone(),
                ..DockerSettings::default()
            },
            require: self.require_sandbox,
            machine: self.machine.clone(),
            memory_bytes: self.memory,
            cpus: self.cpus,
            gpus: self.gpus,
            shm_bytes: self.shm,
            tmp_bytes: self.tmp,
            disk_bytes: self.disk,
            mounts: self.mounts()?,
            environment: self.environment.clone().unwrap_or_else(|| "base".to_owned()),
        })
    }

    /// The folders by name, as absolute paths.
    fn mounts(&self) -> Result<BTreeMap<String, PathBuf>, Failure> {
        let mut mounts = BTreeMap::new();
        for (name, path) in &self.mount {
            let found = path.canonicalize().map_err(|error| {
                Failure::usage(format!("--mount {name}: {} cannot be used: {error}", path.display()))
                    .hint("name a folder or file that is there: --mount hf=$HOME/.cache/huggingface")
            })?;
            if mounts.insert(name.clone(), found).is_some() {
                return Err(Failure::usage(format!("--mount {name} is given twice")));
            }
        }
        Ok(mounts)
    }
}
