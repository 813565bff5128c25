//! Following one container to its end: the same stages as for a child of ours, through the engine.
//!
//! The program is let go here, so its time begins here. The end is what the engine says, or sooner what can be seen of
//! the first process. When [`follow`] returns, every process of the container is dead.

use std::{
    future::pending,
    os::fd::AsFd,
    pin::Pin,
    time::{Duration, Instant},
};

use bollard::{
    Docker as Client,
    container::{AttachContainerResults, LogOutput},
    errors::Error as ClientError,
    query_parameters::{KillContainerOptions, WaitContainerOptions},
};
use futures_util::{Stream, StreamExt};
use podium_types::execution::LimitHit;
use rustix::process::Signal;
use tokio::{
    io::AsyncWriteExt,
    time::{sleep_until, timeout},
};

use super::{engine::refused, witness::Witness};
use crate::{
    SandboxError,
    output::Recorder,
    spawn::{Reaped, readable},
    watch::{Ending, Plan},
    watchdog::Watchdog,
};

/// How long a killed container may take to end before that is an error.
const STUCK: Duration = Duration::from_secs(30);
/// How often the counters are read, should the last reading come too late.
const LOOK: Duration = Duration::from_millis(500);
/// How long output may take to arrive when everything that could write it is dead.
const DRAIN: Duration = Duration::from_secs(10);

/// A started container whose program waits to be let go.
pub(super) struct Running<'a> {
    pub(super) client: &'a Client,
    pub(super) id: &'a str,
    pub(super) attached: AttachContainerResults,
    pub(super) witness: Option<Witness>,
}

enum Stage {
    Running,
    Interrupted,
    Killed,
    Ended,
}

/// Lets the program go and follows it to its end. Returns the ending and the exit code; the witness has looked last
/// when the last process ended.
pub(super) async fn follow(
    running: &mut Running<'_>,
    plan: &Plan,
    mut watchdog: Watchdog,
) -> Result<Ending, SandboxError> {
    let Running { client, id, attached, witness } = running;
    let start = Instant::now();
    let mut output =
        Reader { stream: Some(&mut attached.output), recorder: Recorder::new(plan.head, plan.tail) };
    let go = attached.input.write_all(b"\n").await;
    go.map_err(|source| SandboxError::System { call: "letting the program go", source })?;
    let options = WaitContainerOptions { condition: "not-running".to_owned() };
    let mut exit = std::pin::pin!(client.wait_container(id, Some(options)));
    let mut stage = Stage::Running;
    let (mut limit, mut wall) = (None, None);
    let mut next = start.checked_add(plan.timeout).unwrap_or(start + Duration::from_hours(24 * 365));
    let mut next_look = start + LOOK;
    let code = loop {
        tokio::select! {
            () = output.read(), if output.stream.is_some() => {}
            code = exit.next() => break exit_code(code)?,
            () = ended(witness.as_ref()), if wall.is_none() => {
                wall = Some(start.elapsed());
                if let Some(witness) = witness.as_mut() {
                    witness.meters.look();
                }
                if !matches!(stage, Stage::Killed) {
                    stage = Stage::Ended;
                }
                next = Instant::now() + STUCK;
            }
            () = sleep_until(next_look.into()), if witness.is_some() && wall.is_none() => {
                if let Some(witness) = witness.as_mut() {
                    witness.meters.look();
                }
                next_look = Instant::now() + LOOK;
            }
            () = sleep_until(next.into()) => match stage {
                Stage::Running => {
                    let limit_ms = u64::try_from(plan.timeout.as_millis()).unwrap_or(u64::MAX);
                    limit = Some(LimitHit::WallClock { limit_ms });
                    signal(client, id, witness.as_ref(), Signal::INT).await;
                    (stage, next) = (Stage::Interrupted, Instant::now() + plan.grace);
                }
                Stage::Interrupted => {
                    signal(client, id, witness.as_ref(), Signal::KILL).await;
                    (stage, next) = (Stage::Killed, Instant::now() + STUCK);
                }
                Stage::Killed | Stage::Ended => return Err(SandboxError::Stuck { seconds: STUCK.as_secs() }),
            },
            () = plan.cancel.cancelled(), if matches!(stage, Stage::Running | Stage::Interrupted) => {
                signal(client, id, witness.as_ref(), Signal::KILL).await;
                (stage, next) = (Stage::Killed, Instant::now() + STUCK);
            }
            hit = watchdog.breach(), if matches!(stage, Stage::Running) => {
                limit = Some(hit);
                signal(client, id, witness.as_ref(), Signal::KILL).await;
                (stage, next) = (Stage::Killed, Instant::now() + STUCK);
            }
        }
    };
    let wall = wall.unwrap_or_else(|| start.elapsed());
    output.drain(plan.drain.max(DRAIN)).await;
    if plan.cancel.is_cancelled() {
        return Err(SandboxError::Cancelled);
    }
    let reaped = Reaped { code: Some(code), signal: None, cpu: Duration::ZERO };
    let killed = matches!(stage, Stage::Killed);
    Ok(Ending { reaped, killed, limit, output: output.recorder.finish(), wall })
}

/// Waits for the end of the first process; for ever where it cannot be seen.
async fn ended(witness: Option<&Witness>) {
    let Some(witness) = witness else { return pending().await };
    match readable(witness.first.as_fd()) {
        Ok(first) if first.readable().await.is_ok() => {}
        // The engine will say it.
        _ => pending().await,
    }
}

/// Sends a signal to the container's first process, which hands it on.
async fn signal(client: &Client, id: &str, witness: Option<&Witness>, signal: Signal) {
    if witness.is_some_and(|witness| witness.signal(signal)) {
        return;
    }
    let name = if signal == Signal::INT { "SIGINT" } else { "SIGKILL" };
    let options = KillContainerOptions { signal: name.to_owned() };
    // One that has ended in the meantime needs none; one that cannot be killed is noticed as stuck.
    if let Ok(Err(error)) = timeout(STUCK, client.kill_container(id, Some(options))).await {
        tracing::debug!(container = id, %error, "no signal was sent");
    }
}

/// The exit code that the engine reports. A code that is not zero arrives as an error and is none.
fn exit_code(
    answer: Option<Result<bollard::models::ContainerWaitResponse, ClientError>>,
) -> Result<i32, SandboxError> {
    let code = match answer {
        Some(Ok(response)) => response.status_code,
        Some(Err(ClientError::DockerContainerWaitError { code, .. })) => code,
        Some(Err(error)) => return Err(refused("waiting for a container")(error)),
        None => {
            let message = "the engine stopped answering while a container ran".to_owned();
            return Err(SandboxError::Start { message });
        }
    };
    Ok(i32::try_from(code).unwrap_or(i32::MAX))
}

type Frames = Pin<Box<dyn Stream<Item = Result<LogOutput, ClientError>> + Send>>;

/// The program's output, as the engine hands it on.
struct Reader<'a> {
    stream: Option<&'a mut Frames>,
    recorder: Recorder,
}

impl Reader<'_> {
    /// Takes one piece; may be dropped while it waits.
    async fn read(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        match stream.next().await {
            Some(Ok(piece)) => self.recorder.push(&piece.into_bytes()),
            Some(Err(_)) | None => self.stream = None,
        }
    }

    /// Takes what is left.
    async fn drain(&mut self, limit: Duration) {
        let all = async {
            while self.stream.is_some() {
                self.read().await;
            }
        };
        let _ = timeout(limit, all).await;
    }
}
