//! Nodes and steps, each with its calls, executions, times and costs, in the order in which they finished.

use std::collections::BTreeMap;

use podium_report::story::{Call, Detail, Execution, Item, Signal};
use podium_scaffold::{Effect, EffectResult, NodeRecord};
use podium_types::chat::{ChatRequest, ChatResult, Speaker};
use podium_types::execution::{Execution as Executed, Program};
use podium_types::key::EffectKey;
use podium_types::money::Usd;
use podium_types::usage::Usage;

use crate::run::config::RunConfig;
use crate::run::journal::{CallTrace, Entry, Record};

/// Of each end of an output so many bytes are told; the node's folder has the rest.
const OUTPUT_END: usize = 16 << 10;

/// What a journal says of its nodes or steps.
pub(super) struct Gathered {
    /// Whether they are nodes.
    pub(super) is_tree: bool,
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
}

/// Reads a journal.
pub(super) fn gather(config: &RunConfig, entries: &[Entry]) -> Gathered {
    let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
    let mut nodes: Vec<Item> = Vec::new();
    let mut spent = Usage::NOTHING;
    for entry in entries {
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
    let items = if is_tree { nodes } else { parts.into_iter().map(|(id, part)| step(id, part)).collect() };
    Gathered { is_tree, items }
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
    let mut detail = part.summed();
    let said = detail.calls.iter().find_map(|call| call.answer.clone());
    detail.plan = said.unwrap_or_default();
    Item {
        id,
        parents: Vec::new(),
        operator: "step".to_owned(),
        metric: None,
        good: detail.executions.iter().all(|execution| execution.well),
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
    let (output, cut) = both_ends(&text);
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

/// A long text as its two ends, with the number of bytes between them.
fn both_ends(text: &str) -> (String, usize) {
    if text.len() <= 2 * OUTPUT_END {
        return (text.to_owned(), 0);
    }
    let mut head = OUTPUT_END;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - OUTPUT_END;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let cut = tail - head;
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    (format!("{head}\n[... {cut} bytes are in output.txt only ...]\n{tail}"), cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_keeps_its_ends_and_says_what_is_missing() {
        assert_eq!(both_ends("short"), ("short".to_owned(), 0));
        let long = format!("a{}z", "é".repeat(2 * OUTPUT_END));
        let (text, cut) = both_ends(&long);
        assert!(text.starts_with("aé") && text.ends_with("éz") && text.contains(&format!("{cut} bytes")));
        assert!(cut > 0 && text.len() < long.len());
    }
}
