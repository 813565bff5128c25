//! Two runs beside each other: what they came to, and in what they were set up differently. One run of each shows no
//! difference between two ways of working, so none is told.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;

use crate::cli::failure::Failure;
use crate::cli::summary::shown;
use crate::cli::terminal::{Terminal, dollars, escape, one_line};
use crate::run::error::RunError;
use crate::run::sitting::StoredRun;
use crate::run::summary::RunReport;

/// Longer values are told to differ, and not what they are.
const SHOWN: usize = 60;
/// Settings that are named.
const MOST: usize = 40;
/// Said below them.
const ONE_OF_EACH: &str = "one run of each: chance alone may make such a difference; seeds and competitions tell, as in \
                           podium experiment compare";

/// A setting in which two runs differ.
#[derive(Debug, Serialize)]
struct Setting {
    name: String,
    a: String,
    b: String,
}

pub(super) fn main(
    first: &Path,
    second: &Path,
    json: bool,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let (first, second) = (StoredRun::open(first)?, StoredRun::open(second)?);
    let settings = settings(&first, &second)?;
    let (a, b) = (first.report()?, second.report()?);
    if json {
        terminal.json(&serde_json::json!({ "a": a, "b": b, "settings": settings, "note": ONE_OF_EACH }));
        return Ok(ExitCode::SUCCESS);
    }
    let say = |name: &str, a: &str, b: &str| {
        terminal.line(&format!("{name:<14}{:<40}{}", one_line(a, 38), one_line(b, 60)));
    };
    say("run", &first.folder.name(), &second.folder.name());
    for (name, of) in ROWS {
        let told = |report: &Option<RunReport>| report.as_ref().map_or_else(|| "no report".to_owned(), of);
        say(name, &told(&a), &told(&b));
    }
    if let (Some(a), Some(b)) = (&a, &b)
        && a.competition != b.competition
    {
        terminal.line("they are of two competitions: their scores have nothing in common");
    }
    terminal.line(ONE_OF_EACH);
    terminal.line(if settings.is_empty() { "set up alike" } else { "set up differently" });
    for setting in settings.iter().take(MOST) {
        terminal.line(&escape(&format!("  {}: {} · {}", setting.name, setting.a, setting.b)));
    }
    if let Some(more) = settings.len().checked_sub(MOST).filter(|more| *more > 0) {
        terminal.line(&format!("  and {more} more: --json has them"));
    }
    Ok(ExitCode::SUCCESS)
}

/// A name, and what is told under it.
type Row = (&'static str, fn(&RunReport) -> String);

/// What is told of each run.
const ROWS: [Row; 11] = [
    ("scaffold", |report| report.scaffold.clone()),
    ("competition", |report| report.competition.clone()),
    ("outcome", |report| format!("{}, stopped by {}", report.outcome.word(), report.stopped_by.word())),
    ("test score", |report| {
        let graded = report.report.as_ref();
        let score = graded.and_then(|graded| graded.score).map_or_else(|| "none".to_owned(), shown);
        let better = graded.map_or("", |graded| {
            if graded.is_lower_better { " (lower is better)" } else { " (higher is better)" }
        });
        format!("{score}{better}")
    }),
    ("medal", |report| {
        let graded = report.report.as_ref();
        let word = match graded.map(|graded| (graded.gold_medal, graded.silver_medal, graded.bronze_medal)) {
            Some((true, ..)) => "gold",
            Some((_, true, _)) => "silver",
            Some((.., true)) => "bronze",
            _ => "none",
        };
        let place = graded.and_then(|graded| graded.percentile);
        place.map_or_else(|| word.to_owned(), |place| format!("{word}, percentile {place:.1}"))
    }),
    ("validation", |report| report.nodes.best_validation.map_or_else(|| "none".to_owned(), shown)),
    ("nodes", |report| format!("{}, {} buggy", report.nodes.total, report.nodes.buggy)),
    ("cost", |report| report.usage.cost_usd.map_or_else(|| "unknown".to_owned(), dollars)),
    ("tokens", |report| {
        format!(
            "{} + {} in {} calls",
            report.usage.input_tokens, report.usage.output_tokens, report.usage.calls
        )
    }),
    ("run time", |report| format!("{:.1} s, and {:.1} s waiting", report.time.run_s, report.time.waiting_s)),
    ("models", |report| {
        let models: Vec<String> =
            report.models.iter().map(|(role, model)| format!("{role} {model}")).collect();
        if models.is_empty() { "none".to_owned() } else { models.join(" · ") }
    }),
];

/// The leaves of the two configurations that differ.
fn settings(first: &StoredRun, second: &StoredRun) -> Result<Vec<Setting>, RunError> {
    let value = |run: &StoredRun| {
        serde_json::to_value(&run.config).map_err(|source| RunError::Corrupt { file: "config.json", source })
    };
    let mut found = Vec::new();
    differ("", &value(first)?, &value(second)?, &mut found);
    Ok(found)
}

fn differ(name: &str, a: &Value, b: &Value, found: &mut Vec<Setting>) {
    if a == b {
        return;
    }
    if let (Value::Object(one), Value::Object(other)) = (a, b) {
        let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
        names.sort();
        names.dedup();
        for key in names {
            let inner = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
            differ(&inner, &of(one), &of(other), found);
        }
        return;
    }
    let told = |value: &Value| {
        let text = match value {
            Value::Null => "none".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if text.len() > SHOWN || text.contains('\n') { format!("{} bytes", text.len()) } else { text }
    };
    found.push(Setting { name: name.to_owned(), a: told(a), b: told(b) });
}
