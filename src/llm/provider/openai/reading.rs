//! What both of OpenAI's interfaces write alike, read tolerantly: token counts, log probabilities, tool calls.

use std::collections::BTreeSet;

use podium_types::chat::{TokenLogprob, ToolCall};
use podium_types::money::Usd;
use podium_types::usage::Usage;
use serde_json::Value;

use crate::provider::made_up_id;
use crate::tokens;

/// The text at `key`, unless it is empty.
pub(super) fn string(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Calls with an id each, made up where the server gave none or the same twice.
pub(super) fn named(calls: impl Iterator<Item = ToolCall>) -> Vec<ToolCall> {
    let mut seen = BTreeSet::new();
    let with_id = calls.filter(|call| !call.name.is_empty()).enumerate().map(|(position, mut call)| {
        if call.id.is_empty() || !seen.insert(call.id.clone()) {
            call.id = made_up_id(position, &seen);
            seen.insert(call.id.clone());
        }
        call
    });
    with_id.collect()
}

/// Tokens that an answer shows, estimated.
pub(super) fn shown(content: &str, calls: &[ToolCall]) -> u64 {
    let written =
        |call: &ToolCall| tokens::estimate_text(&call.name) + tokens::estimate_text(&call.arguments);
    tokens::estimate_text(content) + calls.iter().map(written).sum::<u64>()
}

/// The log probabilities of a list of tokens; entries without a token or a number are left out.
pub(super) fn logprobs(list: Option<&Value>) -> impl Iterator<Item = TokenLogprob> {
    let one = |value: &Value| {
        Some(TokenLogprob {
            token: value.get("token")?.as_str()?.to_owned(),
            logprob: value.get("logprob")?.as_f64()?,
            top: Vec::new(),
        })
    };
    let entries = list.and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(move |value| {
        let top = value.get("top_logprobs").and_then(Value::as_array).into_iter().flatten();
        Some(TokenLogprob { top: top.filter_map(one).collect(), ..one(value)? })
    })
}

/// Token counts as a server told them. Each may be missing, or a zero that means as much.
#[derive(Clone, Copy)]
pub(super) struct Told {
    input: Option<u64>,
    cached: u64,
    written: u64,
    output: Option<u64>,
    reasoning: u64,
    /// In dollars; see [`ProviderFacts::tells_cost`](crate::ProviderFacts::tells_cost).
    cost: Option<Usd>,
    /// They came with the end of the answer or after it, and so are of all of it.
    pub(super) at_end: bool,
}

impl Told {
    /// Reads a usage object, of chat completions or of the Responses API.
    pub(super) fn read(value: &Value, at_end: bool) -> Option<Self> {
        let count = |value: Option<&Value>| value.and_then(Value::as_u64);
        let either = |chat: &str, responses: &str| value.get(chat).or_else(|| value.get(responses));
        let of_input = either("prompt_tokens_details", "input_tokens_details");
        let of_output = either("completion_tokens_details", "output_tokens_details");
        let detail = |details: Option<&Value>, key: &str| count(details.and_then(|details| details.get(key)));
        let input = count(either("prompt_tokens", "input_tokens")).filter(|tokens| *tokens > 0);
        let output = count(either("completion_tokens", "output_tokens"));
        let reasoning = detail(of_output, "reasoning_tokens").unwrap_or_default();
        // Some servers leave reasoning out of the completion, though not out of the total.
        let behind_prompt =
            count(value.get("total_tokens")).zip(input).map(|(total, input)| total.saturating_sub(input));
        let with_reasoning =
            output.map(|output| if reasoning > output { output.saturating_add(reasoning) } else { output });
        let output = with_reasoning.max(behind_prompt);
        if input.is_none() && output.is_none() {
            return None;
        }
        let cached =
            detail(of_input, "cached_tokens").or_else(|| count(value.get("prompt_cache_hit_tokens")));
        let written = detail(of_input, "cache_write_tokens").unwrap_or_default();
        let cached = cached.unwrap_or_default();
        Some(Self { input, cached, written, output, reasoning, cost: None, at_end })
    }

    /// These counts, and what `usage` says the call cost. A router that used the caller's own key at the model's
    /// provider tells its fee, and what the provider took beside it.
    pub(super) fn with_cost(self, usage: &Value) -> Self {
        let dollars = |value: Option<&Value>| {
            value.and_then(Value::as_f64).filter(|cost| cost.is_finite() && *cost >= 0.0)
        };
        let own_key = usage.get("is_byok").and_then(Value::as_bool) == Some(true);
        let upstream = usage.get("cost_details").and_then(|details| details.get("upstream_inference_cost"));
        let upstream = dollars(upstream.filter(|_| own_key)).unwrap_or_default();
        let cost =
            dollars(usage.get("cost")).filter(|_| self.at_end).map(|cost| Usd::from_dollars(cost + upstream));
        Self { cost, ..self }
    }

    /// The usage of the answer. What was not told, or told too early, is taken from the estimate.
    pub(super) fn usage(self, any_text: bool, estimated: impl Fn() -> Usage) -> Usage {
        let output = self.output.filter(|output| self.at_end && (*output > 0 || !any_text));
        let told = Usage {
            input_tokens: self.input.unwrap_or_default(),
            cached_input_tokens: self.cached,
            cache_write_tokens: self.written,
            output_tokens: self.output.unwrap_or_default(),
            reasoning_tokens: self.reasoning,
            cost: self.cost,
            ..Usage::default()
        };
        if self.input.is_some() && output.is_some() {
            return told;
        }
        let estimate = estimated();
        Usage {
            input_tokens: self.input.unwrap_or(estimate.input_tokens),
            output_tokens: output.unwrap_or(told.output_tokens.max(estimate.output_tokens)),
            estimated: true,
            ..told
        }
    }
}
