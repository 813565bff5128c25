//! The threads that start children.
//!
//! The parent-death signal, by which a jail dies with the harness, follows the *thread* that forked, not the process.
//! A thread of a runtime's pool retires when it is idle and would take the jails it started with it. So children are
//! started by threads that live as long as the process. A start blocks for some milliseconds and is done on one such
//! thread from end to end: each change of thread costs a turn of a busy machine. There are as many threads as there
//! ever were starts at one time, up to a bound; beyond it starts wait for each other.

use std::{
    cell::Cell,
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    process::Command,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use tokio::{runtime::Handle, sync::oneshot};

use crate::{
    SandboxError,
    spawn::{self, Preparation, Started},
};

/// Threads at most. A start waits more than it computes.
const MOST: usize = 32;

type Work = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    idle: usize,
    threads: usize,
}

struct Pool {
    waiting: Mutex<Waiting>,
    come: Condvar,
}

static POOL: Pool = Pool {
    waiting: Mutex::new(Waiting { work: VecDeque::new(), idle: 0, threads: 0 }),
    come: Condvar::new(),
};

thread_local! {
    /// What this thread is to the pool.
    static ROLE: Cell<Role> = const { Cell::new(Role::Stranger) };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Stranger,
    Starter,
    /// Lives on for the children that it has started, and starts no more.
    Retired,
}

/// Runs work that starts children, within the caller's runtime. Where nobody waits for it any more its result is
/// dropped.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SandboxError> + Send + 'static,
) -> Result<T, SandboxError> {
    let (reply, answer) = oneshot::channel();
    begin(move || {
        // A result that nobody takes is dropped, which kills what was started.
        let _ = reply.send(work());
    })?;
    answer.await.unwrap_or_else(|_| Err(failed(io::Error::other("the start panicked"))))
}

/// The same for work that nobody waits for, within the caller's runtime where there is one.
pub(crate) fn begin(work: impl FnOnce() + Send + 'static) -> Result<(), SandboxError> {
    let runtime = Handle::try_current().ok();
    let work = move || {
        let _entered = runtime.as_ref().map(Handle::enter);
        work();
    };
    POOL.add(Box::new(work)).map_err(failed)
}

fn failed(source: io::Error) -> SandboxError {
    SandboxError::System { call: "starting on another thread", source }
}

/// Starts a child; to be called within [`run`]. Blocks until it runs its program, for about a millisecond.
pub(crate) fn spawn(command: Command, preparation: Preparation) -> Result<Started, SandboxError> {
    let program = command.get_program().to_owned();
    let failed = |source| SandboxError::Io { action: "starting", path: program.into(), source };
    if ROLE.get() != Role::Starter {
        return Err(failed(io::Error::other("this thread may end before its children")));
    }
    spawn::spawn(command, preparation).map_err(failed)
}

/// This thread is on a long-lived one of [`run`] that has not been [retired](retire).
pub(crate) fn is_starter() -> bool {
    ROLE.get() == Role::Starter
}

/// Says that this thread is not what it was, so that it must start nothing more.
pub(crate) fn retire() {
    ROLE.set(Role::Retired);
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&'static self, work: Work) -> io::Result<()> {
        let mut waiting = self.lock();
        waiting.work.push_back(work);
        if waiting.work.len() <= waiting.idle || waiting.threads >= MOST {
            drop(waiting);
            self.come.notify_one();
            return Ok(());
        }
        match std::thread::Builder::new().name("podium-starter".to_owned()).spawn(|| self.serve()) {
            Ok(_) => waiting.threads += 1,
            // The others will come to it.
            Err(_) if waiting.threads > 0 => {}
            Err(error) => {
                waiting.work.pop_back();
                return Err(error);
            }
        }
        Ok(())
    }

    fn serve(&self) {
        ROLE.set(Role::Starter);
        while is_starter() {
            let mut waiting = self.lock();
            waiting.idle += 1;
            let mut waiting = self
                .come
                .wait_while(waiting, |waiting| waiting.work.is_empty())
                .unwrap_or_else(PoisonError::into_inner);
            waiting.idle -= 1;
            let work = waiting.work.pop_front();
            drop(waiting);
            // A panic must not end the thread: its children would die.
            let _ = work.map(|work| catch_unwind(AssertUnwindSafe(work)));
        }
        self.lock().threads -= 1;
        loop {
            std::thread::park();
        }
    }
}
