//! A whole strategy: so many programs are asked for, each without a word of the others; each is run, and of those whose
//! file is in form the one that printed the best validation value is handed in. Nothing is ever improved: a yardstick
//! for every strategy that does.
//!
//! Its scaffold file is `best_of.toml` beside this file, its prompt `best_of.md.tera`.

use podium_scaffold::prelude::*;
use serde::{Deserialize, Serialize};

/// The tables of the strategy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BestOf {
    best_of: Table,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Programs to be asked for.
    programs: u32,
    /// Who writes them.
    role: String,
    /// The template that asks.
    prompt: String,
}

/// What the template may use.
#[derive(Serialize)]
struct Variables<'a> {
    description: &'a str,
    metric: &'a str,
    submission_path: &'a str,
    preview: &'a str,
}

const VARIABLES: &[&str] = &["description", "metric", "submission_path", "preview"];

impl Blueprint for BestOf {
    fn check(&self, _: &Head) -> Result<(), SpecError> {
        check::at_least_one("best_of.programs", u64::from(self.best_of.programs))
    }

    fn roles(&self) -> Vec<RoleUse<'_>> {
        vec![RoleUse { path: "best_of.role".to_owned(), name: &self.best_of.role }]
    }

    fn prompts(&self) -> Vec<PromptUse<'_>> {
        let template = &self.best_of.prompt;
        vec![PromptUse { path: "best_of.prompt".to_owned(), template, variables: VARIABLES }]
    }

    fn strategy(self: Arc<Self>, common: Common) -> Box<dyn Strategy> {
        Box::new(Search { common, spec: self })
    }

    fn first_call(
        self: Arc<Self>,
        common: Common,
        task: &Task,
        budget: &Budget,
        preview: &str,
    ) -> Result<Option<(String, ChatRequest)>, StrategyError> {
        let role = self.best_of.role.clone();
        Ok(Some((role, Search { common, spec: self }.request(task, budget, preview)?)))
    }

    fn parse_answer(&self, text: &str, _: Option<&str>) -> ParsedAnswer {
        parse_program(text)
    }
}

struct Search {
    common: Common,
    spec: Arc<BestOf>,
}

impl Strategy for Search {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(self.search(context))
    }
}

impl Search {
    async fn search(&self, context: &dyn RunContext) -> Result<Finished, StrategyError> {
        let max_chars = self.common.head.data_preview.max_chars;
        let preview = context.preview(EffectKey::run("preview"), PreviewRequest { max_chars }).await?;
        let mut best: Option<f64> = None;
        for number in 0..self.spec.best_of.programs {
            let key = |what: &str| EffectKey::node(number, what, 0);
            context.begin_step(key("begin")).await?;
            let node = self.node(context, number, &preview).await?;
            context.node(key("record"), node.clone()).await?;
            let Verdict::Valid { sha256, .. } = &node.submission else { continue };
            let value = metric_of(&node);
            // The first that is in form stands until a better one comes.
            if best.is_none_or(|best| context.task().direction.better(value, best)) {
                best = Some(value);
                context.select_final(key("select"), Some(number), sha256).await?;
            }
        }
        Ok(Finished { reason: "all programs were tried".to_owned() })
    }

    /// Asks for a program, runs it, and has its file checked.
    async fn node(
        &self,
        context: &dyn RunContext,
        number: u32,
        preview: &str,
    ) -> Result<NodeRecord, StrategyError> {
        let key = |what: &str| EffectKey::node(number, what, 0);
        let request = self.request(context.task(), &context.budget(), preview)?;
        let mut node = NodeRecord::begun(number, "program");
        let answer = match context.chat(key("chat"), &self.spec.best_of.role, request).await? {
            Ok(answer) => parse_program(&answer.content),
            Err(error) => return Ok(node.failed(error.to_string())),
        };
        node.plan = answer.plan.unwrap_or_default();
        let Some(code) = answer.code else {
            return Ok(node.failed(answer.why.unwrap_or_default()));
        };
        node = node.with_code(code.clone());
        let timeout_ms = context.budget().next_execution_ms();
        let execution = context.execute(key("execute"), python(SOLUTION, code, timeout_ms)).await?;
        node.execution_ms = execution.wall_ms;
        node.submission = match &execution.submission {
            Collected::File { sha256, .. } => context.validate(key("validate"), sha256).await?,
            Collected::Missing { found } => Verdict::Missing { found: found.clone() },
        };
        node.metric = printed_value(&execution.output.text());
        if execution.ended != Ended::Exit(0) {
            node = node.failed(execution.ended.to_string());
        } else if !node.submission.is_valid() {
            node = node.failed("no submission in form".to_owned());
        }
        Ok(node)
    }

    fn request(&self, task: &Task, budget: &Budget, preview: &str) -> Result<ChatRequest, StrategyError> {
        let variables = Variables {
            description: &task.description,
            metric: &task.metric,
            submission_path: &task.submission_path,
            preview,
        };
        let prompt = self.common.prompts.render(&self.spec.best_of.prompt, &variables)?;
        let rules = self.common.rules(task, budget)?;
        let messages = vec![Message::text(Speaker::System, rules), Message::text(Speaker::User, prompt)];
        Ok(self.common.request(&self.spec.best_of.role, messages, 1))
    }
}

/// The number of the last line `validation NAME: NUMBER`.
fn printed_value(output: &str) -> Option<Number> {
    let value =
        |line: &str| line.strip_prefix("validation ")?.rsplit_once(':')?.1.trim().parse().ok().map(Number);
    output.lines().rev().find_map(value)
}
