//! The operator `ablate`: before a program is improved, another program finds out which of its parts matters most.
//!
//! The idea is MLE-STAR's (Nam et al. 2025, arXiv:2506.15692, section 3.2). A first prompt asks for a study: a script
//! that switches parts of the parent off, one at a time, and prints the metric of each variant. It is run, and a second
//! prompt shows what it printed and asks for one change of the part that matters most. A study that fails is told as
//! it is, and the improvement is written all the same.

use futures_util::future::LocalBoxFuture;
use podium_types::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::prompts::variables::RunVariables;
use crate::strategy::StrategyError;
use crate::tree_search::operators::bench::Bench;
use crate::tree_search::operators::write::{Call, WriteSpec, write};
use crate::tree_search::operators::{Asks, Operator, Written};
use crate::tree_search::variables::StudyVariables;

/// The table of the first prompt, and its name in effect keys.
const STUDY: &str = "study";

/// The file a study runs as: beside the solution in the run folder, it does not take its place.
const STUDY_FILE: &str = "study.py";

/// The tables of this operator: two prompts of the kind `write`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AblateSpec {
    /// Asks for the study.
    pub study: WriteSpec,
    /// Asks for the improvement; `study` is set in its template.
    pub write: WriteSpec,
}

impl Operator for AblateSpec {
    fn asks(&self) -> Vec<Asks<'_>> {
        vec![Asks { table: STUDY, write: &self.study }, Asks { table: "write", write: &self.write }]
    }

    fn apply<'a>(&'a self, bench: &'a Bench<'a>) -> LocalBoxFuture<'a, Result<Written, StrategyError>> {
        Box::pin(async move {
            let study = study(&self.study, bench).await?;
            let name = &bench.job.expansion.operator;
            write(&self.write, bench, Call { name, memory: bench.memory("write"), study: Some(&study) }).await
        })
    }
}

/// Has the study written and runs it. What it hands in is not looked at.
async fn study(spec: &WriteSpec, bench: &Bench<'_>) -> Result<StudyVariables, StrategyError> {
    let call = Call { name: STUDY, memory: bench.memory(STUDY), study: None };
    let Written { plan, code, failure } = write(spec, bench, call).await?;
    if failure.is_some() {
        return Ok(StudyVariables { plan, run: None });
    }
    let execution = bench.run(STUDY_FILE, &code).await?;
    let verdict = Verdict::Missing { found: "nothing: a study hands nothing in".to_owned() };
    let run = RunVariables::new(&execution, &verdict, &bench.search.common.head.output);
    Ok(StudyVariables { plan, run: Some(run) })
}
