//! The docker kind from outside: real containers, real Python, real attacks.
//!
//! These tests need a container engine. One that is up is used; else, as root and where `dockerd` is installed, one is
//! started and goes away with the tests; else they say SKIP and why. They are not in the default profile:
//! `cargo nextest run --profile docker`.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a failing test may panic, and a skipped one must say so"
)]

#[path = "../it/attacks/mod.rs"]
mod attacks;
mod boundary;
mod callbacks;
mod common;
mod engine;
mod grants;
mod images;
mod leftovers;
mod limits;
mod opening;
mod results;
#[path = "../it/session/mod.rs"]
mod session;
mod sessions;
#[path = "../it/stopping.rs"]
mod stopping;
