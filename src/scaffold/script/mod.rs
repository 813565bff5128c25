//! The strategy that asks no model: it runs one program that stands in its scaffold file and hands in what that wrote.
//!
//! Baselines are made of it. A run has one step and one node; its validation metric is unknown.
//!
//! Must not know: which competition it runs on. The program finds what it needs below `./input`.

use std::sync::Arc;

use podium_types::execution::{Collected, Ended, Execution};
use podium_types::key::EffectKey;
use podium_types::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::blueprint::{Blueprint, RoleUse};
use crate::common::Common;
use crate::context::RunContext;
use crate::effect::python;
use crate::node::NodeRecord;
use crate::spec::check::invalid;
use crate::spec::{Head, SpecError};
use crate::strategy::{Finished, Strategy, StrategyError, StrategyFuture};

/// The tables of a scaffold file whose strategy is `script`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptSpec {
    /// The program.
    pub script: Script,
}

/// A program of a scaffold's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Its file name in the workspace.
    pub file: String,
    /// The Python source.
    pub code: String,
}

impl Blueprint for ScriptSpec {
    fn check(&self, _: &Head) -> Result<(), SpecError> {
        if self.script.file.is_empty() || self.script.file.contains('/') {
            return Err(invalid("script.file", "must be the name of a file"));
        }
        if self.script.code.trim().is_empty() {
            return Err(invalid("script.code", "must be a program"));
        }
        Ok(())
    }

    fn roles(&self) -> Vec<RoleUse<'_>> {
        Vec::new()
    }

    fn composition(&self) -> Vec<(String, String)> {
        vec![("program".to_owned(), format!("{} of its own file, no model", self.script.file))]
    }

    fn strategy(self: Arc<Self>, _: Common) -> Box<dyn Strategy> {
        Box::new(RunScript { spec: self })
    }
}

/// The strategy.
struct RunScript {
    spec: Arc<ScriptSpec>,
}

/// The only node.
const NODE: u32 = 0;

fn key(operator: &str) -> EffectKey {
    EffectKey::node(NODE, operator, 0)
}

impl RunScript {
    async fn run_once(&self, context: &dyn RunContext) -> Result<Finished, StrategyError> {
        context.begin_step(key("begin")).await?;
        let Script { file, code } = self.spec.script.clone();
        let request = python(&file, code, context.budget().next_execution_ms());
        let execution = context.execute(key("execute"), request).await?;
        let verdict = match &execution.submission {
            Collected::File { sha256, .. } => context.validate(key("validate"), sha256).await?,
            Collected::Missing { found } => Verdict::Missing { found: found.clone() },
        };
        let record = self.record(&execution, verdict);
        let good = record.is_good();
        context.node(key("record"), record).await?;
        if let Collected::File { sha256, .. } = &execution.submission
            && good
        {
            context.select_final(key("select"), Some(NODE), sha256).await?;
        }
        Ok(Finished { reason: "the program was run".to_owned() })
    }

    fn record(&self, execution: &Execution, submission: Verdict) -> NodeRecord {
        let buggy = match (&execution.ended, &submission) {
            (Ended::Exit(0), Verdict::Valid { .. }) => None,
            (Ended::Exit(0), Verdict::Invalid { reason }) => Some(reason.clone()),
            (Ended::Exit(0), Verdict::Missing { found }) => {
                Some(format!("no submission: there was {found} at its path"))
            }
            (ended, _) => Some(ended.to_string()),
        };
        NodeRecord {
            plan: "The program of the scaffold's own file.".to_owned(),
            buggy,
            submission,
            execution_ms: execution.wall_ms,
            reason: "the scaffold's only step".to_owned(),
            ..NodeRecord::begun(NODE, "script").with_code(self.spec.script.code.clone())
        }
    }
}

impl Strategy for RunScript {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(self.run_once(context))
    }
}
