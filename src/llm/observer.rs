//! Observation: what a chat is doing, for progress and for the clock that counts waiting on a service.

use std::time::Duration;

use podium_types::usage::Usage;
use serde::{Deserialize, Serialize};

use crate::error::ServiceFailure;
use crate::ledger::WorstCase;

/// One thing that happened during a chat. Attempts count from 1 through the whole chat.
#[derive(Clone, Debug, PartialEq)]
pub enum CallEvent {
    /// A try was reserved and its request goes out now.
    TryStarted {
        /// Which try.
        attempt: u32,
        /// What it can use at most.
        worst: WorstCase,
    },
    /// The first piece of the answer arrived.
    FirstByte {
        /// Which try.
        attempt: u32,
        /// Since the try started.
        after: Duration,
    },
    /// A try failed, for good or not.
    TryFailed {
        /// Which try.
        attempt: u32,
        /// The HTTP status, where there was one.
        status: Option<u16>,
        /// What failed, in words; secrets removed, cut short.
        message: String,
        /// How long the try took, from its sending to the failure. Reserving and settling are not in it.
        elapsed: Duration,
        /// The service's failure; then `elapsed` was time spent waiting on the service. `None` where the request
        /// itself was at fault, or asked for something that the model does not take.
        service: Option<ServiceFailure>,
    },
    /// A server used more than was reserved: its count of the prompt is above our estimate, or it did not keep to
    /// the output limit. The whole of it is settled; later worst cases of this model are larger.
    ExceededWorstCase {
        /// Which try.
        attempt: u32,
        /// What was reserved.
        worst: WorstCase,
        /// What was used.
        used: Usage,
    },
    /// A server told a usage that cannot be true: more tokens than any window holds, more of them cached than sent, or
    /// a cost beyond all prices. What is untrue of it is settled as an estimate, and it teaches nothing.
    ImplausibleUsage {
        /// Which try.
        attempt: u32,
        /// What the server told.
        told: Usage,
        /// What was settled.
        settled: Usage,
    },
    /// The server saw far fewer prompt tokens than were sent: it cut the prompt without saying so. The answer counts.
    Truncated {
        /// Prompt tokens by our own count.
        counted: u64,
        /// Prompt tokens that the server told.
        told: u64,
    },
    /// The model does not take a parameter; the next try goes without it, at once.
    Downgraded {
        /// The ability that is left out, in our words: `temperature`, `seed`, `stop`, `effort`, `schema`, `tools`, ...
        parameter: String,
    },
    /// Waiting on the service begins; it ends with [`CallEvent::WaitingOver`], also when the chat is dropped. A wait
    /// for a place that is known to be shorter than a quarter of a second is not told.
    Waiting {
        /// Why.
        why: WaitReason,
        /// For how long, where that is known; an estimate where other calls wait before this one.
        delay: Option<Duration>,
        /// The try that comes next, counted from 1 within this turn; tries that a downgrade repeats do not count.
        attempt: u32,
        /// The most tries of this turn.
        of: u32,
    },
    /// Waiting ended.
    WaitingOver,
    /// The document did not satisfy its schema: the model is asked once more.
    Repairing {
        /// What was wrong.
        problem: String,
    },
    /// A try brought a whole answer. One without text and calls is thrown away, and a wait follows.
    Answered {
        /// Which try.
        attempt: u32,
        /// The provider's id of the answer, where it gives one.
        id: Option<String>,
        /// What it used.
        usage: Usage,
        /// How long the try took.
        elapsed: Duration,
    },
}

/// Why a chat waits on a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The try before failed so.
    Failure(ServiceFailure),
    /// The limit of requests in a minute is used up.
    RequestsPerMinute,
    /// The limit of tokens in a minute is used up.
    TokensPerMinute,
    /// As many calls as may be are under way.
    Concurrency,
    /// The service asked, by an answer to this or to another call, for a pause, or calls start gently after one.
    Pause,
}

impl std::fmt::Display for WaitReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failure(kind) => kind.fmt(f),
            Self::RequestsPerMinute => f.write_str("requests per minute"),
            Self::TokensPerMinute => f.write_str("tokens per minute"),
            Self::Concurrency => f.write_str("calls at once"),
            Self::Pause => f.write_str("a pause the service asked for"),
        }
    }
}

/// Who is told. Called from the task that polls the chat; it must not block.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn event(&self, event: CallEvent);
}

/// An observer that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn event(&self, _event: CallEvent) {}
}
