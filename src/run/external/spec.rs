//! The tables of a scaffold file whose strategy is `external`: which program it is, what it is given, and how long it may
//! be silent. `[settings]` is the program's own and is handed to it as it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::Arc;

use podium_scaffold::spec::check::{at_least_one, at_most, invalid};
use podium_scaffold::spec::{Duration, Head, SpecError};
use podium_scaffold::strategy::StrategyFuture;
use podium_scaffold::{Blueprint, Common, RoleUse, RunContext, Scaffold, Strategy, StrategyError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::STRATEGY;

/// More executions than this at the same time are another program's business.
const MOST_EXECUTIONS: u64 = 64;
/// A program has so many files at most.
const MOST_FILES: usize = 64;
/// An interpreter needs about this much to start.
const LEAST_MEMORY_MIB: u64 = 64;
/// A program that is a few threads and children.
const LEAST_PROCESSES: u64 = 8;
/// No strategy has more.
const MOST_PROCESSES: u64 = 4096;

/// The tables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExternalSpec {
    /// The program.
    pub external: External,
    /// What it is told as it stands.
    #[serde(default)]
    pub settings: BTreeMap<String, Value>,
}

/// A program of a scaffold's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct External {
    /// Program and arguments; it is started in the folder of its files.
    pub command: Vec<String>,
    /// Its files, by their paths from the folder of the scaffold file.
    pub files: Vec<String>,
    /// The roles whose models it asks.
    pub roles: Vec<String>,
    /// Executions that it may have in work at the same time.
    pub executions: u32,
    /// How long it may say nothing while nothing that it asked for is outstanding.
    pub silence: Duration,
    /// Memory of all its processes together, in MiB.
    pub memory_mib: u64,
    /// Its processes and threads at one time.
    pub processes: u64,
}

impl ExternalSpec {
    /// The tables of `scaffold`, where its strategy is such a program.
    pub fn of(scaffold: &Scaffold) -> Option<Self> {
        if scaffold.head().strategy != STRATEGY {
            return None;
        }
        // What was read from there reads back.
        serde_json::from_value(scaffold.spec().clone()).ok()
    }
}

impl Blueprint for ExternalSpec {
    fn check(&self, head: &Head) -> Result<(), SpecError> {
        let External { command, files, roles, executions, silence, memory_mib, processes } = &self.external;
        if command.first().is_none_or(String::is_empty) || command.iter().any(|word| word.contains('\0')) {
            return Err(invalid("external.command", "must be a program and its arguments"));
        }
        at_most("external.files", files.len() as u64, MOST_FILES as u64)?;
        for file in files {
            if !is_inside(file) {
                let message = format!("`{file}` is no path below the scaffold file's folder");
                return Err(invalid("external.files", &message));
            }
        }
        if files.iter().collect::<BTreeSet<_>>().len() < files.len() {
            return Err(invalid("external.files", "names a file twice"));
        }
        if let Some(role) = head.models.keys().find(|role| !roles.contains(role)) {
            return Err(invalid("external.roles", &format!("lacks `{role}`, which has a table in [models]")));
        }
        at_least_one("external.executions", u64::from(*executions))?;
        at_most("external.executions", u64::from(*executions), MOST_EXECUTIONS)?;
        at_least_one("external.silence", silence.millis())?;
        if *memory_mib < LEAST_MEMORY_MIB {
            let message = format!("must be at least {LEAST_MEMORY_MIB}");
            return Err(invalid("external.memory_mib", &message));
        }
        if !(LEAST_PROCESSES..=MOST_PROCESSES).contains(processes) {
            let message = format!("must be from {LEAST_PROCESSES} to {MOST_PROCESSES}");
            return Err(invalid("external.processes", &message));
        }
        Ok(())
    }

    fn roles(&self) -> Vec<RoleUse<'_>> {
        let path = |place| format!("external.roles.{}", place + 1);
        let roles = self.external.roles.iter().enumerate();
        roles.map(|(place, name)| RoleUse { path: path(place), name }).collect()
    }

    fn composition(&self) -> Vec<(String, String)> {
        let command = self.external.command.join(" ");
        vec![("program".to_owned(), format!("{command}, in the sandbox (docs/protocol.md)"))]
    }

    fn parallel_executions(&self) -> u32 {
        self.external.executions
    }

    fn strategy(self: Arc<Self>, _: Common) -> Box<dyn Strategy> {
        Box::new(Unstarted)
    }
}

/// A path that leads to something below where it begins.
pub(super) fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_))) && !path.contains('\0')
}

/// Where there is no sandbox there is no program.
struct Unstarted;

impl Strategy for Unstarted {
    fn run<'a>(&'a self, _: &'a dyn RunContext) -> StrategyFuture<'a> {
        let message = "runs in a run only".to_owned();
        Box::pin(std::future::ready(Err(StrategyError::Program(message))))
    }
}
