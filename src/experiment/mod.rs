//! An experiment: many runs, one for each cell of a matrix.
//!
//! - [`spec`]: what a user asks for, as TOML or JSON; [`settings`]: run settings by name, each of which may be an axis
//! - [`plan`]: the matrix resolved into runs with their identities, and what they may cost
//! - [`stored`]: the experiment's folder, from whose run folders everything else is derived
//! - [`purse`]: what caps leave; [`queue`]: which run comes next; [`estimate`]: how long the rest may take
//! - [`executor`]: where a run works; [`standing`]: how far one has come; [`scheduler`]: the loop over all of them
//! - [`allotment`]: what other machines may run of it
//! - [`failures`]: the tries that failed, kept for people
//! - [`outcomes`]: its runs as the report takes them; [`grades`]: those graded over time; [`published`]: MLE-bench's files
//! - [`bundle`]: what a stranger needs, packed and verified
//! - [`error`]: what can keep an experiment from going on
//!
//! The identity of a run is the hash of its resolved configuration: what was run before is never run again, and a
//! changed limit is a new run. Must not know: strategies, graders, how anything is printed.

pub mod allotment;
pub mod bundle;
pub mod error;
pub mod estimate;
pub mod executor;
pub mod failures;
pub mod grades;
pub mod outcomes;
pub mod plan;
pub mod published;
pub mod purse;
pub mod queue;
pub mod scheduler;
pub mod settings;
pub mod spec;
pub mod standing;
pub mod stored;
