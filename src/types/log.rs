//! The log of a step as people read it: lines in the order in which things were said, done and seen.
//!
//! The strategy that took the step writes it, for nothing but the strategy knows what an answer meant; whoever shows a run
//! puts between its lines what the harness did. All texts are as they came: whoever shows them makes them harmless.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// The model said it: a field of its answer, or its message.
    Said,
    /// The agent's plan: all of it at first, then what changed as a unified diff.
    Plan,
    /// A call: the title is the action's or the tool's name, the text its input.
    Act,
    /// What came of a call, as the model reads it.
    Seen,
    /// An answer or a part of one that could not be used, and why.
    Refused,
    /// What the harness says to the model besides: a nudge, what is left.
    Told,
    /// Earlier steps that the model is not shown any more; the text is what stands for them.
    Condensed,
    /// The format check of a submission.
    Checked,
    /// What the harness did: a sitting that began, a session that ended, an act that was cut.
    Harness,
}

impl LineKind {
    /// The word that people read.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Plan => "plan",
            Self::Act => "act",
            Self::Seen => "observation",
            Self::Refused => "refused",
            Self::Told => "told",
            Self::Condensed => "condensed",
            Self::Checked => "submission",
            Self::Harness => "harness",
        }
    }
}

/// One line: a heading and a text, which may have many lines of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// What it tells.
    pub kind: LineKind,
    /// Its heading: the name of a field, an action or a tool.
    pub title: String,
    /// The text.
    pub text: String,
    /// It went wrong: an observation of a failure, an answer that could not be read, an invalid submission.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl Line {
    /// A line of something that went well.
    pub fn new(kind: LineKind, title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind, title: title.into(), text: text.into(), failed: false }
    }

    /// A call with its arguments.
    pub fn act(name: &str, arguments: &Map<String, Value>) -> Self {
        Self::new(LineKind::Act, name, readable(arguments))
    }

    /// The same line, of something that went wrong where `failed`.
    #[must_use]
    pub fn failed(self, failed: bool) -> Self {
        Self { failed, ..self }
    }
}

/// Arguments as people read them: the text itself where there is one argument, else each under its name.
fn readable(arguments: &Map<String, Value>) -> String {
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut values = arguments.iter();
    if let (Some((_, value)), None) = (values.next(), values.next()) {
        return shown(value);
    }
    let mut text = String::new();
    for (name, value) in arguments {
        let value = shown(value);
        let gap = if value.contains('\n') { '\n' } else { ' ' };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}:{gap}{}", value.trim_end_matches('\n'));
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_read_as_they_were_meant() {
        for (arguments, text) in [
            (json!({}), ""),
            (json!({"command": "cd a\nls"}), "cd a\nls"),
            (json!({"start": 3}), "3"),
            (json!({"path": "a.py", "text": "x\ny\n", "line": 3}), "line: 3\npath: a.py\ntext:\nx\ny"),
        ] {
            assert_eq!(readable(arguments.as_object().unwrap()), text);
        }
    }
}
