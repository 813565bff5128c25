//! Podium runs LLM agents on machine-learning competitions and scores them as Kaggle would.
//!
//! The layers, each knowing only those below it:
//!
//! ```text
//! cli ──▶ view ──▶ experiment ──▶ run ──▶ { scaffold, competition, llm, sandbox, report }      competition ──▶ metric
//! ```
//! `provision` brings competitions from Kaggle (`download`, a package) to prepared data (`competition`); `cli` alone uses it.
//! `scaffold`, `competition`, `llm`, `sandbox`, `report` and `metric` are packages of their own and know nothing of each other;
//! the plain types that cross them are in `types`.

pub mod assets;
pub mod cli;
pub mod experiment;
pub mod provision;
pub mod run;
pub mod view;

pub use podium_metric as metric;
