//! What the attack list is tried on here: a jail that runs every script warm, or fails.

#[path = "../shared/mod.rs"]
mod shared;

use std::time::Duration;

use podium_sandbox::{
    Environment, ExecutionFuture, Facts, Interpreter, Job, Sandbox, SandboxError, SandboxKind, SessionFuture,
    SessionJob, Settings, Strength, environment::default_cache, open,
};
use podium_types::execution::Program;

pub(crate) use shared::{Place, eventually, mark, run, skip, sleepers};

/// What is tried.
const KIND: &str = "warm";
const BASE: &str = include_str!("../../../../benchmark/environments/base.txt");
/// Makes a script one that may begin warm, and does nothing.
const FIT: &str = "if 0:\n    import numpy\n";

/// What the attack list is tried on, or a loud word on why there is none.
pub(crate) fn attacked() -> Option<Box<dyn Sandbox>> {
    let settings = Settings { warm: Some(Duration::MAX), ..Settings::default() };
    match open(SandboxKind::Jail, &settings) {
        Ok(jail) if jail.facts().strength == Strength::Full => Some(Box::new(Warm(jail))),
        Ok(_) => {
            skip("warm starts are for jails of full strength only");
            None
        }
        Err(error) => {
            skip(&format!("no jail on this machine: {error}"));
            None
        }
    }
}

/// A jail of which every script must begin warm.
struct Warm(Box<dyn Sandbox>);

impl Sandbox for Warm {
    fn facts(&self) -> &Facts {
        self.0.facts()
    }

    fn check(&self, job: &Job) -> Result<(), SandboxError> {
        self.0.check(job)
    }

    fn execute<'a>(&'a self, job: &'a Job) -> ExecutionFuture<'a> {
        Box::pin(async move {
            let mut job = job.clone();
            let Program::Python { code, .. } = &mut job.program else { return self.0.execute(&job).await };
            code.insert_str(0, FIT);
            let execution = self.0.execute(&job).await?;
            assert!(execution.warm, "began cold: {execution:?}");
            Ok(execution)
        })
    }

    /// A session has an interpreter of its own.
    fn open_session<'a>(&'a self, job: &'a SessionJob) -> SessionFuture<'a> {
        self.0.open_session(job)
    }
}

/// The pinned environment with its packages, where it is built: a copy of a server that has imported them. Else the
/// interpreter of the machine.
pub(crate) fn environment() -> Environment {
    let python = Interpreter::find(None).unwrap();
    let found = default_cache().and_then(|cache| Environment::find(&cache, "base", BASE, &python));
    found.unwrap_or_else(|| Environment::of_user(&python.path).unwrap())
}
