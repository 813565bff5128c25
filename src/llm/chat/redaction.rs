//! Keys taken by value out of what a model is told and of what it says.
//!
//! A key has no business in either. A model that shows one has it from somewhere, and the answer goes into a journal,
//! into later prompts and onto a screen: so it is changed, here, before anybody sees it, and a warning says so. The
//! words of an answer are otherwise never touched, which is why only keys that cannot be mistaken for an ordinary
//! word count ([`Secret::is_distinctive`]): `none`, as people set it for servers without keys, stays.

use podium_types::chat::{ChatRequest, FinishReason, ToolCall};
use serde_json::Value;

use crate::provider::Answered;
use crate::secret::{Secret, redact};

/// The keys to be taken out.
pub(super) struct Keys<'a>(Vec<&'a Secret>);

impl<'a> Keys<'a> {
    pub(super) fn of(secrets: impl Iterator<Item = &'a Secret>) -> Self {
        Self(secrets.filter(|secret| secret.is_distinctive()).collect())
    }

    /// What is sent, without keys.
    pub(super) fn clean_request(&self, request: &mut ChatRequest) {
        for message in &mut request.messages {
            self.clean(&mut message.content);
            self.clean_calls(&mut message.tool_calls);
        }
    }

    /// The answer, without keys; whether it held one. The tokens of an answer that did are dropped: a key is spread
    /// over several, and they would not fit the text any more.
    pub(super) fn clean_answer(&self, answered: &mut Answered) -> bool {
        let mut found = self.clean(&mut answered.content);
        found |= self.clean_calls(&mut answered.tool_calls);
        for text in [&mut answered.reasoning, &mut answered.id, &mut answered.model].into_iter().flatten() {
            found |= self.clean(text);
        }
        if let FinishReason::Other(name) = &mut answered.finish {
            found |= self.clean(name);
        }
        if let Some(state) = &mut answered.provider_state {
            found |= self.clean_value(state);
        }
        if found {
            answered.logprobs.clear();
        }
        found
    }

    fn clean_calls(&self, calls: &mut [ToolCall]) -> bool {
        calls.iter_mut().fold(false, |found, call| {
            let texts = [&mut call.id, &mut call.name, &mut call.arguments];
            texts.into_iter().fold(found, |found, text| self.clean(text) | found)
        })
    }

    fn clean_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.clean(text),
            Value::Array(items) => items.iter_mut().fold(false, |found, item| self.clean_value(item) | found),
            Value::Object(map) => map.values_mut().fold(false, |found, item| self.clean_value(item) | found),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn clean(&self, text: &mut String) -> bool {
        if !self.0.iter().any(|secret| secret.is_in(text)) {
            return false;
        }
        *text = redact(text, self.0.iter().copied());
        true
    }
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{Message, Speaker, TokenLogprob};
    use podium_types::usage::Usage;
    use serde_json::json;

    use super::*;

    #[test]
    fn no_part_of_an_answer_keeps_a_key_and_the_rest_stays() {
        let key = Secret::new("sk-hunter2/x");
        let word = Secret::new("none");
        let keys = Keys::of([&key, &word].into_iter());
        let call =
            |arguments: &str| ToolCall { id: "a".into(), name: "ls".into(), arguments: arguments.into() };
        let mut answered = Answered {
            content: "penalty='none' # sk-hunter2/x".into(),
            reasoning: Some("sk-hunter2/x?".into()),
            tool_calls: vec![call(r#"{"key":"sk-hunter2\/x"}"#)],
            logprobs: vec![TokenLogprob { token: "sk-".into(), logprob: -0.1, top: Vec::new() }],
            finish: FinishReason::Other("sk-hunter2/x".into()),
            usage: Usage::default(),
            id: Some("sk-hunter2/x".into()),
            model: Some("m".into()),
            provider_state: Some(Box::new(json!([{"thinking": "it is sk-hunter2/x", "n": 1}]))),
        };
        let clean = Answered {
            content: "penalty='none' # [redacted]".into(),
            reasoning: Some("[redacted]?".into()),
            tool_calls: vec![call(r#"{"key":"[redacted]"}"#)],
            logprobs: Vec::new(),
            finish: FinishReason::Other("[redacted]".into()),
            id: Some("[redacted]".into()),
            provider_state: Some(Box::new(json!([{"thinking": "it is [redacted]", "n": 1}]))),
            ..answered.clone()
        };
        assert!(keys.clean_answer(&mut answered));
        assert_eq!(answered, clean);
        assert!(!keys.clean_answer(&mut answered), "nothing is left to be taken out");

        let mut request = ChatRequest {
            messages: vec![Message::text(Speaker::User, "my key is sk-hunter2/x, none other")],
            ..ChatRequest::default()
        };
        keys.clean_request(&mut request);
        assert_eq!(request.messages[0].content, "my key is [redacted], none other");
    }
}
