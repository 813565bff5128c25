//! A loop of a few turns: each asks a model for a program, runs it and hands in what it wrote. It stands here, outside
//! the package, as a strategy of a user's own would.

use std::sync::Arc;

use podium_scaffold::prompts::variables::{BENCHMARK, BenchmarkVariables};
use podium_scaffold::spec::Head;
use podium_scaffold::spec::check::at_least_one;
use podium_scaffold::strategy::StrategyFuture;
use podium_scaffold::{
    AnswerStatus, Blueprint, Budget, Common, Finished, ParsedAnswer, PromptUse, RoleUse, RunContext,
    SpecError, Strategy, StrategyError, Task,
};
use podium_types::chat::{ChatRequest, Message, Speaker};
use podium_types::execution::{Collected, ExecutionRequest, Program, Workspace};
use podium_types::key::EffectKey;
use serde::{Deserialize, Serialize};

/// The tables of the loop.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ToySpec {
    turns: Turns,
    action: Vec<Action>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turns {
    number: u32,
    role: String,
    prompt: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    name: String,
    seconds: u64,
}

impl Blueprint for ToySpec {
    fn check(&self, _: &Head) -> Result<(), SpecError> {
        at_least_one("turns.number", u64::from(self.turns.number))
    }

    fn roles(&self) -> Vec<RoleUse<'_>> {
        vec![RoleUse { path: "turns.role".into(), name: &self.turns.role }]
    }

    fn prompts(&self) -> Vec<PromptUse<'_>> {
        vec![PromptUse { path: "turns.prompt".into(), template: &self.turns.prompt, variables: BENCHMARK }]
    }

    fn strategy(self: Arc<Self>, common: Common) -> Box<dyn Strategy> {
        Box::new(Toy { common, spec: self })
    }

    fn first_call(
        self: Arc<Self>,
        common: Common,
        task: &Task,
        budget: &Budget,
        _preview: &str,
    ) -> Result<Option<(String, ChatRequest)>, StrategyError> {
        let role = self.turns.role.clone();
        Ok(Some((role, Toy { common, spec: self }.request(task, budget)?)))
    }

    fn parse_answer(&self, text: &str, format: Option<&str>) -> ParsedAnswer {
        let code = format.map_or_else(|| text.to_owned(), |format| format!("{format}: {text}"));
        ParsedAnswer {
            status: AnswerStatus::Ok,
            why: None,
            plan: None,
            code: Some(code),
            actions: vec![],
            dropped: vec![],
        }
    }
}

struct Toy {
    common: Common,
    spec: Arc<ToySpec>,
}

impl Toy {
    fn request(&self, task: &Task, budget: &Budget) -> Result<ChatRequest, StrategyError> {
        let variables = BenchmarkVariables::new(task, budget);
        let prompt = self.common.prompts.render(&self.spec.turns.prompt, &variables)?;
        let rules = Message::text(Speaker::System, self.common.rules(task, budget)?);
        Ok(self.common.request(&self.spec.turns.role, vec![rules, Message::text(Speaker::User, prompt)], 1))
    }

    async fn turn(&self, context: &dyn RunContext, number: u32) -> Result<(), StrategyError> {
        context.begin_step(EffectKey::step(number, "begin")).await?;
        let request = self.request(context.task(), &context.budget())?;
        let answer = context.chat(EffectKey::step(number, "chat"), &self.spec.turns.role, request).await?;
        let code = answer.map(|answer| answer.content).unwrap_or_default();
        let request = ExecutionRequest {
            workspace: Workspace::Fresh,
            collect: Vec::new(),
            agent: None,
            program: Program::Python { file: "solution.py".into(), code },
            timeout_ms: self.spec.action[0].seconds * 1_000,
            env: std::collections::BTreeMap::new(),
        };
        let execution = context.execute(EffectKey::step(number, "execute"), request).await?;
        if let Collected::File { sha256, .. } = execution.submission {
            context.select_final(EffectKey::step(number, "select"), None, &sha256).await?;
        }
        Ok(())
    }
}

impl Strategy for Toy {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(async move {
            for number in 0..self.spec.turns.number {
                self.turn(context, number).await?;
            }
            Ok(Finished { reason: "all turns are taken".into() })
        })
    }
}
