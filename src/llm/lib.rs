//! The client of language models that all scaffolds share, reached through the run context.
//!
//! It takes the plain [`ChatRequest`](podium_types::chat::ChatRequest) and returns a whole, checked
//! [`ChatAnswer`](podium_types::chat::ChatAnswer) or an [`Error`] that says who can act on it. It knows no journal,
//! no budget and no competition: the run is told through [`Ledger`] and [`Observer`].
//!
//! One chat passes these layers, from the outside in:
//!
//! 1. turns (`chat`): calls are read out of the text of a model without tools, and a demanded one that is missing is
//!    asked for again (`chat/tools`); the document of an output schema is checked, and repaired once;
//! 2. tries (`chat/tries`): what the model cannot take is left out (`chat/shape`), the prompt is held against the window,
//!    a lane of the service is passed ([`Pacing`]), the ledger reserves the worst case, a failure is waited out
//!    (`chat/delay`) or ends the chat;
//! 3. `provider`: one try, sent once: `provider/openai` over HTTP, or the stand-in model of [`playbook`].
//!
//! A [`Recording`] of a run answers without any of this.
//!
//! Budgets lie inside retries because every try may be billed; the window check lies inside downgrades because
//! leaving a feature out changes the prompt. The lane lies between them: what is never sent takes no place, and what
//! only waits sets nothing aside.
//!
//! Beside them: [`Catalog`] (what is known of models), [`Settings`], [`tokens`] (estimates and exact counts) and
//! [`Secret`] (keys).

mod catalog;
mod catalog_check;
mod catalog_error;
mod chat;
mod client;
mod correction;
mod endpoint;
mod error;
mod ledger;
mod model;
mod observer;
mod pace;
pub mod playbook;
mod provider;
mod recording;
mod same_as;
mod secret;
mod settings;
pub mod tokens;
mod toml_fault;
mod wording;

#[cfg(test)]
mod tests;

pub use catalog::{Api, Catalog, LongPrompt, ModelFacts, Prices, Thinking};
pub use catalog_error::CatalogError;
pub use client::{ABILITIES, Call, Client, Prepared};
pub use endpoint::{Endpoint, Protocol, ProviderFacts, ReasoningBack};
pub use error::{Error, ServiceFailure};
pub use ledger::{Denied, Ledger, NoLedger, Settled, WorstCase};
pub use model::{ModelName, ModelNameError};
pub use observer::{CallEvent, NoObserver, Observer, WaitReason};
pub use pace::{Limits, Pacing};
pub use recording::{PROVIDER as REPLAY, Recording};
pub use secret::Secret;
pub use settings::Settings;
pub use toml_fault::TomlFault;
pub use wording::ToolWording;

/// Targets of `tracing` and `log` records that must be switched off in every subscriber, for example with the
/// filter directive `async_openai=off` each: these crates write whole bodies or headers, so prompts and keys.
pub const SILENCED_TARGETS: [&str; 6] = ["async_openai", "reqwest", "hyper", "hyper_util", "h2", "rustls"];
