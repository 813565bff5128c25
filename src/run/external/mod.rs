//! Strategies in other languages: a program that Podium starts in the sandbox and answers over a pipe.
//!
//! The scaffold package can name no process, so the seam is here. [`Agent`] is a [`Strategy`](podium_scaffold::Strategy)
//! like any other: it turns each request of the program into one effect of the run context, under the key that the request
//! carries, and each released result into one answer. The journal, resume, replay, budgets and the sandbox are the run's,
//! and know nothing of programs. What is new for the driver is one thing: a strategy may be thinking outside
//! ([`Quiet`](podium_scaffold::Quiet)). A recorded answer is then withheld until the program has asked for it, and a
//! program that asks for something else ends the run with the first request that differed.
//!
//! The program is nobody's friend: it runs in a jail with its own files, read-only, and an empty folder, sees neither data
//! nor answers, and what it says is bounded in size, number and time. The specification for its authors is
//! `docs/protocol.md`; `docs/protocol.schema.json` is checked against this code.
//!
//! - [`spec`]: the tables `[external]` and `[settings]`; [`files`]: the program's files
//! - [`program`]: the program in its sandbox; `wire`: lines in, lines out
//! - [`message`]: JSON-RPC; `params`, [`calls`]: what is asked; `answers`: what comes of it; `keys`: under which name
//! - `talk`: all that is outstanding; [`agent`]: the strategy

pub mod agent;
mod answers;
pub mod calls;
pub mod files;
mod keys;
pub mod message;
mod params;
pub mod program;
pub mod spec;
mod talk;
#[cfg(test)]
mod tests;
mod wire;

use podium_scaffold::Registry;

pub use agent::Agent;
pub use files::FilesError;
pub use program::Stage;
pub use spec::ExternalSpec;

/// The name of the strategy in scaffold files.
pub const STRATEGY: &str = "external";

/// With strategies in other languages.
pub fn with(registry: Registry) -> Registry {
    registry.with::<ExternalSpec>(STRATEGY)
}
