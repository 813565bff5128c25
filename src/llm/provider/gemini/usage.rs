//! Token counts as Gemini tells them: cumulative, with each chunk, thoughts beside the answer's own tokens.

use podium_types::usage::Usage;
use serde_json::Value;

/// The counts so far. Each may be missing; a zero is left out on the wire.
#[derive(Clone, Copy, Default)]
pub(super) struct Told {
    input: Option<u64>,
    cached: u64,
    output: Option<u64>,
    reasoning: u64,
    /// The output was told with the end of the answer or after it, and so is all of it.
    at_end: bool,
}

impl Told {
    /// Adds the `usageMetadata` of a chunk.
    pub(super) fn add(&mut self, usage: &Value, at_end: bool) {
        let count = |key: &str| usage.get(key).and_then(Value::as_u64);
        let tools = count("toolUsePromptTokenCount").unwrap_or_default();
        let input = count("promptTokenCount").map(|prompt| prompt.saturating_add(tools));
        let input = input.filter(|tokens| *tokens > 0);
        let thoughts = count("thoughtsTokenCount");
        let shown = count("candidatesTokenCount");
        let generated = shown.or(thoughts).is_some().then(|| {
            let shown = shown.unwrap_or_default();
            shown.saturating_add(thoughts.unwrap_or_default())
        });
        let behind_prompt =
            count("totalTokenCount").zip(input).map(|(total, input)| total.saturating_sub(input));
        let output = generated.max(behind_prompt);
        self.at_end |= at_end && output.is_some();
        self.input = self.input.max(input);
        self.cached = self.cached.max(count("cachedContentTokenCount").unwrap_or_default());
        self.output = self.output.max(output);
        self.reasoning = self.reasoning.max(thoughts.unwrap_or_default());
    }

    /// The usage of the answer. What was not told, or told too early, is taken from the estimate.
    pub(super) fn usage(self, any_text: bool, estimated: impl Fn() -> Usage) -> Usage {
        let output = self.output.filter(|output| self.at_end && (*output > 0 || !any_text));
        let told = Usage {
            input_tokens: self.input.unwrap_or_default(),
            cached_input_tokens: self.cached,
            output_tokens: self.output.unwrap_or_default(),
            reasoning_tokens: self.reasoning,
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
