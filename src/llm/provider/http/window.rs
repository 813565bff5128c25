//! The counts in a complaint about a prompt that is too long: each server says them in words of its own, a few in
//! fields. A number stands for what the words around it say; where they say nothing, the larger one is the prompt.

use serde_json::Value;

/// Words before the number of tokens that fit, or behind it; in lower case.
const WINDOW_BEFORE: &[&str] = &[
    "context length is ",
    "context length of ",
    "prompt length is ",
    "context window of ",
    "context size (",
    "tokens allowed (",
    " > ",
    "limit ",
];

/// Words before the number of the prompt's tokens, or behind it. What is requested, prompt and answer, comes last.
const PROMPT_BEFORE: &[&str] = &[
    "resulted in ",
    "prompt is too long: ",
    "token count (",
    "context limit: ",
    "request contains ",
    "prompt contains ",
    "request (",
    "requested ",
];
const PROMPT_BEHIND: &[&str] =
    &[" in the messages", " of text input", " input tokens", " in your prompt", " tokens in the messages"];

/// Numbers below this are no counts of tokens but versions and the like.
const LEAST: u64 = 100;

/// What a complaint tells.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// Tokens of the prompt.
    pub(super) prompt: Option<u64>,
    /// Tokens that fit.
    pub(super) window: Option<u64>,
}

/// A number of a message and where it stands.
struct Number {
    value: u64,
    start: usize,
    end: usize,
}

impl Counts {
    /// The counts in an error object and its message. `known` is the window where the message tells none.
    pub(super) fn read(error: &Value, message: &str, known: Option<u64>) -> Self {
        let field = |name: &str| error.get(name).and_then(Value::as_u64);
        let message = message.to_lowercase();
        let numbers = numbers(&message);
        let before = |phrases: &[&str]| {
            phrases.iter().find_map(|phrase| {
                numbers.iter().find(|number| head(&message, number.start).ends_with(phrase))
            })
        };
        let behind = |phrases: &[&str]| {
            let found = |phrase: &&str| {
                numbers.iter().find(|number| {
                    let tail = message.get(number.end..).unwrap_or_default();
                    tail.starts_with(phrase)
                        || tail.strip_prefix(" tokens").is_some_and(|tail| tail.starts_with(phrase))
                })
            };
            phrases.iter().find_map(found)
        };
        let value = |number: &Number| number.value;
        let least = numbers.iter().map(value).min().filter(|_| numbers.len() > 1);
        let window = field("n_ctx").or_else(|| before(WINDOW_BEFORE).map(value)).or(known).or(least);
        let told = behind(PROMPT_BEHIND).or_else(|| before(PROMPT_BEFORE)).map(value);
        let most = numbers.iter().map(value).max().filter(|most| window.is_some_and(|window| *most > window));
        Self { prompt: field("n_prompt_tokens").or(told).or(most), window }
    }
}

fn head(message: &str, end: usize) -> &str {
    message.get(..end).unwrap_or_default()
}

/// Whole numbers that stand for themselves, with or without commas between thousands: not parts of names.
fn numbers(message: &str) -> Vec<Number> {
    let mut numbers = Vec::new();
    let mut from = 0;
    while let Some(start) = message.get(from..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())) {
        let start = from + start;
        let rest = message.get(start..).unwrap_or_default();
        let plain = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(rest.len());
        let digits = rest.get(..plain).unwrap_or_default().trim_end_matches(',');
        let end = start + digits.len();
        from = start + plain;
        let named =
            head(message, start).ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        let unit = message
            .get(end..)
            .is_some_and(|tail| tail.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        if let Ok(value) = digits.replace(',', "").parse()
            && value >= LEAST
            && !named
            && !unit
        {
            numbers.push(Number { value, start, end });
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn counts(message: &str) -> (Option<u64>, Option<u64>) {
        let counts = Counts::read(&Value::Null, message, None);
        (counts.prompt, counts.window)
    }

    #[test]
    fn numbers_mean_what_the_words_around_them_say() {
        for message in [
            "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (9000 in the \
             messages, 1000 in the completion).",
            "maximum context length is 8,192 tokens. However, you requested about 9,500 tokens (9,000 of text input).",
            "gpt-4-0613 (org-1234567): maximum context length is 8192 tokens; your messages resulted in 9000 tokens",
            "prompt is too long: 9000 tokens > 8192 maximum",
            "exceed context limit: 9000 + 4096 > 8192",
            "The input token count (9000) exceeds the maximum number of tokens allowed (8192).",
            "request (9000 tokens) exceeds the available context size (8192 tokens)",
            "9000 tokens do not fit into 8192",
            "Request too large for gpt-4o on tokens per min (TPM): Limit 8192, Requested 9000.",
        ] {
            assert_eq!(counts(message), (Some(9000), Some(8192)), "{message}");
        }
    }

    #[test]
    fn what_is_not_told_is_not_made_up() {
        assert_eq!(counts("Your input exceeds the context window of this model."), (None, None));
        assert_eq!(counts("the context window of gpt-4-32768 is too small"), (None, None));
        let error = json!({"n_ctx": 8192, "n_prompt_tokens": 9000});
        let expected = Counts { prompt: Some(9000), window: Some(8192) };
        assert_eq!(Counts::read(&error, "too long", Some(1)), expected);
    }

    proptest! {
        #[test]
        fn any_message_is_read(message in "[ (>é0-9,.a-z-]{0,60}") {
            let _ = counts(&message);
        }
    }
}
