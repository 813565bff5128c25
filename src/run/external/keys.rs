//! The key of each effect: the one that the request carries, or one made from the step and a number.
//!
//! A number is given to requests without a key in the order in which they come, so it says the same in a replay only
//! while such a request is alone: [`NOT_ALONE`](super::message::NOT_ALONE) otherwise.

use std::collections::BTreeMap;

use podium_types::key::EffectKey;

use super::message::{BAD_KEY, Fault};

/// No key is longer.
const LONGEST: usize = 200;

/// Gives keys.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Steps that were asked for without a key.
    steps: u32,
    /// Requests of a method in a step so far.
    counts: BTreeMap<(u32, &'static str), u32>,
}

impl Keys {
    /// A key for the next request without one.
    pub(super) fn next(&mut self, method: &'static str) -> EffectKey {
        if method == "begin_step" {
            self.steps = self.steps.saturating_add(1);
        }
        let count = self.counts.entry((self.steps, method)).or_default();
        let number = *count;
        *count = number.saturating_add(1);
        match self.steps.checked_sub(1) {
            Some(step) => EffectKey::step(step, &format!("{method}-{number}")),
            None => EffectKey::run(&format!("{method}-{number}")),
        }
    }
}

/// A key as a request carries it.
///
/// # Errors
/// When it is none.
pub(super) fn read(text: &str) -> Result<EffectKey, Fault> {
    let number = |part: &str| part.parse::<u32>().is_ok_and(|number| number.to_string() == part);
    let name = |part: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        !part.is_empty() && part.bytes().all(allowed)
    };
    let parts: Vec<&str> = text.split('/').collect();
    let fits = text.len() <= LONGEST
        && match parts.as_slice() {
            ["node", node, operator, count] => number(node) && name(operator) && number(count),
            ["step", step, call] => number(step) && name(call),
            ["run", call] => name(call),
            _ => false,
        };
    if fits {
        return Ok(EffectKey::from_journal(text.to_owned()));
    }
    let shown: String = text.chars().take(LONGEST).collect();
    let forms = "node/N/NAME/TRY, step/N/NAME or run/NAME";
    Err(Fault::new(BAD_KEY, format!("`{shown}` is no key: it is {forms}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_grammar() {
        for good in ["node/0/chat/0", "node/4294967295/a-b_c.d/7", "step/3/look", "run/preview"] {
            assert_eq!(read(good).map(|key| key.to_string()), Ok(good.to_owned()));
        }
        let long = format!("run/{}", "a".repeat(200));
        for bad in [
            "",
            "node",
            "node/1/a",
            "node/01/a/0",
            "node/-1/a/0",
            "node/1/a/b",
            "node/4294967296/a/0",
            "step/1/",
            "step/1/a b",
            "run/../x",
            "run/\u{e9}",
            "other/1",
            &long,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_counted_by_step_and_method() {
        let mut keys = Keys::default();
        let given =
            ["preview", "begin_step", "chat", "chat", "begin_step", "chat"].map(|method| keys.next(method));
        let expected = [
            "run/preview-0",
            "step/0/begin_step-0",
            "step/0/chat-0",
            "step/0/chat-1",
            "step/1/begin_step-0",
            "step/1/chat-0",
        ];
        assert_eq!(given.map(|key| key.to_string()), expected);
    }
}
