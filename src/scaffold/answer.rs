//! How a strategy read a model's answer, in the form that `podium scaffolds parse` prints for all of them.

use serde::Serialize;

/// How an answer was read; printed by `podium scaffolds parse`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParsedAnswer {
    /// Whether it can be used.
    pub status: AnswerStatus,
    /// Why not, for people.
    pub why: Option<String>,
    /// The plan.
    pub plan: Option<String>,
    /// The program; none unless the answer is `ok`.
    pub code: Option<String>,
    /// Actions with their arguments; a tree search has none.
    pub actions: Vec<Action>,
    /// Parts of the answer that are not run: the action that each would be, with its `text`. The scaffold tells the model
    /// of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Action>,
}

/// Whether an answer can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStatus {
    /// Yes.
    Ok,
    /// No: the scaffold asks again.
    Invalid,
    /// The action is known, its arguments are not usable (loops only).
    InputError,
}

/// One action of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: serde_json::Map<String, serde_json::Value>,
}
