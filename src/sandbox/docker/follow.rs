//! Following one container to its end: the same stages as for a child of ours, through the engine.
//!
//! The program is let go here, so its time begins here. It ends when the shell around it says so (see
//! [`container`](super::container)), when the container's first process ends, or when the engine says so. Then everything
//! in the container is killed: when [`follow`] returns, every process of it is dead.

use std::{
    future::pending,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, Instant},
};

use bollard::{
    Docker as Client,
    container::AttachContainerResults,
    errors::Error as ClientError,
    models::ContainerWaitResponse,
    query_parameters::{KillContainerOptions, WaitContainerOptions},
};
use futures_util::StreamExt;
use rustix::process::Signal;
use tokio::{
    io::{AsyncWriteExt, unix::AsyncFd},
    time::{sleep_until, timeout},
};

use super::{
    engine::refused,
    frames::Frames,
    witness::{Meters, Witness},
};
use crate::{
    SandboxError,
    callback::Callbacks,
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
    pub(super) callbacks: Option<Callbacks>,
}

enum Stage {
    Running,
    Interrupted,
    Killed,
    /// The program has ended by itself; what it left is killed.
    Ended,
}

/// A container as far as signals go.
struct Target<'a> {
    client: &'a Client,
    id: &'a str,
    first: Option<&'a OwnedFd>,
}

/// Lets the program go and follows it to its end, when the witness has looked last.
pub(super) async fn follow(
    running: &mut Running<'_>,
    plan: &Plan,
    mut watchdog: Watchdog,
) -> Result<Ending, SandboxError> {
    let Running { client, id, attached, witness, callbacks: _ } = running;
    let (first, mut meters) = match witness {
        Some(Witness { first, meters, .. }) => (Some(&*first), Some(meters)),
        None => (None, None),
    };
    let target = Target { client, id, first };
    // Where it cannot be waited for, the engine will say it.
    let last = first.and_then(|first| readable(first.as_fd()).ok());
    let start = Instant::now();
    let mut frames = Frames::new(&mut attached.output, plan.head, plan.tail);
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
            () = frames.read(), if frames.are_open() => {}
            code = exit.next() => break exit_code(code)?,
            () = ended(last.as_ref()), if wall.is_none() => {
                wall = Some(start.elapsed());
                look(meters.as_deref_mut());
                (stage, next) = (Stage::Ended, Instant::now() + STUCK);
            }
            () = sleep_until(next_look.into()), if wall.is_none() => {
                look(meters.as_deref_mut());
                next_look = Instant::now() + LOOK;
            }
            () = sleep_until(next.into()) => match stage {
                Stage::Running => {
                    limit = Some(plan.over(start));
                    target.signal(Signal::INT).await;
                    (stage, next) = (Stage::Interrupted, Instant::now() + plan.grace);
                }
                Stage::Interrupted => {
                    target.signal(Signal::KILL).await;
                    (stage, next) = (Stage::Killed, Instant::now() + STUCK);
                }
                Stage::Killed | Stage::Ended => return Err(SandboxError::Stuck { seconds: STUCK.as_secs() }),
            },
            () = plan.stop.cancelled(), if matches!(stage, Stage::Running) && next > Instant::now() => {
                next = Instant::now();
            }
            () = plan.cancel.cancelled(), if matches!(stage, Stage::Running | Stage::Interrupted) => {
                target.signal(Signal::KILL).await;
                (stage, next) = (Stage::Killed, Instant::now() + STUCK);
            }
            hit = watchdog.breach(), if matches!(stage, Stage::Running) => {
                limit = Some(hit);
                target.signal(Signal::KILL).await;
                (stage, next) = (Stage::Killed, Instant::now() + STUCK);
            }
        }
        if frames.code().is_some() && wall.is_none() && matches!(stage, Stage::Running | Stage::Interrupted) {
            wall = Some(start.elapsed());
            look(meters.as_deref_mut());
            target.signal(Signal::KILL).await;
            (stage, next) = (Stage::Ended, Instant::now() + STUCK);
        }
    };
    let wall = wall.unwrap_or_else(|| start.elapsed());
    frames.drain(plan.drain.max(DRAIN)).await;
    if plan.cancel.is_cancelled() {
        return Err(SandboxError::Cancelled);
    }
    let killed = matches!(stage, Stage::Killed);
    // What it said before it was killed does not count: it may have said so to look well.
    let code = frames.code().filter(|_| !killed).unwrap_or(code);
    let reaped = Reaped { code: Some(code), signal: None, cpu: Duration::ZERO };
    Ok(Ending { reaped, killed, limit, output: frames.finish(), wall })
}

/// Waits for the end of the first process; for ever where it cannot be seen.
async fn ended(first: Option<&AsyncFd<BorrowedFd<'_>>>) {
    match first {
        Some(first) if first.readable().await.is_ok() => {}
        _ => pending().await,
    }
}

fn look(meters: Option<&mut Meters>) {
    if let Some(meters) = meters {
        meters.look();
    }
}

impl Target<'_> {
    /// Sends a signal to the container's first process, which hands it on.
    async fn signal(&self, signal: Signal) {
        let Self { client, id, first } = self;
        if first.is_some_and(|first| rustix::process::pidfd_send_signal(first, signal).is_ok()) {
            return;
        }
        let name = if signal == Signal::INT { "SIGINT" } else { "SIGKILL" };
        let options = KillContainerOptions { signal: name.to_owned() };
        // One that has ended in the meantime needs none; one that cannot be killed is noticed as stuck.
        if let Ok(Err(error)) = timeout(STUCK, client.kill_container(id, Some(options))).await {
            tracing::debug!(container = id, %error, "no signal was sent");
        }
    }
}

/// The exit code that the engine reports. A code that is not zero arrives as an error and is none.
fn exit_code(answer: Option<Result<ContainerWaitResponse, ClientError>>) -> Result<i32, SandboxError> {
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
