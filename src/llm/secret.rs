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

/// `text` with every occurrence of a secret replaced.
pub(crate) fn redact<'a>(text: &str, secrets: impl Iterator<Item = &'a Secret>) -> String {
    secrets
        .filter(|secret| secret.0.len() >= 4)
        .fold(text.to_owned(), |text, secret| text.replace(secret.expose(), REDACTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_debug_nor_a_message_shows_the_key() {
        let key = Secret::new("sk-hunter2");
        assert_eq!(format!("{key:?}"), "[redacted]");
        let message = redact("bad key sk-hunter2, got sk-hunter2", std::iter::once(&key));
        assert_eq!(message, "bad key [redacted], got [redacted]");
    }
}
