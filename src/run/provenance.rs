//! The lock file of a run, `provenance.json`: with what it was made, so that a stranger can make it again or see what
//! differs. Written when the run has ended, from what the run stored and what was read back; it decides nothing.
//!
//! It holds hashes, never texts, of what the run folder holds anyway, and no path of this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use podium_competition::{Competition, Folders};
use podium_types::sha256::Sha256;
use serde::{Deserialize, Serialize};

use crate::run::error::RunError;
use crate::run::folder::content::hash_of;
use crate::run::folder::{FolderError, write_before};
use crate::run::journal::{Entry, Record};
use crate::run::limits::Limits;
use crate::run::resources::SandboxReport;
use crate::run::sitting::StoredRun;

/// Version of `provenance.json`.
const FORMAT: u32 = 1;
/// Larger files of the public data are told by their size alone: hashing them would cost more than the harness may.
const LARGEST: u64 = 64 << 20;
/// So many bytes of public data are hashed.
const HASHED: u64 = 256 << 20;

/// What the file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of this format.
    pub format: u32,
    /// Version of the program that ended the run.
    pub program: String,
    /// The commit that it was built from; `null` in a development build.
    pub commit: Option<String>,
    /// Versions of the programs of all sittings.
    pub sittings: BTreeSet<String>,
    /// The run's identity, a hash of its resolved configuration.
    pub identity: String,
    /// SHA-256 of `config.json`.
    pub config_sha256: Sha256,
    /// The limits in force at the end.
    pub limits: Limits,
    /// The scaffold.
    pub scaffold: ScaffoldHashes,
    /// SHA-256 of the description that the agent was shown.
    pub description_sha256: Sha256,
    /// The model of each role.
    pub models: BTreeMap<String, ModelProvenance>,
    /// Assets that were overridden from a folder.
    pub overridden: Vec<String>,
    /// The seed: it drives the policy's random numbers and, where a provider takes one, every call's sampling.
    pub seed: u64,
    /// Kind and strength of the sandbox, the hardware that was read back, Python and its packages.
    pub sandbox: SandboxReport,
    /// `blocked` or `open`, as it was read back or is of that kind.
    pub network: String,
    /// The data.
    pub data: DataHashes,
    /// SHA-256 of what was handed in.
    pub submission_sha256: Option<Sha256>,
}

/// The scaffold by its hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScaffoldHashes {
    /// Its id.
    pub id: String,
    /// SHA-256 of the resolved TOML.
    pub toml_sha256: Sha256,
    /// SHA-256 of each prompt template.
    pub prompts: BTreeMap<String, Sha256>,
}

/// A model as it was asked for, and as it answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelProvenance {
    /// As asked, `provider/name`.
    pub asked: String,
    /// As the provider named it in its answers; empty where it did not.
    pub served: BTreeSet<String>,
}

/// The data by their hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataHashes {
    /// Files of the public folder itself, by name.
    pub public: BTreeMap<String, FileHash>,
    /// Folders in it, which are told by their names.
    pub folders: Vec<String>,
    /// The answers, where they were there.
    pub answers: Option<FileHash>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of it; `null`: it is too large to be hashed at the end of each run.
    pub sha256: Option<Sha256>,
}

/// Writes the file of a run that has ended.
pub(super) fn write(
    run: &StoredRun,
    competition: &Competition,
    data: &Folders,
    sandbox: &SandboxReport,
    entries: &[Entry],
) -> Result<(), RunError> {
    let corrupt = |file| move |source| RunError::Corrupt { file, source };
    let config = std::fs::read(run.folder.config_path()).map_err(|source| FolderError {
        act: "read",
        path: run.folder.config_path(),
        source,
    })?;
    let network = sandbox.granted.as_ref().map_or(run.config.task.grants.network, |granted| granted.network);
    let provenance = Provenance {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("PODIUM_COMMIT").map(str::to_owned),
        sittings: programs(entries),
        identity: run.config.identity().map_err(corrupt("config.json"))?,
        config_sha256: Sha256::of(&config),
        limits: limits(run.config.limits, entries),
        scaffold: ScaffoldHashes {
            id: run.config.scaffold.id.clone(),
            toml_sha256: Sha256::of(run.config.scaffold.toml.as_bytes()),
            prompts: run
                .config
                .scaffold
                .prompts
                .iter()
                .map(|(name, text)| (name.clone(), Sha256::of(text.as_bytes())))
                .collect(),
        },
        description_sha256: Sha256::of(run.config.task.description.as_bytes()),
        models: models(&run.config.models, entries),
        overridden: run.config.overridden.clone(),
        seed: run.config.seed,
        sandbox: sandbox.clone(),
        network: if network { "open" } else { "blocked" }.to_owned(),
        data: hashes(competition, data),
        submission_sha256: super::summary::selected(entries).map(|(_, sha256)| sha256.clone()),
    };
    let json = serde_json::to_vec_pretty(&provenance).map_err(corrupt("provenance.json"))?;
    Ok(write_before(&run.folder.provenance_path(), &json)?)
}

fn programs(entries: &[Entry]) -> BTreeSet<String> {
    let program = |entry: &Entry| match &entry.record {
        Record::Started { program, .. } => Some(program.clone()),
        _ => None,
    };
    entries.iter().filter_map(program).collect()
}

fn limits(first: Limits, entries: &[Entry]) -> Limits {
    let raised = entries.iter().rev().find_map(|entry| match &entry.record {
        Record::Limits(limits) => Some(*limits),
        _ => None,
    });
    raised.unwrap_or(first)
}

fn models(asked: &BTreeMap<String, String>, entries: &[Entry]) -> BTreeMap<String, ModelProvenance> {
    let named = |(role, model): (&String, &String)| {
        (role.clone(), ModelProvenance { asked: model.clone(), served: BTreeSet::new() })
    };
    let mut models: BTreeMap<String, ModelProvenance> = asked.iter().map(named).collect();
    for entry in entries {
        if let Record::Result { call: Some(call), .. } = &entry.record
            && let (Some(model), Some(served)) = (models.get_mut(&call.role), &call.served)
        {
            model.served.insert(served.clone());
        }
    }
    models
}

fn hashes(competition: &Competition, data: &Folders) -> DataHashes {
    let mut found = DataHashes::default();
    let mut names: Vec<_> = std::fs::read_dir(&data.public).into_iter().flatten().flatten().collect();
    names.sort_by_key(std::fs::DirEntry::file_name);
    let mut left = HASHED;
    for entry in names {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A link may lead to a file of a lab's own store: what the agent reads is what counts.
        let Ok(facts) = std::fs::metadata(entry.path()) else { continue };
        if facts.is_dir() {
            found.folders.push(name);
        } else if facts.is_file() {
            let may = facts.len() <= LARGEST.min(left);
            left -= if may { facts.len() } else { 0 };
            let sha256 = may.then(|| hash(&entry.path())).flatten();
            found.public.insert(name, FileHash { bytes: facts.len(), sha256 });
        }
    }
    let answers = data.answers(competition);
    found.answers = std::fs::metadata(&answers).ok().filter(std::fs::Metadata::is_file).map(|facts| {
        let sha256 = (facts.len() <= LARGEST).then(|| hash(&answers)).flatten();
        FileHash { bytes: facts.len(), sha256 }
    });
    found
}

/// A file that cannot be read has no hash: the run has ended, and its report is worth more than this line of it.
fn hash(path: &Path) -> Option<Sha256> {
    hash_of(std::fs::File::open(path).ok()?, &mut std::io::sink()).ok()
}
