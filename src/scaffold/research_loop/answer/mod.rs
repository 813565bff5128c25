//! How a model's answer is read: six fields in their order, the name of an action, and its arguments.
//!
//! The verdicts are those of the parser that MLE-bench ran, and so are the values, but where it is plainly wrong: an
//! argument that the action does not have is refused instead of swallowed with the value before it, and a comma behind
//! the last argument is no part of its value. Each fault has its own kind, so that the model can be told what to mend.
//! Reading costs linear time whatever the text is.
//!
//! - [`fields`]: the six fields
//! - [`input`]: the arguments

pub mod fields;
pub mod input;

use podium_types::nearest::nearest;

use crate::answer::{Action, AnswerStatus, ParsedAnswer};
pub use fields::{FIELDS, FieldFault, Fields};
pub use input::{Input, InputFault};

/// What the parser knows of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its name, exactly.
    pub name: String,
    /// Its arguments, in their order.
    pub arguments: Vec<String>,
}

/// An answer that names an action.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading<'a> {
    /// The fields.
    pub fields: Fields<'a>,
    /// The action's name.
    pub action: String,
    /// Its arguments, or why they cannot be used.
    pub input: Result<Input, InputFault>,
}

/// Why an answer names no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// The fields.
    #[error(transparent)]
    Fields(#[from] FieldFault),
    /// What stands in the field `Action`.
    #[error("`{name}` is not the name of an action{}", near.as_ref().map(|near| format!("; nearest: `{near}`")).unwrap_or_default())]
    Unknown {
        /// What stands there.
        name: String,
        /// The nearest right name.
        near: Option<String>,
    },
}

/// Reads an answer.
pub fn read<'a>(text: &'a str, actions: &[Signature]) -> Result<Reading<'a>, AnswerFault> {
    let fields = fields::cut(text)?;
    let name = fields.action.trim();
    let Some(signature) = actions.iter().find(|signature| signature.name == name) else {
        let bare = name.trim_matches(|c: char| !c.is_alphanumeric() && c != ')');
        let near = nearest(bare, actions.iter().map(|signature| signature.name.as_str()));
        return Err(AnswerFault::Unknown { name: shortened(name), near });
    };
    let input = input::read(fields.action_input, &signature.arguments);
    Ok(Reading { fields, action: signature.name.clone(), input })
}

/// An answer as `podium scaffolds parse` prints it.
pub fn parse(text: &str, actions: &[Signature]) -> ParsedAnswer {
    let none = |status, why: String| ParsedAnswer {
        status,
        why: Some(why),
        plan: None,
        code: None,
        actions: Vec::new(),
        dropped: Vec::new(),
    };
    match read(text, actions) {
        Err(fault) => none(AnswerStatus::Invalid, fault.to_string()),
        Ok(reading) => {
            let plan = Some(plan_of(reading.fields.plan));
            let name = reading.action;
            match reading.input {
                Ok(arguments) => ParsedAnswer {
                    status: AnswerStatus::Ok,
                    why: None,
                    plan,
                    code: None,
                    actions: vec![Action { name, arguments }],
                    dropped: Vec::new(),
                },
                Err(fault) => ParsedAnswer {
                    plan,
                    actions: vec![Action { name, arguments: Input::new() }],
                    ..none(AnswerStatus::InputError, fault.to_string())
                },
            }
        }
    }
}

/// The plan as it is carried on: without the marks of what is new in it.
pub fn plan_of(field: &str) -> String {
    field.trim().trim_matches('`').replace("**", "").trim().to_owned()
}

fn shortened(name: &str) -> String {
    const MOST: usize = 80;
    let line = name.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(MOST).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    short
}
