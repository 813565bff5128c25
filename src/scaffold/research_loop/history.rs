//! What is kept of steps: the last ones as they were, the earlier ones as the fast model summed them up, and the plan.
//!
//! The summary has no limit of its own: what is older than its room is condensed again, and the plan is never part of
//! it, so that it is never lost.

use podium_types::log::LineKind;
use podium_types::tokens::estimate_text;

use super::bench::Bench;
use super::spec::MemoryKind;
use super::words::{Question, Shown};
use crate::strategy::StrategyError;

/// One step that was taken.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    pub(crate) number: u32,
    /// The fields as they are shown again; none where no answer was in form.
    pub(crate) fields: Vec<(&'static str, String)>,
    pub(crate) observation: String,
    /// The arguments could not be used: such a step is forgotten once a later one goes well.
    pub(crate) misread: bool,
}

/// The steps so far.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) steps: Vec<Past>,
    /// The plan as of the last answer.
    pub(crate) plan: String,
    /// What is remembered of steps that are not shown: the oldest condensed into the first.
    remembered: Vec<String>,
    /// Steps that left the window.
    pub(crate) left: usize,
}

impl History {
    /// Takes a step in.
    pub(crate) fn push(&mut self, past: Past) {
        if !past.misread {
            self.steps.retain(|step| !step.misread);
        }
        self.steps.push(past);
    }

    /// The steps that a prompt shows.
    pub(crate) fn shown(&self, observations: usize) -> Vec<Shown> {
        let count = self.steps.len();
        let show = |(place, step): (usize, &Past)| Shown {
            number: step.number,
            fields: step.fields.clone(),
            observation: (count - place <= observations).then(|| step.observation.clone()),
        };
        self.steps.iter().enumerate().map(show).collect()
    }

    /// What is remembered, as one text.
    pub(crate) fn memory(&self) -> String {
        self.remembered.join("\n\n")
    }

    /// Lets steps leave the window, and remembers them as the scaffold says.
    pub(crate) async fn settle(&mut self, bench: &Bench<'_>) -> Result<(), StrategyError> {
        let spec = &bench.agent.spec;
        while self.steps.len() > spec.turn.steps_in_context {
            let past = self.steps.remove(0);
            self.left += 1;
            if spec.memory.kind == MemoryKind::None {
                continue;
            }
            let fields = past.fields.iter().map(|(name, text)| format!("{name}: {}\n", text.trim()));
            let text = format!("{}Observation:\n{}", fields.collect::<String>(), past.observation);
            let question = Question { ask: "step", text: &text, ..Question::default() };
            let summary = bench.ask(&question).await?;
            bench.log(LineKind::Condensed, &format!("step {}", past.number), summary.trim());
            let entry = format!("Step {}:\n{}", past.number, summary.trim());
            // A log that cannot be written is the agent's own doing, and no reason to stop.
            let _ = super::action::log(bench, &entry).await?;
            self.remembered.push(entry);
            if estimate_text(&self.memory()) > spec.memory.tokens && self.remembered.len() > 1 {
                let text = self.memory();
                let question =
                    Question { ask: "condense", text: &text, plan: &self.plan, ..Question::default() };
                let condensed = bench.ask(&question).await?;
                let condensed = super::step::trimmed(bench, &condensed, spec.memory.tokens / 2)?;
                bench.log(LineKind::Condensed, "all that is remembered", condensed.trim());
                self.remembered = vec![condensed];
            }
        }
        Ok(())
    }
}
