//! The one thread that starts children.
//!
//! The parent-death signal, by which a jail dies with the harness, follows the *thread* that forked, not the process.
//! A thread of a runtime's pool retires when it is idle and would take the jails it started with it. So all children
//! are started by one thread that lives as long as the process.

use std::{
    io,
    process::Command,
    sync::{OnceLock, mpsc},
};

use crate::{
    SandboxError,
    spawn::{self, Preparation, Started},
};

struct Request {
    command: Command,
    preparation: Preparation,
    reply: mpsc::SyncSender<io::Result<Started>>,
}

/// Starts a child from the supervisor's thread. Blocks until it runs its program, for about a millisecond.
pub(crate) fn spawn(command: Command, preparation: Preparation) -> Result<Started, SandboxError> {
    let program = command.get_program().to_owned();
    let failed = |source| SandboxError::Io { action: "starting", path: program.into(), source };
    let (reply, answer) = mpsc::sync_channel(1);
    let request = Request { command, preparation, reply };
    let gone = || io::Error::other("the supervisor thread has ended");
    match thread() {
        Some(sender) if sender.send(request).is_ok() => match answer.recv() {
            Ok(started) => started.map_err(failed),
            Err(_) => Err(failed(gone())),
        },
        _ => Err(failed(gone())),
    }
}

/// The thread's request queue; `None` when the thread could not be started.
fn thread() -> Option<&'static mpsc::Sender<Request>> {
    static THREAD: OnceLock<Option<mpsc::Sender<Request>>> = OnceLock::new();
    THREAD
        .get_or_init(|| {
            let (sender, requests) = mpsc::channel::<Request>();
            std::thread::Builder::new()
                .name("podium-supervisor".to_owned())
                .spawn(move || {
                    for Request { command, preparation, reply } in requests {
                        // A reply that nobody takes drops the child, which kills it.
                        let _ = reply.send(spawn::spawn(command, preparation));
                    }
                })
                .ok()
                .map(|_| sender)
        })
        .as_ref()
}
