//! The docker kind: a container per execution, through an engine's interface.
//!
//! The same promises as the jail, kept by another program: see [`container`] for what a container may have. A container
//! does not die with the harness, for the engine is its parent; it bears a label instead, and the next start removes
//! what a killed harness left ([`sweep`]). Bind mounts are by path, so the engine must see the machine's files.
//!
//! Sessions are containers of the same make that live longer ([`tree`]).
//!
//! No program of ours is inside. What the engine reports is trusted; what the program prints is not.

mod container;
mod engine;
mod files;
mod follow;
mod frames;
mod image;
mod owner;
mod probe;
mod seccomp;
mod settings;
mod sweep;
mod tree;
mod witness;

use std::{ffi::OsString, path::PathBuf, sync::Arc};

use bollard::query_parameters::{AttachContainerOptions, CreateContainerOptions};
use podium_types::execution::{Ended, Execution, Program};

use self::{
    engine::{Engine, refused},
    files::Files,
    follow::{Running, follow},
    image::Image,
    owner::Owner,
    probe::Probed,
    sweep::{Held, Remover},
    witness::Witness,
};
use crate::{
    DialogueFuture, ExecutionFuture, Facts, InForce, Job, Sandbox, SandboxError, SessionFuture, SessionJob,
    Settings,
    callback::{Callbacks, Offered},
    cgroup::Usage,
    finish::{self, Evidence, Network},
    jail::root,
    program, session, supervisor, trial,
    watch::Plan,
    watchdog::Watchdog,
};

pub use settings::DockerSettings;

/// A docker kind that was probed.
#[derive(Clone, Debug)]
pub(crate) struct Docker {
    engine: Engine,
    image: Image,
    owner: Owner,
    profile: String,
    settings: Settings,
    facts: Facts,
    files: Arc<Files>,
    remover: Arc<Remover>,
    /// The shell of sessions, inside.
    shell: PathBuf,
}

impl Docker {
    /// Finds the engine and the image, removes what dead harnesses left, and runs a probe.
    pub(crate) fn open(settings: &Settings) -> Result<Self, SandboxError> {
        let (engine, image) = trial::apart(async {
            let engine = Engine::connect(&settings.docker).await?;
            sweep::sweep(&engine.client).await?;
            let image = Image::find(&engine, &settings.docker).await?;
            Ok((engine, image))
        })?;
        let owner = Owner::for_engine(engine.is_rootless());
        let remover = Remover::start(engine.client.clone())?;
        let facts = probe::blank(&engine, &image, owner);
        let mut docker = Self {
            engine,
            image,
            owner,
            profile: seccomp::profile(),
            settings: settings.clone(),
            facts,
            files: Arc::new(Files::create(owner)?),
            remover,
            shell: PathBuf::from("/bin/sh"),
        };
        let Probed { facts, shell } = match probe::probe(&docker) {
            Err(SandboxError::Ports { source }) => {
                docker.facts.callbacks = false;
                let mut probed = probe::probe(&docker)?;
                let why = format!("no port can be bound in the network of a container ({source})");
                probed.facts.missing.push(why);
                probed
            }
            probed => probed?,
        };
        (docker.facts, docker.shell) = (facts, shell);
        Ok(docker)
    }

    async fn run(&self, job: &Job) -> Result<Execution, SandboxError> {
        self.check(job)?;
        program::refuse_check(job, &self.facts)?;
        finish::prepare(job).await?;
        let argv = program::command_line(job)?;
        self.give(job).await?;
        let held = self.create(job, &argv).await?;
        let client = &self.engine.client;
        let mut running = self.take_hold(&held).await?;
        if let Some(witness) = running.witness.as_ref().filter(|_| self.facts.callbacks) {
            let (process, offered) = (witness.pid, Offered::of(job));
            let callbacks = supervisor::run(move || Callbacks::start(process, &offered)).await?;
            running.callbacks = Some(callbacks);
        }
        let watched = running.witness.as_ref().map(Witness::watched).unwrap_or_default();
        let watchdog = Watchdog::new(&job.workspace, &job.limits, watched);
        let ending = follow(&mut running, &Plan::new(job, &self.settings), watchdog).await?;
        let told = running.callbacks.map(|callbacks| callbacks.told()).unwrap_or_default();
        let (mut usage, refused) =
            running.witness.map_or((Usage::default(), 0), |witness| witness.meters.finish());
        if usage.oom_kills == 0 && self.ran_out_of_memory(&held).await? {
            usage.oom_kills = 1;
        }
        held.remove(client).await;
        let ended = tree::ended(ending.reaped.code.unwrap_or(-1));
        if matches!(job.program, Program::Python { .. }) && matches!(ended, Ended::Exit(126 | 127)) {
            self.check_python(job).await?;
        }
        let cpu = usage.cpu;
        let network = Network { refused, told };
        finish::execution(job, ending, Evidence { ended, usage, network, cpu, warm: false }).await
    }

    /// Gives the workspace to the program's user.
    async fn give(&self, job: &Job) -> Result<(), SandboxError> {
        let (owner, workspace) = (self.owner, job.workspace.clone());
        finish::blocking(move || owner.give(&workspace)).await
    }

    /// Makes the container. Whoever stops waiting for that leaves none behind.
    async fn create(&self, job: &Job, argv: &[OsString]) -> Result<Held, SandboxError> {
        let body = container::body(self, job, argv)?;
        let (client, remover) = (self.engine.client.clone(), Arc::clone(&self.remover));
        // A task of its own runs to its end even if this future is dropped, and then drops what it has made.
        let create = tokio::spawn(async move {
            let made = client.create_container(None::<CreateContainerOptions>, body).await;
            let made = made.map_err(refused("creating a container"))?;
            for warning in made.warnings {
                tracing::warn!(%warning, "the engine warns of a container");
            }
            Ok(Held::new(made.id, remover))
        });
        create.await.unwrap_or_else(|error| Err(SandboxError::Start { message: error.to_string() }))
    }

    /// Starts the container and takes hold of it. The program waits.
    async fn take_hold<'a>(&'a self, held: &'a Held) -> Result<Running<'a>, SandboxError> {
        let client = &self.engine.client;
        let options = AttachContainerOptions {
            stream: true,
            stdin: true,
            stdout: true,
            stderr: true,
            ..AttachContainerOptions::default()
        };
        let attached = client.attach_container(&held.id, Some(options)).await;
        let attached = attached.map_err(refused("attaching to a container"))?;
        client
            .start_container(&held.id, None)
            .await
            .map_err(|error| SandboxError::Start { message: error.to_string() })?;
        let state =
            client.inspect_container(&held.id, None).await.map_err(refused("inspecting a container"))?.state;
        let witness = Witness::of(state.and_then(|state| state.pid), &held.id);
        if witness.is_none() && self.facts.callbacks {
            let source = std::io::Error::other("the container's processes are not this machine's");
            return Err(SandboxError::Ports { source });
        }
        Ok(Running { client, id: &held.id, attached, witness, callbacks: None })
    }

    /// The engine's word, for where the control group cannot be seen.
    async fn ran_out_of_memory(&self, held: &Held) -> Result<bool, SandboxError> {
        let found = self.engine.client.inspect_container(&held.id, None).await;
        let state = found.map_err(refused("inspecting a container"))?.state;
        Ok(state.and_then(|state| state.oom_killed) == Some(true))
    }

    /// A runtime with a kernel of its own does not let a program use the machine's pipes.
    fn has_pipes(&self, what: &str) -> Result<(), SandboxError> {
        if self.engine.has_own_kernel() {
            let runtime = self.engine.runtime.as_deref().unwrap_or_default();
            let message = format!("the runtime `{runtime}` has no {what}");
            return Err(SandboxError::Job { message });
        }
        Ok(())
    }

    /// Tells an image without the interpreter from a script that ends as if there were none.
    async fn check_python(&self, job: &Job) -> Result<(), SandboxError> {
        let failed =
            SandboxError::NoPythonInImage { image: self.image.name.clone(), python: job.python.clone() };
        let trial = trial::python(job)?;
        match Box::pin(self.run(&trial.job)).await {
            Ok(execution) if execution.ended == Ended::Exit(0) => Ok(()),
            Ok(_) => Err(failed),
            Err(error) => Err(error),
        }
    }
}

impl Sandbox for Docker {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn check(&self, job: &Job) -> Result<(), SandboxError> {
        root::check(job)
    }

    /// As the engine says it has understood a container that is made for this, and never started.
    fn in_force(&self, job: &Job) -> Result<InForce, SandboxError> {
        let argv = [OsString::from("true")];
        let host = trial::apart(async {
            let held = self.create(job, &argv).await?;
            let found = self.engine.client.inspect_container(&held.id, None).await;
            held.remove(&self.engine.client).await;
            Ok(found.map_err(refused("inspecting a container"))?.host_config.unwrap_or_default())
        })?;
        let positive =
            |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok()).filter(|value| *value > 0);
        Ok(InForce {
            memory_bytes: positive(host.memory),
            processes: positive(host.pids_limit).map(|limit| limit.saturating_sub(container::OURS)),
            cpu_millis: positive(host.nano_cpus).map(|nano| nano / 1_000_000),
        })
    }

    fn execute<'a>(&'a self, job: &'a Job) -> ExecutionFuture<'a> {
        Box::pin(self.run(job))
    }

    fn open_dialogue<'a>(&'a self, job: &'a Job) -> DialogueFuture<'a> {
        Box::pin(async move {
            self.has_pipes("programs that are spoken with")?;
            self.check(job)?;
            session::dialogue::open(self, job).await
        })
    }

    fn open_session<'a>(&'a self, job: &'a SessionJob) -> SessionFuture<'a> {
        Box::pin(async move {
            self.has_pipes(&format!("{} sessions", job.kind))?;
            self.check(&job.job)?;
            let mut job = job.clone();
            job.shell.get_or_insert_with(|| self.shell.clone());
            session::open(self, &job).await
        })
    }
}
