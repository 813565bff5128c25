//! Execute Script: a Python script of the workspace, run there. Its exit code and both its outputs are told, also when it
//! fails; a crash of the harness that cut it is told, and it is not run again.

use super::{Action, ActionFuture, Outcome, outputs, path};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::{Bench, plain};

#[derive(Debug)]
pub(super) struct ExecuteScript;

/// To see that a script is there needs no more of it.
const BEGINNING: u64 = 4096;

impl Action for ExecuteScript {
    fn name(&self) -> &'static str {
        "Execute Script"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["script_name"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let script = path(input, "script_name");
            if let Err(fault) = bench.read(&script, BEGINNING, true).await? {
                return bench.fault(self.name(), &fault).map(Outcome::Observation);
            }
            // Never an option of the interpreter, whatever the file is called.
            let argv = vec!["python".to_owned(), "-u".to_owned(), format!("./{}", plain(&script))];
            let ran = bench.run(argv).await?;
            outputs::told(bench, &script, &ran).await
        })
    }
}
