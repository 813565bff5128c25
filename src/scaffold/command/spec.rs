//! The tables of a scaffold that runs a program of the user's own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::spec::Duration;

/// The tables, beside the head that all scaffolds have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSpec {
    /// The program, and what it gets.
    pub agent: ProgramSpec,
    /// The templates, paths below `prompts/`.
    pub prompts: TaskPromptSpec,
}

/// The program, and what it gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    /// The program and its arguments; no shell reads them.
    pub command: Vec<String>,
    /// The roles whose models it may ask, by these names; the first is the one it is told to use.
    pub roles: Vec<String>,
    /// Other names for them, `gpt-4o=code`: for programs whose models' names cannot be set.
    pub aliases: Vec<String>,
    /// Variables of its environment, `NAME=VALUE`, besides those that say where the models are. They are stored with the
    /// run: no place for secrets.
    pub env: Vec<String>,
    /// The file of its workspace that tells it its task.
    pub task_file: String,
    /// The largest request that it may make, in bytes.
    pub max_request_bytes: u64,
    /// How long it has to end by itself once a call was refused for good and no later one is answered.
    pub grace: Duration,
}

/// The templates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskPromptSpec {
    /// The task, which stands behind the benchmark's rules in the file.
    pub task: String,
}

impl ProgramSpec {
    /// The names by which a model may be asked for, and the role behind each.
    pub fn models(&self) -> BTreeMap<String, String> {
        let own = self.roles.iter().map(|role| (role.clone(), role.clone()));
        let others = self.aliases.iter().filter_map(|pair| pair.rsplit_once('='));
        own.chain(others.map(|(name, role)| (name.to_owned(), role.to_owned()))).collect()
    }

    /// The variables of its environment that the scaffold names.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let pairs = self.env.iter().filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}
