//! Live progress of a run: a line for each node as it finishes, a line for each wait on a service. A consumer of the
//! run's event stream, like `--events FILE`, which it also writes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use podium_scaffold::{Effect, EffectResult, NodeRecord, StepRecord};
use podium_types::key::EffectKey;
use podium_types::log::LineKind;
use podium_types::usage::Usage;

use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, one_line};
use crate::run::config::RunConfig;
use crate::run::events::{RunEvent, Sink};
use crate::run::journal::{Entry, Record};

/// Width of the last column.
const NOTE: usize = 64;

/// The progress of one sitting.
pub(crate) struct Progress<'a> {
    terminal: &'a Terminal,
    events: Option<File>,
    direction: podium_scaffold::context::Direction,
    best: Option<f64>,
    usage: BTreeMap<u32, Usage>,
    headed: bool,
    replayed: u32,
    /// The run is made of steps.
    loops: bool,
}

impl<'a> Progress<'a> {
    /// The progress of a run, with the event stream going to `events`.
    pub(crate) fn new(terminal: &'a Terminal, config: &RunConfig, events: Option<File>) -> Self {
        Self {
            terminal,
            events,
            direction: config.task.direction,
            best: None,
            usage: BTreeMap::new(),
            headed: false,
            replayed: 0,
            loops: false,
        }
    }

    fn entry(&mut self, entry: &Entry, replayed: bool) {
        match &entry.record {
            Record::Result { key, effect, result, usage, .. } => {
                self.account(key, usage);
                match &**effect {
                    Effect::Node(node) => self.node(node, replayed),
                    Effect::Step(_) if replayed => {
                        self.replayed += 1;
                        self.loops = true;
                    }
                    Effect::Step(step) => self.terminal.error_line(&step_line(step)),
                    Effect::Execute(_) if !replayed => self.execution(result),
                    Effect::Note { text } if !replayed => {
                        self.terminal.error_line(&format!("note      {}", one_line(text, 100)));
                    }
                    _ => {}
                }
            }
            Record::Charge { key, usage, .. } => {
                self.account(key, usage);
                if !replayed && usage.total_tokens() > 0 {
                    let tokens = usage.total_tokens();
                    self.terminal.error_line(&format!(
                        "charged   {key}: sent and never answered, counted at its worst case ({tokens} tokens)"
                    ));
                }
            }
            Record::Downgrade { model, parameter, .. } if !replayed => {
                self.terminal.error_line(&format!(
                    "without   {}: it does not take `{}`, and is asked without it from now on",
                    one_line(model, 60),
                    one_line(parameter, 40)
                ));
            }
            Record::Started { .. } if !replayed && self.replayed > 0 => {
                let what = if self.loops { "steps" } else { "nodes" };
                self.terminal.error_line(&format!("resumed   after {} {what} of the journal", self.replayed));
            }
            Record::Started { .. }
            | Record::Limits(_)
            | Record::Downgrade { .. }
            | Record::SessionEnded { .. }
            | Record::Stopped(_) => {}
        }
    }

    fn account(&mut self, key: &EffectKey, usage: &Usage) {
        if let Some(node) = key.number() {
            let sum = self.usage.entry(node).or_insert(Usage::NOTHING);
            *sum = sum.plus(usage);
        }
    }

    fn execution(&self, result: &EffectResult) {
        let EffectResult::Execution(execution) = result else { return };
        for (kind, count) in &execution.blocked {
            self.terminal.error_line(&format!("blocked   {count} × {}", one_line(kind, 80)));
        }
    }

    fn node(&mut self, node: &NodeRecord, replayed: bool) {
        let value = node.metric.map(|metric| metric.0).filter(|_| node.is_good());
        let better =
            value.is_some_and(|value| self.best.is_none_or(|best| self.direction.better(value, best)));
        if better {
            self.best = value;
        }
        if replayed {
            self.replayed += 1;
            return;
        }
        if !self.headed {
            self.headed = true;
            self.terminal.error_line("   #  from  did        validation    file        time      cost  note");
        }
        let cost = self.usage.get(&node.id).and_then(|usage| usage.cost);
        self.terminal.error_line(&line(node, better, cost.map(|cost| cost.to_string())));
    }

    fn waiting(&self, event: &RunEvent) {
        let RunEvent::Waiting { why, delay_ms, attempt, of, .. } = event else { return };
        let (why, tries) = (one_line(why, 60), format!("try {attempt} of {of}"));
        let line = match delay_ms {
            Some(delay_ms) => {
                let delay = jiff::SignedDuration::from_millis(i64::try_from(*delay_ms).unwrap_or(i64::MAX));
                let until = jiff::Zoned::now().saturating_add(delay);
                let (seconds, until) = (*delay_ms as f64 / 1e3, until.strftime("%H:%M:%S"));
                format!("waiting   {why}, for {seconds:.1} s; {tries} at {until} (not counted as run time)")
            }
            None => format!("waiting   {why}; {tries} as soon as that is over (not counted as run time)"),
        };
        self.terminal.error_line(&line);
    }
}

/// A step on one line: what was done, and the first words of what came of it.
fn step_line(step: &StepRecord) -> String {
    let of = |kind| step.lines.iter().filter(move |line| line.kind == kind);
    let acts = of(LineKind::Act).map(|line| line.title.as_str()).collect::<Vec<_>>().join(", ");
    let last = of(LineKind::Seen).next_back().or_else(|| step.lines.last());
    let failed = if step.lines.iter().any(|line| line.failed) { "failed: " } else { "" };
    let came_to = last.map_or("", |line| line.text.as_str());
    let acts = one_line(if acts.is_empty() { "no act" } else { &acts }, 24);
    format!("step {:>4} {acts:<24}  {failed}{}", step.number, one_line(came_to, NOTE))
}

/// Opens the events file, where one is wanted.
pub(crate) fn events_file(path: Option<&Path>) -> Result<Option<File>, Failure> {
    let open = |path: &Path| {
        File::create(path).map_err(|error| {
            Failure::usage(format!("the events file {} cannot be written: {error}", path.display()))
                .hint("--events names a file in a folder that is there")
        })
    };
    path.map(open).transpose()
}

/// One node as a line of the table; `show` prints the same.
pub(crate) fn line(node: &NodeRecord, better: bool, cost: Option<String>) -> String {
    let parents = if node.parents.is_empty() {
        "-".to_owned()
    } else {
        node.parents.iter().map(u32::to_string).collect::<Vec<_>>().join("+")
    };
    let metric = match (node.is_good(), node.metric) {
        (false, _) => "buggy".to_owned(),
        (true, Some(metric)) => format!("{:.5}{}", metric.0, if better { " *" } else { "  " }),
        (true, None) => "none".to_owned(),
    };
    let file = match &node.submission {
        podium_types::verdict::Verdict::Valid { copies_sample: true, .. } => "sample copy",
        podium_types::verdict::Verdict::Valid { .. } => "valid",
        podium_types::verdict::Verdict::Invalid { .. } => "invalid",
        podium_types::verdict::Verdict::Missing { .. } => "none",
    };
    let seconds = node.execution_ms as f64 / 1e3;
    let note = node.buggy.as_deref().unwrap_or(&node.plan);
    format!(
        "{:>4}  {parents:>4}  {:<9}{metric:>12}  {file:<11}{seconds:>6.1} s  {:>8}  {}",
        node.id,
        one_line(&node.operator, 9),
        cost.unwrap_or_else(|| "?".to_owned()),
        one_line(note, NOTE)
    )
}

impl Sink for Progress<'_> {
    fn event(&mut self, event: &RunEvent) {
        if let Some(file) = &mut self.events
            && let Ok(mut line) = serde_json::to_vec(event)
        {
            line.push(b'\n');
            if let Err(error) = file.write_all(&line) {
                self.terminal
                    .error_line(&format!("{} the events file: {error}", self.terminal.yellow("warning:")));
                self.events = None;
            }
        }
        match event {
            RunEvent::Entry { replayed, entry } => self.entry(entry, *replayed),
            RunEvent::Waiting { .. } => self.waiting(event),
            RunEvent::Draining { calls } => self.terminal.error_line(&format!(
                "stopping  {calls} model calls in flight are paid for and may still answer; Ctrl-C once more stops at once"
            )),
            RunEvent::Begun { .. } | RunEvent::Reported { .. } | RunEvent::WaitingOver { .. } => {}
        }
    }
}
