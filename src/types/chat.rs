//! Messages, tools, requests and answers of language models, in one shape for all providers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::usage::Usage;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Instructions.
    System,
    /// The harness or a person.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// One message of a conversation, in the OpenAI shape that exports use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Speaker,
    /// The text; empty for an assistant turn that only calls tools.
    pub content: String,
    /// Calls the assistant made in this turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// For a tool result: the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// For an assistant turn: [`ChatAnswer::provider_state`] of the answer it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_state: Option<Box<Value>>,
}

impl Message {
    /// A message of text only.
    pub fn text(role: Speaker, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            provider_state: None,
        }
    }

    /// The assistant's turn that `answer` was, as the next request shows it to the model: text, calls and the
    /// provider's own state; not the reasoning.
    pub fn of_answer(answer: &ChatAnswer) -> Self {
        Self {
            tool_calls: answer.tool_calls.clone(),
            provider_state: answer.provider_state.clone(),
            ..Self::text(Speaker::Assistant, answer.content.clone())
        }
    }
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// Whether the model calls tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it sees fit.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must call one of them.
    Required,
    /// It must call this one.
    Named(String),
}

impl ToolChoice {
    const fn is_auto(&self) -> bool {
        matches!(self, Self::Auto)
    }

    /// Whether an answer without a call is not what was asked for.
    pub const fn demands_call(&self) -> bool {
        matches!(self, Self::Required | Self::Named(_))
    }
}

/// A call the model made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call; made up by the client where the provider gives none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: JSON text that may not parse.
    pub arguments: String,
}

/// A JSON document the answer must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// A short name that the protocol asks for.
    pub name: String,
    /// JSON Schema; for `strict` every property is required and objects are closed.
    pub schema: Value,
    /// Ask the provider to enforce the schema while decoding.
    pub strict: bool,
}

/// How hard a reasoning model should think, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// As little as the model allows.
    Minimal,
    /// Little.
    Low,
    /// The usual amount.
    Medium,
    /// Much.
    High,
}

/// One request to a model. What it is for (role, node) is not part of it: the effect key says that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Tools on offer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// Whether tools are called; of no meaning without tools.
    #[serde(default, skip_serializing_if = "ToolChoice::is_auto")]
    pub tool_choice: ToolChoice,
    /// At most one tool call in the answer. The client holds to it whatever the model does: it drops all but the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_tool_call: bool,
    /// When set, the answer is a JSON document of this schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSchema>,
    /// Texts that end the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Sampling temperature; `None` sends none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Output limit in tokens. Always sent: a small model rambles for ever otherwise.
    /// `None` takes the model's own (see `benchmark/models.toml`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Reasoning effort; `None` sends none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Sampling seed. Set by the run context from the run's seed and the effect key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Ask for the log probability of each token of the answer, and of this many likeliest tokens in its place
    /// (0..=20). A model that gives none answers without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_logprobs: Option<u8>,
}

/// One token of an answer and how likely the model held it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TokenLogprob {
    /// The token's text; a replacement character stands for a part of a character.
    pub token: String,
    /// Natural logarithm of its probability, at most 0. Services write a large negative number for "never".
    pub logprob: f64,
    /// The likeliest tokens in this place, the likeliest first; the chosen one may be among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<TokenLogprob>,
}

/// Why the answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The output limit cut it.
    Length,
    /// It called tools.
    ToolCalls,
    /// The provider's filter or the model refused.
    Refusal,
    /// Anything else, as the provider named it.
    Other(String),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatAnswer {
    /// The text; empty when only tools were called.
    pub content: String,
    /// Reasoning text, where the provider shows it. Never sent back: what must be is in `provider_state`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Tool calls in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// With an output schema: the parsed and checked document. `None` when even the repair turn failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Value>,
    /// Log probabilities of the answer's tokens, where they were asked for and given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logprobs: Vec<TokenLogprob>,
    /// Why it ended.
    pub finish: FinishReason,
    /// Tokens and cost, repair turns included.
    pub usage: Usage,
    /// The model as the provider named it.
    pub model: String,
    /// What the provider wants back with this turn, such as the signed reasoning blocks that thinking models demand
    /// beside tool calls. Opaque: only the provider that made it reads it, and another ignores it. Whoever shows
    /// the turn to the model again hands it on unchanged ([`Message::of_answer`]), also through a journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_state: Option<Box<Value>>,
}

/// A failure that is the request's own: it will not go away by waiting, so the strategy hears of it.
/// Failures of the service reach a strategy only when it asks for them; else they stop the run, resumably.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum ChatError {
    /// Prompt and output limit do not fit the model's window.
    #[error(
        "the prompt has {prompt_tokens} tokens; with {output_tokens} for the answer that exceeds the window of {window}"
    )]
    ContextTooLong {
        /// Tokens of the prompt, as counted before sending or told by the provider.
        prompt_tokens: u64,
        /// Tokens set aside for the answer.
        output_tokens: u64,
        /// The model's window.
        window: u64,
    },
    /// The provider refused the request as it stands (a final 400, a content filter).
    #[error("the provider refused the request: {message}")]
    Refused {
        /// The provider's words, cut short.
        message: String,
    },
    /// The service failed for good or kept failing, and the strategy asked to hear of that.
    #[error("the model service failed: {message}")]
    Service {
        /// The service's words or the transport's, without secrets.
        message: String,
    },
    /// The schema asked for is none, so no answer can satisfy it. Nothing was sent.
    #[error("the schema of the answer is not valid: {problem}")]
    InvalidSchema {
        /// What is wrong with it.
        problem: String,
    },
}

/// What a chat effect returns to the strategy.
pub type ChatResult = Result<ChatAnswer, ChatError>;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_providers_state_passes_through_and_its_absence_leaves_no_trace() {
        let bare = json!({"content": "", "finish": "stop", "usage": Usage::NOTHING, "model": "m"});
        let mut answer: ChatAnswer = serde_json::from_value(bare.clone()).unwrap();
        assert_eq!(answer.provider_state, None);
        assert_eq!(
            serde_json::to_value(&answer).unwrap(),
            bare,
            "requests of old journals keep their hashes"
        );
        let call = ToolCall { id: "a".into(), name: "ls".into(), arguments: "{}".into() };
        let state = json!([{"type": "thinking", "signature": "EqQB"}]);
        answer.tool_calls = vec![call.clone()];
        answer.provider_state = Some(Box::new(state.clone()));
        let message = Message::of_answer(&serde_json::from_value(json!(answer)).unwrap());
        let expected =
            json!({"role": "assistant", "content": "", "tool_calls": [call], "provider_state": state});
        assert_eq!(serde_json::to_value(&message).unwrap(), expected);
    }
}
