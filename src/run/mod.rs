//! A run: one scaffold × models × competition × seed.
//!
//! - [`driver`]: polls the strategy and releases results in journal order; resume and replay are the same loop
//! - [`context`]: the strategy's side of it
//! - [`journal`]: the durable record
//! - [`folder`]: the run's files, content store and lock
//! - [`tally`], [`limits`], [`spending`], [`clock`]: budget as a function of the journal, and caps that hold in flight
//! - [`events`]: the one stream that leaves a run
//! - [`stop`]: how a run ends
//!
//! Must not know: how anything is printed.

pub mod clock;
pub mod context;
pub mod driver;
pub mod events;
pub mod failpoint;
pub mod folder;
pub mod journal;
pub mod limits;
pub mod spending;
pub mod stop;
pub mod tally;
