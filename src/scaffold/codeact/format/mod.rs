//! How a model says which tool it calls: the formats, each with a reader and a writer that are exact inverses.
//!
//! - `native`: the provider's own tool calls; any number in one answer
//! - [`tags`]: `<execute_bash>…</execute_bash>` and its kin, one call in an answer
//! - [`functions`]: `<function=NAME>` with `<parameter=P>` inside, one call in an answer
//!
//! The text formats are read without looking at the tools on offer: what a call asks for is judged where it is made.
//! What an answer holds besides its one call is not run; it is listed, so that the model can be told. Nothing here fails
//! and all of it takes linear time: any text is a message, or a message with a call.

mod escape;
pub mod functions;
pub mod native;
pub mod tags;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::codeact::arguments::ArgumentFault;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// The provider's own calls.
    #[serde(rename = "native")]
    Native,
    /// One tag for each tool.
    #[serde(rename = "codeact-tags")]
    Tags,
    /// Functions with parameters, as text.
    #[serde(rename = "fncall-text")]
    Functions,
}

/// An answer taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What it says besides its calls; all of it where there is none.
    pub thought: String,
    /// The calls to make, in order.
    pub calls: Vec<Call>,
    /// What is not run.
    pub dropped: Vec<Dropped>,
    /// The last call has no end: a stop text took it, or the output limit.
    pub open: bool,
}

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The provider's name of the call; empty in text formats.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments as they were written, or why there are none.
    pub arguments: Result<Map<String, Value>, ArgumentFault>,
}

impl Call {
    /// A call in a text format.
    pub fn text(name: &str, arguments: Map<String, Value>) -> Self {
        Self { id: String::new(), name: name.to_owned(), arguments: Ok(arguments) }
    }
}

/// A part of an answer that is not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The tool it would have called; none: it is text, where no text may stand.
    pub name: Option<String>,
    /// What stands there.
    pub text: String,
}

impl Format {
    /// The format of this name, as `podium scaffolds parse --format` has it.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "native" | "fncall-json" => Some(Self::Native),
            "codeact-tags" => Some(Self::Tags),
            "fncall-text" => Some(Self::Functions),
            _ => None,
        }
    }

    /// The names that [`Self::named`] knows.
    pub const NAMES: &[&str] = &["codeact-tags", "fncall-text", "fncall-json"];

    /// Whether calls are text in the answer.
    pub const fn is_text(self) -> bool {
        !matches!(self, Self::Native)
    }

    /// Texts that end an answer.
    pub fn stops(self) -> Vec<String> {
        match self {
            Self::Native => Vec::new(),
            Self::Tags => tags::stops(),
            Self::Functions => vec![functions::STOP.to_owned()],
        }
    }

    /// Reads the text of an answer. In the native format it is all message.
    pub fn read(self, text: &str) -> Reading {
        match self {
            Self::Native => Reading { thought: text.to_owned(), ..Reading::default() },
            Self::Tags => tags::read(text),
            Self::Functions => functions::read(text),
        }
    }

    /// Writes a message with at most one call. What [`Self::read`] makes of it is the same message and the same call,
    /// where the message has no blank space at its ends and the call's values fit its schema.
    pub fn write(self, thought: &str, call: Option<&Call>) -> String {
        match self {
            Self::Native => thought.to_owned(),
            Self::Tags => tags::write(thought, call),
            Self::Functions => functions::write(thought, call),
        }
    }
}

/// `text` without the beginning of `closing` at its end, which a cut leaves: at least two characters of it.
fn without_cut_closing<'a>(text: &'a str, closing: &str) -> &'a str {
    let mut cuts = (2..closing.len()).rev().filter_map(|length| closing.get(..length));
    cuts.find_map(|part| text.strip_suffix(part)).unwrap_or(text)
}

/// What stands between an opening and a closing mark. Marks on lines of their own take one line break each with them;
/// blank space beside a mark on the same line is no part of the content.
fn between(raw: &str) -> &str {
    let is_blank = |text: &str| text.chars().all(|c| c == ' ' || c == '\t' || c == '\r');
    let content = match raw.split_once('\n') {
        Some((first, rest)) if is_blank(first) => rest,
        _ => raw.trim_start_matches([' ', '\t']),
    };
    match content.rsplit_once('\n') {
        Some((rest, last)) if is_blank(last) => rest,
        None if is_blank(content) => "",
        _ => content.trim_end_matches([' ', '\t']),
    }
}
