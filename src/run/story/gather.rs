//! Nodes and steps, each with its calls, executions, times and costs, in the order in which they finished.

use std::collections::BTreeMap;

use podium_report::story::{Call, Detail, Execution, Item, Signal};
use podium_scaffold::{Effect, EffectResult, NodeRecord};
use podium_types::chat::{ChatRequest, ChatResult, Speaker};
use podium_types::execution::{Execution as Executed, Program};
use podium_types::key::EffectKey;
use podium_types::log::Line;
use podium_types::money::Usd;
use podium_types::usage::Usage;

use super::log::{self, Log};
use crate::run::config::RunConfig;
use crate::run::journal::{CallTrace, Entry, Record};

/// Of each end of an output so many bytes are told; the node's folder has the rest.
const OUTPUT_END: usize = 16 << 10;

/// What a journal says of its nodes or steps.
pub(super) struct Gathered {
    /// Whether they are nodes.
    pub(super) is_tree: bool,
    /// Of steps: the one in which the submission was selected last.
    pub(super) selected: Option<u32>,
    pub(super) items: Vec<Item>,
}

/// A node or step in the making.
#[derive(Default)]
struct Part {
    detail: Detail,
    usage: Option<Usage>,
    valid: bool,
    at_ms: u64,
    spent: Option<f64>,
    log: Log,
}

/// Reads a journal.
pub(super) fn gather(config: &RunConfig, entries: &[Entry]) -> Gathered {
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    let mut nodes: Vec<Item> = Vec::new();
    let mut spent = Usage::NOTHING;
    let mut sittings = Sittings::default();
    for entry in entries {
        sittings.entry(entry, &mut parts);
        let (Record::Result { usage, .. } | Record::Charge { usage, .. }) = &entry.record else { continue };
        spent = spent.plus(usage);
        let Some((number, key)) = entry.record.key().and_then(|key| Some((key.number()?, key))) else {
            continue;
        };
        let part = parts.entry(number).or_default();
        part.usage = Some(part.usage.unwrap_or(Usage::NOTHING).plus(usage));
        (part.at_ms, part.spent) = (entry.stamp.run_ms, spent.cost.map(Usd::dollars));
        if let Record::Result { effect, result, took_ms, waited_ms, call, .. } = &entry.record {
            if let Effect::Node(node) = &**effect {
                nodes.push(finished(node, std::mem::take(part)));
                continue;
            }
            part.effect(config, key, effect, result, entry.stamp.run_ms);
            if let (Effect::Chat { .. }, Some(told)) = (&**effect, part.detail.calls.last_mut()) {
                told.took_ms = *took_ms;
                (told.input_tokens, told.output_tokens) = (usage.input_tokens, usage.output_tokens);
                told.cost = usage.cost.map(Usd::dollars);
                if let Some(CallTrace { model, .. }) = call.as_deref().filter(|call| !call.model.is_empty()) {
                    told.model.clone_from(model);
                }
                part.detail.model_ms += took_ms.saturating_sub(*waited_ms);
                part.detail.waited_ms += waited_ms;
            }
        }
    }
    let is_step = |entry: &Entry| entry.record.key().is_some_and(|key| key.as_str().starts_with("step/"));
    let is_tree = !nodes.is_empty() || !entries.iter().any(is_step);
    let selected = sittings.selected.filter(|_| !is_tree);
    let items = if is_tree { nodes } else { parts.into_iter().map(|(id, part)| step(id, part)).collect() };
    Gathered { is_tree, selected, items }
}

/// What happened to a run besides its steps, and in which of them.
#[derive(Default)]
struct Sittings {
    /// The step that was begun last.
    current: Option<u32>,
    selected: Option<u32>,
    begun: bool,
    /// The agent is a program of its own.
    own_program: bool,
    /// For the next step.
    waiting: Vec<Line>,
}

impl Sittings {
    fn entry(&mut self, entry: &Entry, parts: &mut BTreeMap<u32, Part>) {
        match &entry.record {
            Record::Result { key, effect, .. } => match &**effect {
                Effect::BeginStep => {
                    self.current = key.number();
                    if let Some(step) = self.current {
                        parts.entry(step).or_default().log.before(self.waiting.drain(..));
                    }
                }
                Effect::Hear => self.own_program = true,
                Effect::SelectFinal { .. } => self.selected = key.number().or(self.selected),
                _ => {}
            },
            Record::Started { program, .. } => {
                if !std::mem::replace(&mut self.begun, true) {
                    return;
                }
                let own = self.own_program;
                match self.part(parts).filter(|part| !part.log.is_written()) {
                    Some(part) => part.log.before([log::resumed(program, own)]),
                    None => self.waiting.push(log::resumed(program, own)),
                }
            }
            Record::SessionEnded { name, end, .. } => {
                if let Some(part) = self.part(parts) {
                    part.log.after(log::session_ended(name, end));
                }
            }
            Record::Stopped(stop) => {
                if let Some(part) = self.part(parts) {
                    part.log.after(log::stopped(stop));
                }
            }
            Record::Limits(_) | Record::Charge { .. } | Record::Downgrade { .. } => {}
        }
    }

    fn part<'a>(&self, parts: &'a mut BTreeMap<u32, Part>) -> Option<&'a mut Part> {
        parts.get_mut(&self.current?)
    }
}

fn finished(node: &NodeRecord, part: Part) -> Item {
    let (at_ms, spent) = (part.at_ms, part.spent);
    let detail = Detail {
        plan: node.plan.clone(),
        code: node.code.clone(),
        reason: node.reason.clone(),
        buggy: node.buggy.clone(),
        review: node.summary.clone(),
        signals: signals(node),
        metric_source: node.metric_source.clone(),
        flags: node.flags.clone(),
        submission: Some(node.submission.clone()),
        folder: format!("nodes/{}", node.id),
        log: Vec::new(),
        ..part.summed()
    };
    Item {
        id: node.id,
        parents: node.parents.clone(),
        operator: node.operator.clone(),
        metric: node.metric,
        good: node.is_good(),
        valid: node.submission.is_valid(),
        at_ms,
        spent,
        detail,
    }
}

fn signals(node: &NodeRecord) -> Vec<Signal> {
    let told = node.signals.iter().map(|signal| Signal {
        source: signal.source.clone(),
        value: signal.value,
        spread: signal.spread,
    });
    told.collect()
}

fn step(id: u32, part: Part) -> Item {
    let (valid, at_ms, spent) = (part.valid, part.at_ms, part.spent);
    let well = part.log.went_well();
    let acts = part.log.acts();
    let operator = match acts.as_slice() {
        [] => "step".to_owned(),
        [only] => (*only).to_owned(),
        [first, rest @ ..] => format!("{first} +{}", rest.len()),
    };
    let mut detail = part.summed();
    let said = detail.calls.iter().find_map(|call| call.answer.clone());
    detail.plan = said.unwrap_or_default();
    Item {
        id,
        parents: Vec::new(),
        operator,
        metric: None,
        good: well && detail.executions.iter().all(|execution| execution.well),
        valid,
        at_ms,
        spent,
        detail,
    }
}

impl Part {
    fn effect(
        &mut self,
        config: &RunConfig,
        key: &EffectKey,
        effect: &Effect,
        result: &EffectResult,
        run_ms: u64,
    ) {
        if key.as_str().starts_with("step/") {
            self.log.effect(key, effect, result);
        }
        match (effect, result) {
            (Effect::BeginStep, _) => self.detail.begun_ms = Some(run_ms),
            (Effect::Chat { role, request, .. }, EffectResult::Chat(answer)) => {
                let model = config.models.get(role).cloned().unwrap_or_default();
                self.detail.calls.push(call(key, role, model, request, answer));
            }
            (Effect::Execute(request), EffectResult::Execution(executed)) => {
                self.detail.executions.push(execution(key, &request.program, executed));
            }
            (Effect::Validate { .. }, EffectResult::Verdict(verdict)) => {
                self.valid = verdict.is_valid();
                self.detail.submission = Some(verdict.clone());
            }
            _ => {}
        }
    }

    fn summed(self) -> Detail {
        let usage = self.usage.unwrap_or(Usage::NOTHING);
        Detail {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost: usage.cost.map(Usd::dollars),
            log: self.log.lines(),
            ..self.detail
        }
    }
}

fn call(key: &EffectKey, role: &str, model: String, request: &ChatRequest, answer: &ChatResult) -> Call {
    let speaker = |speaker| match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
    };
    let messages = request.messages.iter().map(|message| {
        let calls = message.tool_calls.iter().map(|call| format!("\n[{} {}]", call.name, call.arguments));
        (speaker(message.role).to_owned(), calls.fold(message.content.clone(), |text, call| text + &call))
    });
    let text = match answer {
        Ok(answer) => {
            let calls = answer.tool_calls.iter().map(|call| format!("\n[{} {}]", call.name, call.arguments));
            calls.fold(answer.content.clone(), |text, call| text + &call)
        }
        Err(error) => error.to_string(),
    };
    Call {
        key: key.to_string(),
        role: role.to_owned(),
        model,
        messages: messages.collect(),
        reasoning: answer.as_ref().ok().and_then(|answer| answer.reasoning.clone()),
        answer: Some(text),
        ..Call::default()
    }
}

fn execution(key: &EffectKey, program: &Program, executed: &Executed) -> Execution {
    let mut ended = executed.limit.as_ref().map_or_else(|| executed.ended.to_string(), ToString::to_string);
    if let Some(exception) = &executed.exception {
        ended = format!("{ended}; {}: {}", exception.kind, exception.message);
    }
    if executed.interrupted {
        ended.push_str("; cut by a crash of the harness, effects may be partial");
    }
    let text = executed.output.text();
    let (output, cut) = super::both_ends(&text, OUTPUT_END, "are in output.txt only");
    Execution {
        key: key.to_string(),
        command: match program {
            Program::Python { .. } => None,
            Program::Command { argv } => Some(argv.join(" ")),
        },
        ended,
        well: executed.succeeded(),
        wall_ms: executed.wall_ms,
        cpu_ms: executed.cpu_ms,
        peak_bytes: executed.peak_memory_bytes,
        blocked: executed.blocked.iter().map(|(kind, count)| format!("{count} × {kind}")).collect(),
        output,
        cut_bytes: cut as u64,
    }
}
