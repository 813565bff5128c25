//! Warm starts: nothing may tell them from cold ones but the time they take.

mod ahead;
mod attacks;
mod equality;
mod killed;
mod leftovers;
mod servers;

use std::time::Duration;

use podium_sandbox::{
    Environment, Interpreter, Job, Sandbox, Settings, Strength, WARM, environment::default_cache,
};
use podium_types::execution::{Execution, Program};

use crate::{
    common::{Place, jail_with, skip},
    shared_ahead::Ahead,
};

const BASE: &str = include_str!("../../../../../benchmark/environments/base.txt");

/// The pinned environment with its packages, where it is built, or a loud word.
pub(crate) fn base() -> Option<Environment> {
    let python = Interpreter::find(None).unwrap();
    let found = default_cache().and_then(|cache| Environment::find(&cache, "base", BASE, &python));
    if found.is_none() {
        skip("the environment `base` is not built: `podium environments build base`");
    }
    found
}

/// A cold and a warm jail, or a loud word.
pub(crate) fn both() -> Option<(Box<dyn Sandbox>, Box<dyn Sandbox>)> {
    let warm = jail_with(&Settings { warm: Some(WARM), ..Settings::default() })?;
    if warm.facts().strength != Strength::Full {
        skip("warm starts are for jails of full strength only");
        return None;
    }
    Some((jail_with(&Settings::default())?, warm))
}

/// A warm jail that begins every script in a jail that was made ahead, or fails; or a loud word.
pub(crate) fn ahead() -> Option<Ahead> {
    let (_, warm) = both()?;
    Some(Ahead(warm))
}

/// A job of a script.
pub(crate) fn job(place: &Place, environment: &Environment, code: &str) -> Job {
    let program = Program::Python { file: "solution.py".to_owned(), code: code.to_owned() };
    let mut job = Job::new(program, place.workspace(), environment);
    job.timeout = Duration::from_mins(2);
    job
}

/// Runs a script in a fresh workspace.
pub(crate) async fn run(sandbox: &dyn Sandbox, environment: &Environment, code: &str) -> Execution {
    let place = Place::new();
    sandbox.execute(&job(&place, environment, code)).await.unwrap()
}
