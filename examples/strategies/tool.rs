//! A tool of a CodeAct agent: it stands in the place of the shipped `validate_submission` and tells how many rows the
//! file has besides. One of a new name needs a `[[tool]]` with that name and a template that describes it.
//!
//! Any scaffold made from `codeact` has it:
//!
//! ```toml
//! ```

use podium_scaffold::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The tool.
#[derive(Debug)]
pub(crate) struct CountedCheck;

/// Its arguments: it takes none. The schema that a model is shown is read off this type.
#[derive(Deserialize)]
struct Arguments {}

/// More of a file is not counted.
const MOST_BYTES: u64 = 100_000_000;

impl Tool for CountedCheck {
    fn name(&self) -> &'static str {
        "validate_submission"
    }

    fn schema(&self) -> Schema {
        Schema::of::<Arguments>()
    }

    fn call<'a>(&'a self, hands: &'a Hands<'a>, _: Map<String, Value>) -> Called<'a> {
        Box::pin(async move {
            let context = hands.context();
            let path = context.task().submission_path.clone();
            let sha256 = match context.collect(hands.key("collect"), &path).await? {
                Collected::File { sha256, .. } => sha256,
                Collected::Missing { found } => {
                    return Ok(ToolOutcome::failed(format!("There is no submission: {found}.")));
                }
            };
            let verdict = context.validate(hands.key("validate"), &sha256).await?;
            let request = FilesRequest::Read { path, max_bytes: MOST_BYTES, beginning: false };
            let rows = match context.files(hands.key("read"), request).await? {
                Ok(FilesAnswer::Read(file)) => file.text.lines().count().saturating_sub(1).to_string(),
                _ => "too many to count".to_owned(),
            };
            Ok(match verdict {
                Verdict::Valid { .. } => ToolOutcome::done(format!("The submission is valid; rows: {rows}.")),
                Verdict::Invalid { reason } => {
                    ToolOutcome::failed(format!("The submission has another form: {reason}; rows: {rows}."))
                }
                Verdict::Missing { found } => {
                    ToolOutcome::failed(format!("There is no submission: {found}."))
                }
            })
        })
    }
}
