//! The terminal: standard output for data, standard error for the rest, colour only where somebody looks, and text
//! of agents and models always escaped.

use std::io::{IsTerminal as _, Write as _};

use serde::Serialize;

/// Where output goes, and how.
#[derive(Debug)]
pub(crate) struct Terminal {
    colour: bool,
    stdout: std::io::Stdout,
    stderr: std::io::Stderr,
}

impl Terminal {
    /// Looks at the environment: `NO_COLOR`, and whether standard error is a terminal.
    pub(crate) fn new() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let stderr = std::io::stderr();
        Self { colour: wanted && stderr.is_terminal(), stdout: std::io::stdout(), stderr }
    }

    /// A line of data. A reader that went away is no error.
    pub(crate) fn line(&self, text: &str) {
        let _ = writeln!(self.stdout.lock(), "{text}");
    }

    /// A line for people.
    pub(crate) fn error_line(&self, text: &str) {
        let _ = writeln!(self.stderr.lock(), "{text}");
    }

    /// One JSON document.
    pub(crate) fn json<T: Serialize + ?Sized>(&self, value: &T) {
        if let Ok(text) = serde_json::to_string_pretty(value) {
            self.line(&text);
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// For the word before an error.
    pub(crate) fn bold_red(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// For the word before a warning.
    pub(crate) fn yellow(&self, text: &str) -> String {
        self.paint("33", text)
    }

    /// For the word before a hint.
    pub(crate) fn cyan(&self, text: &str) -> String {
        self.paint("36", text)
    }

    /// For what matters most on a line.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }
}

/// Makes text of unknown origin harmless: control characters, escape sequences and direction marks become visible.
/// Line breaks stay.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let hidden = matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}');
        if character == '\n' || !(character.is_control() || hidden) {
            out.push(character);
        } else if character == '\t' {
            out.push_str("    ");
        } else {
            out.extend(character.escape_default());
        }
    }
    out
}

/// Escaped, on one line, and no longer than `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let escaped = escape(&joined);
    if escaped.chars().count() <= width {
        return escaped;
    }
    let mut cut: String = escaped.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(escape("a\u{1b}[31mb\u{7}\u{202e}c\nd"), "a\\u{1b}[31mb\\u{7}\\u{202e}c\nd");
        assert_eq!(one_line("ä b\n c   defgh", 6), "ä b c…");
    }
}
