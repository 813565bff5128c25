//! What a run is, how it was graded, and what whoever looks at it must know.

use podium_competition::{BoardKind, GradingReport};
use podium_report::story::{Fact, Grade};
use podium_scaffold::Effect;
use podium_scaffold::spec::Duration;
use podium_types::number::Number;

use crate::run::journal::{Entry, Record};
use crate::run::limits::Limits;
use crate::run::sitting::StoredRun;
use crate::run::summary::{RunReport, STAND_IN};

/// So many remarks of the journal are told; it has the rest.
const MOST_NOTES: usize = 200;

/// Names and values.
pub(super) fn facts(
    run: &StoredRun,
    entries: &[Entry],
    limits: Limits,
    report: Option<&RunReport>,
) -> Vec<Fact> {
    let config = &run.config;
    let mut facts =
        vec![Fact::new("scaffold", &config.scaffold.id), Fact::new("competition", &config.task.competition)];
    if !config.description.is_original() {
        facts.push(Fact::new("described by", config.description.to_string()));
    }
    for (role, model) in &config.models {
        facts.push(Fact::new(&format!("model, {role}"), model));
    }
    facts.push(Fact::new("seed", config.seed.to_string()));
    facts.push(Fact::new("limits", told_limits(limits)));
    if let Some(sandbox) = entries.iter().rev().find_map(|entry| match &entry.record {
        Record::Started { sandbox, .. } => Some(sandbox),
        _ => None,
    }) {
        facts.push(Fact::new("sandbox", sandbox));
    }
    if let Some(first) = entries.first() {
        facts.push(Fact::new("started", &first.at));
    }
    if let Some(report) = report {
        facts.push(Fact::new("ended", &report.ended_at));
        let usage = &report.usage;
        let tokens =
            format!("{} calls, {} + {} tokens", usage.calls, usage.input_tokens, usage.output_tokens);
        facts.push(Fact::new("calls", tokens));
        let time = &report.time;
        facts.push(Fact::new(
            "time",
            format!(
                "{:.1} s of run time: {:.1} s model, {:.1} s execution; {:.1} s waiting for a service",
                time.run_s, time.model_s, time.execution_s, time.waiting_s
            ),
        ));
    }
    facts.push(Fact::new("program", format!("podium {}", config.program)));
    if let Ok(identity) = config.identity() {
        facts.push(Fact::new("identity", identity));
    }
    facts
}

fn told_limits(limits: Limits) -> String {
    let duration = |ms| Duration::from_millis(ms).to_string();
    let mut parts = Vec::new();
    parts.extend(limits.steps.map(|steps| format!("{steps} steps")));
    parts.extend(limits.run_ms.map(duration));
    parts.extend(limits.tokens.map(|tokens| format!("{tokens} tokens")));
    parts.push(limits.cost.map_or_else(|| "no dollar limit".to_owned(), |cost| cost.to_string()));
    parts.push(format!("each execution {}", duration(limits.execution_ms)));
    parts.join(" · ")
}

/// The grading of what was handed in; `None` where nothing was graded.
pub(super) fn grade(report: &RunReport) -> Option<Grade> {
    let graded = report.report.as_ref()?;
    let lines = [
        ("gold", graded.gold_threshold),
        ("silver", graded.silver_threshold),
        ("bronze", graded.bronze_threshold),
        ("median", graded.median_threshold),
    ];
    Some(Grade {
        score: graded.raw_score,
        medal: medal(graded).map(str::to_owned),
        lines: lines.into_iter().filter_map(|(name, line)| Some((name.to_owned(), line?))).collect(),
        board: board(graded),
        percentile: graded.percentile,
        reason: graded.reason.clone(),
        gap: report
            .validation
            .as_ref()
            .map(|validation| validation.gap)
            .filter(|gap: &Number| !gap.0.is_nan()),
    })
}

const fn medal(graded: &GradingReport) -> Option<&'static str> {
    match (graded.gold_medal, graded.silver_medal, graded.bronze_medal) {
        (true, ..) => Some("gold"),
        (_, true, _) => Some("silver"),
        (.., true) => Some("bronze"),
        _ => None,
    }
}

fn board(graded: &GradingReport) -> String {
    let teams = graded.board.teams.map(|teams| format!("{teams} ")).unwrap_or_default();
    match graded.board.kind {
        BoardKind::Kaggle => format!("{teams}human teams"),
        BoardKind::Baselines => {
            format!("{teams}scikit-learn baselines, no people: medals are for orientation only")
        }
    }
}

/// What whoever looks at the run must know first.
pub(super) fn warnings(run: &StoredRun, report: Option<&RunReport>) -> Vec<String> {
    let mut warnings = Vec::new();
    if run.has_stand_in() {
        warnings.push(STAND_IN.to_owned());
    }
    for (model, folder) in run.recordings() {
        warnings.push(format!("{model} is the recording of {folder}: no model was asked"));
    }
    if let Some(report) = report {
        warnings.extend(report.sandbox.warning.iter().map(ToString::to_string));
        if report.saw.graded_before > 0 {
            warnings.push(format!("it was graded {} times before it went on", report.saw.graded_before));
        }
    }
    warnings
}

/// What the machine could not give, what the sandbox stopped, and the remarks of the journal.
pub(super) fn notes(entries: &[Entry], report: Option<&RunReport>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(report) = report {
        notes.extend(report.sandbox.cut.iter().chain(&report.sandbox.shared).cloned());
        notes.extend(
            report.blocked.iter().map(|(kind, count)| format!("the sandbox stopped {count} × {kind}")),
        );
    }
    let told = entries.iter().filter_map(|entry| match &entry.record {
        Record::Result { effect, .. } => match &**effect {
            Effect::Note { text } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    });
    notes.extend(told.take(MOST_NOTES));
    notes
}
