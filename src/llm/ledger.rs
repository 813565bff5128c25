//! Reservation: who pays for a try, told before its bytes leave.
//!
//! The run implements [`Ledger`]; the client knows neither its journal nor its budget. The contract:
//!
//! - [`Ledger::reserve`] is awaited before **each** try is sent (first tries, retries, downgraded tries and repair
//!   turns alike; `attempt` counts them through one chat, from 1). A refusal ends the chat with
//!   [`Error::Denied`](crate::Error::Denied) and nothing is sent.
//! - Each reserved try is settled exactly once, the successful one too, and before [`Client::chat`](crate::Client::chat)
//!   returns. The one exception is a chat whose future is dropped: its last try stays unsettled, and whoever dropped
//!   it charges the worst case, as after a crash.
//! - **The ledger alone is the account.** `ChatAnswer.usage` is the sum of this chat's [`Settled::Used`] amounts, for
//!   display and for splitting cost by role: whoever adds it to what the ledger was told counts twice.
//!   Tries settled as [`Settled::Unknown`] are not in `ChatAnswer.usage`; their worst case is charged by the ledger.

use futures_util::future::BoxFuture;
use podium_types::money::Usd;
use podium_types::usage::Usage;
use serde::{Deserialize, Serialize};

/// The most that one try can use, as far as it can be known before.
///
/// It is an estimate from above, not a promise of the server's: the prompt's tokens are estimated (and counted, with
/// `o200k`, where the model's window is near), and a server may not keep to the output limit. A try that uses more is
/// settled in full and told as [`CallEvent::ExceededWorstCase`](crate::CallEvent::ExceededWorstCase); from then on
/// this model's worst cases are scaled up to cover it, for the life of the process, and never below the plain
/// estimate. So a dollar limit can be passed by what the tries in flight use beyond their worst cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorstCase {
    /// Upper estimate of the prompt's tokens.
    pub input_tokens: u64,
    /// The output limit that is sent; more once the model has been seen to pass it.
    pub output_tokens: u64,
    /// Their price; `None` when the model's price is unknown.
    pub cost: Option<Usd>,
}

impl WorstCase {
    /// As usage, for whoever charges a try at its worst case.
    pub fn usage(&self) -> Usage {
        Usage {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cost: self.cost,
            estimated: true,
            ..Usage::NOTHING
        }
    }
}

/// How a reserved try ended, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    /// Nothing was generated: refused before or by the server.
    NotBilled,
    /// It may have been billed (a cut stream, a time-out): charge the worst case.
    Unknown,
    /// It was answered and used this much, whether the answer is returned, thrown away or repaired.
    ///
    /// `estimated` is set where the server did not tell all of it. Then the prompt counts as estimated and the output
    /// as its text suggests, from above; for a model with `reasoning = true` at least the whole output limit, for
    /// hidden reasoning leaves no trace in the text.
    Used(Usage),
}

/// The budget does not allow the try.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Denied {
    /// The limit that fired, with its value.
    pub reason: String,
}

/// Who is asked before each try and told after it.
pub trait Ledger: Send + Sync {
    /// Commits the intent of try `attempt` at its worst case, or refuses it.
    fn reserve(&self, attempt: u32, worst: WorstCase) -> BoxFuture<'_, Result<(), Denied>>;

    /// Replaces the reservation of try `attempt` by what it used.
    fn settle(&self, attempt: u32, settled: Settled) -> BoxFuture<'_, ()>;
}

/// A ledger that allows everything and keeps no account: for a single chat outside a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLedger;

impl Ledger for NoLedger {
    fn reserve(&self, _attempt: u32, _worst: WorstCase) -> BoxFuture<'_, Result<(), Denied>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn settle(&self, _attempt: u32, _settled: Settled) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
