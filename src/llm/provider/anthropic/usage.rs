//! Token counts as the API tells them: twice in a stream, and with cached tokens beside the input, where ours are
//! among it.

use podium_types::usage::Usage;
use serde_json::Value;

/// Token counts, as told at the head of a stream and, cumulatively, at its end; the larger counts.
#[derive(Clone, Copy, Default)]
pub(super) struct Told {
    /// Neither read from the cache nor written to it.
    fresh: u64,
    read: u64,
    written: u64,
    output: u64,
    thinking: u64,
    /// The output count that came with the end of the answer, and so is of all of it.
    at_end: Option<u64>,
}

impl Told {
    /// Adds the counts of one event.
    pub(super) fn take(&mut self, usage: Option<&Value>, at_end: bool) {
        let Some(usage) = usage else { return };
        let count = |key: &str| usage.get(key).and_then(Value::as_u64);
        let larger = |old: &mut u64, key: &str| *old = (*old).max(count(key).unwrap_or_default());
        larger(&mut self.fresh, "input_tokens");
        larger(&mut self.read, "cache_read_input_tokens");
        larger(&mut self.written, "cache_creation_input_tokens");
        larger(&mut self.output, "output_tokens");
        let details = usage.get("output_tokens_details").and_then(|details| details.get("thinking_tokens"));
        self.thinking = self.thinking.max(details.and_then(Value::as_u64).unwrap_or_default());
        self.at_end = count("output_tokens").filter(|_| at_end).or(self.at_end);
    }

    /// The usage of the answer. What was not told, or told too early, is taken from the estimate.
    pub(super) fn usage(self, any_text: bool, estimated: impl Fn() -> Usage) -> Usage {
        let input = self.fresh.saturating_add(self.read).saturating_add(self.written);
        let output_told = self.at_end.is_some_and(|output| output > 0 || !any_text);
        let told = Usage {
            input_tokens: input,
            cached_input_tokens: self.read,
            cache_write_tokens: self.written,
            output_tokens: self.output,
            reasoning_tokens: self.thinking.min(self.output),
            ..Usage::default()
        };
        if input > 0 && output_told {
            return told;
        }
        let estimate = estimated();
        Usage {
            input_tokens: if input > 0 { input } else { estimate.input_tokens },
            output_tokens: if output_told { self.output } else { self.output.max(estimate.output_tokens) },
            estimated: true,
            ..told
        }
    }
}
