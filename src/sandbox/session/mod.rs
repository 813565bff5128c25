//! Sessions: a shell or a kernel that keeps its state between calls, in one long-lived jail.
//!
//! A call (a command, a cell) is sent and looked at until it ends or the caller's soft time-out has passed; then it
//! goes on, and the caller can wait for it, give it input, interrupt it, or restart the session. What is printed is
//! read all the time, by a task of the session's own, so that a program in the background is never held up for want of
//! a reader. The limits of the job hold for the session as a whole; each one that fires is named.
//!
//! There is no terminal: standard output and standard error are one pipe, `isatty` is false, pagers are `cat`, and
//! progress bars and editors behave as in a batch job. What a model reads then is text in the order it was written,
//! without escape sequences, echoes and line widths.
//!
//! The end of a call is told through a descriptor of its own, under a number that is drawn for each call. The shell or
//! kernel runs in the same process as the model's code, and what that starts can open the descriptors of its parent, so
//! this is a *claim*: a call can pretend to have ended, or to have succeeded, and one that steals from the pipe of calls
//! can answer for the next. Nobody else can: the number is not known before it is sent. Time, memory, the end of the
//! process, and the submission at the end are measured from outside, and a restart makes everything new.
//!
//! - [`job`]: what a session runs, where, and for how long
//! - `handle`: the session as its caller has it; `state`: what both sides share
//! - `pump`: the task that reads, writes, and watches the limits
//! - `language`, `shell`, `kernel`: how calls are put, and how their ends are told
//! - `channels`, `control`: the pipes, and finding an end in what came through one; `names`: pipes that a program opens
//!   by name, where it inherits none
//! - `background`: what else runs in there
//! - [`dialogue`]: a program of somebody's own, spoken with over its standard input and output

mod background;
mod channels;
mod control;
pub mod dialogue;
mod handle;
pub mod job;
mod kernel;
mod language;
mod names;
mod pump;
mod shell;
mod state;

use std::{future::Future, pin::Pin, time::Duration};

use podium_types::session::{Observation, SessionEnd, SessionFacts};

use crate::SandboxError;

pub(crate) use handle::open;
pub use job::SessionJob;

/// The future of opening a session. Dropping it kills what was started.
pub type SessionFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Box<dyn Session>, SandboxError>> + Send + 'a>>;

/// The future of a look at a session. Dropping it loses nothing: the call goes on, and the next observation shows what
/// this one would have shown.
pub type ObservationFuture<'a> = Pin<Box<dyn Future<Output = Result<Observation, SandboxError>> + Send + 'a>>;

/// A shell or kernel that keeps its state. Dropping it kills every process of it.
pub trait Session: Send {
    /// What it runs.
    fn facts(&self) -> &SessionFacts;

    /// Whether it has ended. An observation then tells how.
    fn is_over(&self) -> bool;

    /// Sends a command or a cell and waits for its end, at most `soft`. A call is never sent twice.
    fn send<'a>(&'a mut self, input: &'a str, soft: Duration) -> ObservationFuture<'a>;

    /// Waits for the end of the running call, at most `soft`; returns at once when none is running.
    fn wait(&mut self, soft: Duration) -> ObservationFuture<'_>;

    /// Gives text to the standard input of the running command, then waits as [`Self::wait`] does. With `end` the
    /// input ends after it. What a command leaves unread is gone when the next one is sent. A kernel has no input.
    fn send_input<'a>(&'a mut self, text: &'a str, end: bool, soft: Duration) -> ObservationFuture<'a>;

    /// Sends SIGINT to what runs in front, then waits as [`Self::wait`] does. The shell or kernel lives on; a program
    /// that ignores the signal goes on as well, and only a restart ends it.
    fn interrupt(&mut self, soft: Duration) -> ObservationFuture<'_>;

    /// Kills everything and starts anew in the same workspace. All state but files is new, which the facts' generation
    /// tells.
    fn restart(&mut self) -> Pin<Box<dyn Future<Output = Result<(), SandboxError>> + Send + '_>>;

    /// Kills everything, and collects the submission when every process is dead.
    fn close(self: Box<Self>) -> Pin<Box<dyn Future<Output = Result<SessionEnd, SandboxError>> + Send>>;
}
