//! What the tables of a CodeAct agent must fulfil, and the agent that is made from them.

use std::sync::Arc;

use podium_types::chat::ChatRequest;
use podium_types::nearest::nearest;

use crate::answer::ParsedAnswer;
use crate::blueprint::{Blueprint, PromptUse, RoleUse};
use crate::codeact::format::{Format, tags};
use crate::codeact::opening::{Opening, format_word};
use crate::codeact::spec::{CodeActSpec, ToolSpec};
use crate::codeact::tools::command::COMMAND;
use crate::codeact::tools::editor::EDITOR;
use crate::codeact::tools::session::SESSION;
use crate::codeact::tools::{Catalogue, Tools, names};
use crate::codeact::{CodeAct, parse, submission, variables};
use crate::common::Common;
use crate::context::{Budget, Task};
use crate::prompts::cut::REMARK;
use crate::spec::check::{at_least_one, invalid, share};
use crate::spec::{Head, SpecError};
use crate::strategy::{Strategy, StrategyError};

impl Blueprint for CodeActSpec {
    fn check(&self, _: &Head) -> Result<(), SpecError> {
        numbers(self)?;
        if !self.tool.iter().any(|tool| tool.name == names::FINISH) {
            return Err(invalid("tool", &format!("must have `{}`", names::FINISH)));
        }
        for (place, tool) in self.tool.iter().enumerate() {
            checked(tool, &self.known, self.agent.format)?;
            if self.tool.iter().take(place).any(|other| other.name == tool.name) {
                return Err(invalid(&format!("tool.{}", tool.name), "is there twice"));
            }
        }
        Ok(())
    }

    fn roles(&self) -> Vec<RoleUse<'_>> {
        let acts = RoleUse { path: "agent.role".to_owned(), name: &self.agent.role };
        let sums = self.condensation.role.as_ref();
        let sums = sums.map(|role| RoleUse { path: "condensation.role".to_owned(), name: role });
        [acts].into_iter().chain(sums).collect()
    }

    fn prompts(&self) -> Vec<PromptUse<'_>> {
        let prompts = &self.prompts;
        let named: [(&str, &str, &'static [&'static str]); 14] = [
            ("system", &prompts.system, variables::SYSTEM),
            ("task", &prompts.task, variables::TASK),
            ("status", &prompts.status, variables::STATUS),
            ("nudge", &prompts.nudge, variables::NUDGE),
            ("stuck", &prompts.stuck, variables::STUCK),
            ("fault", &prompts.fault, variables::FAULT),
            ("session", &prompts.session, SESSION),
            ("editor", &prompts.editor, EDITOR),
            ("command", &prompts.command, COMMAND),
            ("submission", &prompts.submission, submission::SUBMISSION),
            ("thought", &prompts.thought, &[]),
            ("condense", &prompts.condense, variables::CONDENSE),
            ("condensed", &prompts.condensed, variables::CONDENSED),
            ("remark", &prompts.remark, REMARK),
        ];
        let own = named.into_iter().map(|(name, template, variables)| PromptUse {
            path: format!("prompts.{name}"),
            template,
            variables,
        });
        let manuals = self.tool.iter().map(|tool| PromptUse {
            path: format!("tool.{}.prompt", tool.name),
            template: &tool.prompt,
            variables: variables::MANUAL,
        });
        own.chain(manuals).collect()
    }

    fn composition(&self) -> Vec<(String, String)> {
        let tools: Vec<&str> = self.tool.iter().map(|tool| tool.name.as_str()).collect();
        let condensation = match &self.condensation.role {
            Some(role) => format!("the middle becomes a summary by the role {role}"),
            None => "the middle is left out".to_owned(),
        };
        [
            ("format", format_word(self.agent.format).to_owned()),
            ("tools", tools.join(", ")),
            ("condensation", condensation),
        ]
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text))
        .collect()
    }

    fn strategy(self: Arc<Self>, common: Common) -> Box<dyn Strategy> {
        Box::new(agent(self, common))
    }

    fn first_call(
        self: Arc<Self>,
        common: Common,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<Option<(String, ChatRequest)>, StrategyError> {
        let role = self.agent.role.clone();
        let agent = agent(self, common);
        let opening = Opening::new(&agent, task, budget, preview)?;
        Ok(Some((role, opening.request(&agent, opening.messages()))))
    }

    fn parse_answer(&self, text: &str, format: Option<&str>) -> ParsedAnswer {
        // Asked for a format of its own, it is read with the tools of its own, whichever this scaffold has.
        let own = Catalogue::new(&self.tool, &self.known);
        let tools = if format.is_some() { Catalogue::of(&self.known) } else { own };
        parse::parse(&tools, self.agent.format, text, format)
    }
}

fn agent(spec: Arc<CodeActSpec>, common: Common) -> CodeAct {
    let tools = Arc::new(Catalogue::new(&spec.tool, &spec.known));
    CodeAct { common, spec, tools }
}

fn numbers(spec: &CodeActSpec) -> Result<(), SpecError> {
    let condensation = &spec.condensation;
    for (path, number) in [
        ("agent.calls_per_turn", spec.agent.calls_per_turn as u64),
        ("session.soft_timeout", spec.session.soft_timeout.millis()),
        ("session.longest_wait", spec.session.longest_wait.millis()),
        ("editor.max_bytes", spec.editor.max_bytes),
        ("tokens.description", spec.tokens.description),
        ("tokens.observation", spec.tokens.observation),
        ("condensation.max_turns", condensation.max_turns as u64),
        ("condensation.max_tokens", condensation.max_tokens),
        ("condensation.turn_tokens", condensation.turn_tokens),
        ("condensation.material_tokens", condensation.material_tokens),
        ("condensation.summary_tokens", condensation.summary_tokens),
    ] {
        at_least_one(path, number)?;
    }
    share("condensation.keep_recent", condensation.keep_recent)?;
    share("condensation.least_progress", condensation.least_progress)?;
    if condensation.keep_first >= condensation.max_turns {
        return Err(invalid("condensation.keep_first", "must be less than condensation.max_turns"));
    }
    if (1..=2).contains(&spec.stuck.alternating) {
        return Err(invalid("stuck.alternating", "must be 0 or more than 2"));
    }
    Ok(())
}

fn checked(tool: &ToolSpec, known: &Tools, format: Format) -> Result<(), SpecError> {
    let path = format!("tool.{}", tool.name);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if tool.name.is_empty() || !tool.name.chars().all(plain) {
        return Err(invalid(&path, "must be a name of letters, digits, `_` and `-`"));
    }
    match (&tool.command, known.names().any(|name| name == tool.name)) {
        (None, false) => {
            return Err(SpecError::Missing {
                path,
                what: "tool without a command",
                nearest: nearest(&tool.name, known.names()),
                name: tool.name.clone(),
            });
        }
        (Some(_), true) => {
            return Err(invalid(&path, "comes with the strategy: a command needs another name"));
        }
        (Some(command), false) if command.argv.first().is_none_or(String::is_empty) => {
            return Err(invalid(&format!("{path}.command.argv"), "must begin with a program"));
        }
        _ => {}
    }
    if format == Format::Tags && !tags::has(&tool.name) {
        return Err(invalid(&path, "has no tag: `agent.format = \"codeact-tags\"` cannot call it"));
    }
    Ok(())
}
