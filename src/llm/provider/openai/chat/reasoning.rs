//! Reasoning that a server of chat completions wants back with the turn it belongs to, and only from the model that
//! made it.

use podium_types::chat::{Message, Speaker};
use serde_json::{Value, json};

use crate::endpoint::ReasoningBack;
use crate::model::ModelName;
use crate::provider::openai::reading::string;

const MARK: &str = "openai_chat";

/// Blocks of reasoning, put together from the pieces of a stream.
#[derive(Default)]
pub(super) struct Details(Vec<Value>);

impl Details {
    /// Adds the blocks of one piece. A block goes on with the one of its kind and index before it: its texts are
    /// appended, its other fields (a signature comes at the end) are set.
    pub(super) fn add(&mut self, blocks: Option<&Value>) {
        for block in blocks.and_then(Value::as_array).into_iter().flatten().filter(|block| block.is_object())
        {
            let same = |other: &&mut Value| {
                ["type", "index"].iter().all(|key| other.get(key) == block.get(key))
                    && block.get("index").is_some()
            };
            match self.0.iter_mut().find(same) {
                Some(open) => go_on(open, block),
                None => self.0.push(block.clone()),
            }
        }
    }
}

fn go_on(open: &mut Value, block: &Value) {
    let (Some(open), Some(block)) = (open.as_object_mut(), block.as_object()) else { return };
    for (key, value) in block.iter().filter(|(_, value)| !value.is_null()) {
        match (open.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(key.as_str(), "text" | "summary" | "data") =>
            {
                text.push_str(more);
            }
            _ => drop(open.insert(key.clone(), value.clone())),
        }
    }
}

/// The state of an answer of `model`.
pub(super) fn state(
    back: ReasoningBack,
    model: &ModelName,
    text: &str,
    details: &Details,
) -> Option<Box<Value>> {
    let reasoning = match back {
        ReasoningBack::ReasoningDetails => Some(json!(details.0)).filter(|_| !details.0.is_empty()),
        ReasoningBack::ReasoningContent => Some(json!(text)).filter(|_| !text.is_empty()),
    };
    Some(Box::new(json!({MARK: {"model": model.to_string(), back.field(): reasoning?}})))
}

/// The field that goes back with `message`, and what is in it.
pub(super) fn back(
    message: &Message,
    model: &ModelName,
    back: ReasoningBack,
) -> Option<(&'static str, Value)> {
    if message.role != Speaker::Assistant {
        return None;
    }
    let state = message.provider_state.as_ref().and_then(|state| state.get(MARK));
    let own = state.filter(|state| string(state, "model").is_some_and(|name| name == model.to_string()));
    let demanded = back == ReasoningBack::ReasoningContent && !message.tool_calls.is_empty();
    let reasoning = own.and_then(|state| state.get(back.field())).cloned();
    Some((back.field(), reasoning.or_else(|| demanded.then(|| json!("")))?))
}
