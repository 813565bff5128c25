//! All nodes of an ended run, graded: what the search had in hand, and what its final choice lost.
//!
//! These are oracle figures. They come from the answers, so no strategy, prompt or resume may ever see them: a run
//! must have ended, it is closed for good before the first score is computed, and nothing of the result is written
//! into its folder.

use podium_competition::parallel::in_parallel;
use podium_competition::{Competition, GradingReport};
use podium_scaffold::NodeRecord;
use podium_types::number::Number;
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;
use serde::Serialize;

use crate::run::error::RunError;
use crate::run::folder::write_whole;
use crate::run::sitting::StoredRun;
use crate::run::stop::StoppedBy;
use crate::run::summary::{self, grading_report};

/// Every node of a run with its test score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Oracle {
    /// The run's folder.
    pub run: String,
    /// Always true: no strategy may use what stands here.
    pub oracle: bool,
    /// Whether a lower score is better.
    pub is_lower_better: bool,
    /// The nodes in the order in which they finished.
    pub nodes: Vec<GradedNode>,
    /// The node that was handed in.
    pub selected: Option<u32>,
    /// The best node by test among those that could have been handed in: good ones with a valid submission.
    pub best: Option<u32>,
    /// The best node by test among all with a valid submission, buggy ones included.
    pub best_of_all: Option<u32>,
    /// By how much the best node's test score is better than that of the one handed in, in the metric's unit.
    pub selection_loss: Option<Number>,
}

/// One node with its test score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GradedNode {
    /// The node.
    pub node: u32,
    /// How it was made.
    pub operator: String,
    /// Its validation metric.
    pub validation: Option<Number>,
    /// Its test score in full precision; `null` without a valid submission.
    pub test: Option<Number>,
    /// `gold`, `silver`, `bronze`.
    pub medal: Option<&'static str>,
    /// Why it counted as buggy.
    pub buggy: Option<String>,
    /// Why it has no score.
    pub problem: Option<String>,
}

impl StoredRun {
    /// Whether the run was closed for good: all its nodes have been graded.
    pub fn is_closed(&self) -> bool {
        self.folder.closed_path().exists()
    }

    /// Ends the run for good: it is never resumed afterwards. `ended` says that the user ends a run that could go on
    /// as it is.
    ///
    /// # Errors
    /// When somebody runs it, or it could go on and nobody said that it shall not.
    pub fn close(&self, ended: bool) -> Result<(), RunError> {
        if self.is_closed() {
            return Ok(());
        }
        let _lock = self.lock()?;
        let stop = summary::last_stop(&self.entries()?);
        let could_go_on = stop.as_ref().is_none_or(|stop| stop.by.resumes_as_it_is());
        if could_go_on && !ended {
            let by = stop.map_or("it has not ended", |stop| match stop.by {
                StoppedBy::Interrupted => "it was interrupted",
                StoppedBy::ModelService => "a model service stopped it",
                _ => "a failure stopped it",
            });
            return Err(RunError::NotEnded { run: self.folder.path().to_owned(), why: by });
        }
        let at = jiff::Timestamp::now();
        let text = format!("{at}: all nodes were graded; a run that goes on must not have been.\n");
        Ok(write_whole(&self.folder.closed_path(), text.as_bytes())?)
    }

    /// Grades each node's valid submission, of a run that was closed before.
    ///
    /// # Errors
    /// When the run can still go on, the journal does not read back, or the answers are not there.
    pub fn grade_all_nodes(
        &self,
        competition: &Competition,
        answers: &std::path::Path,
    ) -> Result<Oracle, RunError> {
        if !self.is_closed() {
            return Err(RunError::NotEnded { run: self.folder.path().to_owned(), why: "it is not closed" });
        }
        let entries = self.entries()?;
        let records: Vec<&NodeRecord> = summary::nodes(&entries).collect();
        // The grader reads files that end in `.csv`; those of the content store do not, and `nodes/` may be gone.
        let place = tempfile::tempdir().map_err(|source| {
            let path = std::env::temp_dir();
            crate::run::folder::FolderError { act: "create a folder in", path, source }
        })?;
        let graded = in_parallel(&records, |node| {
            let Verdict::Valid { sha256, .. } = &node.submission else { return Ok(None) };
            let file = place.path().join(format!("{}.csv", node.id));
            let report = self.grade_one(competition, answers, sha256, &file);
            let _ = std::fs::remove_file(&file);
            report.map(Some)
        });
        let mut nodes = Vec::new();
        for (node, graded) in records.iter().zip(graded) {
            // A bug that ended one grading is told in the table, and takes no other with it.
            let graded = graded.unwrap_or_else(|panicked| Err(panicked.to_string()));
            nodes.push(GradedNode::new(node, graded));
        }
        Ok(self.oracle(nodes, summary::selected(&entries).and_then(|(node, _)| node)))
    }

    pub(super) fn grade_one(
        &self,
        competition: &Competition,
        answers: &std::path::Path,
        sha256: &Sha256,
        file: &std::path::Path,
    ) -> Result<GradingReport, String> {
        let copied = self.folder.content().copy(sha256, file).map_err(RunError::from);
        copied.map_err(|error| error.in_full())?;
        match podium_competition::grade(competition, file, answers) {
            Ok(graded) => Ok(grading_report(competition, &graded.outcome, file)),
            Err(error) => Err(RunError::from(error).in_full()),
        }
    }

    fn oracle(&self, nodes: Vec<GradedNode>, selected: Option<u32>) -> Oracle {
        let direction = self.config.task.direction;
        let best = |may: fn(&GradedNode) -> bool| {
            let mut best: Option<(u32, f64)> = None;
            for node in nodes.iter().filter(|node| may(node)) {
                let Some(Number(test)) = node.test else { continue };
                if best.is_none_or(|(_, known)| direction.better(test, known)) {
                    best = Some((node.node, test));
                }
            }
            best
        };
        let chosen = best(|node| node.buggy.is_none());
        let handed_in = nodes.iter().find(|node| Some(node.node) == selected).and_then(|node| node.test);
        Oracle {
            run: self.folder.path().display().to_string(),
            oracle: true,
            is_lower_better: direction == podium_types::direction::Direction::Lower,
            selected,
            best: chosen.map(|(node, _)| node),
            best_of_all: best(|_| true).map(|(node, _)| node),
            selection_loss: chosen
                .zip(handed_in)
                .map(|((_, best), handed_in)| Number(direction.lead(best, handed_in.0))),
            nodes,
        }
    }
}

impl GradedNode {
    fn new(node: &NodeRecord, graded: Result<Option<GradingReport>, String>) -> Self {
        let (report, failed) = match graded {
            Ok(report) => (report, None),
            Err(problem) => (None, Some(problem)),
        };
        let problem = failed.or_else(|| match (&node.submission, &report) {
            (_, Some(report)) => report.reason.clone(),
            (Verdict::Invalid { reason }, None) => Some(reason.clone()),
            (Verdict::Missing { found }, None) => Some(format!("no submission: {found}")),
            (Verdict::Valid { .. }, None) => None,
        });
        let medal = report.as_ref().and_then(|report| {
            match (report.gold_medal, report.silver_medal, report.bronze_medal) {
                (true, ..) => Some("gold"),
                (_, true, _) => Some("silver"),
                (.., true) => Some("bronze"),
                _ => None,
            }
        });
        Self {
            node: node.id,
            operator: node.operator.clone(),
            validation: node.metric,
            test: report.and_then(|report| report.raw_score),
            medal,
            buggy: node.buggy.clone(),
            problem,
        }
    }
}
