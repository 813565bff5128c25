//! The attack list against jails that were made ahead: every program of it begins in a copy of a light fork server that
//! waited in its jail for it.
//!
//! The list is the jail's own, so what must come of each line is the same.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failing test may panic, and a skipped one must say so"
)]

#[path = "../it/attacks/mod.rs"]
mod attacks;
mod common;
