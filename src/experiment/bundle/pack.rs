//! Packs an experiment whose runs have ended.

use std::collections::BTreeMap;
use std::fs::File as Opened;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use podium_report::experiment::markdown::markdown;
use podium_report::experiment::{Terms, report};
use podium_types::sha256::Sha256;

use super::{
    BundleError, FORMAT, File, MANIFEST, Manifest, REPORTS, StoredTerms, TERMS, append, compressor, io, json,
};
use crate::experiment::grades;
use crate::experiment::outcomes::{Known, runs};
use crate::experiment::plan::PlannedRun;
use crate::experiment::stored::{Experiment, Stored};
use crate::run::config::Place;
use crate::run::folder::RunFolder;
use crate::run::folder::content::{ContentStore, hash_of};
use crate::run::summary::RunReport;

/// Where a file of the bundle comes from.
enum Source {
    Bytes(Vec<u8>),
    Path(PathBuf),
}

/// What was packed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Packed {
    /// The file.
    pub bundle: String,
    /// Its SHA-256: told on another way, it says that a bundle is this one.
    pub sha256: Sha256,
    /// Files in it.
    pub files: usize,
    /// Runs in it.
    pub runs: usize,
}

/// Packs the experiment with the report that `axes` and `terms` make into the file `into`.
///
/// # Errors
/// When a run has not ended, or something cannot be read or written.
pub fn pack(
    experiment: &Experiment,
    axes: &[String],
    terms: &Terms,
    known: &Known,
    into: &Path,
) -> Result<Packed, BundleError> {
    let planned = &experiment.stored.plan.runs;
    let open: Vec<&PlannedRun> = planned.iter().filter(|run| !experiment.state(run).is_ended()).collect();
    if let Some(first) = open.first() {
        return Err(BundleError::NotEnded { runs: open.len(), first: first.folder.clone() });
    }
    let mut files: BTreeMap<String, Source> = BTreeMap::new();
    let mut cutoffs = BTreeMap::new();
    for run in planned {
        add_run(experiment, run, known, &mut files, &mut cutoffs)?;
    }
    let stored = StoredTerms {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        axes: axes.to_vec(),
        strict: terms.strict,
        equal_within: terms.equal_within,
        declared: terms.declared,
        split_sizes: terms.split_sizes.clone(),
        cutoffs,
    };
    for (name, bytes) in REPORTS.into_iter().zip(documents(experiment, &stored)?) {
        files.insert(name.to_owned(), Source::Bytes(bytes));
    }
    files.insert(TERMS.to_owned(), Source::Bytes(json(TERMS, &stored)?));
    let place = Place {
        models: None,
        data_dir: PathBuf::new(),
        assets: None,
        python: None,
        mounts: BTreeMap::new(),
        endpoints: BTreeMap::new(),
        recordings: BTreeMap::new(),
    };
    let plan = Stored { place, ..experiment.stored.clone() };
    files.insert("experiment.json".to_owned(), Source::Bytes(json("experiment.json", &plan)?));
    write(&files, planned.len(), into)
}

/// The report as JSON and as Markdown.
pub(super) fn documents(experiment: &Experiment, stored: &StoredTerms) -> Result<[Vec<u8>; 2], BundleError> {
    let known = Known::frozen(stored.split_sizes.clone(), stored.cutoffs.clone());
    let runs = runs(experiment, &stored.axes, &known);
    let made = report(&experiment.stored.spec.name, &runs, &stored.terms())?;
    let mut text = json(REPORTS[0], &made)?;
    text.push(b'\n');
    Ok([text, markdown(&made).into_bytes()])
}

fn add_run(
    experiment: &Experiment,
    run: &PlannedRun,
    known: &Known,
    files: &mut BTreeMap<String, Source>,
    cutoffs: &mut BTreeMap<String, String>,
) -> Result<(), BundleError> {
    let folder = RunFolder::open(&experiment.path(run))?;
    let name = |file: &str| format!("{}/{file}", run.folder);
    let bytes = std::fs::read(folder.report_path()).map_err(io("read", &folder.report_path()))?;
    let mut report: RunReport = super::parsed(&name("run.json"), &bytes)?;
    for model in report.models.values() {
        if let Some(cutoff) = known.cutoff(model) {
            cutoffs.insert(model.clone(), cutoff);
        }
    }
    // The paths of this machine are nobody's business.
    report.run.clone_from(&run.folder);
    if let Some(graded) = &mut report.report {
        "submission.csv".clone_into(&mut graded.submission_path);
    }
    files.insert(name("run.json"), Source::Bytes(json("run.json", &report)?));
    files.insert(name("config.json"), Source::Path(folder.config_path()));
    let parts = [
        (folder.provenance_path(), "provenance.json"),
        (folder.path().join("submission.csv"), "submission.csv"),
        (folder.best_path().join("solution.py"), "solution.py"),
    ];
    for (path, file) in parts {
        if path.is_file() {
            files.insert(name(file), Source::Path(path));
        }
    }
    if let Some(course) = grades::read(experiment, run) {
        let path = experiment.folder.join(grades::name(run));
        files.insert(grades::name(run), Source::Path(path));
        for point in course.handed_in.iter().chain(&course.oracle) {
            let sha256 = ContentStore::name(&point.sha256).map_err(crate::run::error::RunError::from)?;
            let content = folder.path().join("content").join(sha256.as_str());
            files.insert(name(&format!("submissions/{sha256}.csv")), Source::Path(content));
        }
    }
    Ok(())
}

fn write(files: &BTreeMap<String, Source>, runs: usize, into: &Path) -> Result<Packed, BundleError> {
    let mut manifest = Manifest { format: FORMAT, files: Vec::new() };
    for (path, source) in files {
        let (bytes, sha256) = match source {
            Source::Bytes(bytes) => (bytes.len() as u64, Sha256::of(bytes)),
            Source::Path(from) => {
                let opened = Opened::open(from).map_err(io("read", from))?;
                let bytes = opened.metadata().map_err(io("read", from))?.len();
                (bytes, hash_of(opened, &mut std::io::sink()).map_err(io("read", from))?)
            }
        };
        manifest.files.push(File { path: path.clone(), bytes, sha256 });
    }
    let folder = into.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(io("write", into))?;
    let mut archive = tar::Builder::new(compressor(BufWriter::new(file.as_file_mut())));
    let listed = json(MANIFEST, &manifest)?;
    append(&mut archive, MANIFEST, listed.len() as u64, listed.as_slice()).map_err(io("write", into))?;
    for entry in &manifest.files {
        let written = match files.get(&entry.path) {
            Some(Source::Bytes(bytes)) => append(&mut archive, &entry.path, entry.bytes, bytes.as_slice()),
            Some(Source::Path(from)) => {
                let opened = Opened::open(from).map_err(io("read", from))?;
                append(&mut archive, &entry.path, entry.bytes, BufReader::new(opened))
            }
            None => Ok(()),
        };
        written.map_err(io("write", into))?;
    }
    let compressed = archive.into_inner().map_err(io("write", into))?;
    let mut buffered = compressed.finish().map_err(io("write", into))?;
    buffered.flush().map_err(io("write", into))?;
    drop(buffered);
    file.as_file().sync_all().map_err(io("write", into))?;
    let reading = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.as_file().set_permissions(reading).map_err(io("write", into))?;
    file.persist(into).map_err(|error| io("write", into)(error.error))?;
    let opened = Opened::open(into).map_err(io("read", into))?;
    let sha256 = hash_of(opened, &mut std::io::sink()).map_err(io("read", into))?;
    Ok(Packed { bundle: into.display().to_string(), sha256, files: manifest.files.len() + 1, runs })
}
