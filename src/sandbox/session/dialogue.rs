//! A dialogue: one program that is spoken with over its standard input and output for as long as it lives.
//!
//! What it says on standard error is kept as the output of an execution is, and all limits of the job hold. Nothing is
//! read ahead: a program that speaks faster than it is heard waits, and what it says costs the harness no memory but
//! what the caller keeps. What comes through the pipes are the words of a hostile program.

use std::{
    ffi::OsString,
    future::Future,
    os::fd::{AsFd, OwnedFd},
    pin::Pin,
};

use podium_types::execution::Execution;
use tokio::net::unix::pipe;

use super::names::{self, CALLS, CONTROL, Names, OUTPUT};
use crate::{
    Job, SandboxError, finish,
    place::{Pipes, Place},
    program::{self, Launch, pipe_pair},
    supervisor,
    tree::{Tree, poll_failed},
    watch::{Plan, follow},
};

/// Words may wait in a pipe of this size; not every user may have it.
const PIPE_BYTES: usize = 1 << 20;

/// The future of starting one. Dropping it kills what was started.
pub type DialogueFuture<'a> = Pin<Box<dyn Future<Output = Result<Dialogue, SandboxError>> + Send + 'a>>;

/// A program that was started.
pub struct Dialogue {
    /// Its standard input; dropping it ends that.
    pub input: pipe::Sender,
    /// Its standard output. It may stay open in a container whose program has ended.
    pub output: pipe::Receiver,
    /// Kills every process, so that the end comes and tells what was said.
    pub kill: Box<dyn Fn() + Send + Sync>,
    /// Resolves when every process is dead. Nothing is watched unless it is polled; dropping it kills everything.
    pub end: Pin<Box<dyn Future<Output = Result<Execution, SandboxError>> + Send>>,
}

/// The harness's ends.
struct Ends {
    input: OwnedFd,
    output: OwnedFd,
    errors: OwnedFd,
}

/// Starts a program in a place.
pub(crate) async fn open<P: Place>(place: &P, job: &Job) -> Result<Dialogue, SandboxError> {
    program::refuse_check(job, place.found())?;
    let (here, mut copy) = (place.clone(), job.clone());
    let (mut live, ends, names) = supervisor::run(move || {
        finish::make_ready(&copy)?;
        let argv = program::command_line(&copy)?;
        let (launch, ends, names) = match here.pipes() {
            Pipes::Inherited => inherited(argv)?,
            Pipes::Named(owner) => named(argv, Names::create(owner)?)?,
        };
        if let Some(names) = &names {
            copy.mounts.insert(names::MOUNT.to_owned(), names.folder().to_owned());
        }
        Ok((here.start(&copy, launch, &ends.errors)?, ends, names))
    })
    .await?;
    let watchdog = place.watchdog(job, &live.tree);
    let (plan, job) = (Plan::new(job, place.settings()), job.clone());
    for pipe in [ends.input.as_fd(), ends.output.as_fd()] {
        let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
    }
    Ok(Dialogue {
        kill: live.tree.killer(),
        input: pipe::Sender::from_owned_fd(ends.input).map_err(poll_failed)?,
        output: pipe::Receiver::from_owned_fd(ends.output).map_err(poll_failed)?,
        end: Box::pin(async move {
            let _names = names;
            let ending = follow(&mut live, ends.errors, &plan, watchdog).await?;
            let evidence = live.tree.evidence(&ending.fate())?;
            finish::execution(&job, ending, evidence).await
        }),
    })
}

fn inherited(argv: Vec<OsString>) -> Result<(Launch, Ends, Option<Names>), SandboxError> {
    let (theirs, input) = pipe_pair()?;
    let (output, spoken) = pipe_pair()?;
    let (mut launch, errors) = Launch::new(argv)?;
    launch.stdin = Some(theirs);
    launch.spoken = Some(spoken);
    Ok((launch, Ends { input, output, errors }, None))
}

/// With pipes that the program opens by name. Its ends are open in the launch as well, so that what is written before
/// is not lost.
fn named(argv: Vec<OsString>, names: Names) -> Result<(Launch, Ends, Option<Names>), SandboxError> {
    let (theirs, input) = names.pipe(CALLS)?;
    let (output, spoken) = names.pipe(CONTROL)?;
    let (errors, told) = names.pipe(OUTPUT)?;
    let [calls, control, kept] = [CALLS, CONTROL, OUTPUT].map(names::inside);
    let redirect = format!("exec \"$@\" <{calls} >{control} 2>{kept}");
    let words = ["/bin/sh", "-c", &redirect, "sh"].map(OsString::from).into_iter();
    let argv = words.chain(argv).collect();
    let launch = Launch { argv, stdin: None, spoken: None, output: told, inherit: vec![theirs, spoken] };
    Ok((launch, Ends { input, output, errors }, Some(names)))
}
