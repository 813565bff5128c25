//! The loop: the agent is started, what it asks becomes calls, and what it leaves is judged.
//!
//! Everything goes on at the same time: the agent's execution, the next thing that is heard of it, and the calls that are
//! not answered yet. One thing is taken in after another, in the journal's order.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use podium_types::agent::{AgentTerms, Heard, Over, Question, Reply};
use podium_types::canonical;
use podium_types::chat::{ChatRequest, ChatResult, Message, Speaker};
use podium_types::execution::{Collected, Ended, Execution, ExecutionRequest, Program, Workspace};
use podium_types::key::EffectKey;
use podium_types::log::{Line, LineKind};
use serde_json::Value;

use crate::command::ledger::{Found, Ledger};
use crate::command::variables::TaskVariables;
use crate::command::{Command, log};
use crate::context::{Budget, RunContext, Task, answer_key};
use crate::effect::PreviewRequest;
use crate::prompts::variables::{submission_path, word};
use crate::step::StepRecord;
use crate::strategy::{Finished, StrategyError};

/// Of what an agent said last, so much is told where it failed.
const LAST_WORDS: usize = 200;

/// What is taken in.
enum Event {
    /// Of the agent.
    Heard(u32, Heard),
    /// A call has its answer.
    Answered(u32, Box<ChatResult>),
    /// The agent's execution has ended.
    Ended(Box<Execution>),
}

type Work<'a> = FuturesUnordered<Pin<Box<dyn Future<Output = Result<Event, StrategyError>> + 'a>>>;

/// Runs the agent until it ends by itself, or the run context stops it.
pub(super) async fn run(agent: &Command, context: &dyn RunContext) -> Result<Finished, StrategyError> {
    let request = request(agent, context).await?;
    let mut desk = Desk {
        agent,
        context,
        ledger: Ledger::default(),
        states: BTreeMap::new(),
        open: 0,
        at_limit: None,
        heard: 0,
        notes: 0,
        lines: Vec::new(),
    };
    let mut work = Work::new();
    for attempt in 1.. {
        let key = EffectKey::step(desk.ledger.next(), &format!("agent-{attempt}"));
        work.push(Box::pin(execute(context, key, request.clone())));
        work.push(Box::pin(hear(context, desk.heard)));
        let mut ended = None;
        let why = loop {
            let Some(event) = work.next().await else { break Over::Itself };
            match event? {
                Event::Ended(execution) => ended = Some(execution),
                Event::Answered(step, answer) => desk.answered(step, &answer),
                Event::Heard(_, Heard::Over { why }) => {
                    desk.heard += 1;
                    break why;
                }
                Event::Heard(number, heard) => {
                    desk.heard += 1;
                    match heard {
                        Heard::Asked(question) => desk.asked(number, *question, &mut work).await?,
                        Heard::Began | Heard::Over { .. } => desk.begun().await?,
                    }
                    work.push(Box::pin(hear(context, desk.heard)));
                }
            }
        };
        desk.tell_unserved("had ended").await?;
        if let Some(execution) = &ended {
            desk.select(execution).await?;
        }
        match why {
            // A limit of the run, or its models' service: the calls that wait for it say when it goes on.
            Over::Refused if desk.open > 0 => {
                while desk.open > 0 {
                    let Some(event) = work.next().await else { break };
                    if let Event::Answered(step, answer) = event? {
                        desk.answered(step, &answer);
                    }
                }
            }
            // There is no more time, and the next execution is where the run stops for it.
            Over::Time => {}
            Over::Itself | Over::Refused => {
                let how = ended.map_or_else(|| "it was heard no more".to_owned(), |ended| how(&ended));
                return Ok(Finished { reason: format!("the agent ended: {how}") });
            }
        }
    }
    Ok(Finished { reason: "the agent was started too often".to_owned() })
}

fn how(execution: &Execution) -> String {
    let how = execution.limit.as_ref().map_or_else(|| execution.ended.to_string(), ToString::to_string);
    let said = execution.output.text();
    let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let how = match refused(&execution.requests_refused) {
        Some(refused) => format!("{how}; {refused}"),
        None => how,
    };
    match last.filter(|_| execution.ended != Ended::Exit(0)) {
        Some(last) => format!("{how}; it said last: {}", last.chars().take(LAST_WORDS).collect::<String>()),
        None => how,
    }
}

/// How many requests were refused, and why: the most frequent reason.
fn refused(reasons: &BTreeMap<String, u64>) -> Option<String> {
    let (why, _) = reasons.iter().max_by_key(|(_, count)| **count)?;
    let (all, others) = (reasons.values().sum::<u64>(), reasons.len() - 1);
    let requests = if all == 1 { "1 request".to_owned() } else { format!("{all} requests") };
    let others = if others == 0 { String::new() } else { format!("; and for {others} other reasons") };
    Some(format!("{requests} refused: {why}{others}"))
}

async fn execute(
    context: &dyn RunContext,
    key: EffectKey,
    request: ExecutionRequest,
) -> Result<Event, StrategyError> {
    Ok(Event::Ended(Box::new(context.execute(key, request).await?)))
}

async fn hear(context: &dyn RunContext, number: u32) -> Result<Event, StrategyError> {
    Ok(Event::Heard(number, context.hear(number).await?))
}

/// A step is granted, the model is asked, and what it answered is recorded.
async fn call(
    context: &dyn RunContext,
    step: u32,
    role: String,
    request: ChatRequest,
    mut lines: Vec<Line>,
) -> Result<Event, StrategyError> {
    context.begin_step(EffectKey::step(step, "begin")).await?;
    let answer = context.chat(answer_key(step), &role, request.clone()).await?;
    lines.extend(log::lines(&request, &answer));
    let record = StepRecord { number: step, lines };
    context.step(EffectKey::step(step, "log"), record).await?;
    Ok(Event::Answered(step, Box::new(answer)))
}

/// What the agent is told of its task.
pub(super) fn task_text(
    agent: &Command,
    task: &Task,
    budget: &Budget,
    preview: &str,
) -> Result<String, StrategyError> {
    let Command { common, spec } = agent;
    let rules = common.rules(task, budget)?;
    let variables = TaskVariables {
        description: &task.description,
        preview,
        packages: common.packages(task),
        submission_path: submission_path(task),
        metric: &task.metric,
        direction: word(task.direction),
        models: &spec.agent.roles,
    };
    let own = common.prompts.render(&spec.prompts.task, &variables)?;
    Ok(format!("{}\n\n{}\n", rules.trim_end(), own.trim_end()))
}

/// The program, with its task in a file.
async fn request(agent: &Command, context: &dyn RunContext) -> Result<ExecutionRequest, StrategyError> {
    let Command { common, spec } = agent;
    let request = PreviewRequest { max_chars: common.head.data_preview.max_chars };
    let preview = context.preview(EffectKey::run("preview"), request).await?;
    let text = task_text(agent, context.task(), &context.budget(), &preview)?;
    let mut env = BTreeMap::from([
        ("PODIUM_MODEL".to_owned(), spec.agent.roles.first().cloned().unwrap_or_default()),
        ("PODIUM_TASK_FILE".to_owned(), spec.agent.task_file.clone()),
    ]);
    env.extend(spec.agent.environment());
    let terms = AgentTerms {
        files: BTreeMap::from([(spec.agent.task_file.clone(), text)]),
        models: spec.agent.models(),
        max_request_bytes: spec.agent.max_request_bytes,
        grace_ms: spec.agent.grace.millis(),
    };
    Ok(ExecutionRequest {
        workspace: Workspace::Fresh,
        program: Program::Command { argv: spec.agent.command.clone() },
        timeout_ms: context.budget().execution_limit_ms,
        env,
        collect: Vec::new(),
        agent: Some(Box::new(terms)),
    })
}

fn refusal(limit: Option<u32>) -> Reply {
    Reply::Refused { why: format!("step limit ({}) reached", limit.unwrap_or_default()) }
}

/// Where questions become calls.
struct Desk<'a> {
    agent: &'a Command,
    context: &'a dyn RunContext,
    ledger: Ledger,
    /// What a provider wants back with a turn, by the first tool call of that turn: a program keeps only the protocol's.
    states: BTreeMap<String, Box<Value>>,
    /// Calls that are not answered.
    open: u32,
    /// The one of them that waits for a step beyond the limit.
    at_limit: Option<u32>,
    /// What was heard so far.
    heard: u32,
    /// Notes that were written.
    notes: u32,
    /// What the log of the next call begins with.
    lines: Vec<Line>,
}

impl<'a> Desk<'a> {
    async fn begun(&mut self) -> Result<(), StrategyError> {
        if self.ledger.begin() {
            let (earlier, _) = self.ledger.unserved();
            let text = format!(
                "the agent was started again in a fresh workspace; what it asks again is answered by {earlier} earlier calls"
            );
            self.note(text).await?;
        }
        Ok(())
    }

    async fn asked(
        &mut self,
        number: u32,
        question: Question,
        work: &mut Work<'a>,
    ) -> Result<(), StrategyError> {
        let Question { role, request } = question;
        let hash = canonical::hash(&(&role, &request)).unwrap_or_default();
        let limit = self.context.budget().step_limit;
        let (reply, new) = if self.at_limit.is_some() && self.ledger.is_new(&hash) {
            (refusal(limit), None)
        } else {
            match self.ledger.ask(&hash) {
                Found::Earlier(step) => (Reply::AnswerOf { step }, None),
                Found::New(step) => {
                    let beyond = limit.is_some_and(|limit| step >= limit);
                    self.at_limit = beyond.then_some(step);
                    let reply = if beyond { refusal(limit) } else { Reply::AnswerOf { step } };
                    (reply, Some(step))
                }
            }
        };
        if new.is_some() && self.ledger.is_first_new() {
            self.tell_unserved("made its first new call").await?;
        }
        self.context.reply(number, reply).await?;
        if let Some(step) = new {
            self.open += 1;
            let request = self.settled(&role, request);
            let lines = std::mem::take(&mut self.lines);
            work.push(Box::pin(call(self.context, step, role, request, lines)));
        }
        Ok(())
    }

    /// The request with the settings of its role where it has none of its own, and with what the provider wants back.
    fn settled(&self, role: &str, mut request: ChatRequest) -> ChatRequest {
        let role = self.agent.common.request(role, Vec::new(), 1);
        request.temperature = request.temperature.or(role.temperature);
        request.max_output_tokens = match (request.max_output_tokens, role.max_output_tokens) {
            (Some(asked), Some(limit)) => Some(asked.min(limit)),
            (asked, limit) => asked.or(limit),
        };
        for message in request.messages.iter_mut().filter(|message| message.role == Speaker::Assistant) {
            let first = message.tool_calls.first();
            message.provider_state = first.and_then(|call| self.states.get(&call.id)).cloned();
        }
        request
    }

    fn answered(&mut self, step: u32, answer: &ChatResult) {
        self.open = self.open.saturating_sub(1);
        self.at_limit = self.at_limit.filter(|at_limit| *at_limit != step);
        let Ok(answer) = answer else { return };
        let message = Message::of_answer(answer);
        if let (Some(call), Some(state)) = (answer.tool_calls.first(), message.provider_state) {
            self.states.insert(call.id.clone(), state);
        }
    }

    /// Notes where a program that was started again asks otherwise than before.
    async fn tell_unserved(&mut self, when: &str) -> Result<(), StrategyError> {
        let (unserved, earlier) = self.ledger.unserved();
        if unserved == 0 {
            return Ok(());
        }
        let text = format!(
            "diverged: when the agent {when}, it had not asked again for {unserved} of {earlier} earlier calls"
        );
        self.note(text).await
    }

    async fn note(&mut self, text: String) -> Result<(), StrategyError> {
        let key = EffectKey::run(&format!("note-{}", self.notes));
        self.notes += 1;
        self.lines.push(Line::new(LineKind::Harness, "agent", text.as_str()));
        Ok(self.context.note(key, text).await?)
    }

    /// What the agent left: taken where it is valid.
    async fn select(&mut self, execution: &Execution) -> Result<(), StrategyError> {
        let Collected::File { sha256, .. } = &execution.submission else { return Ok(()) };
        let step = self.ledger.next().saturating_sub(1);
        let key = |call: &str| EffectKey::step(step, &format!("{call}-{}", self.heard));
        let verdict = self.context.validate(key("validate"), sha256).await?;
        if verdict.is_valid() {
            self.context.select_final(key("select"), None, sha256).await?;
        }
        Ok(())
    }
}
