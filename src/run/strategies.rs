//! The code that scaffold files may name in this program: what is shipped, what a program of the user's own brings,
//! and strategies in other languages.
//!
//! It is a property of the program, not of a run: compiled in, handed over once before the first scaffold is read, and
//! never changed. A run folder holds the scaffold's file and prompts; the code behind them is the program's.

use std::sync::OnceLock;

use podium_scaffold::Registry;

use crate::run::external;

static STRATEGIES: OnceLock<Registry> = OnceLock::new();

/// Hands over the code of this program; of several calls the first counts.
pub fn install(registry: Registry) {
    let _ = STRATEGIES.set(external::with(registry));
}

/// The code of this program; what is shipped, where none was handed over.
pub fn registry() -> &'static Registry {
    STRATEGIES.get_or_init(|| external::with(Registry::shipped()))
}
