//! What the attack list is tried on here: a jail that begins every script ahead, or fails.

#[path = "../shared/ahead.rs"]
mod ahead;
#[path = "../shared/bare.rs"]
mod bare;
#[path = "../shared/mod.rs"]
mod shared;

use std::time::Duration;

use podium_sandbox::{Environment, Sandbox, SandboxKind, Settings, Strength, open};

pub(crate) use shared::{Place, eventually, mark, run, skip, sleepers};

/// What is tried.
const KIND: &str = "ahead";

/// What the attack list is tried on, or a loud word on why there is none.
pub(crate) fn attacked() -> Option<Box<dyn Sandbox>> {
    let settings = Settings { warm: Some(Duration::MAX), ..Settings::default() };
    match open(SandboxKind::Jail, &settings) {
        Ok(jail) if jail.facts().strength == Strength::Full => Some(Box::new(ahead::Ahead(jail))),
        Ok(_) => {
            skip("jails are made ahead at full strength only");
            None
        }
        Err(error) => {
            skip(&format!("no jail on this machine: {error}"));
            None
        }
    }
}

pub(crate) fn environment() -> Environment {
    Environment::of_user(bare::bare_python()).unwrap()
}
