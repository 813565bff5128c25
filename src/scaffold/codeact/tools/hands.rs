//! What tools work with: the run context under the keys of one call, and what the agent's tools remember.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use podium_types::key::EffectKey;
use podium_types::session::SessionKind;
use podium_types::sha256::Sha256;
use podium_types::tokens::estimate_text;
use podium_types::verdict::Verdict;
use serde::Serialize;

use crate::codeact::CodeAct;
use crate::codeact::tools::editor::undo::Undo;
use crate::context::RunContext;
use crate::prompts::budget::Part;
use crate::prompts::cut::Cutter;
use crate::prompts::execution::readable;
use crate::strategy::StrategyError;

/// What tools remember from call to call. It follows from the journal alone.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The shell and the kernel.
    pub(crate) sessions: BTreeMap<&'static str, SessionMemory>,
    /// Earlier texts of edited files.
    pub(crate) undo: Undo,
    /// The submission as it was found last.
    pub(crate) submission: Option<Submission>,
    /// The submission that is to be handed in.
    pub(crate) selected: Option<Sha256>,
    /// Finishes that were sent back.
    pub(crate) finishes: u32,
}

/// What is known of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionMemory {
    /// It was used before.
    pub(crate) used: bool,
    /// A call was running when it was seen last.
    pub(crate) running: bool,
}

/// A submission and the word of the format check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    /// The file; none: there is none.
    pub(crate) sha256: Option<Sha256>,
    /// The word.
    pub(crate) verdict: Verdict,
}

/// What one call works with: a tool's only way out.
pub struct Hands<'a> {
    /// The agent.
    pub(crate) agent: &'a CodeAct,
    /// The world.
    pub(crate) context: &'a dyn RunContext,
    /// What is remembered.
    pub(crate) memory: &'a RefCell<Memory>,
    step: u32,
    call: usize,
    effects: Cell<u32>,
}

impl<'a> Hands<'a> {
    /// For call number `call` of a step.
    pub(crate) const fn new(
        agent: &'a CodeAct,
        context: &'a dyn RunContext,
        memory: &'a RefCell<Memory>,
        step: u32,
        call: usize,
    ) -> Self {
        Self { agent, context, memory, step, call, effects: Cell::new(0) }
    }

    /// The run context, for effects under keys of [`Self::key`].
    pub const fn context(&self) -> &'a dyn RunContext {
        self.context
    }

    /// The key of the next effect of this call.
    pub fn key(&self, what: &str) -> EffectKey {
        let number = self.effects.get();
        self.effects.set(number + 1);
        EffectKey::step(self.step, &format!("{}.{number}-{what}", self.call))
    }

    /// Renders a template.
    pub fn render<V: Serialize>(&self, template: &str, variables: &V) -> Result<String, StrategyError> {
        self.agent.common.prompts.render(template, variables)
    }

    /// What a program printed, as a reader of a terminal would have seen it and no longer than an observation may be.
    pub fn output(&self, text: &str) -> Result<String, StrategyError> {
        self.shortened(&readable(text))
    }

    /// A text no longer than an observation may be: its two ends.
    pub fn shortened(&self, text: &str) -> Result<String, StrategyError> {
        let max = self.agent.spec.tokens.observation;
        if estimate_text(text) <= max {
            return Ok(text.to_owned());
        }
        let cutter = Cutter::new(&self.agent.common.prompts, &self.agent.spec.prompts.remark);
        cutter.middle(Part::Output, text, max)
    }

    /// What is known of a session.
    pub(crate) fn session(&self, kind: SessionKind) -> SessionMemory {
        self.memory.borrow().sessions.get(kind.name()).copied().unwrap_or_default()
    }

    /// Notes what is known of a session now.
    pub(crate) fn set_session(&self, kind: SessionKind, memory: SessionMemory) {
        self.memory.borrow_mut().sessions.insert(kind.name(), memory);
    }
}
