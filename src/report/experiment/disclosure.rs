//! What whoever believes a report has to know: what agents could see, what they tried, and that no score from the answers
//! reached one. All of it is counted from what runs stored; nothing is taken on trust from a strategy.

use std::collections::BTreeMap;

use serde::Serialize;

use super::run::{Run, Sight};

/// Counts over the runs that have a report. Published runs are in none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Disclosure {
    /// Runs with a report.
    pub runs: usize,
    /// Runs that were read from published files: nothing of this is known of them.
    pub published: usize,
    /// Runs by sandbox.
    pub sandboxes: BTreeMap<String, usize>,
    /// Runs by the description that agents were shown.
    pub descriptions: BTreeMap<String, usize>,
    /// Runs by model.
    pub models: BTreeMap<String, usize>,
    /// Runs in which a stand-in model answered.
    pub stand_ins: usize,
    /// Runs whose agent was told scores of training labels that the harness keeps, or of folds.
    pub training_scores: usize,
    /// Format verdicts that were given, in all runs.
    pub verdicts: u64,
    /// Runs in which a score from the answers was told: 0 by construction.
    pub test_scores: usize,
    /// Runs whose code had the answers within reach, because it ran without a boundary.
    pub answers_in_reach: usize,
    /// Runs whose code could reach a network.
    pub network_open: usize,
    /// Runs that had been graded and shown to their user before they went on.
    pub graded_before: usize,
    /// What sandboxes stopped, by kind.
    pub blocked: BTreeMap<String, u64>,
    /// Hosts that were asked for, and how often. None was reached where the network is blocked.
    pub hosts: BTreeMap<String, u64>,
    /// Runs whose code names the place of the answers, by their names.
    pub probes: BTreeMap<String, u64>,
}

impl Disclosure {
    /// Of all runs of a report.
    pub(super) fn of(runs: &[Run]) -> Self {
        let mut all = Self { published: runs.iter().filter(|run| run.published).count(), ..Self::default() };
        for run in runs.iter().filter(|run| !run.published) {
            let Some(end) = &run.end else { continue };
            all.runs += 1;
            all.stand_ins += usize::from(end.stand_in);
            all.take(&run.run, &end.sight);
        }
        all
    }

    fn take(&mut self, run: &str, sight: &Sight) {
        *self.sandboxes.entry(sight.sandbox.clone()).or_insert(0) += 1;
        *self.descriptions.entry(sight.description.clone()).or_insert(0) += 1;
        let mut models: Vec<&String> = sight.models.values().collect();
        models.sort();
        models.dedup();
        for model in models {
            *self.models.entry(model.clone()).or_insert(0) += 1;
        }
        self.training_scores += usize::from(sight.training_scores > 0);
        self.verdicts = self.verdicts.saturating_add(sight.verdicts);
        self.test_scores += usize::from(sight.scores);
        self.answers_in_reach += usize::from(sight.answers);
        self.network_open += usize::from(sight.network);
        self.graded_before += usize::from(sight.graded_before > 0);
        add(&mut self.blocked, &sight.blocked);
        add(&mut self.hosts, &sight.hosts);
        if sight.probes > 0 {
            self.probes.insert(run.to_owned(), sight.probes);
        }
    }
}

fn add(sum: &mut BTreeMap<String, u64>, counts: &BTreeMap<String, u64>) {
    for (name, count) in counts {
        let so_far = sum.entry(name.clone()).or_insert(0);
        *so_far = so_far.saturating_add(*count);
    }
}
