//! `podium show RUN` of a loop: its log, step by step, for people and for scripts; also while the run is going on.

use podium_report::story::{Item, Story, Unit};
use podium_types::log::{Line, LineKind};
use serde::Serialize;

use crate::cli::terminal::{Terminal, dollars, escape, one_line};

/// Of a longer text so many lines of its beginning are shown, and so many of its end.
const HEAD: usize = 8;
const TAIL: usize = 4;
/// Characters of a line.
const WIDTH: usize = 240;
/// Characters of a heading.
const HEADING: usize = 100;

/// The steps of a loop; none of a search tree. Its field is `--json`'s.
#[derive(Debug, Serialize)]
pub(crate) struct Steps {
    steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Serialize)]
struct Step {
    #[serde(flatten)]
    item: Item,
    begun_ms: Option<u64>,
    input_tokens: u64,
    output_tokens: u64,
    /// Dollars of this step; `null`: unknown.
    cost: Option<f64>,
    log: Vec<Line>,
}

impl Steps {
    /// The steps of a run, where it is made of steps.
    pub(crate) fn of(story: Story) -> Self {
        let items = if story.unit == Unit::Step { story.items } else { Vec::new() };
        let step = |mut item: Item| Step {
            log: std::mem::take(&mut item.detail.log),
            begun_ms: item.detail.begun_ms,
            input_tokens: item.detail.input_tokens,
            output_tokens: item.detail.output_tokens,
            cost: item.detail.cost,
            item,
        };
        Self { steps: items.into_iter().map(step).collect() }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// For people; long texts as their two ends but where `full`.
    pub(crate) fn print(&self, full: bool, terminal: &Terminal) {
        for step in &self.steps {
            step.print(full, terminal);
        }
    }
}

impl Step {
    fn print(&self, full: bool, terminal: &Terminal) {
        let item = &self.item;
        let time = item.at_ms as f64 / 1e3;
        let tokens = format!("{} + {} tokens", self.input_tokens, self.output_tokens);
        let cost = self.cost.map_or_else(|| "cost unknown".to_owned(), dollars);
        let failed = if item.good { "" } else { " (failed)" };
        let name = one_line(&item.operator, HEADING);
        terminal.line(&format!("step {}  {name}{failed}, until {time:.1} s, {tokens}, {cost}", item.id));
        for line in &self.log {
            print_line(line, full, terminal);
        }
        terminal.line("");
    }
}

fn print_line(line: &Line, full: bool, terminal: &Terminal) {
    let title = one_line(&line.title, HEADING);
    let word = line.kind.word();
    let heading = match line.kind {
        _ if title.is_empty() => word.to_owned(),
        LineKind::Said => title,
        LineKind::Plan | LineKind::Seen => word.to_owned(),
        _ => format!("{word}: {title}"),
    };
    let failed = if line.failed { " (failed)" } else { "" };
    let text: Vec<&str> = line.text.trim_end().lines().collect();
    if let ([only], LineKind::Checked | LineKind::Harness) = (text.as_slice(), line.kind) {
        terminal.line(&format!("  {heading}{failed}: {}", shown(only, full)));
        return;
    }
    terminal.line(&format!("  {heading}{failed}"));
    let left_out = text.len().saturating_sub(HEAD + TAIL);
    let is_whole = full || left_out <= 1;
    for (place, line) in text.iter().enumerate() {
        if is_whole || place < HEAD || place >= HEAD + left_out {
            terminal.line(&format!("    {}", shown(line, full)));
        } else if place == HEAD {
            terminal.line(&format!("    [... {left_out} lines; --full shows them ...]"));
        }
    }
}

/// A line, made harmless.
fn shown(line: &str, full: bool) -> String {
    if full || line.chars().count() <= WIDTH {
        return escape(line);
    }
    escape(&line.chars().take(WIDTH).collect::<String>()) + "…"
}
