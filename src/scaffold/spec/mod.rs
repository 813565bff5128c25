//! A scaffold as data: the TOML file, the numbers in it, `--set` overrides, and where each value came from.
//!
//! The file is the only home of a number: nothing here has a default that changes behaviour, so what a run did can
//! be read off its resolved file. Unknown keys are errors that name the nearest known one.
//!
//! - [`head`]: what every scaffold file has
//! - [`duration`]: `24h`, `10m`
//! - [`source`], [`load`]: reading, by head and strategy
//! - [`check`]: values that cannot be
//! - [`faults`]: all that is wrong at once
//! - [`overrides`]: `--set key.path=value`
//! - [`validation`]: training labels that the harness keeps
//! - [`error`]: what can be wrong

pub mod check;
pub mod duration;
pub mod error;
pub mod faults;
pub(crate) mod fields;
pub mod head;
pub mod load;
pub mod overrides;
pub mod source;
pub mod validation;

pub use duration::Duration;
pub use error::SpecError;
pub use faults::faults;
pub use head::{Head, Limits, ModelSettings, OutputSpec};
pub use load::{Resolved, resolve};
pub use overrides::{Origin, ResolvedValue};
pub use source::Source;
pub use validation::{HoldoutSpec, ValidationSpec};
