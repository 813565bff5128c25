//! What the tables of a research loop must fulfil, and the loop that is made from them.

use std::sync::Arc;

use podium_types::chat::ChatRequest;
use podium_types::nearest::nearest;

use super::history::History;
use super::words::{EDIT, QUESTION, TURN, WORDS};
use super::{ResearchLoop, ResearchLoopSpec, action, answer, step};
use crate::answer::ParsedAnswer;
use crate::blueprint::{Blueprint, PromptUse, RoleUse};
use crate::common::Common;
use crate::context::{Budget, Task};
use crate::prompts::cut::REMARK;
use crate::spec::check::{at_least_one, invalid};
use crate::spec::{Head, SpecError};
use crate::strategy::{Strategy, StrategyError};

impl Blueprint for ResearchLoopSpec {
    fn check(&self, _: &Head) -> Result<(), SpecError> {
        for (path, number) in [
            ("turn.tries", u64::from(self.turn.tries)),
            ("turn.steps_in_context", self.turn.steps_in_context as u64),
            ("turn.description_tokens", self.turn.description_tokens),
            ("memory.tokens", self.memory.tokens),
            ("actions.on", self.actions.on.len() as u64),
            ("actions.observation_tokens", self.actions.observation_tokens),
            ("actions.block_chars", self.actions.block_chars as u64),
            ("actions.most_blocks", self.actions.most_blocks as u64),
            ("actions.most_summary_blocks", self.actions.most_summary_blocks as u64),
            ("actions.inspect_lines", self.actions.inspect_lines),
            ("actions.file_bytes", self.actions.file_bytes),
        ] {
            at_least_one(path, number)?;
        }
        let known = self.known.names();
        for (place, name) in self.actions.on.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(SpecError::Missing {
                    path: "actions.on".to_owned(),
                    what: "action",
                    name: name.clone(),
                    nearest: nearest(name, known.iter().copied()),
                });
            }
            if self.actions.on.iter().take(place).any(|other| other == name) {
                return Err(invalid("actions.on", &format!("names `{name}` twice")));
            }
        }
        for (place, command) in self.command.iter().enumerate() {
            let path = |key: &str| format!("command.{}.{key}", command.name);
            let twice = self.command.iter().take(place).any(|other| other.name == command.name);
            if command.name.trim().is_empty() || twice || known.contains(&command.name.as_str()) {
                return Err(invalid(&path("name"), "must be a name that no other action has"));
            }
            at_least_one(&path("argv"), command.argv.len() as u64)?;
        }
        Ok(())
    }

    fn roles(&self) -> Vec<RoleUse<'_>> {
        let turn = &self.turn;
        [("role", &turn.role), ("fast_role", &turn.fast_role), ("edit_role", &turn.edit_role)]
            .map(|(key, name)| RoleUse { path: format!("turn.{key}"), name })
            .into()
    }

    fn prompts(&self) -> Vec<PromptUse<'_>> {
        let turn = &self.turn;
        [
            ("prompt", &turn.prompt, TURN),
            ("words", &turn.words, WORDS),
            ("fast_prompt", &turn.fast_prompt, QUESTION),
            ("edit_prompt", &turn.edit_prompt, EDIT),
        ]
        .map(|(key, template, variables)| PromptUse { path: format!("turn.{key}"), template, variables })
        .into_iter()
        .chain([PromptUse { path: "turn".to_owned(), template: step::CUT, variables: REMARK }])
        .collect()
    }

    fn composition(&self) -> Vec<(String, String)> {
        let commands = self.command.iter().map(|command| command.name.clone());
        let actions: Vec<String> = self.actions.on.iter().cloned().chain(commands).collect();
        vec![("actions".to_owned(), actions.join(", "))]
    }

    fn strategy(self: Arc<Self>, common: Common) -> Box<dyn Strategy> {
        Box::new(ResearchLoop { common, spec: self })
    }

    fn first_call(
        self: Arc<Self>,
        common: Common,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<Option<(String, ChatRequest)>, StrategyError> {
        let agent = ResearchLoop { common, spec: self };
        let room = agent.spec.turn.description_tokens.max(agent.spec.actions.observation_tokens);
        let prompt = step::prompt(&agent, task, budget, preview, &History::default(), &[], room)?;
        let request = step::request(&agent, task, budget, prompt)?;
        Ok(Some((agent.spec.turn.role.clone(), request)))
    }

    fn parse_answer(&self, text: &str, _: Option<&str>) -> ParsedAnswer {
        answer::parse(text, &action::signatures(self))
    }
}
