//! The driver: polls the strategy, and lets one result at a time out of the journal.
//!
//! ```text
//! loop:  poll the strategy until it is idle
//!        take what it asked for
//!        the journal holds the next record?  check that it answers a pending request, release it       (replay)
//!        else: perform what is pending; commit the next result; release it                             (live)
//! ```
//! A strategy therefore meets the same results in the same order in a replay, whatever the world did in between.
//! An effect that cannot be done now (a limit, a service that failed for good) is parked; when nothing else is in
//! flight the run stops by that name, and a resume begins by asking for the parked effect again.

mod drain;
mod live;
#[cfg(test)]
mod tests;
mod turns;
mod world;

pub use turns::{DriveError, Driver, Live, last_stamp};
pub use world::{Interrupt, Interrupts, Performed, Report, World};
