//! A scaffold as data: the TOML file, the numbers in it, `--set` overrides, and where each value came from.
//!
//! The file is the only home of a number: nothing here has a default that changes behaviour, so what a run did can
//! be read off its resolved file. Unknown keys are errors that name the nearest known one.
//!
//! - [`model`]: the shape of the file
//! - [`duration`]: `24h`, `10m`
//! - [`load`]: reading and checking
//! - [`overrides`]: `--set key.path=value`
//! - [`error`]: what can be wrong

pub mod duration;
pub mod error;
pub mod load;
pub mod model;
pub mod overrides;

pub use duration::Duration;
pub use error::SpecError;
pub use load::{Resolved, resolve};
pub use model::{Limits, ScaffoldSpec};
pub use overrides::{Origin, ResolvedValue};
