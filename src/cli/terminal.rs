//! The terminal: standard output for data, standard error for the rest, colour only where somebody looks, and text
//! of agents and models always escaped.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use podium_types::hidden::is_hidden;
use serde::Serialize;

/// Where output goes, and how.
#[derive(Debug)]
pub(crate) struct Terminal {
    colour: bool,
    stdout: std::io::Stdout,
    stderr: std::io::Stderr,
    lost: AtomicBool,
    data: AtomicBool,
}

impl Terminal {
    /// Looks at the environment: `NO_COLOR`, and whether standard error is a terminal.
    pub(crate) fn new() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let stderr = std::io::stderr();
        Self {
            colour: wanted && stderr.is_terminal(),
            stdout: std::io::stdout(),
            stderr,
            lost: AtomicBool::new(false),
            data: AtomicBool::new(false),
        }
    }

    /// A line of data. A reader that went away is no error.
    pub(crate) fn line(&self, text: &str) {
        self.data.store(true, Ordering::Relaxed);
        let mut stdout = self.stdout.lock();
        match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                self.lost.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// Whether data went out already.
    pub(crate) fn has_data(&self) -> bool {
        self.data.load(Ordering::Relaxed)
    }

    /// Whether data could not be written. A reader that went away does not count.
    pub(crate) fn lost_output(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// A line for people.
    pub(crate) fn error_line(&self, text: &str) {
        let _ = writeln!(self.stderr.lock(), "{text}");
    }

    /// Whether somebody sees lines change: standard error is a terminal, and one that takes commands.
    pub(crate) fn is_live(&self) -> bool {
        let takes_none = |name: std::ffi::OsString| name.is_empty() || name == "dumb";
        self.stderr.is_terminal() && !std::env::var_os("TERM").is_none_or(takes_none)
    }

    /// Text for a terminal as it is, at once.
    pub(crate) fn error_raw(&self, text: &str) {
        let mut stderr = self.stderr.lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// One JSON document.
    pub(crate) fn json<T: Serialize + ?Sized>(&self, value: &T) {
        if let Ok(text) = serde_json::to_string_pretty(value) {
            self.line(&json_escaped(&text));
        }
    }

    /// One JSON document on one line.
    pub(crate) fn json_line<T: Serialize + ?Sized>(&self, value: &T) {
        if let Ok(text) = serde_json::to_string(value) {
            self.line(&json_escaped(&text));
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
        if character == '\n' || !(character.is_control() || is_hidden(character)) {
            out.push(character);
        } else if character == '\t' {
            out.push_str("    ");
        } else {
            out.extend(character.escape_default());
        }
    }
    out
}

/// JSON with what [`escape`] hides written as `\u` escapes: the same document, harmless on a terminal. The serialiser
/// has escaped the other control characters, and such characters stand inside strings only.
fn json_escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut units = [0; 2];
    for character in json.chars() {
        if character != '\n' && (character.is_control() || is_hidden(character)) {
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
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

/// Dollars to four places; what is less than they show, though not nothing, in full.
pub(crate) fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.0001 {
        podium_types::money::Usd::from_dollars(amount).to_string()
    } else {
        format!("${amount:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        assert_eq!(escape("a\u{1b}[31mb\u{7}\u{202e}c\nd"), "a\\u{1b}[31mb\\u{7}\\u{202e}c\nd");
        assert_eq!(escape("a\u{61c}b\u{9b}c"), "a\\u{61c}b\\u{9b}c");
        let value = serde_json::json!("\u{9b}1m \u{202e} \u{e0041}");
        let shown = json_escaped(&value.to_string());
        assert!(shown.is_ascii());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        assert_eq!([0.0, 0.5, 0.000_029].map(dollars), ["$0.0000", "$0.5000", "$0.000029"]);
        assert_eq!(one_line("ä b\n c   defgh", 6), "ä b c…");
    }
}
