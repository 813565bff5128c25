//! What is printed before a run and after it.

use std::collections::BTreeMap;

use podium_competition::{BoardKind, GradingReport};
use podium_sandbox::Granted;
use podium_types::number::Number;

use crate::cli::terminal::{Terminal, dollars, escape, one_line};
use crate::run::attempts::NetworkAttempts;
use crate::run::command::report::{AgentReport, Restart};
use crate::run::resources::changed;
use crate::run::sessions::SessionReport;
use crate::run::sitting::StoredRun;
use crate::run::stop::Outcome;
pub(crate) use crate::run::summary::STAND_IN;
use crate::run::summary::{LimitCount, RunReport, ValidationGap};
use crate::run::world::Equipment;

/// Said wherever a recorded run answered, once for each.
fn recorded(recordings: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    recordings.iter().map(|(model, folder)| {
        format!("{model} is the recording of {folder}: no model was asked, and nothing is billed again")
    })
}

/// Before the first line of progress.
pub(crate) fn header(run: &StoredRun, equipment: &Equipment, terminal: &Terminal) {
    let config = &run.config;
    let competition = &equipment.competition;
    let say = |name: &str, text: String| terminal.error_line(&format!("{name:<10}{}", escape(&text)));
    terminal.error_line(&terminal.bold(&format!(
        "podium run  {} on {} ({}, {}, {} is better)  seed {}",
        config.scaffold.id,
        competition.id,
        competition.category,
        config.task.metric,
        competition.direction(),
        config.seed
    )));
    let folder = run.folder.path().display().to_string();
    say("folder", format!("{folder}   stop: Ctrl-C   go on: podium resume {folder}"));
    let models: Vec<String> = config.models.iter().map(|(role, model)| format!("{role} {model}")).collect();
    say("models", models.join(" · "));
    for line in recorded(&run.recordings()) {
        terminal.error_line(&format!("{:<10}{}", "", terminal.yellow(&escape(&line))));
    }
    if run.has_stand_in() {
        terminal.error_line(&format!("{:<10}{}", "", terminal.yellow(STAND_IN)));
    }
    if !config.description.is_original() {
        say("described", format!("{} description, not the competition's own", config.description));
    }
    say("budget", budget(run));
    let report = &equipment.report;
    let granted = report.granted.as_ref().map(granted).unwrap_or_default();
    say("sandbox", format!("{}; {granted}; answers not mounted", report.facts.describe()));
    let changed = report.granted.as_ref().and_then(|granted| changed(&config.task.grants, granted));
    for note in report.cut.iter().chain(&report.shared).chain(&changed) {
        terminal.error_line(&format!("{:<10}{}", "", terminal.yellow(&escape(note))));
    }
    if let Some(warning) = &report.warning {
        terminal.error_line(&format!("{} {warning}", terminal.yellow("warning:")));
    }
    say(
        "board",
        board(competition.board.kind, competition.board.thresholds.as_ref().and_then(|board| board.teams)),
    );
}

/// What is in force, in one line.
pub(crate) fn granted(granted: &Granted) -> String {
    let gpus = match granted.gpus.as_slice() {
        [] => "no GPU".to_owned(),
        [one] => format!("GPU {one}"),
        many => format!("{} GPUs ({})", many.len(), many.join(", ")),
    };
    let network = if granted.network { "network not blocked" } else { "no network" };
    let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
    let mut parts = vec![format!("{} CPUs", granted.cpus), mib(granted.memory_bytes), gpus];
    parts.extend(granted.shm_bytes.map(|bytes| format!("/dev/shm {}", mib(bytes))));
    parts.push(format!("disk {}", mib(granted.disk_bytes)));
    let names: Vec<&str> = granted.mounts.values().map(String::as_str).collect();
    let mounts = if names.is_empty() { String::new() } else { format!("; read-only {}", names.join(" ")) };
    format!("{network}; {}{mounts}", parts.join(", "))
}

fn budget(run: &StoredRun) -> String {
    let limits = &run.config.limits;
    let duration = |ms| podium_scaffold::spec::Duration::from_millis(ms).to_string();
    let mut parts = Vec::new();
    parts.extend(limits.steps.map(|steps| format!("{steps} steps")));
    parts.extend(limits.run_ms.map(duration));
    parts.push(format!("each execution at most {}", duration(limits.execution_ms)));
    parts.extend(limits.tokens.map(|tokens| format!("{tokens} tokens")));
    parts.push(limits.cost.map_or_else(|| "no dollar limit".to_owned(), |cost| cost.to_string()));
    parts.join(" · ")
}

/// Which board medals refer to, in words.
pub(crate) fn board(kind: BoardKind, teams: Option<usize>) -> String {
    if (kind, teams) == (BoardKind::Baselines, None) {
        return "none: no medals".to_owned();
    }
    let teams = teams.map_or_else(|| "an unknown number of".to_owned(), |teams| teams.to_string());
    match kind {
        BoardKind::Kaggle => format!("{teams} human teams"),
        BoardKind::Baselines => {
            format!("{teams} scikit-learn baselines, no people: medals are for orientation only")
        }
    }
}

/// After the run: the result, on standard output.
pub(crate) fn footer(run: &StoredRun, report: &RunReport, terminal: &Terminal) {
    let say = |name: &str, text: &str| terminal.line(&format!("{name:<12}{}", escape(text)));
    terminal.line("");
    say("stopped by", &format!("{}: {}", report.stopped_by.word(), one_line(&report.detail, 300)));
    let nodes = &report.nodes;
    let best = match (nodes.selected, nodes.best_validation) {
        (Some(node), Some(metric)) => format!("node {node}, validation {}", shown(metric)),
        (Some(node), None) => format!("node {node}"),
        (None, _) => "none was good enough to hand in".to_owned(),
    };
    // A loop has no nodes: what it hands in is what it collected last.
    if nodes.total > 0 || report.outcome == Outcome::NoSubmission {
        say("nodes", &format!("{} tried, {} buggy; best: {best}", nodes.total, nodes.buggy));
    }
    say("outcome", report.outcome.word());
    if let Some(grading) = &report.report {
        grade(grading, terminal);
    }
    if let Some(gap) = &report.validation {
        say("gap", &told_gap(gap));
    }
    let usage = &report.usage;
    let cost = usage.cost_usd.map_or_else(|| "cost unknown".to_owned(), dollars);
    say(
        "calls",
        &format!("{} calls, {} + {} tokens, {cost}", usage.calls, usage.input_tokens, usage.output_tokens),
    );
    let time = &report.time;
    say(
        "time",
        &format!(
            "{:.1} s of run time: {:.1} s model, {:.1} s execution{}; {:.1} s waiting for a service",
            time.run_s,
            time.model_s,
            time.execution_s,
            if report.sessions.is_some() {
                format!(", {:.1} s sessions", time.session_s)
            } else {
                String::new()
            },
            time.waiting_s
        ),
    );
    if let Some(sessions) = &report.sessions {
        say("sessions", &told_sessions(sessions));
    }
    if let Some(agent) = &report.agent {
        say("agent", &told_agent(agent));
    }
    if !report.changed_files.is_empty() {
        say("program", &format!("changed while the run went on: {}", report.changed_files.join(", ")));
    }
    if report.warm_executions > 0 {
        say("warm starts", &report.warm_executions.to_string());
    }
    let blocked: Vec<String> =
        report.blocked.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    if !report.limits.is_empty() {
        let hit = |limit: &LimitCount| format!("{} × {}", limit.count, limit.limit);
        say("limits", &report.limits.iter().map(hit).collect::<Vec<_>>().join(", "));
    }
    if report.dropped_output_bytes > 0 {
        say(
            "output",
            &format!("{} bytes in the middle of long outputs were not kept", report.dropped_output_bytes),
        );
    }
    say(
        "sandbox",
        &format!("stopped: {}", if blocked.is_empty() { "nothing".to_owned() } else { blocked.join(", ") }),
    );
    for line in network(&report.network_attempts) {
        say("network", &line);
    }
    let scores = match report.saw.training_scores {
        0 => String::new(),
        count => format!(", {count} scores by held-out training labels and folds"),
    };
    let hosts = if report.saw.network { "not blocked" } else { "none" };
    say(
        "saw",
        &format!(
            "public data, description, format verdicts{scores}; no test score, no answers; hosts reachable: {hosts}"
        ),
    );
    let script = run.folder.best_path().join("solution.py");
    if matches!(report.outcome, Outcome::Graded | Outcome::NoAnswers) && script.is_file() {
        say("script", &script.display().to_string());
    }
    say("run", &run.folder.path().display().to_string());
    for note in report.sandbox.cut.iter().chain(&report.sandbox.shared) {
        say("note", note);
    }
    if let Some(warning) = &report.sandbox.warning {
        say("warning", warning);
    }
    for line in recorded(&report.recordings) {
        say("note", &line);
    }
    if report.stand_in {
        say("note", STAND_IN);
    }
}

/// Shells and kernels, in one line.
fn told_agent(agent: &AgentReport) -> String {
    let mut text = format!("{} request{}", agent.requests, if agent.requests == 1 { "" } else { "s" });
    if agent.refused > 0 {
        text = format!("{text}, {} refused", agent.refused);
    }
    for (number, restart) in agent.restarts.iter().enumerate() {
        let Restart { earlier, served, fresh, diverged } = restart;
        let how = if *diverged { "it went another way than before" } else { "as before" };
        let place = number + 1;
        text = format!(
            "{text}; restart {place}: asked again for {served} of {earlier} calls, then {fresh} new ({how})"
        );
    }
    text
}

fn told_sessions(sessions: &SessionReport) -> String {
    let many = |count: u32, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let cut = match sessions.interrupted {
        0 => String::new(),
        cut => format!(", {cut} of them cut by a crash or a stop"),
    };
    let cpu = sessions.cpu_s.map(|cpu| format!("; {cpu:.1} s of processors")).unwrap_or_default();
    let peak = sessions.peak_memory_bytes.map(|peak| format!("; at most {} MiB", peak >> 20));
    format!(
        "{}, {}; {}{cut}{cpu}{}",
        many(sessions.shells, "shell"),
        many(sessions.kernels, "kernel"),
        many(sessions.calls, "call"),
        peak.unwrap_or_default()
    )
}

/// Validation against test, in one line.
fn told_gap(gap: &ValidationGap) -> String {
    let source = gap.source.as_deref().map(|source| format!(" ({source})")).unwrap_or_default();
    let verdict = match gap.gap.0 {
        gap if gap > 0.0 => "validation was too optimistic",
        gap if gap < 0.0 => "validation was too pessimistic",
        gap if gap.is_nan() => "one of them is no number",
        _ => "validation was right",
    };
    let (validation, test) = (shown(gap.validation), shown(gap.test));
    let signed = if gap.gap.0.is_finite() { format!("{:+.5}", gap.gap.0) } else { gap.gap.to_string() };
    format!("{signed}: validation {validation}{source}, test {test}; {verdict}")
}

/// Executions and names that are shown; `run.json` has them all.
const SHOWN: usize = 5;

/// Who tried to reach a network, and where, one line for each of the first few.
fn network(attempts: &[NetworkAttempts]) -> Vec<String> {
    let mut lines: Vec<String> = attempts
        .iter()
        .take(SHOWN)
        .map(|tried| {
            let mut names: Vec<&str> = tried.names.keys().take(SHOWN).map(String::as_str).collect();
            if tried.names.len() > SHOWN {
                names.push("...");
            }
            let asked = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
            format!("{} × by {}{asked}", tried.count, tried.execution)
        })
        .collect();
    if let Some(more) = attempts.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        lines.push(format!("and by {more} more executions (run.json names them)"));
    }
    lines
}

/// Score and medal; `grade` prints the same.
pub(crate) fn grade(report: &GradingReport, terminal: &Terminal) {
    let say = |name: &str, text: &str| terminal.line(&format!("{name:<12}{}", escape(text)));
    if let Some(reason) = &report.reason {
        say("invalid", reason);
        return;
    }
    let score = report.score.map_or_else(|| "none".to_owned(), shown);
    let better = if report.is_lower_better { "lower is better" } else { "higher is better" };
    say("test score", &format!("{score} ({better})"));
    if report.gold_threshold.is_none() && report.board.kind == BoardKind::Baselines {
        report.notes.iter().for_each(|note| say("note", note));
        return;
    }
    let medal = match (report.gold_medal, report.silver_medal, report.bronze_medal) {
        (true, ..) => "gold",
        (_, true, _) => "silver",
        (.., true) => "bronze",
        _ => "none",
    };
    let against = board(report.board.kind, report.board.teams);
    let place = report.percentile.map(|share| format!("; percentile {share:.0} of them")).unwrap_or_default();
    say("medal", &format!("{medal}, against {against}{place}"));
    let threshold = |value: Option<Number>| value.map_or_else(|| "-".to_owned(), shown);
    say(
        "thresholds",
        &format!(
            "gold {} · silver {} · bronze {} · median {}",
            threshold(report.gold_threshold),
            threshold(report.silver_threshold),
            threshold(report.bronze_threshold),
            threshold(report.median_threshold)
        ),
    );
    for note in &report.notes {
        say("note", note);
    }
}

/// A score with five decimals.
pub(crate) fn shown(value: Number) -> String {
    if value.0.is_finite() { format!("{:.5}", value.0) } else { value.to_string() }
}
