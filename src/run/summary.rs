//! The end of a run: what was selected is graded, and `run.json` says what happened.
//!
//! This is the first time that the answers are looked at for a score, and the strategy is gone by then.

use std::collections::BTreeMap;

use podium_competition::{Competition, Folders, GradingReport, Outcome as GradeOutcome};
use podium_scaffold::{Effect, EffectResult, NodeRecord};
use podium_types::direction::Direction;
use podium_types::execution::{Execution, LimitHit};
use podium_types::number::Number;
use podium_types::sha256::Sha256;
use podium_types::usage::Usage;
use serde::{Deserialize, Serialize};

use crate::run::attempts::{self, AnswerProbe, NetworkAttempts};
use crate::run::command::report::AgentReport;
use crate::run::error::RunError;
use crate::run::folder::{RunFolder, write_whole};
use crate::run::journal::{Entry, Record};
use crate::run::own_files;
use crate::run::provenance;
use crate::run::resources::SandboxReport;
use crate::run::sessions::{self, SessionReport};
use crate::run::sitting::StoredRun;
use crate::run::stop::{Outcome, Stop, StoppedBy};
use crate::run::tally::Tally;
use crate::run::validation;
use crate::run::wording::Wording;

/// Version of `run.json`.
const REPORT_FORMAT: u32 = 1;

/// Said wherever the stand-in model answered.
pub const STAND_IN: &str =
    "the answers come from a stand-in model: this shows that the harness works, not which scaffold is better";

/// The run report, as `run.json` holds it and `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Version of this format.
    pub format: u32,
    /// The run's folder.
    pub run: String,
    /// Hash of the resolved configuration.
    pub identity: String,
    /// The scaffold.
    pub scaffold: String,
    /// The competition.
    pub competition: String,
    /// Which description the agent was shown: `original`, `obfuscated` or `file PATH`. Runs with different ones are
    /// never pooled.
    #[serde(default = "original")]
    pub description: String,
    /// The model of each role.
    pub models: BTreeMap<String, String>,
    /// Whether a stand-in model answered: such a run shows that the harness works, not how good a scaffold is.
    pub stand_in: bool,
    /// The runs that answered from their recordings, by the names of `models`; nothing was asked of a model then.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recordings: BTreeMap<String, String>,
    /// The seed.
    pub seed: u64,
    /// When its first sitting began, RFC 3339.
    pub started_at: Option<String>,
    /// When this sitting ended.
    pub ended_at: String,
    /// What came of the submission.
    pub outcome: Outcome,
    /// What stopped the run.
    pub stopped_by: StoppedBy,
    /// The stop in a sentence.
    pub detail: String,
    /// The grading report; `null` when there is nothing to grade or nothing to grade against.
    pub report: Option<GradingReport>,
    /// The validation metric of what was handed in beside its test score, where there are both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<ValidationGap>,
    /// Score of the sample submission on the same answers, where something was graded: from there to gold a score is
    /// measured relative to people. Known after the end only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_score: Option<Number>,
    /// Tokens and dollars.
    pub usage: UsageReport,
    /// Where the time went.
    pub time: TimeReport,
    /// The search tree in numbers.
    pub nodes: NodeReport,
    /// The sandbox in force.
    pub sandbox: SandboxReport,
    /// What the sandbox stopped, by kind.
    pub blocked: BTreeMap<String, u64>,
    /// The shells and kernels of a loop; absent where there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionReport>,
    /// The agent that was a program of its own; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentReport>,
    /// The files of the strategy's own program that were changed while the run went on, by a resume that said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<String>,
    /// The executions that tried to reach a network, and which names they asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub network_attempts: Vec<NetworkAttempts>,
    /// The acts whose text names the place of the answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer_probes: Vec<AnswerProbe>,
    /// The limits that ended executions, or fired in shells and kernels, with their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitCount>,
    /// Executions that began warm.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warm_executions: u64,
    /// Bytes of output that were not kept, of all executions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_output_bytes: u64,
    /// What the agent could see, by machine.
    pub saw: Saw,
}

/// Reports of earlier versions do not say: there was no other description.
fn original() -> String {
    Wording::Original.to_string()
}

/// A limit that fired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitCount {
    /// The limit with its value.
    pub limit: LimitHit,
    /// How often.
    pub count: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Tokens and dollars of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageReport {
    /// Model calls with an answer.
    pub calls: u32,
    /// Prompt tokens.
    pub input_tokens: u64,
    /// Generated tokens.
    pub output_tokens: u64,
    /// Dollars; `null`: unknown.
    pub cost_usd: Option<f64>,
}

/// Where the time of a run went, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeReport {
    /// Run time.
    pub run_s: f64,
    /// Waiting for a model service.
    pub waiting_s: f64,
    /// Sum over model calls, waiting aside.
    pub model_s: f64,
    /// Sum over executions.
    pub execution_s: f64,
    /// Sum over acts on shells and kernels: how long they were waited for.
    #[serde(default)]
    pub session_s: f64,
}

/// The search tree in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeReport {
    /// Nodes tried.
    pub total: u32,
    /// Of these, buggy.
    pub buggy: u32,
    /// The node that was handed in.
    pub selected: Option<u32>,
    /// Its validation metric, as it reported it.
    pub best_validation: Option<Number>,
}

/// How far the validation metric of what was handed in was from its test score. Known after the end only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationGap {
    /// The node that was handed in.
    pub node: u32,
    /// Its validation metric.
    pub validation: Number,
    /// The signal that it was taken from: `printed`, `review`, `holdout`, ...; `null` where the journal does not say.
    pub source: Option<String>,
    /// Its test score in full precision.
    pub test: Number,
    /// By how much the validation metric was better than the test score, in the metric's unit: positive means that
    /// validation was too optimistic, whichever way the metric improves.
    pub gap: Number,
}

impl ValidationGap {
    /// Of the node that was handed in; `None` without a validation metric or a test score.
    fn of(node: &NodeRecord, graded: &GradingReport, direction: Direction) -> Option<Self> {
        let (validation, test) = (node.metric?, graded.raw_score?);
        let source = node.metric_source.clone();
        Some(Self {
            node: node.id,
            validation,
            source,
            test,
            gap: Number(direction.lead(validation.0, test.0)),
        })
    }
}

/// What the agent could see, and what the user had seen before. Fixed by the run context, or read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "a list of facts")]
pub struct Saw {
    /// The public data and the description.
    pub public_data: bool,
    /// Whether a submission's format is right.
    pub format_verdicts: bool,
    /// How many of them were given after executions.
    #[serde(default)]
    pub verdicts: u64,
    /// How many were given to programs that asked while they ran.
    #[serde(default)]
    pub verdicts_inside: u64,
    /// Scores by training labels that the harness keeps, those that nothing but the final choice saw left out.
    #[serde(default)]
    pub training_scores: u64,
    /// Scores on the answers: never.
    pub scores: bool,
    /// The answers: never mounted, but within reach of code that runs without a boundary.
    pub answers: bool,
    /// A network.
    pub network: bool,
    /// How often the run had been stopped, graded and shown to the user before it was resumed.
    pub graded_before: u32,
}

/// The last stop in a journal, when nothing was committed after it.
pub fn last_stop(entries: &[Entry]) -> Option<Stop> {
    match entries.last().map(|entry| &entry.record) {
        Some(Record::Stopped(stop)) => Some(stop.clone()),
        _ => None,
    }
}

/// How many sittings ended by themselves; each was graded then.
fn stops(entries: &[Entry]) -> u32 {
    let stops = entries.iter().filter(|entry| matches!(entry.record, Record::Stopped(_))).count();
    u32::try_from(stops).unwrap_or(u32::MAX)
}

/// All nodes of a journal in the order in which they finished.
pub fn nodes(entries: &[Entry]) -> impl Iterator<Item = &NodeRecord> {
    entries.iter().filter_map(|entry| match &entry.record {
        Record::Result { effect, .. } => match &**effect {
            Effect::Node(node) => Some(&**node),
            _ => None,
        },
        _ => None,
    })
}

/// What was selected last: the node, where there are nodes, and the submission.
pub fn selected(entries: &[Entry]) -> Option<(Option<u32>, &Sha256)> {
    entries.iter().rev().find_map(|entry| match &entry.record {
        Record::Result { effect, .. } => match &**effect {
            Effect::SelectFinal { node, sha256 } => Some((*node, sha256)),
            _ => None,
        },
        _ => None,
    })
}

/// Grades what was selected and writes all that a run leaves at its end but `run.json`.
pub(super) fn conclude(
    run: &StoredRun,
    competition: &Competition,
    data: &Folders,
    sandbox: SandboxReport,
    stop: &Stop,
) -> Result<RunReport, RunError> {
    let entries = run.entries()?;
    let selected = selected(&entries);
    let graded = match selected {
        Some((_, sha256)) => hand_in(run, competition, data, sha256)?,
        None => None,
    };
    let outcome = match (&graded, selected) {
        (Some(report), _) if report.valid_submission => Outcome::Graded,
        (Some(_), _) => Outcome::InvalidSubmission,
        (None, Some(_)) => Outcome::NoAnswers,
        (None, None) if stop.by == StoppedBy::Internal || stop.by.is_of_program() => Outcome::Failed,
        (None, None) => Outcome::NoSubmission,
    };
    let validation = graded.as_ref().and_then(|graded| {
        let handed_in = selected.and_then(|(node, _)| node)?;
        let node = nodes(&entries).find(|node| node.id == handed_in)?;
        ValidationGap::of(node, graded, run.config.task.direction)
    });
    let sample_score = graded.as_ref().and_then(|report| {
        report.raw_score?;
        sample_score(competition, data)
    });
    provenance::write(run, competition, data, &sandbox, &entries)?;
    let tally = Tally::of(run.config.limits, &entries);
    let (verdicts, verdicts_inside) = attempts::verdicts(&entries);
    Ok(RunReport {
        format: REPORT_FORMAT,
        started_at: entries.first().map(|entry| entry.at.clone()),
        ended_at: jiff::Timestamp::now().to_string(),
        run: run.folder.path().display().to_string(),
        identity: run
            .config
            .identity()
            .map_err(|source| RunError::Corrupt { file: "config.json", source })?,
        scaffold: run.config.scaffold.id.clone(),
        competition: run.config.task.competition.clone(),
        description: run.config.description.to_string(),
        models: run.config.models.clone(),
        stand_in: run.has_stand_in(),
        recordings: run.recordings(),
        seed: run.config.seed,
        outcome,
        stopped_by: stop.by,
        detail: stop.detail.clone(),
        report: graded,
        validation,
        sample_score,
        usage: usage_report(&tally),
        time: time_report(&entries, &tally),
        nodes: node_report(&entries, selected.and_then(|(node, _)| node)),
        sandbox,
        blocked: blocked(&entries),
        sessions: SessionReport::of(&entries),
        agent: AgentReport::of(&entries),
        changed_files: own_files::changed(&run.config, &entries),
        network_attempts: attempts::network(&entries),
        answer_probes: attempts::answers_named(&entries, competition),
        limits: limits(&entries),
        warm_executions: executions(&entries).filter(|execution| execution.warm).count() as u64,
        dropped_output_bytes: executions(&entries).map(|execution| execution.output.dropped_bytes).sum(),
        saw: Saw {
            public_data: true,
            format_verdicts: true,
            verdicts,
            verdicts_inside,
            training_scores: validation::scores_told(&entries),
            scores: false,
            answers: run.config.is_unprotected(),
            network: run.config.task.grants.network,
            graded_before: stops(&entries).saturating_sub(1),
        },
    })
}

impl RunReport {
    /// Writes `run.json`.
    pub(super) fn write(&self, folder: &RunFolder) -> Result<(), RunError> {
        let json = serde_json::to_vec_pretty(self)
            .map_err(|source| RunError::Corrupt { file: "run.json", source })?;
        Ok(write_whole(&folder.report_path(), &json)?)
    }
}

fn hand_in(
    run: &StoredRun,
    competition: &Competition,
    data: &Folders,
    sha256: &Sha256,
) -> Result<Option<GradingReport>, RunError> {
    let submission = run.folder.path().join("submission.csv");
    run.folder.content().copy(sha256, &submission)?;
    if competition.answers.absent || !data.answers(competition).exists() {
        return Ok(None);
    }
    let graded = podium_competition::grade(competition, &submission, &data.answers(competition))?;
    Ok(Some(grading_report(competition, &graded.outcome, &submission)))
}

/// The sample submission on the same answers: as the board tells it, or graded.
pub fn sample_score(competition: &Competition, data: &Folders) -> Option<Number> {
    if let Some(score) = competition.board.sample_submission {
        return Some(Number(score));
    }
    let sample = data.sample_submission(competition);
    let graded = podium_competition::grade(competition, &sample, &data.answers(competition)).ok()?;
    match graded.outcome {
        GradeOutcome::Scored { raw_score, .. } => Some(Number(raw_score)),
        GradeOutcome::Invalid { .. } | GradeOutcome::Missing { .. } => None,
    }
}

/// Grades a submission of a run that has ended once more.
///
/// # Errors
/// When the answers do not read.
pub fn grade_again(
    competition: &Competition,
    submission: &std::path::Path,
    answers: &std::path::Path,
) -> Result<GradingReport, RunError> {
    let graded = podium_competition::grade(competition, submission, answers)?;
    Ok(grading_report(competition, &graded.outcome, submission))
}

/// The grading report of one outcome, stamped now.
pub fn grading_report(
    competition: &Competition,
    outcome: &GradeOutcome,
    submission: &std::path::Path,
) -> GradingReport {
    let now = jiff::Timestamp::now().to_string();
    podium_competition::report(
        competition,
        &competition.board,
        outcome,
        &submission.display().to_string(),
        &now,
    )
}

fn usage_report(tally: &Tally) -> UsageReport {
    let Usage { input_tokens, output_tokens, cost, .. } = tally.usage;
    UsageReport {
        calls: tally.calls,
        input_tokens,
        output_tokens,
        cost_usd: cost.map(podium_types::money::Usd::dollars),
    }
}

fn time_report(entries: &[Entry], tally: &Tally) -> TimeReport {
    let mut time = TimeReport {
        run_s: tally.stamp.run_ms as f64 / 1e3,
        waiting_s: tally.stamp.waiting_ms as f64 / 1e3,
        ..TimeReport::default()
    };
    for entry in entries {
        if let Record::Result { effect, result, took_ms, waited_ms, .. } = &entry.record {
            match (&**effect, &**result) {
                (Effect::Chat { .. }, _) => time.model_s += took_ms.saturating_sub(*waited_ms) as f64 / 1e3,
                (_, EffectResult::Execution(execution)) => time.execution_s += execution.wall_ms as f64 / 1e3,
                (Effect::Session(_), _) => time.session_s += *took_ms as f64 / 1e3,
                _ => {}
            }
        }
    }
    time
}

fn node_report(entries: &[Entry], selected: Option<u32>) -> NodeReport {
    let mut report = NodeReport { selected, ..NodeReport::default() };
    for node in nodes(entries) {
        report.total += 1;
        report.buggy += u32::from(!node.is_good());
        if Some(node.id) == selected {
            report.best_validation = node.metric;
        }
    }
    report
}

/// All executions of a journal in the order in which they finished.
fn executions(entries: &[Entry]) -> impl Iterator<Item = &Execution> {
    entries.iter().filter_map(|entry| match &entry.record {
        Record::Result { result, .. } => match &**result {
            EffectResult::Execution(execution) => Some(&**execution),
            _ => None,
        },
        _ => None,
    })
}

fn limits(entries: &[Entry]) -> Vec<LimitCount> {
    let mut counts: Vec<LimitCount> = Vec::new();
    let of_executions = executions(entries).filter_map(|execution| execution.limit.clone());
    for hit in of_executions.chain(sessions::limits(entries)) {
        match counts.iter_mut().find(|known| known.limit == hit) {
            Some(known) => known.count += 1,
            None => counts.push(LimitCount { limit: hit, count: 1 }),
        }
    }
    counts
}

fn blocked(entries: &[Entry]) -> BTreeMap<String, u64> {
    let mut sum = BTreeMap::new();
    let of_sessions = sessions::ends(entries).into_iter().flat_map(|(_, end)| &end.blocked);
    for (kind, count) in executions(entries).flat_map(|execution| &execution.blocked).chain(of_sessions) {
        *sum.entry(kind.clone()).or_insert(0) += count;
    }
    sum
}
