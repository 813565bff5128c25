//! The viewer: a folder of runs in a browser of this machine. It reads and never writes.
//!
//! - [`root`]: which folders a browser may name
//! - [`listing`]: experiments and runs as rows; [`row`]: one of them
//! - [`reporting`]: an experiment's report
//! - [`shelf`]: runs that are open, read on as they grow
//! - [`server`]: who is answered, and with which headers; [`routes`]: what is asked for
//!
//! What a run holds was written by a model: it leaves as JSON and as nothing else, and the pages, which are part of the
//! program, show it as text. Must not know: how pages look, terminals.

pub mod listing;
pub mod reporting;
pub mod root;
mod routes;
pub mod row;
pub mod server;
pub mod shelf;
