//! How an answer was read, for `podium scaffolds parse`: in the format that is asked for, or in the scaffold's own.
//!
//! The text formats say which calls stand there; a tool that the scaffold does not have is judged when it is called, as
//! their own readers do it. A native answer came apart already, so there its calls are judged.

use serde_json::{Map, Value};

use crate::answer::{Action, AnswerStatus, ParsedAnswer};
use crate::codeact::arguments::ArgumentFault;
use crate::codeact::format::{Call, Dropped, Format, Reading, native};
use crate::codeact::tools::Catalogue;

/// Reads an answer.
pub(crate) fn parse(tools: &Catalogue, own: Format, text: &str, format: Option<&str>) -> ParsedAnswer {
    let format = match format {
        None => own,
        Some(name) => match Format::named(name) {
            Some(format) => format,
            None => {
                return invalid(format!(
                    "there is no format `{name}`; there are {}",
                    Format::NAMES.join(", ")
                ));
            }
        },
    };
    let reading = match format {
        Format::Native => match native::read_json(text) {
            Ok(reading) => reading,
            Err(error) => {
                return invalid(format!("the answer is no message with `content` and `tool_calls`: {error}"));
            }
        },
        _ => format.read(&crate::tree_search::answer::without_thinking(text)),
    };
    let mut actions = Vec::new();
    for call in &reading.calls {
        match action(tools, call, format) {
            Ok(action) => actions.push(action),
            Err(fault) => return ParsedAnswer { plan: plan(&reading), ..invalid(fault.to_string()) },
        }
    }
    ParsedAnswer {
        status: AnswerStatus::Ok,
        why: None,
        plan: plan(&reading),
        code: None,
        actions,
        dropped: reading.dropped.iter().map(dropped).collect(),
    }
}

fn action(tools: &Catalogue, call: &Call, format: Format) -> Result<Action, ArgumentFault> {
    let given = call.arguments.clone()?;
    let arguments = match tools.fit(&call.name, &given) {
        Ok(fitted) => fitted.arguments,
        Err(ArgumentFault::UnknownTool { .. }) if format.is_text() => given,
        Err(fault) => return Err(fault),
    };
    Ok(Action { name: call.name.clone(), arguments })
}

fn dropped(part: &Dropped) -> Action {
    let arguments: Map<String, Value> =
        [("text".to_owned(), Value::from(part.text.as_str()))].into_iter().collect();
    Action { name: part.name.clone().unwrap_or_default(), arguments }
}

fn plan(reading: &Reading) -> Option<String> {
    Some(reading.thought.clone()).filter(|thought| !thought.is_empty())
}

fn invalid(why: String) -> ParsedAnswer {
    ParsedAnswer {
        status: AnswerStatus::Invalid,
        why: Some(why),
        plan: None,
        code: None,
        actions: Vec::new(),
        dropped: Vec::new(),
    }
}
