//! An experiment as one file that a stranger can check: plan, configurations, run reports, lock files, submissions and
//! the report, in a compressed tar archive.
//!
//! ```text
//! MANIFEST.json           first: name, size and SHA-256 of all that follows, in its order
//! experiment.json         the plan, without the paths of the machine it was run on
//! terms.json              what the report was made with: axes, terms, cut-offs of the models
//! report.json, report.md  the report
//! grades/RUN.json         what was graded over time, where it was
//! RUN/config.json, run.json, provenance.json, submission.csv, solution.py
//! RUN/submissions/SHA256.csv   what would have been handed in over time, where it was graded
//! ```
//! Answers, journals, prompts' answers and data are not in it. The archive is canonical: the same files give the same
//! bytes of the archive, so that a changed byte is found wherever it is. Nothing in a bundle is trusted: it may be hostile.

pub mod pack;
pub mod unpack;
pub mod verify;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use podium_report::experiment::Terms;
use podium_types::sha256::Sha256;
use serde::{Deserialize, Serialize};

use crate::experiment::error::ExperimentError;
use crate::run::error::RunError;
use crate::run::folder::FolderError;

/// Version of the format.
const FORMAT: u32 = 1;
/// Name of the first entry.
const MANIFEST: &str = "MANIFEST.json";
/// Name of the terms.
const TERMS: &str = "terms.json";
/// Names of the reports.
const REPORTS: [&str; 2] = ["report.json", "report.md"];
/// Bytes of a whole bundle's files, unless another limit is given.
pub const MOST_BYTES: u64 = 64 << 30;
/// Bytes of a manifest.
const LARGEST_MANIFEST: u64 = 64 << 20;
/// Files of a bundle.
const MOST_FILES: usize = 1_000_000;

/// What `MANIFEST.json` holds: nothing that is not checked against the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: u32,
    files: Vec<File>,
}

/// One file of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    path: String,
    bytes: u64,
    sha256: Sha256,
}

/// What `terms.json` holds: all that a report takes which is not in the run folders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StoredTerms {
    format: u32,
    /// Version of the program that made the report. Another version may make another one of the same runs.
    program: String,
    axes: Vec<String>,
    strict: bool,
    equal_within: f64,
    declared: f64,
    split_sizes: BTreeMap<String, usize>,
    cutoffs: BTreeMap<String, String>,
}

impl StoredTerms {
    fn terms(&self) -> Terms {
        Terms {
            strict: self.strict,
            equal_within: self.equal_within,
            declared: self.declared,
            split_sizes: self.split_sizes.clone(),
        }
    }
}

/// Why a bundle cannot be made or read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A file that cannot be read or written.
    #[error("could not {act} {}", path.display())]
    Io {
        /// What was tried.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
    /// An archive that does not read on.
    #[error("the archive is damaged at {at}")]
    Damaged {
        /// The file that was being read, or what stands there.
        at: String,
        /// What is wrong.
        #[source]
        source: std::io::Error,
    },
    /// An archive that no bundle is.
    #[error("it is refused: {0}")]
    Refused(String),
    /// A document in it that does not read.
    #[error("{file} of the bundle does not read")]
    Document {
        /// Its name.
        file: String,
        /// The parser's words.
        #[source]
        source: serde_json::Error,
    },
    /// A run that is still going on, or has not begun.
    #[error("{runs} runs have not ended, {first} for one")]
    NotEnded {
        /// How many.
        runs: usize,
        /// One of them.
        first: String,
    },
    /// A report that cannot be made.
    #[error("there is no report of it")]
    Report(#[from] podium_report::statistics::Missing),
    /// The experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Files.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

fn io(act: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> BundleError {
    let path = path.to_owned();
    move |source| BundleError::Io { act, path, source }
}

fn json<T: Serialize>(file: &str, value: &T) -> Result<Vec<u8>, BundleError> {
    let wrong = |source| BundleError::Document { file: file.to_owned(), source };
    serde_json::to_vec_pretty(value).map_err(wrong)
}

fn parsed<T: serde::de::DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, BundleError> {
    let wrong = |source| BundleError::Document { file: file.to_owned(), source };
    serde_json::from_slice(bytes).map_err(wrong)
}

/// Appends one file, with a header that says nothing but its name and size.
fn append(
    archive: &mut tar::Builder<impl std::io::Write>,
    path: &str,
    bytes: u64,
    content: impl Read,
) -> std::io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_path(path)?;
    header.set_entry_type(tar::EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_cksum();
    archive.append(&header, content)
}

/// The compressor: its header names neither a time nor a file.
fn compressor<W: std::io::Write>(to: W) -> flate2::write::GzEncoder<W> {
    flate2::GzBuilder::new().mtime(0).write(to, flate2::Compression::default())
}
