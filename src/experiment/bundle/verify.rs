//! Verifies a bundle: every file is as it was packed, every submission is graded again, and the report is rebuilt byte for
//! byte. Whatever differs is named.
//!
//! The answers are those of whoever verifies; where he has not got them, that is told, and the rest is verified.

use std::collections::BTreeMap;
use std::path::Path;

use podium_competition::parallel::in_parallel;
use podium_competition::{Competition, GradingReport};
use podium_report::experiment::course::Point;
use podium_types::number::Number;
use podium_types::sha256::Sha256;
use serde::Serialize;

use super::pack::documents;
use super::unpack::{Problem, Unpacked, unpack};
use super::{BundleError, FORMAT, REPORTS, StoredTerms, TERMS, io, parsed};
use crate::experiment::grades;
use crate::experiment::plan::PlannedRun;
use crate::experiment::stored::Experiment;
use crate::run::config::RunConfig;
use crate::run::error::RunError;
use crate::run::provenance::Provenance;
use crate::run::site::Site;
use crate::run::summary::{RunReport, grade_again, sample_score};

/// What a verification came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Files that the bundle has.
    pub files: usize,
    /// Runs of the plan.
    pub runs: usize,
    /// Submissions that were graded again, those over time included.
    pub graded: usize,
    /// Runs that handed something in and could not be graded again, and why.
    pub not_graded: BTreeMap<String, String>,
    /// What is not as it was.
    pub problems: Vec<Problem>,
    /// What may explain a difference.
    pub notes: Vec<String>,
}

impl Verification {
    /// Whether nothing differs and nothing was left out.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty() && self.not_graded.is_empty()
    }
}

/// Verifies a bundle of at most `most` bytes.
///
/// # Errors
/// When it is refused, or something of it does not read.
pub fn verify(bundle: &Path, site: &Site, most: u64) -> Result<Verification, BundleError> {
    let place = tempfile::tempdir().map_err(io("create a folder in", &std::env::temp_dir()))?;
    let Unpacked { files, problems } = unpack(bundle, place.path(), most)?;
    let mut found = Verification { files: files.len() + 1, problems, ..Verification::default() };
    let experiment = Experiment::open(place.path())?;
    found.runs = experiment.stored.plan.runs.len();
    let checked = in_parallel(&experiment.stored.plan.runs, |run| check_run(&experiment, run, site));
    for (run, checked) in experiment.stored.plan.runs.iter().zip(checked) {
        match checked.map_err(|panicked| panicked.to_string()) {
            Ok(checked) => {
                found.graded += checked.graded;
                found.problems.extend(checked.problems);
                found.not_graded.extend(checked.not_graded.map(|why| (run.folder.clone(), why)));
            }
            Err(panicked) => found.problems.push(Problem::new(&run.folder, panicked)),
        }
    }
    let bytes = std::fs::read(place.path().join(TERMS)).map_err(io("read", Path::new(TERMS)))?;
    let terms: StoredTerms = parsed(TERMS, &bytes)?;
    if terms.format != FORMAT {
        return Err(BundleError::Refused(format!("{TERMS} has the format {}", terms.format)));
    }
    if terms.program != env!("CARGO_PKG_VERSION") {
        found.notes.push(format!(
            "the report was made by version {}, and this is {}",
            terms.program,
            env!("CARGO_PKG_VERSION")
        ));
    }
    for (name, rebuilt) in REPORTS.into_iter().zip(documents(&experiment, &terms)?) {
        let packed = std::fs::read(place.path().join(name)).map_err(io("read", Path::new(name)))?;
        if packed != rebuilt {
            found.problems.push(Problem::new(name, differing(&packed, &rebuilt)));
        }
    }
    Ok(found)
}

/// The first line in which two documents differ.
fn differing(packed: &[u8], rebuilt: &[u8]) -> String {
    let (packed, rebuilt) = (String::from_utf8_lossy(packed), String::from_utf8_lossy(rebuilt));
    let line = packed.lines().zip(rebuilt.lines()).position(|(one, other)| one != other);
    let number = line.unwrap_or_else(|| packed.lines().count().min(rebuilt.lines().count())) + 1;
    format!("it is not what its runs make: line {number} differs")
}

/// What the check of one run came to.
#[derive(Default)]
struct Checked {
    graded: usize,
    not_graded: Option<String>,
    problems: Vec<Problem>,
}

impl Checked {
    fn wrong(&mut self, run: &PlannedRun, file: &str, problem: impl Into<String>) {
        self.problems.push(Problem::new(&format!("{}/{file}", run.folder), problem));
    }
}

fn check_run(experiment: &Experiment, run: &PlannedRun, site: &Site) -> Checked {
    let mut checked = Checked::default();
    let folder = experiment.path(run);
    let read = |name: &str| std::fs::read(folder.join(name)).map_err(|error| error.to_string());
    let report = read("run.json")
        .and_then(|bytes| serde_json::from_slice::<RunReport>(&bytes).map_err(|error| error.to_string()));
    let config = read("config.json").and_then(|bytes| {
        serde_json::from_slice::<RunConfig>(&bytes)
            .map(|config| (config, bytes))
            .map_err(|error| error.to_string())
    });
    let (report, (config, bytes)) = match (report, config) {
        (Ok(report), Ok(config)) => (report, config),
        (Err(problem), _) => {
            checked.wrong(run, "run.json", problem);
            return checked;
        }
        (_, Err(problem)) => {
            checked.wrong(run, "config.json", problem);
            return checked;
        }
    };
    for (file, identity) in
        [("run.json", Some(report.identity.clone())), ("config.json", config.identity().ok())]
    {
        if identity.as_ref() != Some(&run.identity) {
            checked.wrong(run, file, "its identity is not the plan's");
        }
    }
    if let Ok(bytes_of) = read("provenance.json") {
        match serde_json::from_slice::<Provenance>(&bytes_of) {
            Ok(provenance) if provenance.config_sha256 != Sha256::of(&bytes) => {
                checked.wrong(run, "config.json", "it is not the one that provenance.json names");
            }
            Ok(_) => {}
            Err(error) => checked.wrong(run, "provenance.json", error.to_string()),
        }
    }
    if let Err(why) = check_scores(experiment, run, &config, &report, site, &mut checked) {
        checked.not_graded = Some(why);
    }
    checked
}

/// Grades what was handed in, and what would have been over time. An error says why that cannot be.
fn check_scores(
    experiment: &Experiment,
    run: &PlannedRun,
    config: &RunConfig,
    report: &RunReport,
    site: &Site,
    checked: &mut Checked,
) -> Result<(), String> {
    let submission = experiment.path(run).join("submission.csv");
    let Some(packed) = &report.report else {
        if report.outcome == crate::run::stop::Outcome::NoSubmission && submission.exists() {
            checked.wrong(run, "run.json", "it tells of no submission, and there is one");
        }
        return Ok(());
    };
    let words = |error: RunError| error.in_full();
    let competition = config.competition().map_err(words)?;
    let answers = site.answers(&competition).map_err(words)?;
    let again = |file: &Path| grade_again(&competition, file, &answers).map_err(words);
    let graded = again(&submission)?;
    checked.graded += 1;
    for field in differences(packed, &graded) {
        checked.wrong(run, "run.json", format!("graded again, `{field}` is another"));
    }
    check_derived(run, report, &competition, site, checked);
    let Some(course) = grades::read(experiment, run) else { return Ok(()) };
    let mut seen: BTreeMap<&str, GradingReport> = BTreeMap::new();
    for point in course.handed_in.iter().chain(&course.oracle) {
        let Ok(sha256) = point.sha256.parse::<Sha256>() else {
            checked.wrong(run, "submissions", "a submission over time has no name");
            continue;
        };
        let name = format!("submissions/{sha256}.csv");
        let file = experiment.path(run).join(&name);
        if !seen.contains_key(point.sha256.as_str()) {
            if std::fs::read(&file).map_or(true, |bytes| Sha256::of(&bytes) != sha256) {
                checked.wrong(run, &name, "it is not what its name says");
                continue;
            }
            seen.insert(&point.sha256, again(&file)?);
            checked.graded += 1;
        }
        if seen.get(point.sha256.as_str()).is_some_and(|graded| !is_of(point, graded)) {
            checked
                .problems
                .push(Problem::new(&grades::name(run), "graded again, a submission has another score"));
        }
    }
    Ok(())
}

/// What the run report derives from the answers beside the grading report.
fn check_derived(
    run: &PlannedRun,
    report: &RunReport,
    competition: &Competition,
    site: &Site,
    checked: &mut Checked,
) {
    let raw = report.report.as_ref().and_then(|graded| graded.raw_score);
    if let Some(validation) = &report.validation {
        let gap = competition.direction().lead(validation.validation.0, validation.test.0);
        if Some(validation.test) != raw || Number(gap) != validation.gap {
            checked.wrong(run, "run.json", "its validation gap is not that of its scores");
        }
    }
    if report.sample_score.is_some() {
        let data = podium_competition::folders(&site.data_dir, &competition.id);
        if sample_score(competition, &data) != report.sample_score {
            checked.wrong(run, "run.json", "graded again, the sample submission has another score");
        }
    }
}

fn is_of(point: &Point, graded: &GradingReport) -> bool {
    let test = graded.raw_score.map(|score| score.0).filter(|score| score.is_finite());
    test.map(f64::to_bits) == point.test.map(f64::to_bits)
        && graded.any_medal == point.medal
        && graded.above_median == point.above_median
}

/// Fields in which two grading reports differ, but for when and where.
fn differences(packed: &GradingReport, again: &GradingReport) -> Vec<String> {
    let value = |report: &GradingReport| serde_json::to_value(report).unwrap_or_default();
    let (packed, again) = (value(packed), value(again));
    let fields = packed.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| *name != "created_at" && *name != "submission_path")
        .filter(|(name, value)| again.get(name.as_str()) != Some(value))
        .map(|(name, _)| name.clone())
        .collect()
}
