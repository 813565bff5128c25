//! Scaffolds: the agent programs, and the only door through which they touch the world.
//!
//! A strategy is plain sequential async code over a [`RunContext`]. It cannot name a process, a socket, a clock or
//! an answers file: this package depends on nothing that could, and its `clippy.toml` bans the rest of `std`.
//! The context journals each effect with its result before the strategy sees it; resume, replay, cost accounting,
//! progress and the viewer all come from that one mechanism.
//!
//! - [`context`]: the `RunContext` trait, the task, the budget
//! - [`effect`]: the effects, and what each returns
//! - [`node`]: solutions as nodes of a search tree
//! - [`step`]: steps of a loop, for people who read a run
//! - [`strategy`]: the trait that agent programs implement
//! - [`blueprint`]: what a strategy makes of its tables in a scaffold file; [`registry`]: the list of strategies
//! - [`prelude`]: all that code of a user's own is written with
//! - [`spec`], [`prompts`]: a scaffold as data; [`common`]: what of it every strategy gets
//! - [`answer`]: how an answer was read
//! - [`scaffold`]: all together, ready to run
//! - [`tree_search`]: the strategy behind AIDE and its kin; [`research_loop`]: the one behind MLAB; [`codeact`]: an agent
//!   that calls tools; [`command`]: an agent of the user's own, any program; [`script`]: one program and no model, for
//!   baselines

pub mod answer;
mod argv;
pub mod blueprint;
pub mod codeact;
pub mod command;
pub mod common;
pub mod context;
pub mod effect;
pub mod node;
mod parts;
pub mod prelude;
pub mod prompts;
pub mod registry;
pub mod research_loop;
mod samples;
pub mod scaffold;
pub mod script;
pub mod spec;
pub mod step;
pub mod strategy;
pub mod tree_search;

pub use answer::{Action, AnswerStatus, ParsedAnswer};
pub use blueprint::{Blueprint, PromptUse, RoleUse};
pub use common::Common;
pub use context::{Acted, Budget, ContextError, FoldFile, HeldOut, RunContext, Task, Validation};
pub use effect::{Effect, EffectResult};
pub use node::{NodeRecord, Signal};
pub use parts::Part;
pub use registry::Registry;
pub use samples::{Sample, sample_task};
pub use scaffold::Scaffold;
pub use spec::SpecError;
pub use step::StepRecord;
pub use strategy::{Finished, Quiet, Strategy, StrategyError};
