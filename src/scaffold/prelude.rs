//! Everything that a policy, an operator, an action, a tool or a whole strategy of a user's own is written with:
//! `use podium_scaffold::prelude::*;`. `examples/strategies/` has one of each.
//!
//! Unstable: names may change with any version, and the version stands in each run's folder. What does not change is the
//! promise behind them: code that reaches the world only through what it is handed here resumes and replays exactly.

pub use std::sync::Arc;

pub use futures_util::future::LocalBoxFuture;
pub use podium_types::chat::{ChatError, ChatRequest, ChatResult, Message, Speaker};
pub use podium_types::execution::{Collected, Ended, Execution, ExecutionRequest, Program, Workspace};
pub use podium_types::files::{FileEntry, FileFault, FilesAnswer, FilesRequest};
pub use podium_types::key::EffectKey;
pub use podium_types::log::{Line, LineKind};
pub use podium_types::number::Number;
pub use podium_types::rng::Rng;
pub use podium_types::sha256::Sha256;
pub use podium_types::verdict::Verdict;

pub use crate::answer::{AnswerStatus, ParsedAnswer};
pub use crate::blueprint::{Blueprint, PromptUse, RoleUse};
pub use crate::codeact::arguments::Schema;
pub use crate::codeact::tools::{Called, Hands, Outcome as ToolOutcome, Tool, read as read_arguments};
pub use crate::common::Common;
pub use crate::context::{Acted, Budget, Direction, RunContext, Task};
pub use crate::effect::{PreviewRequest, python};
pub use crate::node::NodeRecord;
pub use crate::prompts::variables::{BENCHMARK, BenchmarkVariables};
pub use crate::registry::Registry;
pub use crate::research_loop::Bench as ActionBench;
pub use crate::research_loop::action::{
    Action, ActionFuture, Outcome as ActionOutcome, number as number_of, text as text_of,
};
pub use crate::research_loop::answer::Input;
pub use crate::spec::{Head, SpecError, check};
pub use crate::step::StepRecord;
pub use crate::strategy::{Finished, Strategy, StrategyError, StrategyFuture};
pub use crate::tree_search::answer::parse as parse_program;
pub use crate::tree_search::operators::{
    Asks, Bench as OperatorBench, Operator, SOLUTION, WriteSpec, Written,
};
pub use crate::tree_search::policy::{Ask, OperatorUse, Plan, Policy, Told};
pub use crate::tree_search::view::{Expansion, View, value as metric_of};
