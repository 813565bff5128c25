//! A key, kept out of every text that leaves the process.
//!
//! Keys come from the environment and go into one HTTP header. `Debug` hides them, there is no `Display` and no
//! `Serialize`, and [`redact`] takes them by value out of what servers send back.

/// A key whose `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// What stands where a key was.
const REDACTED: &str = "[redacted]";

impl Secret {
    /// Keeps `value`.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Whether it cannot be mistaken for an ordinary word, such as the `none` or `EMPTY` that people set for a server
    /// without keys: 16 characters or more, or 8 with letters and digits.
    pub(crate) fn is_distinctive(&self) -> bool {
        let mixed = self.0.contains(char::is_alphabetic) && self.0.contains(|c: char| c.is_ascii_digit());
        self.0.len() >= 16 || self.0.len() >= 8 && mixed
    }

    /// Whether `text` holds it, as it is or as JSON may write it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        text.contains(&self.0) || self.0.contains('/') && text.contains(&self.0.replace('/', "\\/"))
    }

    /// The key itself, for the one header it belongs in.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Shorter values are no keys, and would hit half of all words.
const LEAST: usize = 4;

/// `text` with every occurrence of a secret replaced, the longest secrets first. A text that was cut short may end
/// within one: the part of it at the end goes as well.
pub(crate) fn redact<'a>(text: &str, secrets: impl Iterator<Item = &'a Secret>) -> String {
    let mut secrets: Vec<&str> = secrets.map(Secret::expose).filter(|secret| secret.len() >= LEAST).collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.into_iter().fold(text.to_owned(), |text, secret| {
        let mut text = text.replace(secret, REDACTED);
        if secret.contains('/') {
            text = text.replace(&secret.replace('/', "\\/"), REDACTED);
        }
        without_head_at_end(text, secret)
    })
}

/// `text` without the first characters of `secret` at its end, an ellipsis behind them aside.
fn without_head_at_end(text: String, secret: &str) -> String {
    let body = text.trim_end_matches('…');
    let heads = secret.char_indices().map(|(at, _)| at).filter(|at| *at >= LEAST);
    let head = heads.rev().filter_map(|at| secret.get(..at)).find(|head| body.ends_with(head));
    match head.and_then(|head| body.strip_suffix(head)) {
        Some(before) => format!("{before}{REDACTED}{}", text.get(body.len()..).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_debug_nor_a_message_shows_the_key() {
        let key = Secret::new("sk-hunter2");
        assert_eq!(format!("{key:?}"), "[redacted]");
        for (message, clean) in [
            ("bad key sk-hunter2, got sk-hunter2", "bad key [redacted], got [redacted]"),
            ("cut: sk-hun…", "cut: [redacted]…"),
            ("cut: sk-h", "cut: [redacted]"),
            ("cut: sk-", "cut: sk-"),
            ("no key", "no key"),
        ] {
            assert_eq!(redact(message, std::iter::once(&key)), clean);
        }
    }

    #[test]
    fn one_key_within_another_leaves_nothing_of_either() {
        let (short, long) = (Secret::new("sk-hunter2"), Secret::new("sk-hunter2-and/more"));
        let clean =
            redact(r"sk-hunter2-and/more sk-hunter2-and\/more sk-hunter2", [&short, &long].into_iter());
        assert_eq!(clean, "[redacted] [redacted] [redacted]");
    }

    #[test]
    fn a_word_is_no_key() {
        for (text, distinctive) in [
            ("none", false),
            ("EMPTY", false),
            ("placeholder", false),
            ("token-abc123", true),
            ("sk-test-SECRETSECRET", true),
        ] {
            assert_eq!(Secret::new(text).is_distinctive(), distinctive, "{text}");
        }
    }
}
