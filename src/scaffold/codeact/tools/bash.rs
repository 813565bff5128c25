//! Commands in a shell that lives on.

use podium_types::session::SessionKind;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::session::{Asked, act};
use super::{Called, Hands, Tool, names, outcome, read};
use crate::codeact::arguments::Schema;

/// The tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bash;

/// Its arguments.
#[derive(Debug, Deserialize)]
struct Arguments {
    command: String,
    is_input: Option<bool>,
    timeout: Option<f64>,
    reset: Option<bool>,
}

impl Tool for Bash {
    fn name(&self) -> &str {
        names::BASH
    }

    fn schema(&self) -> Schema {
        Schema::of::<Arguments>()
    }

    fn call<'a>(&'a self, hands: &'a Hands<'a>, arguments: Map<String, Value>) -> Called<'a> {
        Box::pin(async move {
            let Arguments { command, is_input, timeout, reset } = match read(arguments) {
                Ok(arguments) => arguments,
                Err(fault) => return outcome::fault(hands, &fault),
            };
            let asked = Asked {
                text: command,
                is_input: is_input.unwrap_or_default(),
                seconds: timeout,
                reset: reset.unwrap_or_default(),
            };
            act(hands, SessionKind::Shell, asked).await
        })
    }
}
