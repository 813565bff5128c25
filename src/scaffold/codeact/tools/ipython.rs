//! Python in a kernel that lives on.

use podium_types::session::SessionKind;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::session::{Asked, act};
use super::{Called, Hands, Tool, names, outcome, read};
use crate::codeact::arguments::Schema;

/// The tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ipython;

/// Its arguments.
#[derive(Debug, Deserialize)]
struct Arguments {
    code: String,
    timeout: Option<f64>,
    reset: Option<bool>,
}

impl Tool for Ipython {
    fn name(&self) -> &str {
        names::IPYTHON
    }

    fn schema(&self) -> Schema {
        Schema::of::<Arguments>()
    }

    fn call<'a>(&'a self, hands: &'a Hands<'a>, arguments: Map<String, Value>) -> Called<'a> {
        Box::pin(async move {
            let Arguments { code, timeout, reset } = match read(arguments) {
                Ok(arguments) => arguments,
                Err(fault) => return outcome::fault(hands, &fault),
            };
            let reset = reset.unwrap_or_default();
            act(hands, SessionKind::Kernel, Asked { text: code, is_input: false, seconds: timeout, reset })
                .await
        })
    }
}
