//! An operator: two programs are written for one node, both are tried, and the first that ends well is the node's.
//!
//! In a scaffold made from `aide`:
//!
//! ```toml
//! [operators.draft]
//! kind = "twice"
//! write = { prompt = "aide/draft.md.tera", role = "code", tries = 3, data_preview = true, packages = true }
//! ```

use podium_scaffold::prelude::*;
use serde::{Deserialize, Serialize};

/// The tables of the operator: one prompt, asked twice.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Twice {
    write: WriteSpec,
}

impl Operator for Twice {
    fn asks(&self) -> Vec<Asks<'_>> {
        vec![Asks { table: "write", write: &self.write }]
    }

    fn apply<'a>(
        &'a self,
        bench: &'a OperatorBench<'a>,
    ) -> LocalBoxFuture<'a, Result<Written, StrategyError>> {
        Box::pin(async move {
            let mut last = Written::default();
            for name in ["first", "second"] {
                // The name makes the key of the call, so each question of a node needs its own.
                last = bench.write(&Asks { table: "write", write: &self.write }, name).await?;
                if last.failure.is_some() {
                    continue;
                }
                let tried = bench.run("trial.py", &last.code).await?;
                if tried.ended == Ended::Exit(0) && matches!(tried.submission, Collected::File { .. }) {
                    break;
                }
            }
            Ok(last)
        })
    }
}
