//! What the tables must fulfil, and the strategy that is made from them.

use std::sync::Arc;

use podium_types::chat::{ChatRequest, Message, Speaker};

use crate::blueprint::{Blueprint, PromptUse, RoleUse};
use crate::command::agent::task_text;
use crate::command::spec::CommandSpec;
use crate::command::{Command, variables};
use crate::common::Common;
use crate::context::{Budget, Task};
use crate::spec::check::{at_least_one, at_most, invalid};
use crate::spec::{Head, SpecError};
use crate::strategy::{Strategy, StrategyError};

/// No model reads more, and the harness holds a few requests at a time.
const MOST_BYTES: u64 = 64 << 20;

impl Blueprint for CommandSpec {
    fn check(&self, _: &Head) -> Result<(), SpecError> {
        let agent = &self.agent;
        if agent.command.first().is_none_or(String::is_empty) {
            return Err(invalid("agent.command", "must begin with a program"));
        }
        if agent.command.iter().any(|word| word.contains('\0')) {
            return Err(invalid("agent.command", "has a NUL character, which no argument can have"));
        }
        if agent.roles.is_empty() {
            return Err(invalid("agent.roles", "must name at least one role"));
        }
        for pair in &agent.aliases {
            let known = |role: &str| agent.roles.iter().any(|known| known == role);
            if !pair.rsplit_once('=').is_some_and(|(name, role)| !name.is_empty() && known(role)) {
                return Err(invalid(
                    "agent.aliases",
                    &format!("`{pair}` is not NAME=ROLE with one of the roles"),
                ));
            }
        }
        for pair in &agent.env {
            if pair.contains('\0') || pair.split_once('=').is_none_or(|(name, _)| name.is_empty()) {
                return Err(invalid("agent.env", &format!("`{pair}` is not NAME=VALUE")));
            }
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if agent.task_file.is_empty()
            || agent.task_file.starts_with('.')
            || !agent.task_file.chars().all(plain)
        {
            return Err(invalid("agent.task_file", "must be the name of a file"));
        }
        at_least_one("agent.max_request_bytes", agent.max_request_bytes)?;
        at_most("agent.max_request_bytes", agent.max_request_bytes, MOST_BYTES)
    }

    fn roles(&self) -> Vec<RoleUse<'_>> {
        let used = |role| RoleUse { path: "agent.roles".to_owned(), name: role };
        self.agent.roles.iter().map(String::as_str).map(used).collect()
    }

    fn prompts(&self) -> Vec<PromptUse<'_>> {
        vec![PromptUse {
            path: "prompts.task".to_owned(),
            template: &self.prompts.task,
            variables: variables::TASK,
        }]
    }

    fn composition(&self) -> Vec<(String, String)> {
        vec![
            ("program".to_owned(), self.agent.command.join(" ")),
            ("models".to_owned(), self.agent.models().into_keys().collect::<Vec<_>>().join(", ")),
        ]
    }

    fn strategy(self: Arc<Self>, common: Common) -> Box<dyn Strategy> {
        Box::new(Command { common, spec: self })
    }

    fn first_call(
        self: Arc<Self>,
        common: Common,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<Option<(String, ChatRequest)>, StrategyError> {
        // The request is the program's own business; what it is told is what a user wants to see.
        let role = self.agent.roles.first().cloned().unwrap_or_default();
        let agent = Command { common, spec: self };
        let text = task_text(&agent, task, budget, preview)?;
        let message = Message::text(Speaker::User, text);
        Ok(Some((role.clone(), agent.common.request(&role, vec![message], 1))))
    }
}
