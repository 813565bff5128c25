//! Takes a thought down. Nothing is done.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Called, Hands, Outcome, Tool, names};
use crate::codeact::arguments::Schema;

/// The tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Think;

/// Its arguments.
#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(rename = "thought")]
    _thought: String,
}

impl Tool for Think {
    fn name(&self) -> &str {
        names::THINK
    }

    fn schema(&self) -> Schema {
        Schema::of::<Arguments>()
    }

    fn call<'a>(&'a self, hands: &'a Hands<'a>, _: Map<String, Value>) -> Called<'a> {
        Box::pin(async move {
            let text = hands.render(&hands.agent.spec.prompts.thought, &json!({}))?;
            Ok(Outcome { text, came_to: String::new(), ..Outcome::default() })
        })
    }
}
