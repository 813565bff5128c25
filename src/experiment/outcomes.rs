//! An experiment's runs as the report takes them: the plan, what the run folders say, and what the catalog knows.
//!
//! Read from `run.json` of each run and from nowhere else, so that a thousand ended runs are read at once. Must not know:
//! journals, answers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use podium_competition::{BoardKind, Catalog, Competition, GradingReport};
use podium_llm::ModelName;
use podium_report::experiment::{About, End, Run, Sight, Terms};

use crate::experiment::grades;
use crate::experiment::plan::{CompetitionFacts, PlannedRun};
use crate::experiment::spec::{Arm, MODEL, SCAFFOLD};
use crate::experiment::stored::Experiment;
use crate::run::error::RunError;
use crate::run::scaffold_file;
use crate::run::site::Site;
use crate::run::summary::RunReport;

/// The axis whose values are never pooled: agents were shown something else.
const DESCRIPTION: &str = "description";

/// What is known beside the plan: of this site, or as a bundle froze it.
#[derive(Debug, Default)]
pub struct Known {
    competitions: Catalog,
    split_sizes: BTreeMap<String, usize>,
    cutoffs: Cutoffs,
}

/// The last days that models have read of.
#[derive(Debug)]
enum Cutoffs {
    /// As the catalog of models tells them.
    Catalog(Box<podium_llm::Catalog>),
    /// By model, as they were told when a bundle was made.
    Frozen(BTreeMap<String, String>),
}

impl Default for Cutoffs {
    fn default() -> Self {
        Self::Frozen(BTreeMap::new())
    }
}

impl Known {
    /// What this site knows.
    ///
    /// # Errors
    /// When the catalog of competitions is wrong.
    pub fn of(site: &Site) -> Result<Self, RunError> {
        let competitions = site.competitions()?;
        let mut split_sizes = BTreeMap::new();
        for split in competitions.list().flat_map(|competition| &competition.splits) {
            *split_sizes.entry(split.clone()).or_insert(0) += 1;
        }
        // A file of models that is gone or wrong takes the cut-offs away, not the report.
        let models = site.model_texts().ok().and_then(|texts| texts.catalog().ok());
        let cutoffs = models.map_or_else(Cutoffs::default, |models| Cutoffs::Catalog(Box::new(models)));
        Ok(Self { competitions, split_sizes, cutoffs })
    }

    /// As it was frozen.
    pub fn frozen(split_sizes: BTreeMap<String, usize>, cutoffs: BTreeMap<String, String>) -> Self {
        Self { competitions: Catalog::default(), split_sizes, cutoffs: Cutoffs::Frozen(cutoffs) }
    }

    /// The usual terms, with the sizes of splits.
    pub fn terms(&self) -> Terms {
        Terms { split_sizes: self.split_sizes.clone(), ..Terms::default() }
    }

    /// What is known of a competition that no plan tells of.
    pub fn about(&self, id: &str) -> Option<About> {
        self.competitions.get(id).ok().map(about_competition)
    }

    /// The last day that a model has read of.
    pub fn cutoff(&self, model: &str) -> Option<String> {
        match &self.cutoffs {
            Cutoffs::Catalog(models) => {
                let name: ModelName = model.parse().ok()?;
                models.facts(&name).knowledge_cutoff.clone()
            }
            Cutoffs::Frozen(cutoffs) => cutoffs.get(model).cloned(),
        }
    }

    /// The last day that all of these models have read of; none: of one it is unknown.
    fn latest_cutoff(&self, models: &[String]) -> Option<String> {
        let mut latest: Option<String> = None;
        for model in models {
            latest = latest.max(Some(self.cutoff(model)?));
        }
        latest
    }
}

fn about_competition(competition: &Competition) -> About {
    About {
        splits: competition.splits.clone(),
        baselines: competition.board.kind == BoardKind::Baselines,
        category: competition.category.clone(),
        ended: competition.ended.clone(),
        known_issues: competition.known_issues.clone(),
    }
}

fn about(facts: &CompetitionFacts) -> About {
    About {
        splits: facts.splits.clone(),
        baselines: facts.board == BoardKind::Baselines,
        category: facts.category.clone(),
        ended: facts.ended.clone(),
        known_issues: facts.known_issues.clone(),
    }
}

/// Whether a competition ended after a cut-off. Dates may be a year, a month or a day: where the coarser of both leaves it
/// open, it is unknown.
fn is_after(ended: &str, cutoff: &str) -> Option<bool> {
    let shorter = ended.len().min(cutoff.len());
    match ended.get(..shorter)?.cmp(cutoff.get(..shorter)?) {
        std::cmp::Ordering::Greater => Some(true),
        std::cmp::Ordering::Less => Some(false),
        std::cmp::Ordering::Equal => (ended.len() == cutoff.len() && shorter == 10).then_some(false),
    }
}

/// The axes of a plan, each with whether its runs differ in it.
pub fn axes(experiment: &Experiment) -> BTreeMap<String, bool> {
    let mut values: BTreeMap<&String, std::collections::BTreeSet<Option<&String>>> = BTreeMap::new();
    let arms = || experiment.stored.plan.runs.iter().map(|run| &run.arm);
    for name in arms().flat_map(Arm::keys) {
        values.entry(name).or_default();
    }
    for arm in arms() {
        for (name, seen) in &mut values {
            seen.insert(arm.get(*name));
        }
    }
    values.into_iter().map(|(name, seen)| (name.clone(), seen.len() > 1)).collect()
}

/// The axes that arms are told apart by: the one that was asked for, or all in which runs differ. What agents were shown
/// is always among them where it differs.
pub fn told_apart(axes: &BTreeMap<String, bool>, asked: Option<&str>) -> Vec<String> {
    let differs = |name: &str| axes.get(name).copied().unwrap_or(false);
    let mut names: Vec<String> = match asked {
        Some(axis) => vec![axis.to_owned()],
        None => axes.keys().filter(|name| differs(name)).cloned().collect(),
    };
    // The scaffold first, then the model, then settings.
    names.sort_by_key(|name| (name != SCAFFOLD, name != MODEL, name.clone()));
    if differs(DESCRIPTION) && !names.iter().any(|name| name == DESCRIPTION) {
        names.push(DESCRIPTION.to_owned());
    }
    if names.is_empty() {
        names.push(SCAFFOLD.to_owned());
    }
    names
}

/// The runs of the plan as plain data, named by the values of `axes`.
pub fn runs(experiment: &Experiment, axes: &[String], known: &Known) -> Vec<Run> {
    let plan = &experiment.stored.plan.runs;
    let scaffolds = scaffold_labels(plan.iter().filter_map(|run| run.arm.get(SCAFFOLD)));
    plan.iter().map(|planned| run(experiment, planned, axes, &scaffolds, known)).collect()
}

/// What scaffolds that were named by the paths of their files are called in a report, which holds no paths: by their ids,
/// and where two would be called alike, with their folders.
fn scaffold_labels<'a>(named: impl Iterator<Item = &'a String>) -> BTreeMap<String, String> {
    let named: BTreeSet<&String> = named.collect();
    let id = |name: &String| scaffold_file::id(name);
    let label = |name: &String| {
        let is_alone = named.iter().filter(|other| id(other) == id(name)).count() == 1;
        let path = scaffold_file::path(name)?;
        let folder = path.parent().and_then(Path::file_name).filter(|_| !is_alone);
        let folder = folder.map(|folder| format!(" ({})", folder.to_string_lossy())).unwrap_or_default();
        Some((name.clone(), format!("{}{folder}", id(name))))
    };
    named.iter().filter_map(|name| label(name)).collect()
}

fn run(
    experiment: &Experiment,
    planned: &PlannedRun,
    axes: &[String],
    scaffolds: &BTreeMap<String, String>,
    known: &Known,
) -> Run {
    let facts = experiment.stored.plan.competitions.get(&planned.competition);
    // A competition that the plan forgot is no number of MLE-bench's.
    let about = facts.map_or_else(|| About { baselines: true, ..About::default() }, about);
    let value = |axis: &String| {
        let value = planned.arm.get(axis).map_or("-", String::as_str);
        let label = scaffolds.get(value).filter(|_| axis == SCAFFOLD);
        label.map_or(value, String::as_str)
    };
    let state = experiment.state(planned);
    let report = state.report();
    let models: Vec<String> = match report {
        Some(report) => report.models.values().cloned().collect(),
        None => planned.arm.get(MODEL).cloned().into_iter().collect(),
    };
    let cutoff = known.latest_cutoff(&models);
    let after_cutoff = about.ended.as_deref().zip(cutoff.as_deref());
    Run {
        arm: axes.iter().map(value).collect::<Vec<_>>().join(" · "),
        run: planned.folder.clone(),
        competition: planned.competition.clone(),
        seed: planned.seed,
        after_cutoff: after_cutoff.and_then(|(ended, cutoff)| is_after(ended, cutoff)),
        about,
        published: false,
        end: report.map(end),
        course: report.and_then(|_| grades::read(experiment, planned)),
    }
}

/// What a report says of its run.
pub fn end(report: &RunReport) -> End {
    let graded = report.report.as_ref();
    let is = |of: fn(&GradingReport) -> bool| graded.is_some_and(of);
    let lower = graded.map(|graded| graded.is_lower_better);
    let validated = report.nodes.best_validation.map(|metric| metric.0);
    let hours = |seconds: f64| seconds / 3600.0;
    End {
        outcome: report.outcome.word().to_owned(),
        stopped_by: report.stopped_by.word().to_owned(),
        outside: report.stopped_by.resumes_as_it_is() && !report.stopped_by.is_of_program(),
        program_failed: report.stopped_by.is_of_program(),
        medal: is(|graded| graded.any_medal),
        gold: is(|graded| graded.gold_medal),
        silver: is(|graded| graded.silver_medal),
        bronze: is(|graded| graded.bronze_medal),
        above_median: is(|graded| graded.above_median),
        valid: is(|graded| graded.valid_submission),
        made: is(|graded| graded.submission_exists),
        score: graded.and_then(|graded| graded.score).map(|score| score.0),
        lower_is_better: lower,
        percentile: graded.and_then(|graded| graded.percentile),
        teams: graded.and_then(|graded| graded.board.teams),
        human_relative: human_relative(report),
        validated: validated.zip(lower).map(|(metric, lower)| if lower { -metric } else { metric }),
        gap: report.validation.as_ref().map(|validation| validation.gap.0),
        test: report.validation.as_ref().map(|validation| validation.test.0),
        cost: report.usage.cost_usd,
        calls: report.usage.calls,
        input_tokens: report.usage.input_tokens,
        output_tokens: report.usage.output_tokens,
        hours: hours(report.time.run_s),
        waiting_hours: hours(report.time.waiting_s),
        model_hours: hours(report.time.model_s),
        execution_hours: hours(report.time.execution_s),
        session_hours: hours(report.time.session_s),
        nodes: report.nodes.total,
        stand_in: report.stand_in,
        sight: sight(report),
    }
}

/// (score − sample submission) / (gold − sample submission), not clipped. Where gold is the sample's own score nothing is
/// measured.
fn human_relative(report: &RunReport) -> Option<f64> {
    let graded = report.report.as_ref()?;
    let (score, gold) = (graded.raw_score?.0, graded.gold_threshold?.0);
    let sample = report.sample_score?.0;
    let share = (score - sample) / (gold - sample);
    share.is_finite().then_some(share)
}

fn sight(report: &RunReport) -> Sight {
    let facts = &report.sandbox.facts;
    let mut hosts = BTreeMap::new();
    for (name, count) in report.network_attempts.iter().flat_map(|attempt| &attempt.names) {
        *hosts.entry(name.clone()).or_insert(0) += count;
    }
    Sight {
        sandbox: facts.describe(),
        description: report.description.clone(),
        models: report.models.clone(),
        training_scores: report.saw.training_scores,
        verdicts: report.saw.verdicts.saturating_add(report.saw.verdicts_inside),
        scores: report.saw.scores,
        answers: report.saw.answers,
        network: report.saw.network,
        graded_before: report.saw.graded_before,
        blocked: report.blocked.clone(),
        hosts,
        probes: report.answer_probes.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_after, scaffold_labels};

    #[test]
    fn a_scaffold_named_by_its_path_is_called_by_its_id() {
        let named = ["aide", "/a/one/mine.toml", "/b/two/mine.toml", "/b/other.toml"].map(str::to_owned);
        let labels: Vec<String> = scaffold_labels(named.iter()).into_values().collect();
        assert_eq!(labels, ["mine (one)", "other", "mine (two)"]);
    }

    #[test]
    fn a_year_is_after_a_cutoff_only_where_it_must_be() {
        let table = [
            ("2019-09-07", "2024-06-01", Some(false)),
            ("2024-09-07", "2024-06-01", Some(true)),
            ("2024", "2024-06-01", None),
            ("2025", "2024-06-01", Some(true)),
            ("2024-06-20", "2024-06", None),
            ("2024-06-01", "2024-06-01", Some(false)),
        ];
        for (ended, cutoff, after) in table {
            assert_eq!(is_after(ended, cutoff), after, "{ended} {cutoff}");
        }
    }
}
