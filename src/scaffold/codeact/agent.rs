//! The loop: a step is granted, the model is asked, its calls are made; until it finishes, until it cannot be asked any
//! more, or until it goes in circles for good.

use std::cell::RefCell;

use podium_types::chat::{ChatAnswer, ChatError, ChatRequest};
use podium_types::key::EffectKey;
use podium_types::log::{Line, LineKind};
use podium_types::tokens::estimate;

use crate::codeact::CodeAct;
use crate::codeact::history::History;
use crate::codeact::history::condense::condense;
use crate::codeact::history::plan::share;
use crate::codeact::opening::Opening;
use crate::codeact::stuck::{self, Trace};
use crate::codeact::tools::hands::Memory;
use crate::codeact::turn::{Played, Table, play};
use crate::codeact::variables::StuckVariables;
use crate::context::RunContext;
use crate::effect::PreviewRequest;
use crate::prompts::budget::Part;
use crate::prompts::cut::Cutter;
use crate::step::StepRecord;
use crate::strategy::{Finished, StrategyError};

/// Of what a model's window says to have room for, so much is aimed at: estimates are not exact.
const AIM: f64 = 0.8;
/// Texts of turns are not cut below so many tokens.
const LEAST_TEXT: u64 = 64;

/// Runs an agent until it is done, or the run context stops it.
pub(crate) async fn run(agent: &CodeAct, context: &dyn RunContext) -> Result<Finished, StrategyError> {
    let request = PreviewRequest { max_chars: agent.common.head.data_preview.max_chars };
    let preview = context.preview(EffectKey::run("preview"), request).await?;
    let opening = Opening::new(agent, context.task(), &context.budget(), &preview)?;
    let memory = RefCell::new(Memory::default());
    let mut talk = Talk {
        agent,
        context,
        opening,
        history: History::new(agent.spec.condensation.keep_first),
        text_tokens: None,
        lines: Vec::new(),
    };
    let mut circles = Circles::default();
    let mut refusals = 0;
    for step in 0.. {
        context.begin_step(EffectKey::step(step, "begin")).await?;
        let answer = match talk.ask(step).await? {
            Asked::Answer(answer) => answer,
            Asked::Full(reason) => {
                talk.record(step).await?;
                return Ok(Finished { reason });
            }
            Asked::Refused(message) => {
                refusals += 1;
                talk.record(step).await?;
                if refusals > agent.spec.agent.refusals {
                    return Ok(Finished {
                        reason: format!("the model refused {refusals} times in a row: {message}"),
                    });
                }
                continue;
            }
        };
        refusals = 0;
        let table = Table { agent, context, memory: &memory };
        let Played { mut turn, lines, finished } = play(table, step, &answer, circles.silent).await?;
        talk.lines.extend(lines);
        let mut over = finished;
        if over.is_none() {
            match circles.look(agent, &turn.trace)? {
                Look::Well => {}
                Look::Nudge(words) => turn.notice = format!("{}\n\n{}", words.trim_end(), turn.notice),
                Look::Stop(reason) => over = Some(reason),
            }
            talk.lines.push(Line::new(LineKind::Told, "", turn.notice.trim()));
        }
        talk.record(step).await?;
        if let Some(reason) = over {
            return Ok(Finished { reason });
        }
        talk.history.push(turn);
    }
    Ok(Finished { reason: "there are no more numbers of steps".to_owned() })
}

/// What became of a question.
enum Asked {
    Answer(Box<ChatAnswer>),
    /// The provider refused it; why.
    Refused(String),
    /// It does not fit the model's window, whatever is left out.
    Full(String),
}

/// The conversation.
struct Talk<'a> {
    agent: &'a CodeAct,
    context: &'a dyn RunContext,
    opening: Opening,
    history: History,
    /// Texts of turns are cut to so many tokens, once nothing else helped.
    text_tokens: Option<u64>,
    /// The log of the step so far, for people.
    lines: Vec<Line>,
}

impl Talk<'_> {
    /// Asks the model, and condenses the history where it must be, before and after.
    async fn ask(&mut self, step: u32) -> Result<Asked, StrategyError> {
        let spec = &self.agent.spec.condensation;
        let mut condensed = 0;
        if self.history.is_long(spec) {
            self.shorten(step, &mut condensed, share(spec.max_tokens, spec.keep_recent)).await?;
        }
        let role = &self.agent.spec.agent.role;
        for number in 0..=spec.tries {
            let request = self.request();
            let estimated = estimate(&request).max(1);
            let key = EffectKey::step(step, &format!("chat-{number}"));
            let error = match self.context.chat(key, role, request).await? {
                Ok(answer) => return Ok(Asked::Answer(Box::new(answer))),
                Err(error) => error,
            };
            self.lines.push(Line::new(LineKind::Refused, "no answer", error.to_string()).failed(true));
            let ChatError::ContextTooLong { prompt_tokens, output_tokens, window } = error else {
                return Ok(Asked::Refused(error.to_string()));
            };
            // Our estimate and the provider's count may differ: what there is room for is taken in ours.
            let room = window.saturating_sub(output_tokens) as f64 / prompt_tokens.max(1) as f64 * AIM;
            let fixed = estimated.saturating_sub(self.history.shown_tokens());
            let tokens = share(estimated, room.min(AIM)).saturating_sub(fixed);
            if !self.shorten(step, &mut condensed, tokens).await? && !self.cut_texts() {
                return Ok(Asked::Full(error.to_string()));
            }
        }
        Ok(Asked::Full(format!("the history was condensed {} times in a row and does not fit", spec.tries)))
    }

    fn request(&self) -> ChatRequest {
        let native = !self.agent.spec.agent.format.is_text();
        let cutter = Cutter::new(&self.agent.common.prompts, &self.agent.spec.prompts.remark);
        let cut = |text: &str| match self.text_tokens {
            // The remark's template is checked: a text that cannot be cut stays.
            Some(tokens) => cutter.middle(Part::Output, text, tokens).unwrap_or_else(|_| text.to_owned()),
            None => text.to_owned(),
        };
        let messages = self.history.messages(self.opening.messages(), native, &cut);
        self.opening.request(self.agent, messages)
    }

    /// Leaves turns out, where enough can go.
    async fn shorten(&mut self, step: u32, condensed: &mut u32, tokens: u64) -> Result<bool, StrategyError> {
        let Some(until) = self.history.plan(&self.agent.spec.condensation, tokens) else { return Ok(false) };
        let key = EffectKey::step(step, &format!("condense-{condensed}"));
        *condensed += 1;
        condense(self.agent, self.context, &mut self.history, until, key).await?;
        let notice = self.history.forgotten.notice.trim();
        self.lines.push(Line::new(LineKind::Condensed, "", notice));
        Ok(true)
    }

    /// Puts the log of the step so far into the journal.
    async fn record(&mut self, step: u32) -> Result<(), StrategyError> {
        let record = StepRecord { number: step, lines: std::mem::take(&mut self.lines) };
        Ok(self.context.step(EffectKey::step(step, "log"), record).await?)
    }

    /// Halves what texts of turns may take; `false` where that is as little as it gets.
    fn cut_texts(&mut self) -> bool {
        let now = self.text_tokens.unwrap_or(self.agent.spec.tokens.observation);
        if now / 2 < LEAST_TEXT || self.history.last().is_none() {
            return false;
        }
        self.text_tokens = Some(now / 2);
        true
    }
}

/// Watches for circles.
#[derive(Default)]
struct Circles {
    traces: Vec<Trace>,
    /// Answers in a row that called nothing.
    silent: usize,
    nudges: u32,
}

/// What the watcher says to a turn.
enum Look {
    Well,
    Nudge(String),
    Stop(String),
}

impl Circles {
    fn look(&mut self, agent: &CodeAct, trace: &Trace) -> Result<Look, StrategyError> {
        self.silent = if trace.calls.is_empty() { self.silent + 1 } else { 0 };
        self.traces.push(trace.clone());
        let spec = &agent.spec.stuck;
        let Some((pattern, count)) = stuck::find(&self.traces, spec) else { return Ok(Look::Well) };
        if self.nudges >= spec.nudges {
            let reason = format!(
                "the agent is stuck: {}, {count} times, after {} remarks on it",
                pattern.told(),
                self.nudges
            );
            return Ok(Look::Stop(reason));
        }
        self.nudges += 1;
        // The circle must close anew before more is said.
        self.traces.clear();
        let nudges_left = spec.nudges.saturating_sub(self.nudges);
        let variables = StuckVariables { pattern: pattern.word(), count, nudges_left };
        Ok(Look::Nudge(agent.common.prompts.render(&agent.spec.prompts.stuck, &variables)?))
    }
}
