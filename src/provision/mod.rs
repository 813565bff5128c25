//! From an account to prepared data: many competitions, each fetched, unpacked and prepared, as far as disk and
//! processors allow.
//!
//! All that can be refused is refused before the first byte is fetched: rules that are not accepted (of all
//! competitions at once), credentials, room on the disk. Every step ends in one rename and is not done again: an archive
//! that is under way goes on where it was cut, a whole one is not fetched twice, an unpacked one is not unpacked twice.
//! Nothing that looks ready is half made. One competition that fails stops no other.
//!
//! It lays things out as MLE-bench does (`ID/ID.zip`, `ID/raw`, `ID/prepared`). It prints nothing; it tells [`Event`]s.

mod batch;
mod error;
mod event;
mod plan;
mod source;
mod space;
mod work;

pub use batch::{Outcome, carry_out};
pub use error::ProvisionError;
pub use event::{Event, Stage};
pub use plan::{Item, Order, Plan, plan};
pub use source::Source;
pub use space::Room;
