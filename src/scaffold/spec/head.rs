//! The head of a scaffold file: what every scaffold has, whatever its strategy. The strategy's own tables stand beside
//! it in the same file and are read by the strategy (see [`Blueprint`](crate::Blueprint)).
//!
//! Every field that changes behaviour is required, so each number has one home; `Option` means "none", never "some
//! default".

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::spec::{Duration, ValidationSpec};

/// The keys that every scaffold file has. Others are the strategy's, or unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Name of the file without its ending.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// What it does, in one sentence.
    pub summary: String,
    /// The Rust code behind it, a name in the [`Registry`](crate::Registry).
    pub strategy: String,
    /// Version of this composition; raised when a change makes old runs not comparable.
    pub version: u32,
    /// Limits of a run, unless the command line says otherwise.
    pub limits: Limits,
    /// Settings of the models, by role.
    pub models: BTreeMap<String, ModelSettings>,
    /// The overview of the data in prompts.
    pub data_preview: DataPreviewSpec,
    /// How execution output is cut for prompts.
    pub output: OutputSpec,
    /// The part of the prompts that all scaffolds share.
    pub benchmark: BenchmarkSpec,
    /// Training labels that the harness keeps to judge candidates by.
    #[serde(default)]
    pub validation: ValidationSpec,
}

/// Limits of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Steps: nodes of a tree search, turns of a loop.
    pub steps: u32,
    /// Run time.
    pub time_limit: Duration,
    /// Time of one execution.
    pub execution_timeout: Duration,
}

/// Settings of the model in one role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Sampling temperature; none: the model's own.
    pub temperature: Option<f64>,
    /// Output limit in tokens; none: the model's own.
    pub max_output_tokens: Option<u32>,
}

/// The overview of the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataPreviewSpec {
    /// Longest text in characters.
    pub max_chars: usize,
}

/// How execution output is cut for prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSpec {
    /// Output up to this many characters is shown whole.
    pub max_chars: usize,
    /// Characters kept of the beginning of a longer one.
    pub head_chars: usize,
    /// Characters kept of its end.
    pub tail_chars: usize,
}

/// The part of the prompts that all scaffolds share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkSpec {
    /// Template of the benchmark's rules, a path below `prompts/`.
    pub prompt: String,
    /// Packages of the Python environment named in prompts, the most useful first.
    pub max_packages: usize,
    /// Programs may have a submission's format checked while they run, where the sandbox can do that.
    #[serde(default = "on")]
    pub submission_check: bool,
}

const fn on() -> bool {
    true
}
