//! Published runs in MLE-bench's files, read from a folder of its layout or from one report:
//!
//! ```text
//! runs/run_group_experiments.csv            experiment_id,run_group
//! runs/RUN_GROUP/..._grading_report.json    one in each run group
//! ```
//! The same is written of an experiment of one's own. What is read is taken at its word.

use std::path::{Path, PathBuf};

use podium_report::experiment::Run;
use podium_report::experiment::interchange::{
    self, CompetitionReport, GradingReport, Unreadable, read_run_groups, write_run_groups,
};

use crate::experiment::outcomes::Known;
use crate::experiment::stored::Experiment;
use crate::run::folder::{FolderError, write_whole};
use crate::run::summary::RunReport;

/// Name of the file that groups run groups.
const GROUPS: &str = "run_group_experiments.csv";

/// Why published runs cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    /// A file that cannot be read.
    #[error("could not read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
    /// A file that is no report.
    #[error("{} does not read", path.display())]
    Report {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: Unreadable,
    },
    /// Neither a report nor a folder of them.
    #[error("{} is no grading report of MLE-bench and no folder with some", .0.display())]
    Nothing(PathBuf),
    /// A run group with several reports, which leaves open which one counts.
    #[error("the run group {} has {count} grading reports, and one is meant", path.display())]
    Several {
        /// The run group.
        path: PathBuf,
        /// How many.
        count: usize,
    },
}

/// Whether there is something of MLE-bench's at `path`.
pub fn is_published(path: &Path) -> bool {
    path.is_file() || path.join(GROUPS).is_file() || reports_in(path).is_ok_and(|reports| !reports.is_empty())
}

/// The runs at `path`: each experiment of a `run_group_experiments.csv` as an arm, or the one report or folder of reports
/// as one. Run groups that have no report are passed over, as the official aggregation does.
///
/// # Errors
/// When something does not read.
pub fn read(path: &Path, known: &Known) -> Result<Vec<Run>, PublishedError> {
    let about = |id: &str| known.about(id);
    let is_list = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
    let list = if is_list { path.to_owned() } else { path.join(GROUPS) };
    if list.is_file() {
        let folder = list.parent().unwrap_or(Path::new("."));
        let mut runs = Vec::new();
        for (name, groups) in read_run_groups(&text(&list)?) {
            let mut reports = Vec::new();
            for group in groups {
                // A name of a group that leads out of the folder is no name of one.
                let inside = Path::new(&group)
                    .components()
                    .all(|part| matches!(part, std::path::Component::Normal(_)));
                let found =
                    if inside { reports_in(&folder.join(&group)).unwrap_or_default() } else { Vec::new() };
                match found.as_slice() {
                    [] => {}
                    [one] => reports.push((group, report(one)?)),
                    several => {
                        return Err(PublishedError::Several {
                            path: folder.join(&group),
                            count: several.len(),
                        });
                    }
                }
            }
            runs.extend(interchange::runs(&name, &reports, about));
        }
        return if runs.is_empty() { Err(PublishedError::Nothing(path.to_owned())) } else { Ok(runs) };
    }
    let named =
        |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let files = if path.is_file() {
        vec![path.to_owned()]
    } else {
        reports_in(path).map_err(|source| PublishedError::File { path: path.to_owned(), source })?
    };
    if files.is_empty() {
        return Err(PublishedError::Nothing(path.to_owned()));
    }
    let reports = files
        .iter()
        .map(|file| Ok((named(file), report(file)?)))
        .collect::<Result<Vec<_>, PublishedError>>()?;
    Ok(interchange::runs(&named(path), &reports, about))
}

/// The reports that lie in a folder itself, by name.
fn reports_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_json = path.extension().is_some_and(|end| end == "json");
        name.contains("grading_report") && is_json && path.is_file()
    });
    found.sort();
    Ok(found)
}

fn text(path: &Path) -> Result<String, PublishedError> {
    std::fs::read_to_string(path).map_err(|source| PublishedError::File { path: path.to_owned(), source })
}

fn report(path: &Path) -> Result<GradingReport, PublishedError> {
    GradingReport::read(&text(path)?)
        .map_err(|source| PublishedError::Report { path: path.to_owned(), source })
}

/// A seed, and the reports of its run group.
type Seed = (u64, Vec<CompetitionReport>);

/// Writes an experiment as MLE-bench has it: a run group for each arm and seed, an experiment for each arm. Returns the
/// folders that were written. Runs without a report are reports of no submission there.
///
/// # Errors
/// When something cannot be written.
pub fn write(experiment: &Experiment, axes: &[String], into: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let mut groups: Vec<(String, Vec<Seed>)> = Vec::new();
    for planned in &experiment.stored.plan.runs {
        let values: Vec<&str> =
            axes.iter().map(|axis| planned.arm.get(axis).map_or("-", String::as_str)).collect();
        let name = format!("{}-{}", experiment.stored.spec.name, values.join("-"));
        let state = experiment.state(planned);
        let report = one(&planned.competition, state.report());
        let place = groups.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        let Some((_, seeds)) = groups.get_mut(place) else { continue };
        match seeds.iter_mut().find(|(seed, _)| *seed == planned.seed) {
            Some((_, reports)) => reports.push(report),
            None => seeds.push((planned.seed, vec![report])),
        }
    }
    let (mut written, mut listed) = (Vec::new(), Vec::new());
    for (name, mut seeds) in groups {
        seeds.sort_by_key(|(seed, _)| *seed);
        let mut names = Vec::new();
        for (seed, reports) in seeds {
            // Run groups are sorted by name there, and that is the order of seeds.
            let group = plain(&format!("{name}-seed-{seed:04}_run-group"));
            let folder = into.join(&group);
            let json = serde_json::to_vec_pretty(&GradingReport::of(reports)).unwrap_or_default();
            write_whole(&folder.join("podium_grading_report.json"), &json)?;
            written.push(folder);
            names.push(group);
        }
        listed.push((name, names));
    }
    write_whole(&into.join(GROUPS), write_run_groups(&listed).as_bytes())?;
    Ok(written)
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

fn one(competition: &str, report: Option<&RunReport>) -> CompetitionReport {
    let graded = report.and_then(|report| report.report.as_ref());
    let number = |value: Option<podium_types::number::Number>| {
        value.map(|value| value.0).filter(|value| value.is_finite())
    };
    let is = |of: fn(&podium_competition::GradingReport) -> bool| graded.is_some_and(of);
    CompetitionReport {
        competition_id: competition.to_owned(),
        score: graded.and_then(|graded| number(graded.score)),
        gold_threshold: graded.and_then(|graded| number(graded.gold_threshold)),
        silver_threshold: graded.and_then(|graded| number(graded.silver_threshold)),
        bronze_threshold: graded.and_then(|graded| number(graded.bronze_threshold)),
        median_threshold: graded.and_then(|graded| number(graded.median_threshold)),
        any_medal: is(|graded| graded.any_medal),
        gold_medal: is(|graded| graded.gold_medal),
        silver_medal: is(|graded| graded.silver_medal),
        bronze_medal: is(|graded| graded.bronze_medal),
        above_median: is(|graded| graded.above_median),
        submission_exists: is(|graded| graded.submission_exists),
        valid_submission: is(|graded| graded.valid_submission),
        is_lower_better: graded.map(|graded| graded.is_lower_better),
        created_at: graded.map(|graded| graded.created_at.clone()),
        submission_path: None,
    }
}
