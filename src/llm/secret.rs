//! A key, kept out of every text that leaves the process.
//!
//! Keys come from the environment and go into one HTTP header. `Debug` hides them, there is no `Display` and no
//! `Serialize`, and [`redact`] takes them by value out of what servers send back.

/// A key whose `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    value: String,
    /// The value as JSON and addresses may write it, where that differs.
    rewritten: Vec<String>,
}

/// What stands where a key was.
const REDACTED: &str = "[redacted]";

impl Secret {
    /// Keeps `value`.
    pub fn new(value: impl Into<String>) -> Self {
        let value = value.into();
        let mut rewritten =
            vec![value.replace('/', "\\/"), in_address(&value, true), in_address(&value, false)];
        rewritten.retain(|text| *text != value);
        rewritten.dedup();
        Self { value, rewritten }
    }

    /// Whether it cannot be mistaken for an ordinary word, such as the `none` or `EMPTY` that people set for a server
    /// without keys: 16 characters or more, or 8 with letters and digits.
    pub(crate) fn is_distinctive(&self) -> bool {
        let value = &self.value;
        let mixed = value.contains(char::is_alphabetic) && value.contains(|c: char| c.is_ascii_digit());
        value.len() >= 16 || value.len() >= 8 && mixed
    }

    /// It, and every other way of writing it.
    fn forms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.value).chain(&self.rewritten).map(String::as_str)
    }

    /// Whether `text` holds it, as it is or as JSON or an address may write it.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.forms().any(|form| text.contains(form))
    }

    /// The key itself, for the one header it belongs in.
    pub(crate) fn expose(&self) -> &str {
        &self.value
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(REDACTED)
    }
}

/// `value` inside an address: all but letters, digits and `-._~` escaped, the escapes in capitals or not.
fn in_address(value: &str, capitals: bool) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            _ => {
                let escape = if capitals { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
                text.push_str(&escape);
            }
        }
    }
    text
}

/// Shorter values are no keys, and would hit half of all words.
const LEAST: usize = 4;

/// `text` with every occurrence of a secret replaced, the longest secrets first. A text that was cut short may end
/// within one: the part of it at the end goes as well.
pub(crate) fn redact<'a>(text: &str, secrets: impl Iterator<Item = &'a Secret>) -> String {
    let secrets = secrets.filter(|secret| secret.value.len() >= LEAST);
    let mut forms: Vec<&str> = secrets.flat_map(Secret::forms).collect();
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.into_iter().fold(text.to_owned(), |text, form| {
        let text = if text.contains(form) { text.replace(form, REDACTED) } else { text };
        without_head_at_end(text, form)
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
    fn a_key_is_known_however_it_is_written() {
        let key = Secret::new("sk+hunter2/==é");
        for text in [
            "sk+hunter2/==é",
            r"sk+hunter2\/==é",
            "https://a.example/?key=sk%2Bhunter2%2F%3D%3D%C3%A9&x",
            "sk%2bhunter2%2f%3d%3d%c3%a9",
        ] {
            assert!(key.is_in(text), "{text}");
            assert!(!redact(text, std::iter::once(&key)).contains("hunter2"), "{text}");
        }
        assert_eq!(Secret::new("sk-plain_1.2~3").rewritten, Vec::<String>::new());
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
