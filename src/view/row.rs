//! One run as a row of a table: from `run.json` where it has a report, else from its configuration and the columns of its
//! journal. A run that does not read is a row as well, with what is wrong of it.

use std::path::Path;

use podium_types::number::Number;
use serde::{Deserialize, Serialize};

use super::root::{Refusal, plain_parts, words};
use crate::experiment::spec::Arm;
use crate::run::folder::content::ContentStore;
use crate::run::folder::lock::seems_held;
use crate::run::journal::glance::Journal;
use crate::run::summary::RunReport;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is planned and has no folder yet.
    NotBegun,
    /// Somebody works on it.
    GoingOn,
    /// It has no report, and nobody works on it: it was killed, or its machine is out of reach.
    Cut,
    /// It has a report, and `podium resume` would go on.
    Stopped,
    /// It has ended.
    Ended,
    /// It does not read.
    #[default]
    Damaged,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Its folder below the root.
    pub at: String,
    /// How far it has come.
    pub state: State,
    /// Why it does not read.
    pub fault: Option<String>,
    /// The scaffold.
    pub scaffold: String,
    /// The competition.
    pub competition: String,
    /// Its models.
    pub models: Vec<String>,
    /// Its seed.
    pub seed: Option<u64>,
    /// The values of its axes, in an experiment.
    pub arm: Arm,
    /// `graded`, ...
    pub outcome: Option<&'static str>,
    /// `finished`, ...
    pub stopped_by: Option<&'static str>,
    /// The test score.
    pub score: Option<Number>,
    /// `gold`, `silver`, `bronze`.
    pub medal: Option<&'static str>,
    /// Percentage of the board that is beaten.
    pub percentile: Option<f64>,
    /// The validation metric of what was handed in.
    pub validation: Option<Number>,
    /// Finished nodes, or granted steps.
    pub nodes: Option<u64>,
    /// Run time in milliseconds.
    pub run_ms: Option<u64>,
    /// Dollars; none: unknown.
    pub cost: Option<f64>,
    /// When it began.
    pub started: Option<String>,
    /// When it ended, or did something last.
    pub until: Option<String>,
    /// A stand-in model answered.
    pub stand_in: bool,
}

/// Of a configuration, what a row needs.
#[derive(Deserialize)]
struct Config {
    scaffold: Scaffold,
    task: Task,
    models: std::collections::BTreeMap<String, String>,
    seed: u64,
}

#[derive(Deserialize)]
struct Scaffold {
    id: String,
}

#[derive(Deserialize)]
struct Task {
    competition: String,
}

impl Row {
    /// A row without anything.
    pub fn damaged(at: &str, fault: String) -> Self {
        Self { at: at.to_owned(), fault: Some(fault), ..Self::default() }
    }
}

/// The run in `folder`.
pub fn row(at: &str, folder: &Path) -> Row {
    read(at, folder).unwrap_or_else(|refusal| Row::damaged(at, refusal.to_string()))
}

fn read(at: &str, folder: &Path) -> Result<Row, Refusal> {
    plain_parts(folder, &["config.json", "run.json", "journal.db", "journal.db-wal", "lock"])?;
    let report = folder.join("run.json");
    if report.exists() {
        let report: RunReport = parse(&report, "run.json")?;
        return Ok(of_report(at, &report));
    }
    let config: Config = parse(&folder.join("config.json"), "config.json")?;
    let mut row = Row {
        at: at.to_owned(),
        state: if seems_held(&folder.join("lock")) { State::GoingOn } else { State::Cut },
        scaffold: config.scaffold.id,
        competition: config.task.competition,
        models: distinct(config.models.into_values()),
        seed: Some(config.seed),
        ..Row::default()
    };
    let journal = folder.join("journal.db");
    if journal.exists() {
        let progress = Journal::open(&journal, ContentStore::new(folder.join("content")))
            .and_then(|journal| journal.progress());
        match progress {
            Ok(told) => {
                row.nodes = Some(if told.nodes > 0 { told.nodes } else { told.steps });
                (row.run_ms, row.until) = (Some(told.run_ms), told.at);
            }
            // A network file system's journal is locked while the run goes on.
            Err(error) if error.is_busy() => {}
            Err(error) => (row.state, row.fault) = (State::Damaged, Some(words(&error))),
        }
    }
    Ok(row)
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path, name: &str) -> Result<T, Refusal> {
    let damaged = |words: String| Refusal::Damaged(format!("{name} does not read back: {words}"));
    let bytes = std::fs::read(path).map_err(|error| damaged(error.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))
}

fn of_report(at: &str, report: &RunReport) -> Row {
    let graded = report.report.as_ref();
    let medal =
        graded.and_then(|graded| match (graded.gold_medal, graded.silver_medal, graded.bronze_medal) {
            (true, ..) => Some("gold"),
            (_, true, _) => Some("silver"),
            (.., true) => Some("bronze"),
            _ => None,
        });
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and times are not negative"
    )]
    let run_ms = (report.time.run_s * 1000.0) as u64;
    Row {
        at: at.to_owned(),
        state: if report.stopped_by.resumes_as_it_is() { State::Stopped } else { State::Ended },
        fault: None,
        scaffold: report.scaffold.clone(),
        competition: report.competition.clone(),
        models: distinct(report.models.values().cloned()),
        seed: Some(report.seed),
        arm: Arm::new(),
        outcome: Some(report.outcome.word()),
        stopped_by: Some(report.stopped_by.word()),
        score: graded.and_then(|graded| graded.score),
        medal,
        percentile: graded.and_then(|graded| graded.percentile),
        validation: report.nodes.best_validation,
        nodes: Some(u64::from(report.nodes.total)),
        run_ms: Some(run_ms),
        cost: report.usage.cost_usd,
        started: report.started_at.clone(),
        until: Some(report.ended_at.clone()),
        stand_in: report.stand_in,
    }
}

fn distinct(models: impl Iterator<Item = String>) -> Vec<String> {
    models.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}
