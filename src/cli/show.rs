//! `podium show`: a run as a table, its calls, its report; also while it is going on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use podium_scaffold::{Effect, EffectResult};
use podium_types::usage::Usage;
use serde_json::{Value, json};

use crate::cli::failure::Failure;
use crate::cli::progress::line;
use crate::cli::summary;
use crate::cli::terminal::{Terminal, escape, one_line};
use crate::run::journal::{Entry, Record};
use crate::run::sitting::StoredRun;

/// Show a run: its tree, its calls, its report
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium show runs/aide-segment-1\n  podium show runs/aide-segment-1 --calls"
)]
pub(crate) struct Arguments {
    /// The run's folder
    run: PathBuf,
    /// List every model call instead of the nodes
    #[arg(long)]
    calls: bool,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: &Arguments, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let run = StoredRun::open(&arguments.run)?;
    let entries = run.entries_so_far()?;
    let report = run.report()?;
    if arguments.json {
        let nodes: Vec<_> = crate::run::summary::nodes(&entries).collect();
        let calls: Vec<Value> = entries.iter().filter_map(call).collect();
        terminal.json(&json!({
            "run": run.folder.path().display().to_string(),
            "config": run.config,
            "nodes": nodes,
            "calls": calls,
            "report": report,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.calls {
        show_calls(&entries, terminal);
    } else {
        show_nodes(&run, &entries, terminal);
    }
    match report {
        Some(report) => summary::footer(&run, &report, terminal),
        None => terminal.line("the run has not ended"),
    }
    Ok(ExitCode::SUCCESS)
}

fn show_nodes(run: &StoredRun, entries: &[Entry], terminal: &Terminal) {
    let mut costs: BTreeMap<u32, Usage> = BTreeMap::new();
    for entry in entries {
        if let Record::Result { key, usage, .. } | Record::Charge { key, usage, .. } = &entry.record
            && let Some(node) = key.number()
        {
            let sum = costs.entry(node).or_insert(Usage::NOTHING);
            *sum = sum.plus(usage);
        }
    }
    terminal.line("   #  from  did        validation    file        time      cost  note");
    let mut best: Option<f64> = None;
    for node in crate::run::summary::nodes(entries) {
        let value = node.metric.map(|metric| metric.0).filter(|_| node.is_good());
        let better =
            value.is_some_and(|value| best.is_none_or(|best| run.config.task.direction.better(value, best)));
        if better {
            best = value;
        }
        let cost = costs.get(&node.id).and_then(|usage| usage.cost).map(|cost| cost.to_string());
        terminal.line(&line(node, better, cost));
    }
}

fn show_calls(entries: &[Entry], terminal: &Terminal) {
    terminal.line("key                       role        input  output      cost   seconds  ended");
    for call in entries.iter().filter_map(call) {
        let text = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| call.get(name).and_then(Value::as_u64).unwrap_or_default();
        let cost = call.get("cost_usd").and_then(Value::as_f64);
        terminal.line(&format!(
            "{:<24}  {:<9}  {:>6}  {:>6}  {:>8}  {:>8.1}  {}",
            escape(&text("key")),
            one_line(&text("role"), 9),
            number("input_tokens"),
            number("output_tokens"),
            cost.map_or_else(|| "?".to_owned(), |cost| format!("${cost:.4}")),
            number("took_ms") as f64 / 1e3,
            one_line(&text("ended"), 60),
        ));
    }
}

/// One model call, for people and for scripts.
fn call(entry: &Entry) -> Option<Value> {
    let Record::Result { key, effect, result, usage, took_ms, .. } = &entry.record else { return None };
    let (Effect::Chat { role, .. }, EffectResult::Chat(answer)) = (&**effect, &**result) else { return None };
    let (ended, model) = match answer {
        Ok(answer) => (format!("{:?}", answer.finish).to_lowercase(), Some(answer.model.clone())),
        Err(error) => (error.to_string(), None),
    };
    Some(json!({
        "key": key,
        "role": role,
        "model": model,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost.map(podium_types::money::Usd::dollars),
        "estimated": usage.estimated,
        "took_ms": took_ms,
        "ended": ended,
        "at": entry.at,
    }))
}
