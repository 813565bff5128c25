//! `podium show RUN --calls`: every model call of a run, for people and for scripts; also while the run is going on.
//!
//! It reads the journal and nothing else. A call is there once it is answered, or was given up and charged; calls whose
//! tries have no account yet are in flight, or were cut by a kill.

use std::collections::BTreeMap;

use podium_scaffold::{Effect, EffectResult};
use podium_types::key::EffectKey;
use podium_types::money::Usd;
use podium_types::usage::Usage;
use serde::Serialize;

use crate::cli::terminal::{Terminal, dollars, escape, one_line};
use crate::run::config::RunConfig;
use crate::run::journal::{Billed, CallNote, CallTrace, Entry, Intent, Record, TryTrace};

/// All dealings of a run with its models. Its fields are `--json`'s.
#[derive(Debug, Serialize)]
pub(crate) struct Calls {
    /// Answered calls, in the order of their answers.
    #[serde(rename = "calls")]
    answered: Vec<Call>,
    /// Calls, or tries of calls, that were sent and never answered.
    charges: Vec<Call>,
    /// Calls in flight, or cut by a kill: a resume charges them.
    unanswered: Vec<Unanswered>,
    /// What models turned out not to take.
    downgrades: Vec<Downgrade>,
    /// Sums over `answered` and `charges`, by role; `?` is the role of a charge whose call was never answered.
    #[serde(rename = "calls_by_role")]
    by_role: BTreeMap<String, Totals>,
}

/// One call.
#[derive(Debug, Serialize)]
struct Call {
    key: EffectKey,
    role: Option<String>,
    operator: Option<String>,
    /// As asked.
    model: Option<String>,
    /// As the provider named it.
    served: Option<String>,
    /// The provider's id of the answer.
    id: Option<String>,
    #[serde(flatten)]
    used: Used,
    /// From the call to its answer, waits and failed tries included.
    took_ms: u64,
    waited_ms: u64,
    first_byte_ms: Option<u64>,
    /// `stop`, `length`, `tool_calls`, ...; an error's words; `not answered`, or `cut off` where only what was reserved
    /// is known.
    ended: String,
    /// Empty for journals of older versions, and after a kill.
    tries: Vec<TryTrace>,
    waits: Vec<crate::run::journal::WaitTrace>,
    notes: Vec<CallNote>,
    /// When it was journaled, RFC 3339.
    at: String,
}

/// Tokens and dollars.
#[derive(Clone, Copy, Debug, Serialize)]
struct Used {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_tokens: u64,
    output_tokens: u64,
    reasoning_tokens: u64,
    /// `null`: unknown.
    cost_usd: Option<f64>,
    /// Whether some of it is an estimate or a worst case.
    estimated: bool,
}

impl From<&Usage> for Used {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            cost_usd: usage.cost.map(Usd::dollars),
            estimated: usage.estimated,
        }
    }
}

/// A call that was sent and has no account yet.
#[derive(Debug, Serialize)]
struct Unanswered {
    key: EffectKey,
    /// Tries sent so far without an account.
    tries: u32,
    /// What a resume would charge.
    worst: Used,
}

/// What a model turned out not to take.
#[derive(Debug, Serialize)]
struct Downgrade {
    model: String,
    parameter: String,
    key: EffectKey,
    at: String,
}

/// Sums over calls.
#[derive(Clone, Copy, Debug, Serialize)]
struct Totals {
    calls: u32,
    charges: u32,
    tries: u64,
    #[serde(flatten)]
    used: Used,
    took_ms: u64,
    waited_ms: u64,
}

impl Calls {
    /// Reads a journal, and the tries that it has no account of.
    pub(crate) fn read(config: &RunConfig, entries: &[Entry], open: &[Intent]) -> Self {
        let roles: BTreeMap<&EffectKey, &str> = entries.iter().filter_map(role).collect();
        let (mut answered, mut charges, mut downgrades) = (Vec::new(), Vec::new(), Vec::new());
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        for entry in entries {
            let mut count = |call: &Call, usage: &Usage, was_answered| {
                let name = call.role.clone().unwrap_or_else(|| "?".to_owned());
                sums.entry(name).or_default().add(call, usage, was_answered);
            };
            match &entry.record {
                Record::Result { key, effect, result, usage, took_ms, waited_ms, call, .. } => {
                    let (Effect::Chat { .. }, EffectResult::Chat(answer)) = (&**effect, &**result) else {
                        continue;
                    };
                    let mut row = Call::new(entry, key, &roles, usage, call.as_deref());
                    (row.took_ms, row.waited_ms) = (*took_ms, *waited_ms);
                    row.ended = match answer {
                        Ok(answer) => finish(&answer.finish),
                        Err(error) => error.to_string(),
                    };
                    row.served = row.served.or_else(|| Some(answer.as_ref().ok()?.model.clone()));
                    row.model = row.model.or_else(|| config.models.get(row.role.as_deref()?).cloned());
                    count(&row, usage, true);
                    answered.push(row);
                }
                Record::Charge { key, usage, call } => {
                    let mut row = Call::new(entry, key, &roles, usage, call.as_deref());
                    // After a kill there is no trace of it, only what was reserved for it.
                    row.model = row.model.or_else(|| config.models.get(row.role.as_deref()?).cloned());
                    if call.is_none() {
                        "cut off, charged at its worst case".clone_into(&mut row.ended);
                    }
                    count(&row, usage, false);
                    charges.push(row);
                }
                Record::Downgrade { key, model, parameter } => downgrades.push(Downgrade {
                    model: model.clone(),
                    parameter: parameter.clone(),
                    key: key.clone(),
                    at: entry.at.clone(),
                }),
                Record::Started { .. }
                | Record::Limits(_)
                | Record::SessionEnded { .. }
                | Record::Stopped(_) => {}
            }
        }
        let by_role = sums.into_iter().map(|(role, sum)| (role, sum.totals())).collect();
        Self { answered, charges, unanswered: unanswered(open, &roles), downgrades, by_role }
    }

    /// For people.
    pub(crate) fn print(&self, terminal: &Terminal) {
        terminal.line(
            "key                       role        model                     input (cached)    output (thought)       cost  seconds   first  tries   waited  ended",
        );
        let mut rows: Vec<&Call> = self.answered.iter().chain(&self.charges).collect();
        rows.sort_by(|one, other| one.at.cmp(&other.at));
        for call in rows {
            call.print(terminal);
        }
        for call in &self.unanswered {
            terminal.line(&format!(
                "{:<24}  in flight, or cut by a kill: {} tries without an account, at most {} tokens",
                escape(call.key.as_str()),
                call.tries,
                call.worst.input_tokens + call.worst.output_tokens
            ));
        }
        if !self.by_role.is_empty() {
            terminal.line("");
        }
        for (role, totals) in &self.by_role {
            totals.print(role, terminal);
        }
        for downgrade in &self.downgrades {
            terminal.line(&format!(
                "{} does not take `{}` and is asked without it, since {}",
                one_line(&downgrade.model, 60),
                one_line(&downgrade.parameter, 40),
                escape(downgrade.key.as_str())
            ));
        }
    }
}

fn role(entry: &Entry) -> Option<(&EffectKey, &str)> {
    let Record::Result { key, effect, .. } = &entry.record else { return None };
    let Effect::Chat { role, .. } = &**effect else { return None };
    Some((key, role))
}

/// How an answer ended, in one word of the journal's.
fn finish(reason: &podium_types::chat::FinishReason) -> String {
    match serde_json::to_value(reason) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(serde_json::Value::Object(other)) => {
            other.values().find_map(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// `open` is older than the journal: what has been answered meanwhile is left out.
fn unanswered(open: &[Intent], roles: &BTreeMap<&EffectKey, &str>) -> Vec<Unanswered> {
    let mut calls: BTreeMap<&EffectKey, (u32, Usage)> = BTreeMap::new();
    for intent in open.iter().filter(|tried| !roles.contains_key(tried.place().0)) {
        let Intent::Try { key, worst, .. } = intent else { continue };
        let (tries, sum) = calls.entry(key).or_insert((0, Usage::NOTHING));
        (*tries, *sum) = (*tries + 1, sum.plus(worst));
    }
    let row = |(key, (tries, sum)): (&EffectKey, (u32, Usage))| Unanswered {
        key: key.clone(),
        tries,
        worst: Used::from(&sum),
    };
    calls.into_iter().map(row).collect()
}

impl Call {
    fn new(
        entry: &Entry,
        key: &EffectKey,
        roles: &BTreeMap<&EffectKey, &str>,
        usage: &Usage,
        trace: Option<&CallTrace>,
    ) -> Self {
        let trace = trace.cloned().unwrap_or_default();
        let operator = key.as_str().split('/').nth(2);
        Self {
            first_byte_ms: trace.first_byte_ms(),
            key: key.clone(),
            role: Some(trace.role)
                .filter(|role| !role.is_empty())
                .or_else(|| roles.get(key).map(|role| (*role).to_owned())),
            operator: operator.map(str::to_owned),
            model: Some(trace.model).filter(|model| !model.is_empty()),
            served: trace.served,
            id: trace.id,
            used: Used::from(usage),
            took_ms: trace.tries.iter().map(|sent| sent.elapsed_ms).sum::<u64>()
                + trace.waits.iter().map(|wait| wait.ms).sum::<u64>(),
            waited_ms: trace.waits.iter().map(|wait| wait.ms).sum(),
            ended: "not answered".to_owned(),
            tries: trace.tries,
            waits: trace.waits,
            notes: trace.notes,
            at: entry.at.clone(),
        }
    }

    fn print(&self, terminal: &Terminal) {
        let or = |text: Option<&str>, width| one_line(text.unwrap_or("?"), width);
        let first = self.first_byte_ms.map_or_else(|| "-".to_owned(), |ms| format!("{:.1}", seconds(ms)));
        let tries = if self.tries.is_empty() { "-".to_owned() } else { self.tries.len().to_string() };
        terminal.line(&format!(
            "{:<24}  {:<10}  {:<20}  {}  {:>7.1}  {first:>6}  {tries:>5}  {:>7.1}  {}",
            escape(self.key.as_str()),
            or(self.role.as_deref(), 10),
            or(self.model.as_deref(), 20),
            self.used,
            seconds(self.took_ms),
            seconds(self.waited_ms),
            one_line(&self.ended, 60),
        ));
        if self.tries.iter().any(|sent| sent.failure.is_some()) {
            for sent in &self.tries {
                terminal.line(&format!("{:<26}{}", "", tried(sent)));
            }
        }
        for note in &self.notes {
            terminal.line(&format!("{:<26}{}", "", noted(note)));
        }
    }
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1e3
}

/// One try, below its call.
fn tried(sent: &TryTrace) -> String {
    let ended = match &sent.failure {
        None => "answered".to_owned(),
        Some(failure) => {
            let status = failure.status.map(|status| format!("{status} ")).unwrap_or_default();
            let kind = failure.kind.as_deref().map(|kind| format!("{}: ", one_line(kind, 30)));
            format!("{status}{}{}", kind.unwrap_or_default(), one_line(&failure.message, 80))
        }
    };
    let billed = match sent.billed {
        Billed::Nothing => "not billed",
        Billed::Used => "billed",
        Billed::WorstCase => "may be billed, counted at its worst case",
    };
    format!("try {} after {:.1} s, {billed}: {ended}", sent.attempt, seconds(sent.elapsed_ms))
}

/// A usage in one phrase.
fn counted(usage: &Usage) -> String {
    let cached = match usage.cached_input_tokens {
        0 => String::new(),
        cached => format!(" ({cached} cached)"),
    };
    let cost = usage.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
    format!("{}{cached} + {} tokens{cost}", usage.input_tokens, usage.output_tokens)
}

fn noted(note: &CallNote) -> String {
    match note {
        CallNote::ExceededWorstCase { attempt, worst, used } => format!(
            "try {attempt} used more than its worst case: {} + {} tokens, reserved were {} + {}",
            used.input_tokens, used.output_tokens, worst.input_tokens, worst.output_tokens
        ),
        CallNote::ImplausibleUsage { attempt, told, settled } => format!(
            "try {attempt}: the service told {}, which cannot be true; counted as {}",
            counted(told),
            counted(settled)
        ),
        CallNote::Truncated { counted, told } => {
            format!("the server saw {told} tokens of a prompt of {counted}: it seems to have cut it")
        }
        CallNote::Repaired { problem } => {
            format!("the answer did not fit its schema and was asked for again: {}", one_line(problem, 80))
        }
    }
}

/// The columns of tokens and dollars.
impl std::fmt::Display for Used {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = |sum: u64, part: u64| if part > 0 { format!("{sum} ({part})") } else { sum.to_string() };
        let cost = self.cost_usd.map_or_else(|| "?".to_owned(), dollars);
        let (input, output) = (
            part(self.input_tokens, self.cached_input_tokens),
            part(self.output_tokens, self.reasoning_tokens),
        );
        write!(f, "{input:>18}  {output:>18}  {cost:>9}")
    }
}

/// Totals in the making.
#[derive(Clone, Copy, Debug)]
struct Sum {
    totals: Totals,
    usage: Usage,
}

impl Default for Sum {
    fn default() -> Self {
        let usage = Usage::NOTHING;
        let totals =
            Totals { calls: 0, charges: 0, tries: 0, used: Used::from(&usage), took_ms: 0, waited_ms: 0 };
        Self { totals, usage }
    }
}

impl Sum {
    fn add(&mut self, call: &Call, usage: &Usage, answered: bool) {
        self.usage = self.usage.plus(usage);
        self.totals.calls += u32::from(answered);
        self.totals.charges += u32::from(!answered);
        self.totals.tries += call.tries.len() as u64;
        self.totals.took_ms += call.took_ms;
        self.totals.waited_ms += call.waited_ms;
    }

    fn totals(self) -> Totals {
        Totals { used: Used::from(&self.usage), ..self.totals }
    }
}

impl Totals {
    fn print(&self, role: &str, terminal: &Terminal) {
        let charged =
            if self.charges > 0 { format!(", {} never answered", self.charges) } else { String::new() };
        terminal.line(&format!(
            "{:<24}  {:<10}  {:<20}  {}  {:>7.1}  {:>6}  {:>5}  {:>7.1}  {} calls{charged}",
            "total",
            one_line(role, 10),
            "",
            self.used,
            seconds(self.took_ms),
            "",
            self.tries,
            seconds(self.waited_ms),
            self.calls,
        ));
    }
}
