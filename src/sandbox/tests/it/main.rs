//! The sandbox from outside: real jails, real Python, real attacks.
//!
//! Where bubblewrap is missing or refused the tests of the jail say SKIP and why.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::panic,
    reason = "a failing test may panic, and a skipped one must say so"
)]

mod attacks;
mod boundary;
mod callbacks;
mod common;
mod environment;
mod fuzz;
mod grants;
mod harness;
mod leftovers;
mod limits;
mod opening;
mod processes;
mod results;
mod session;
#[path = "session/process.rs"]
mod session_process;
#[path = "../shared/ahead.rs"]
mod shared_ahead;
mod stopping;
mod submission;
mod warm;
