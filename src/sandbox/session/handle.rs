//! A session as its caller has it.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use podium_types::{
    execution::Collected,
    session::{Observation, SessionEnd, SessionFacts, SessionKind, SessionState},
};
use tokio::{sync::mpsc, task::JoinHandle};

use super::{
    ObservationFuture, Session, SessionJob,
    channels::{self, Opened},
    control::nonce,
    language::Language,
    names,
    pump::{Close, Pump, Request},
    state::Shared,
};
use crate::{
    SandboxError,
    finish::{self, Network, millis},
    place::Place,
    program, supervisor,
    tree::{Killer, Tree},
    workspace,
};

/// How long a shell or kernel may take to say that it is there: importing on a loaded machine is slow.
const READY: Duration = Duration::from_mins(2);

/// The descriptors of a shell or kernel stand clear of those that programs use, from 100 on.
const LEAST_OPEN_FILES: u64 = 128;

/// What sessions add to the environment of executions; the job's own variables win.
const ENVIRONMENT: [(&str, &str); 8] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("PIP_NO_INPUT", "1"),
    ("PS1", ""),
    ("PS2", ""),
];

/// A session in a place.
struct SandboxSession<P: Place> {
    place: P,
    job: SessionJob,
    running: Running,
    facts: SessionFacts,
}

/// One generation: the task, and the caller's ends of what it works with.
struct Running {
    requests: mpsc::UnboundedSender<Request>,
    shared: Arc<Shared>,
    killer: Killer,
    /// Until its result was taken.
    task: Option<JoinHandle<Result<Close, SandboxError>>>,
}

/// Opens a session.
pub(crate) async fn open<P: Place>(place: &P, job: &SessionJob) -> Result<Box<dyn Session>, SandboxError> {
    program::refuse_check(&job.job, place.found())?;
    if job.job.limits.open_files < LEAST_OPEN_FILES {
        let given = job.job.limits.open_files;
        let message = format!(
            "an open files limit of {given} files is below the least of a session, {LEAST_OPEN_FILES}"
        );
        return Err(SandboxError::Job { message });
    }
    let mut job = job.clone();
    for (name, value) in ENVIRONMENT {
        job.job.env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
    }
    let place = place.clone();
    let (running, facts) = start(&place, &job, 1).await?;
    Ok(Box::new(SandboxSession { place, job, running, facts }))
}

/// Starts a generation and waits until it is there.
async fn start<P: Place>(
    place: &P,
    job: &SessionJob,
    generation: u32,
) -> Result<(Running, SessionFacts), SandboxError> {
    let (here, mut copy) = (place.clone(), job.clone());
    let (live, ends, language, names) = supervisor::run(move || {
        if generation == 1 {
            finish::make_ready(&copy.job)?;
        } else {
            // The folders that mounts stand on must be real again; a submission stays.
            workspace::prepare(&copy.job.workspace, None)
                .map_err(SandboxError::io("preparing", &copy.job.workspace))?;
        }
        let Opened { launch, ends, language, names } = channels::open(&copy, here.pipes())?;
        if let Some(names) = &names {
            copy.job.mounts.insert(names::MOUNT.to_owned(), names.folder().to_owned());
        }
        Ok((here.start(&copy.job, launch, &ends.output)?, ends, language, names))
    })
    .await?;
    let program = match &language {
        Language::Shell(shell) => shell.name(),
        Language::Kernel => "python".to_owned(),
    };
    let (watchdog, killer) = (place.watchdog(&job.job, &live.tree), live.tree.killer());
    let (pump, shared, requests) =
        Pump::new(job, place.settings(), live, ends, language, generation, watchdog)?;
    let running = Running { requests, shared, killer, task: Some(tokio::spawn(pump.run())) };
    running.shared.begin(true)?;
    running.ask(Request::Call { nonce: nonce()?, text: None });
    let greeting = running.shared.observe(READY).await;
    // It has opened what it needs, and nothing that it will run finds the names any more.
    drop(names);
    let program = match greeting.state {
        SessionState::Exited { .. } => program,
        SessionState::Completed { value } => value.unwrap_or(program),
        _ if job.job.cancel.is_cancelled() => return Err(SandboxError::Cancelled),
        _ => return Err(not_started(job.kind, &greeting)),
    };
    Ok((running, SessionFacts { kind: job.kind, program, generation }))
}

fn not_started(kind: SessionKind, greeting: &Observation) -> SandboxError {
    let said = greeting.output.text();
    let message = match said.trim() {
        "" => format!("the {kind} did not come up"),
        said => said.to_owned(),
    };
    SandboxError::Start { message }
}

impl Running {
    /// A task that is gone has said so, so nothing is lost with a request that it does not get.
    fn ask(&self, request: Request) {
        let _ = self.requests.send(request);
    }

    /// Kills everything and waits until it is dead; `None` when that was done before.
    async fn stop(&mut self) -> Result<Option<Close>, SandboxError> {
        self.ask(Request::Stop);
        let Some(task) = &mut self.task else { return Ok(None) };
        let result = task.await;
        self.task = None;
        result
            .unwrap_or_else(|error| {
                let source = std::io::Error::other(error);
                Err(SandboxError::System { call: "following the session", source })
            })
            .map(Some)
    }
}

impl Drop for Running {
    /// Kills everything at once; the task, which may get its turn later or never, does the rest.
    fn drop(&mut self) {
        if self.task.is_some() && !self.shared.is_over() {
            (self.killer)();
        }
    }
}

impl<P: Place> SandboxSession<P> {
    async fn observe(&self, soft: Duration) -> Result<Observation, SandboxError> {
        let observation = self.running.shared.observe(soft).await;
        if observation.is_over() && self.job.job.cancel.is_cancelled() {
            return Err(SandboxError::Cancelled);
        }
        Ok(observation)
    }

    async fn end(mut self: Box<Self>) -> Result<SessionEnd, SandboxError> {
        let Some(Close { ended, limit, evidence, wall }) = self.running.stop().await? else {
            return Err(SandboxError::SessionOver { kind: self.facts.kind });
        };
        let output = self.running.shared.kept().take();
        let submission: Collected = finish::submission(&self.job.job).await?;
        let usage = evidence.as_ref().map(|evidence| evidence.usage).unwrap_or_default();
        let cpu = evidence.as_ref().and_then(|evidence| evidence.cpu);
        let Network { refused, told } = evidence.map(|evidence| evidence.network).unwrap_or_default();
        Ok(SessionEnd {
            ended,
            limit,
            output,
            submission,
            wall_ms: millis(wall),
            cpu_ms: cpu.map(millis),
            peak_memory_bytes: usage.peak_memory,
            blocked: finish::blocked(usage, refused.saturating_add(told.questions)),
            names_asked: told.names,
            submission_checks: told.verdicts,
        })
    }
}

impl<P: Place> Session for SandboxSession<P> {
    fn facts(&self) -> &SessionFacts {
        &self.facts
    }

    fn is_over(&self) -> bool {
        self.running.shared.is_over()
    }

    fn send<'a>(&'a mut self, input: &'a str, soft: Duration) -> ObservationFuture<'a> {
        Box::pin(async move {
            if input.contains('\0') {
                return Err(SandboxError::Job { message: "a call cannot hold a NUL character".to_owned() });
            }
            let nonce = nonce()?;
            self.running.shared.begin(false)?;
            self.running.ask(Request::Call { nonce, text: Some(input.to_owned()) });
            self.observe(soft).await
        })
    }

    fn wait(&mut self, soft: Duration) -> ObservationFuture<'_> {
        Box::pin(self.observe(soft))
    }

    fn send_input<'a>(&'a mut self, text: &'a str, end: bool, soft: Duration) -> ObservationFuture<'a> {
        Box::pin(async move {
            if self.facts.kind == SessionKind::Kernel {
                return Err(SandboxError::Job { message: "a kernel has no standard input".to_owned() });
            }
            if self.running.shared.is_running() {
                self.running.ask(Request::Input { text: text.to_owned(), end });
            }
            self.observe(soft).await
        })
    }

    fn interrupt(&mut self, soft: Duration) -> ObservationFuture<'_> {
        Box::pin(async move {
            if self.running.shared.is_running() {
                self.running.ask(Request::Interrupt);
            }
            self.observe(soft).await
        })
    }

    fn restart(&mut self) -> Pin<Box<dyn Future<Output = Result<(), SandboxError>> + Send + '_>> {
        Box::pin(async move {
            self.running.stop().await?;
            let generation = self.facts.generation.saturating_add(1);
            (self.running, self.facts) = start(&self.place, &self.job, generation).await?;
            Ok(())
        })
    }

    fn close(self: Box<Self>) -> Pin<Box<dyn Future<Output = Result<SessionEnd, SandboxError>> + Send>> {
        Box::pin(self.end())
    }
}
