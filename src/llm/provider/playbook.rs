//! The stand-in model as a provider: see [`crate::playbook`]. It has no latency and a known price of zero.

use futures_util::future::BoxFuture;
use podium_types::chat::{FinishReason, ToolCall};
use podium_types::usage::Usage;

use super::{Answered, Attempt, Failed, Provider};
use crate::playbook::{Library, Reply};
use crate::tokens;

/// The stand-in over one competition's library.
pub(crate) struct Playbook<'a>(pub(crate) &'a Library);

impl Provider for Playbook<'_> {
    fn attempt<'a>(&'a self, attempt: &'a Attempt<'a>) -> BoxFuture<'a, Result<Answered, Failed>> {
        let (content, calls) = match self.0.reply(attempt.request) {
            Reply::Text(text) => (text, Vec::new()),
            Reply::Call(name, arguments) => (String::new(), vec![(name, arguments)]),
            Reply::Calls(text, calls) => (text, calls),
        };
        let call = |(place, (name, arguments))| ToolCall { id: format!("call_{place}"), name, arguments };
        let tool_calls: Vec<ToolCall> = calls.into_iter().enumerate().map(call).collect();
        let finish = if tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        let arguments = tool_calls.iter().map(|call| tokens::estimate_text(&call.arguments)).sum::<u64>();
        (attempt.first_byte)();
        let usage = Usage {
            input_tokens: attempt.input_estimate,
            output_tokens: tokens::estimate_text(&content) + arguments,
            estimated: true,
            ..Usage::default()
        };
        let answered = Answered {
            content,
            reasoning: None,
            tool_calls,
            logprobs: Vec::new(),
            finish,
            usage,
            id: None,
            model: None,
            provider_state: None,
        };
        Box::pin(std::future::ready(Ok(answered)))
    }
}
