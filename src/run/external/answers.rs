//! From an effect's result to its answer: the value with the budget as of that very result, so that what the program
//! knows of its budget is the same in a replay, whatever else was under way.

use podium_scaffold::{Budget, EffectResult};
use podium_types::execution::Collected;
use podium_types::sha256::Sha256;
use serde::Serialize;
use serde_json::{Value, json};

use super::message::{CHAT_FAILED, FAULT, Fault, INTERRUPTED};

/// The answer.
pub(super) fn of(result: &EffectResult, key_number: Option<u32>, budget: &Budget) -> Result<Value, Fault> {
    let value = match result {
        EffectResult::Granted => json!(key_number),
        EffectResult::Chat(Ok(answer)) => plain(answer),
        EffectResult::Chat(Err(error)) => return Err(fault(CHAT_FAILED, error, budget)),
        EffectResult::Execution(execution) => plain(execution),
        EffectResult::Files(Ok(answer)) => plain(answer),
        EffectResult::Files(Err(error)) => return Err(fault(FAULT, error, budget)),
        EffectResult::Session(Ok(answer)) => plain(answer),
        EffectResult::Session(Err(error)) => return Err(fault(FAULT, error, budget)),
        EffectResult::Collected(collected) => plain(collected),
        EffectResult::Interrupted => {
            let message = "a crash or a stop cut it: its effects may be partial, or it may not have begun";
            return Err(Fault::with(INTERRUPTED, message, json!({ "budget": plain(budget) })));
        }
        EffectResult::Verdict(verdict) => plain(verdict),
        EffectResult::Evaluation(evaluation) => plain(evaluation),
        EffectResult::Heard(heard) => plain(heard),
        EffectResult::Preview(text) => json!(text),
        EffectResult::Recorded => Value::Null,
    };
    Ok(json!({ "value": value, "budget": plain(budget) }))
}

/// As the journal has it.
pub(super) fn plain(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn fault(code: i64, error: &(impl Serialize + std::fmt::Display), budget: &Budget) -> Fault {
    Fault::with(code, error.to_string(), json!({ "error": plain(error), "budget": plain(budget) }))
}

/// The files that a result says were collected.
pub(super) fn collected(result: &EffectResult) -> Vec<Sha256> {
    let sha256 = |collected: &Collected| match collected {
        Collected::File { sha256, .. } => Some(sha256.clone()),
        Collected::Missing { .. } => None,
    };
    match result {
        EffectResult::Execution(execution) => [&execution.submission]
            .into_iter()
            .chain(execution.collected.values())
            .filter_map(sha256)
            .collect(),
        EffectResult::Collected(collected) => sha256(collected).into_iter().collect(),
        _ => Vec::new(),
    }
}
