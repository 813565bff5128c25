//! Ends the work, where there is a valid submission. Without one the agent is told what is wrong and goes on, so many
//! times.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Called, Hands, Outcome, Tool, names, outcome, read};
use crate::codeact::arguments::Schema;
use crate::codeact::submission::{self, SubmissionVariables};

/// The tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish;

/// Its arguments.
#[derive(Debug, Deserialize)]
struct Arguments {
    message: Option<String>,
}

/// Characters of the agent's last words that the run's ending tells.
const LAST_WORDS: usize = 200;

impl Tool for Finish {
    fn name(&self) -> &str {
        names::FINISH
    }

    fn schema(&self) -> Schema {
        Schema::of::<Arguments>()
    }

    fn call<'a>(&'a self, hands: &'a Hands<'a>, arguments: Map<String, Value>) -> Called<'a> {
        Box::pin(async move {
            let Arguments { message } = match read(arguments) {
                Ok(arguments) => arguments,
                Err(fault) => return outcome::fault(hands, &fault),
            };
            let verdict = submission::check(hands).await?;
            let sent_back = {
                let mut memory = hands.memory.borrow_mut();
                let sent_back =
                    !verdict.is_valid() && memory.finishes < hands.agent.spec.agent.finishes_sent_back;
                memory.finishes += u32::from(sent_back);
                sent_back
            };
            let outcome = if sent_back { "sent_back" } else { "finished" };
            let variables = SubmissionVariables::new(outcome, &verdict, hands.context.task());
            let text = hands.render(&hands.agent.spec.prompts.submission, &variables)?;
            let finished =
                (!sent_back).then(|| reason(message.as_deref().unwrap_or_default(), verdict.is_valid()));
            Ok(Outcome { came_to: text.clone(), text, failed: sent_back, excused: false, finished })
        })
    }
}

fn reason(message: &str, valid: bool) -> String {
    let mut reason = "the agent finished".to_owned();
    if !valid {
        reason.push_str(" without a valid submission");
    }
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if !words.is_empty() {
        let cut = words.char_indices().nth(LAST_WORDS).and_then(|(end, _)| words.get(..end));
        reason.push_str(": ");
        reason.push_str(cut.unwrap_or(&words));
        reason.push_str(if cut.is_some() { "…" } else { "" });
    }
    reason
}
