//! What would have been handed in over time, graded: an ended run's submissions at any moment, had it stopped there, and
//! the best of them by test.
//!
//! As with all nodes of a run ([`super::oracle`]), the answers are looked at after the end only: the run is closed for
//! good before, and nothing of the result is written into its folder.

use std::collections::BTreeMap;
use std::path::Path;

use podium_competition::parallel::in_parallel;
use podium_competition::{Competition, GradingReport};
use podium_report::experiment::course::{Course, Point};
use podium_scaffold::Effect;
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;

use crate::run::error::RunError;
use crate::run::journal::Record;
use crate::run::sitting::StoredRun;
use crate::run::tally::Tally;

/// A submission, and when there was one.
struct Candidate {
    point: Point,
    sha256: Sha256,
    /// It was the one to be handed in; else one that could have been.
    selected: bool,
}

impl StoredRun {
    /// Grades what would have been handed in over time, and the good nodes beside it, of a run that was closed before.
    ///
    /// # Errors
    /// When the run can still go on, its journal does not read back, or a submission that was selected cannot be graded.
    pub fn course(&self, competition: &Competition, answers: &Path) -> Result<Course, RunError> {
        if !self.is_closed() {
            return Err(RunError::NotEnded { run: self.folder.path().to_owned(), why: "it is not closed" });
        }
        let candidates = self.candidates()?;
        let mut files: Vec<&Sha256> = candidates.iter().map(|candidate| &candidate.sha256).collect();
        files.sort();
        files.dedup();
        let place = tempfile::tempdir().map_err(|source| {
            let path = std::env::temp_dir();
            crate::run::folder::FolderError { act: "create a folder in", path, source }
        })?;
        let graded = in_parallel(&files, |sha256| {
            let file = place.path().join(format!("{sha256}.csv"));
            let report = self.grade_one(competition, answers, sha256, &file);
            let _ = std::fs::remove_file(&file);
            report
        });
        // What cannot be graded has no score, as in the table of all nodes.
        let reports: BTreeMap<&Sha256, GradingReport> = files
            .iter()
            .zip(graded)
            .filter_map(|(sha256, graded)| Some((*sha256, graded.ok()?.ok()?)))
            .collect();
        Ok(course(&candidates, &reports, self.config.task.direction))
    }

    fn candidates(&self) -> Result<Vec<Candidate>, RunError> {
        let mut tally = Tally::new(self.config.limits);
        let mut candidates = Vec::new();
        for entry in self.entries()? {
            tally.apply(&entry);
            let Record::Result { effect, .. } = &entry.record else { continue };
            let (node, sha256, selected) = match &**effect {
                Effect::SelectFinal { node, sha256 } => (*node, sha256, true),
                Effect::Node(node) if node.is_good() => match &node.submission {
                    Verdict::Valid { sha256, .. } => (Some(node.id), sha256, false),
                    _ => continue,
                },
                _ => continue,
            };
            let cost = tally.usage.cost.map(podium_types::money::Usd::dollars);
            let point = Point {
                at_ms: entry.stamp.run_ms,
                cost,
                node,
                sha256: sha256.to_string(),
                ..Point::default()
            };
            candidates.push(Candidate { point, sha256: sha256.clone(), selected });
        }
        Ok(candidates)
    }
}

fn course(
    candidates: &[Candidate],
    reports: &BTreeMap<&Sha256, GradingReport>,
    direction: podium_types::direction::Direction,
) -> Course {
    let mut course = Course::default();
    let mut best: Option<f64> = None;
    for candidate in candidates {
        let report = reports.get(&candidate.sha256);
        let test = report.and_then(|report| report.raw_score).map(|score| score.0);
        let point = Point {
            test: test.filter(|score| score.is_finite()),
            medal: report.is_some_and(|report| report.any_medal),
            above_median: report.is_some_and(|report| report.above_median),
            ..candidate.point.clone()
        };
        if let Some(test) = test
            && best.is_none_or(|known| direction.better(test, known))
        {
            best = Some(test);
            course.oracle.push(point.clone());
        }
        if candidate.selected {
            course.handed_in.push(point);
        }
    }
    course
}
