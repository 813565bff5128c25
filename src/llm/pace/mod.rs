//! Pacing: how fast and how many at once requests leave for a service, shared by all chats of a process.
//!
//! A [`Pacing`] handle holds one lane for each provider, address and key, and a further one for a model that declares
//! limits of its own; a call passes its model's lane and then its provider's. A lane keeps what is declared (requests
//! and tokens in any minute, calls at once), what answers told of the service's own limits (for each model, since
//! services count by model), and the pause that a service asked for. Waiting calls go in the order in which they
//! came; one that waits for its model's limit does not hold up other models.
//!
//! **Where it stands.** A lane is passed after shaping and the window check and before the ledger's reservation.
//! After the first two, since what is never sent must take no place. Before the third, so that nothing is set aside
//! for a call that only waits (fifty waiting calls would use up a budget that none of them spends), and so that an
//! intent is written just before its bytes leave. A refused reservation gives the place back, and so does a dropped
//! chat.
//!
//! **Tokens** are charged by expectation: our estimate of the prompt scaled by what this model's counts came to
//! before, and the length that its answers had. The usage that comes back replaces the charge. A call larger than a
//! whole limit is charged as if it were just that, so it goes through alone.
//!
//! **Pauses.** A service that turns a call away, or asks for a wait, holds the whole lane until then; afterwards one
//! call goes first, and every answer lets one more join. A pause longer than a chat may wait ends the chat with what
//! the service asked for, unsent.
//!
//! It knows no protocol, no ledger and no observer, and no result depends on it.

mod expectation;
mod lane;
mod learnt;
mod limits;
mod pacing;
mod place;
mod queue;
mod window;

#[cfg(test)]
mod tests;

pub use limits::Limits;
pub use pacing::Pacing;

pub(crate) use lane::{Allowance, TooLong};
pub(crate) use limits::{Told, ToldLimits};
pub(crate) use pacing::{Lanes, Lodging};
