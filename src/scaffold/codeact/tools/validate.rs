//! Has the format of the submission checked: whether it would be accepted, never how good it is.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Called, Hands, Outcome, Tool, names};
use crate::codeact::arguments::Schema;
use crate::codeact::submission::{self, SubmissionVariables};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validate;

/// Its arguments.
#[derive(Debug, Deserialize)]
struct Arguments {}

impl Tool for Validate {
    fn name(&self) -> &str {
        names::VALIDATE
    }

    fn schema(&self) -> Schema {
        Schema::of::<Arguments>()
    }

    fn call<'a>(&'a self, hands: &'a Hands<'a>, _: Map<String, Value>) -> Called<'a> {
        Box::pin(async move {
            let verdict = submission::check(hands).await?;
            let variables = SubmissionVariables::new("checked", &verdict, hands.context.task());
            let text = hands.render(&hands.agent.spec.prompts.submission, &variables)?;
            Ok(Outcome { came_to: text.clone(), text, failed: !verdict.is_valid(), ..Outcome::default() })
        })
    }
}
