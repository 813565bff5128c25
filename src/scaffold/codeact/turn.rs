//! One turn: an answer is read, its calls are made one after another, and what came of them is put into words.

use std::cell::RefCell;

use podium_types::canonical;
use podium_types::chat::{ChatAnswer, FinishReason, Message, Speaker};
use podium_types::log::{Line, LineKind};
use podium_types::verdict::Verdict;
use serde_json::Value;

use crate::codeact::CodeAct;
use crate::codeact::arguments::ArgumentFault;
use crate::codeact::format::{Call, Format, Reading, native};
use crate::codeact::history::{Told, Turn};
use crate::codeact::opening::format_word;
use crate::codeact::stuck::Trace;
use crate::codeact::submission;
use crate::codeact::tools::hands::Memory;
use crate::codeact::tools::{Hands, Outcome, names, outcome};
use crate::codeact::variables::{FaultVariables, NudgeVariables, StatusVariables};
use crate::context::RunContext;
use crate::prompts::variables::submission_path;
use crate::strategy::StrategyError;
use crate::tree_search::answer::without_thinking;

/// Where and for whom turns are played.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    /// The agent.
    pub(crate) agent: &'a CodeAct,
    /// The world.
    pub(crate) context: &'a dyn RunContext,
    /// What its tools remember.
    pub(crate) memory: &'a RefCell<Memory>,
}

/// A turn, and whether it was the last by the agent's own will.
pub(crate) struct Played {
    pub(crate) turn: Turn,
    /// Its log, for people.
    pub(crate) lines: Vec<Line>,
    pub(crate) finished: Option<String>,
}

/// What a turn's calls came to.
#[derive(Default)]
struct Made {
    results: Vec<Told>,
    lines: Vec<Line>,
    trace: Trace,
    /// Something was done that may have changed files.
    touched: bool,
    finished: Option<String>,
}

/// Plays a turn. `silent` is the number of answers just before that called nothing.
pub(crate) async fn play(
    table: Table<'_>,
    step: u32,
    answer: &ChatAnswer,
    silent: usize,
) -> Result<Played, StrategyError> {
    let format = table.agent.spec.agent.format;
    let text = without_thinking(&answer.content);
    let mut reading = match format {
        Format::Native => native::read(&answer.content, &answer.tool_calls),
        _ => format.read(&text),
    };
    let cut = answer.finish == FinishReason::Length;
    let faults = refuse(format, &mut reading, cut);
    let mut lines = said(&reading, faults.cut || faults.finish_with_blocks);
    let made = make(table, step, &reading.calls).await?;
    lines.extend(made.lines);
    if made.touched {
        submission::check(&table.hands(step, reading.calls.len())).await?;
    }
    let mut notices = Vec::new();
    let dropped = FaultVariables {
        dropped: &reading.dropped,
        cut: faults.cut,
        finish_with_blocks: faults.finish_with_blocks,
        ..FaultVariables::NONE
    };
    if !reading.dropped.is_empty() || faults.cut || faults.finish_with_blocks {
        notices.push(table.render(&table.agent.spec.prompts.fault, &dropped)?);
    } else if reading.calls.is_empty() {
        let nudge = NudgeVariables { format: format_word(format), cut, messages: silent + 1 };
        notices.push(table.render(&table.agent.spec.prompts.nudge, &nudge)?);
    }
    notices.push(status(table)?);
    let message = match format {
        Format::Native => Message::of_answer(answer),
        _ if reading.calls.is_empty() => Message::text(Speaker::Assistant, text.trim()),
        _ => Message::text(Speaker::Assistant, format.write(&reading.thought, reading.calls.first())),
    };
    let notice = notices.iter().map(|notice| notice.trim_end()).collect::<Vec<_>>().join("\n\n");
    let turn = Turn { number: step, message, results: made.results, notice, trace: made.trace };
    Ok(Played { turn, lines, finished: made.finished })
}

/// What an answer says, for people: its message, and what of it is not run.
fn said(reading: &Reading, refused: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    let thought = reading.thought.trim();
    if !thought.is_empty() {
        let title = if reading.calls.is_empty() && !refused { "message" } else { "thought" };
        lines.push(Line::new(LineKind::Said, title, thought));
    }
    lines.extend(reading.dropped.iter().map(|dropped| {
        let title = dropped.name.as_deref().unwrap_or("text");
        Line::new(LineKind::Refused, title, dropped.text.trim()).failed(true)
    }));
    lines
}

/// Why an answer's call is not made at all.
#[derive(Default)]
struct Refused {
    cut: bool,
    finish_with_blocks: bool,
}

/// Takes calls out that must not be made: one that the output limit cut, and a finish beside blocks that would be lost
/// with it.
fn refuse(format: Format, reading: &mut Reading, cut: bool) -> Refused {
    let mut refused = Refused::default();
    if !format.is_text() {
        for call in reading.calls.iter_mut().filter(|_| cut) {
            if matches!(call.arguments, Err(ArgumentFault::NotJson { .. })) {
                call.arguments = Err(ArgumentFault::Cut);
            }
        }
        return refused;
    }
    refused.cut = cut && reading.open && !reading.calls.is_empty();
    let finishes = reading.calls.first().is_some_and(|call| call.name == names::FINISH);
    refused.finish_with_blocks = finishes && reading.dropped.iter().any(|dropped| dropped.name.is_some());
    if refused.cut || refused.finish_with_blocks {
        reading.calls.clear();
    }
    refused
}

/// Makes the calls of an answer, in their order.
async fn make(table: Table<'_>, step: u32, calls: &[Call]) -> Result<Made, StrategyError> {
    let most = table.agent.spec.agent.calls_per_turn;
    let mut made = Made::default();
    let mut failed = !calls.is_empty();
    for (place, call) in calls.iter().enumerate() {
        let hands = table.hands(step, place);
        let outcome = if place >= most || made.finished.is_some() {
            let over = FaultVariables { over: most, ..FaultVariables::NONE };
            let text = hands.render(&table.agent.spec.prompts.fault, &over)?;
            Outcome { text, failed: true, ..Outcome::default() }
        } else {
            let quiet = [names::THINK, names::VALIDATE, names::FINISH].contains(&call.name.as_str());
            made.touched |= !quiet && call.arguments.is_ok();
            one(&hands, call).await?
        };
        made.lines.push(match &call.arguments {
            Ok(arguments) => Line::act(&call.name, arguments),
            Err(fault) => Line::new(LineKind::Act, &call.name, fault.to_string()),
        });
        if outcome.finished.is_none() {
            let seen = Line::new(LineKind::Seen, &call.name, outcome.text.trim());
            made.lines.push(seen.failed(outcome.failed));
        }
        failed &= outcome.failed;
        made.trace.excused |= outcome.excused;
        made.trace.calls.push(written(call));
        made.trace.came_to.push(outcome.came_to);
        made.finished = made.finished.or(outcome.finished);
        made.results.push(Told { id: call.id.clone(), tool: call.name.clone(), text: outcome.text });
    }
    made.trace.failed = failed;
    Ok(made)
}

/// Makes one call.
async fn one(hands: &Hands<'_>, call: &Call) -> Result<Outcome, StrategyError> {
    let tools = &hands.agent.tools;
    let fitted = call.arguments.as_ref().map_err(Clone::clone);
    let fitted = match fitted.and_then(|arguments| tools.fit(&call.name, arguments)) {
        Ok(fitted) => fitted,
        Err(fault) => return outcome::fault(hands, &fault),
    };
    let Some((tool, _)) = tools.get(&call.name) else {
        return outcome::fault(hands, &tools.unknown(&call.name));
    };
    let mut outcome = tool.call(hands, fitted.arguments).await?;
    if !fitted.unknown.is_empty() {
        let variables = FaultVariables { unknown: &fitted.unknown, ..FaultVariables::NONE };
        let remark = hands.render(&hands.agent.spec.prompts.fault, &variables)?;
        outcome.text = format!("{}\n\n{remark}", outcome.text.trim_end());
    }
    Ok(outcome)
}

/// A call as one text: the same for the same call.
fn written(call: &Call) -> String {
    let arguments = match &call.arguments {
        Ok(arguments) => canonical::to_string(&Value::Object(arguments.clone())),
        Err(fault) => fault.to_string(),
    };
    format!("{} {arguments}", call.name)
}

/// What is left, and how it stands with the submission.
fn status(table: Table<'_>) -> Result<String, StrategyError> {
    let budget = table.context.budget();
    let memory = table.memory.borrow();
    let (submission, problem) = match &memory.submission {
        Some(found) => submission::word(&found.verdict),
        None => ("", ""),
    };
    let valid =
        memory.submission.as_ref().is_some_and(|found| matches!(found.verdict, Verdict::Valid { .. }));
    let variables = StatusVariables {
        steps_left: budget.steps_left(),
        time_left_ms: budget.run_ms_left(),
        submission,
        problem,
        submission_path: submission_path(table.context.task()),
        kept: memory.selected.is_some() && !valid,
    };
    table.render(&table.agent.spec.prompts.status, &variables)
}

impl<'a> Table<'a> {
    fn hands(&self, step: u32, call: usize) -> Hands<'a> {
        Hands::new(self.agent, self.context, self.memory, step, call)
    }

    fn render<V: serde::Serialize>(&self, template: &str, variables: &V) -> Result<String, StrategyError> {
        self.agent.common.prompts.render(template, variables)
    }
}
