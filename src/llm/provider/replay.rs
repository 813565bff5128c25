//! A recorded run in the place of a model: see [`crate::recording`]. It has no latency.
//!
//! A recorded answer is whole: its document is checked and its repair turn taken, so it passes by the turns and tries of
//! other models. Its tokens are those of the recording; its cost is a known zero, for nothing is billed again.

use std::time::Duration;

use podium_types::chat::{ChatAnswer, ChatResult};
use podium_types::money::Usd;
use podium_types::usage::Usage;

use crate::client::Call;
use crate::error::Error;
use crate::ledger::{Settled, WorstCase};
use crate::observer::CallEvent;
use crate::recording::Recording;

/// Answers `call` from `recording`.
pub(crate) async fn chat(recording: &Recording, call: &Call<'_>) -> Result<ChatAnswer, Error> {
    let Some(recorded) = recording.answer(call.request) else {
        return Err(Error::Configuration {
            problem: recording.has_none(call.request, call.purpose),
            hint: "a recording answers a run of the same scaffold, competition and limits as its own; elsewhere use a \
                   model that can be asked"
                .to_owned(),
        });
    };
    let usage = unbilled(recorded);
    let worst =
        WorstCase { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens, cost: usage.cost };
    let attempt = 1;
    call.ledger.reserve(attempt, worst).await.map_err(Error::Denied)?;
    call.observer.event(CallEvent::TryStarted { attempt, worst });
    call.ledger.settle(attempt, Settled::Used(usage)).await;
    match recorded {
        Ok(answer) => {
            call.observer.event(CallEvent::Answered { attempt, id: None, usage, elapsed: Duration::ZERO });
            Ok(ChatAnswer { usage, ..answer.clone() })
        }
        Err(error) => {
            call.observer.event(CallEvent::TryFailed {
                attempt,
                status: None,
                message: error.to_string(),
                elapsed: Duration::ZERO,
                service: None,
            });
            Err(Error::Request(error.clone()))
        }
    }
}

/// What the recording used, at no cost.
fn unbilled(recorded: &ChatResult) -> Usage {
    let usage = recorded.as_ref().map_or(Usage::NOTHING, |answer| answer.usage);
    Usage { cost: Some(Usd::ZERO), ..usage }
}
