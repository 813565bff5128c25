//! The resolved configuration of a run: all that decides what it does, and nothing that only says where.
//!
//! Its hash is the run's identity. Resume and replay read it instead of the assets, so a run is not changed by a
//! later edit of a scaffold, a prompt or a price.

use std::collections::BTreeMap;

use podium_sandbox::{SandboxKind, Strength};
use podium_scaffold::Task;
use podium_types::canonical;
use serde::{Deserialize, Serialize};

use crate::run::error::RunError;
use crate::run::limits::Limits;
use crate::run::models::{ModelTexts, OwnModels};
use crate::run::recording::RecordingPlace;
use crate::run::wording::Wording;

/// Version of this format.
pub const FORMAT: u32 = 1;

/// Everything that decides what a run does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// Version of this format.
    pub format: u32,
    /// Version of the program that made it.
    pub program: String,
    /// The scaffold.
    pub scaffold: ScaffoldConfig,
    /// Files of the competition's catalog entry, by asset name.
    pub competition: BTreeMap<String, String>,
    /// What the strategy knows of the competition and of its sandbox.
    pub task: Task,
    /// The model of each role.
    pub models: BTreeMap<String, String>,
    /// The catalog of models: prices, windows, capabilities.
    pub model_catalog: String,
    /// The user's own file of models over it, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_models: Option<OwnModels>,
    /// The run's seed: it drives the policy's random numbers and every call's sampling seed.
    pub seed: u64,
    /// Limits at the start.
    pub limits: Limits,
    /// The sandbox asked for.
    pub sandbox: SandboxConfig,
    /// Assets that were overridden from a folder.
    pub overridden: Vec<String>,
    /// Which description the agent is shown; the text itself is in `task`.
    #[serde(default, skip_serializing_if = "Wording::is_original")]
    pub description: Wording,
    /// What of the data the overview shows to a model.
    #[serde(default, skip_serializing_if = "PreviewMode::is_full")]
    pub preview: PreviewMode,
}

/// What of the data the overview shows to a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreviewMode {
    /// Names, types, ranges and example values.
    #[default]
    Full,
    /// Names and types.
    Schema,
}

impl PreviewMode {
    /// As the command line spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Schema => "schema",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    const fn is_full(&self) -> bool {
        matches!(self, Self::Full)
    }
}

/// A scaffold with all its numbers and texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScaffoldConfig {
    /// Its id.
    pub id: String,
    /// The resolved TOML, `--set` applied.
    pub toml: String,
    /// Its prompt templates.
    pub prompts: BTreeMap<String, String>,
    /// The files of its own program, where its strategy is one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// The sandbox a run asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxConfig {
    /// `jail`, `docker` or `process`.
    pub kind: SandboxKind,
    /// Refuse anything weaker.
    pub require: Option<Strength>,
    /// Memory of an execution, in bytes.
    pub memory_bytes: u64,
    /// Processors of an execution.
    pub cpus: usize,
    /// The Python environment: a profile's name, `user`, or `image`.
    pub environment: String,
    /// The profile's pinned requirements; empty for a user's own environment.
    pub requirements: String,
    /// Graphics processors of an execution.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gpus: usize,
    /// Memory file systems and disk.
    #[serde(default, skip_serializing_if = "Allowances::is_default")]
    pub allowances: Allowances,
    /// Names of the read-only folders; where they are is the place's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<String>,
    /// Which scripts begin in a copy of an interpreter with its imports done, where the sandbox can.
    #[serde(default, skip_serializing_if = "WarmStarts::is_off")]
    pub warm: WarmStarts,
    /// The image of the docker kind, where it is not Podium's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The runtime of the docker kind, where it is not the engine's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The machine by name that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What this machine has less of than was asked for, a fragment each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

/// Which scripts may begin warm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmStarts {
    /// None.
    #[default]
    Off,
    /// Those with a time limit of at most [`podium_sandbox::WARM`].
    Short,
    /// All.
    All,
}

impl WarmStarts {
    /// For people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Short => "scripts of at most 10 minutes",
            Self::All => "all scripts",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    const fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }
}

impl SandboxConfig {
    /// An image is named for containers, so a Python that is named beside it is the image's.
    pub fn has_own_image(&self) -> bool {
        self.kind == SandboxKind::Docker && self.image.is_some()
    }
}

/// Sizes of what an execution writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowances {
    /// `/dev/shm`, in bytes.
    pub shm_bytes: u64,
    /// `/tmp`, in bytes.
    pub tmp_bytes: u64,
    /// The workspace, in bytes.
    pub disk_bytes: u64,
}

impl Default for Allowances {
    fn default() -> Self {
        let limits = podium_sandbox::Limits::default();
        Self { shm_bytes: limits.shm_bytes, tmp_bytes: limits.tmp_bytes, disk_bytes: limits.workspace_bytes }
    }
}

impl Allowances {
    /// What runs had before they were told apart.
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Place {
    /// A run's prompts go where they went before, or nowhere.
    ///
    /// # Errors
    /// When the service of a model is elsewhere now.
    pub fn same_services(&self, now: &BTreeMap<String, String>) -> Result<(), RunError> {
        for (model, before) in &self.endpoints {
            if let Some(now) = now.get(model).filter(|now| *now != before) {
                let (model, before, now) = (model.clone(), before.clone(), now.clone());
                return Err(RunError::Moved { model, before, now });
            }
        }
        Ok(())
    }
}

impl RunConfig {
    /// What the run knows of models.
    pub fn model_texts(&self) -> ModelTexts {
        ModelTexts { shipped: self.model_catalog.clone(), own: self.own_models.clone() }
    }

    /// SHA-256 of the sorted-key JSON of all that decides what the run does. What only says with what it was made
    /// (the program's version, the catalog of models, packages, the machine's grants, where the description came from) is stored beside it and leaves
    /// the identity alone: a price that was corrected does not make another run.
    ///
    /// # Errors
    /// Never for a configuration that was read or resolved here.
    pub fn identity(&self) -> Result<String, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        if let Some(map) = value.as_object_mut() {
            for provenance in ["program", "model_catalog", "own_models", "overridden", "description"] {
                map.remove(provenance);
            }
            if let Some(task) = map.get_mut("task").and_then(serde_json::Value::as_object_mut) {
                task.remove("packages");
                task.remove("grants");
                task.remove("submission_check");
            }
            if let Some(sandbox) = map.get_mut("sandbox").and_then(serde_json::Value::as_object_mut) {
                // Results are the same either way.
                sandbox.remove("cut");
                sandbox.remove("warm");
            }
        }
        canonical::hash(&value)
    }
}

/// Where things are on this machine. Not part of a run's identity; a resume may find them elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The folder that holds competitions' data.
    pub data_dir: std::path::PathBuf,
    /// The folder of assets, where there was one.
    pub assets: Option<std::path::PathBuf>,
    /// The interpreter of a user's own environment.
    pub python: Option<std::path::PathBuf>,
    /// The user's own file of models, where there was one: what of an experiment has not begun reads it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<std::path::PathBuf>,
    /// The read-only folders that are mounted by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mounts: BTreeMap<String, std::path::PathBuf>,
    /// The address of each model's service. A resume must not send the run's prompts to another one unasked.
    #[serde(default)]
    pub endpoints: BTreeMap<String, String>,
    /// Where the recordings are that answer, by the model part of their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recordings: BTreeMap<String, RecordingPlace>,
}
