//! An experiment as a report: rates by split with their errors, what the runs came to, arms beside each other, and what
//! has to be disclosed.
//!
//! Made from plain data of its runs, planned ones that have no end included: counts always add up to the plan. Boards of
//! human teams and boards of baselines are never in one percentage.
//!
//! - [`run`]: a run as plain data; [`terms`]: what is fixed before it is looked at
//! - [`report`](mod@report): the whole; [`table`]: the arms on one split; [`row`]: one of them; [`comparison`]: two
//! - [`slice`](mod@slice): by what competitions are like; [`course`]: over run time and dollars
//! - [`disclosure`]: what agents could see and tried
//! - [`words`], [`markdown`], [`csv`](mod@csv), [`sheet`](mod@sheet): the same for people, for pull requests, for tables and
//!   for a browser
//! - [`interchange`]: MLE-bench's own files

pub mod comparison;
pub mod course;
pub mod csv;
pub mod disclosure;
pub mod interchange;
pub mod markdown;
pub mod report;
pub mod row;
pub mod run;
pub mod sheet;
pub mod slice;
pub mod table;
pub mod terms;
pub mod words;

pub use comparison::Comparison;
pub use report::{Report, report};
pub use run::{About, End, Run, Sight};
pub use sheet::{Sheet, sheet};
pub use table::Table;
pub use terms::Terms;
