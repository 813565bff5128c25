//! The attack list against warm starts: every program of it begins in a copy of a fork server.
//!
//! The list is the jail's own, so what must come of each line is the same. What only a warm start could show is in
//! `it/warm/`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing test may panic, and a skipped one must say so"
)]

#[path = "../it/attacks/mod.rs"]
mod attacks;
mod common;
