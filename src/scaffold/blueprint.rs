//! What a strategy makes of its tables in a scaffold file: the interface between a scaffold as data and the code
//! behind it. `podium scaffolds`, `--dry-run` and the run layer ask here; none of them knows a strategy by name.

use std::sync::Arc;

use podium_types::chat::ChatRequest;

use crate::answer::{AnswerStatus, ParsedAnswer};
use crate::common::Common;
use crate::context::{Budget, Task};
use crate::samples::Sample;
use crate::spec::{Head, SpecError};
use crate::strategy::{Strategy, StrategyError};

/// A role that a scaffold file names, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleUse<'a> {
    /// Path of the value in the file.
    pub path: String,
    /// The role.
    pub name: &'a str,
}

/// A template that a scaffold file names, where, and what it may ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptUse<'a> {
    /// Path of the value in the file.
    pub path: String,
    /// The template, a path below `prompts/`.
    pub template: &'a str,
    /// The variables that are set when it is rendered.
    pub variables: &'static [&'static str],
}

/// A strategy's tables, read from a scaffold file.
pub trait Blueprint: std::fmt::Debug + Send + Sync {
    /// What is wrong with values that are well formed. Roles and prompts are checked by the caller.
    fn check(&self, head: &Head) -> Result<(), SpecError>;

    /// The roles whose models are asked, each at least once.
    fn roles(&self) -> Vec<RoleUse<'_>>;

    /// The templates that are rendered, besides the benchmark's rules.
    fn prompts(&self) -> Vec<PromptUse<'_>> {
        Vec::new()
    }

    /// What its templates are tried with before a run; one that has no sample is tried by the first call alone.
    fn samples(&self) -> Vec<Sample> {
        Vec::new()
    }

    /// What it is put together from, part by part, in a few words for people; empty: its values say it.
    fn composition(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Executions that may be in work at the same time.
    fn parallel_executions(&self) -> u32 {
        1
    }

    /// The strategy, ready to run.
    fn strategy(self: Arc<Self>, common: Common) -> Box<dyn Strategy>;

    /// The role that is asked first, and the request it gets; `None`: no model is asked before something was run.
    fn first_call(
        self: Arc<Self>,
        _common: Common,
        _task: &Task,
        _budget: &Budget,
        _preview: &str,
    ) -> Result<Option<(String, ChatRequest)>, StrategyError> {
        Ok(None)
    }

    /// How a model's answer is read; by default it is read by a program that the scaffold runs, if at all. `format` is for
    /// strategies that know several; the others ignore it.
    fn parse_answer(&self, text: &str, _format: Option<&str>) -> ParsedAnswer {
        ParsedAnswer {
            status: AnswerStatus::Ok,
            why: Some("a program that the scaffold runs reads the answers, where there are any".to_owned()),
            plan: Some(text.to_owned()),
            code: None,
            actions: Vec::new(),
            dropped: Vec::new(),
        }
    }
}
