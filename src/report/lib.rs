//! What is shown of runs, as documents that stand on their own.
//!
//! - [`story`]: a run as plain data, filled in by whoever can read one
//! - [`page`](mod@page): the story as one HTML file that asks nothing of a network
//! - [`document`](mod@document): an experiment's report as one HTML file that asks nothing of a network
//! - [`embed`]: text of any origin inside HTML and scripts
//! - [`experiment`]: many runs as one report
//! - [`view`]: the pages of a viewer that asks a server for its data
//! - [`statistics`]: rates, differences and how sure they are
//!
//! Must not know: journals, run folders, terminals, networks.

pub mod document;
pub mod embed;
pub mod experiment;
pub mod page;
pub mod statistics;
pub mod story;
pub mod view;

pub use document::document;
pub use page::page;
