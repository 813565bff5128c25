//! What the template engine found wrong, as one sentence: its own form is a frame of several lines with the source.

use tera::{Error, ErrorKind};

/// A fault in a template.
#[derive(Debug)]
pub(super) struct Fault {
    /// The template in which it is, where the engine says so. It may be one that another includes.
    pub(super) template: Option<String>,
    /// What it is, and in which line.
    pub(super) message: String,
}

impl Fault {
    pub(super) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::SyntaxError(report) | ErrorKind::RenderingError(report) => Self {
                template: Some(report.filename().to_owned()).filter(|name| !name.is_empty()),
                message: format!("line {}: {}", report.span().start_line, one_line(report.message())),
            },
            ErrorKind::CircularInclude { tpl, include_chain: chain } => Self {
                template: Some(tpl.clone()),
                message: format!("it includes itself: {}", chain.join(", ")),
            },
            ErrorKind::CircularExtend { tpl, inheritance_chain: chain } => Self {
                template: Some(tpl.clone()),
                message: format!("it extends itself: {}", chain.join(", ")),
            },
            ErrorKind::MissingParent { current, parent } => Self {
                template: Some(current.clone()),
                message: format!("there is no template `{parent}` to extend"),
            },
            other => {
                let text = other.to_string();
                framed(&text).unwrap_or_else(|| Self { template: None, message: one_line(&text) })
            }
        }
    }

    /// The message for a reader who was told that `template` is at fault.
    pub(super) fn seen_from(self, template: &str) -> String {
        match self.template {
            Some(inner) if inner != template => format!("in `{inner}`, {}", self.message),
            _ => self.message,
        }
    }
}

/// Reads a frame that the engine made already: `error: WHAT`, then ` --> TEMPLATE:LINE:COLUMN`. Of several, the first.
fn framed(text: &str) -> Option<Fault> {
    let (what, rest) = text.strip_prefix("error: ")?.split_once("--> ")?;
    let mut place = rest.lines().next()?.rsplitn(3, ':');
    let (_column, line, template) = (place.next()?, place.next()?, place.next()?);
    Some(Fault { template: Some(template.to_owned()), message: format!("line {line}: {}", one_line(what)) })
}

/// As a fragment of our own sentence: one line, no capital, no full stop.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = text.trim_end_matches('.').chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}
