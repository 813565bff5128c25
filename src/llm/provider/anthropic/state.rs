//! Signed thinking on its way from an answer to the next request.
//!
//! The API wants an assistant turn's thinking blocks back as they were, in their places between text and calls, and
//! some models take them only from themselves. So the state names the model, holds the thinking blocks whole, and
//! marks where text (by its length in bytes) and calls stood: text and calls themselves are in the message, and are
//! not stored twice.

use podium_types::chat::Message;
use serde_json::{Value, json};

use super::prefix::Prefix;
use crate::model::ModelName;

/// A block of an assistant turn in its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// A `thinking` or `redacted_thinking` block.
    Thinking(Value),
    /// So many bytes of the turn's text.
    Text(usize),
    /// The turn's next call.
    Call,
}

impl Place {
    pub(super) const fn is_thinking(&self) -> bool {
        matches!(self, Self::Thinking(_))
    }
}

/// The state of an answer; none without thinking.
pub(super) fn kept(model: &ModelName, places: &[Place], prefix: Option<&Prefix>) -> Option<Box<Value>> {
    if !places.iter().any(Place::is_thinking) {
        return None;
    }
    let places: Vec<Value> = places.iter().map(stored).collect();
    let mut state = json!({"protocol": "anthropic", "model": model.to_string(), "blocks": places});
    if let (Some(prefix), Some(state)) = (prefix, state.as_object_mut()) {
        state.insert("prefix".to_owned(), json!(prefix.as_str()));
    }
    Some(Box::new(state))
}

fn stored(place: &Place) -> Value {
    match place {
        Place::Thinking(block) => block.clone(),
        Place::Text(bytes) => json!({"type": "text", "bytes": bytes}),
        Place::Call => json!({"type": "call"}),
    }
}

/// The blocks of `message` in their order, for a model that takes back its own thinking; `None` takes back none.
/// Thinking of another model or provider is left out, and with a `prefix` thinking behind another. Where text or calls have changed since the answer, thinking
/// comes first, then text, then calls.
pub(super) fn places(message: &Message, model: Option<&ModelName>, prefix: Option<&Prefix>) -> Vec<Place> {
    let told = message.provider_state.as_deref().filter(|state| {
        let is = |key: &str, value: &str| state.get(key).and_then(Value::as_str) == Some(value);
        is("protocol", "anthropic")
            && model.is_some_and(|model| is("model", &model.to_string()))
            && prefix.is_none_or(|prefix| is("prefix", prefix.as_str()))
    });
    let blocks = told.and_then(|state| state.get("blocks")).and_then(Value::as_array);
    let mut places: Vec<Place> = blocks.into_iter().flatten().filter_map(read).collect();
    if !fits(&places, message) {
        places.retain(Place::is_thinking);
        places.push(Place::Text(message.content.len()));
        places.extend(message.tool_calls.iter().map(|_| Place::Call));
    }
    places
}

fn read(block: &Value) -> Option<Place> {
    match block.get("type")?.as_str()? {
        "thinking" | "redacted_thinking" => Some(Place::Thinking(block.clone())),
        "text" => Some(Place::Text(usize::try_from(block.get("bytes")?.as_u64()?).ok()?)),
        "call" => Some(Place::Call),
        _ => None,
    }
}

/// Whether the places are those of all of the message's text, cut between characters, and of all its calls.
fn fits(places: &[Place], message: &Message) -> bool {
    let mut at = 0_usize;
    let mut calls = 0;
    for place in places {
        match place {
            Place::Thinking(_) => {}
            Place::Text(bytes) => at = at.saturating_add(*bytes),
            Place::Call => calls += 1,
        }
        if !message.content.is_char_boundary(at) {
            return false;
        }
    }
    at == message.content.len() && calls == message.tool_calls.len()
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{Speaker, ToolCall};
    use proptest::prelude::*;

    use super::*;

    fn model(name: &str) -> ModelName {
        ModelName { provider: "anthropic".into(), model: name.into() }
    }

    fn turn(content: &str, calls: usize, state: Option<Box<Value>>) -> Message {
        let call = ToolCall { id: "a".into(), name: "ls".into(), arguments: "{}".into() };
        Message {
            tool_calls: vec![call; calls],
            provider_state: state,
            ..Message::text(Speaker::Assistant, content)
        }
    }

    #[test]
    fn places_come_back_while_the_turn_is_unchanged() {
        let thought = Place::Thinking(json!({"type": "thinking", "thinking": "hm", "signature": "s"}));
        let told = vec![thought.clone(), Place::Text(2), thought.clone(), Place::Call, Place::Text(1)];
        let state = kept(&model("a"), &told, None);
        let plain = |bytes, calls| {
            let calls = std::iter::repeat_n(Place::Call, calls);
            std::iter::once(Place::Text(bytes)).chain(calls).collect::<Vec<_>>()
        };
        let thoughts = [thought.clone(), thought];
        assert_eq!(places(&turn("abc", 1, state.clone()), Some(&model("a")), None), told);
        assert_eq!(
            places(&turn("abc", 1, state.clone()), Some(&model("b")), None),
            plain(3, 1),
            "another model's"
        );
        for (name, changed, bytes, calls) in [
            ("cut text", turn("ab", 1, state.clone()), 2, 1),
            ("a cut character", turn("aé", 1, state.clone()), 3, 1),
            ("a dropped call", turn("abc", 0, state), 3, 0),
        ] {
            let expected = [thoughts.to_vec(), plain(bytes, calls)].concat();
            assert_eq!(places(&changed, Some(&model("a")), None), expected, "{name}");
        }
        let other = Some(Box::new(json!({"protocol": "gemini", "model": "anthropic/a", "blocks": 7})));
        assert_eq!(places(&turn("abc", 0, other), Some(&model("a")), None), plain(3, 0));
        assert_eq!(
            places(&turn("abc", 1, kept(&model("a"), &told, None)), None, None),
            plain(3, 1),
            "none is taken back"
        );
        let (before, changed) = (Prefix::new(&[], &[]), Prefix::new(&[json!("s")], &[]));
        let bound = turn("abc", 1, kept(&model("a"), &told, Some(&before)));
        assert_eq!(places(&bound, Some(&model("a")), Some(&before)), told);
        assert_eq!(places(&bound, Some(&model("a")), Some(&changed)), plain(3, 1), "behind another prefix");
        assert_eq!(kept(&model("a"), &[Place::Text(3), Place::Call], None), None);
    }

    proptest! {
        #[test]
        fn places_always_cover_the_text(text in "\\PC{0,8}", lengths in proptest::collection::vec(any::<u64>(), 0..4)) {
            let blocks: Vec<Value> = lengths.iter().map(|bytes| json!({"type": "text", "bytes": bytes})).collect();
            let state = json!({"protocol": "anthropic", "model": "anthropic/a", "blocks": blocks});
            let places = places(&turn(&text, 1, Some(Box::new(state))), Some(&model("a")), None);
            let bytes: usize =
                places.iter().map(|place| if let Place::Text(bytes) = place { *bytes } else { 0 }).sum();
            prop_assert_eq!(bytes, text.len());
        }
    }
}
