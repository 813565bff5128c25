//! Tests of the package from outside: one binary, one module per concern.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::float_cmp,
    clippy::naive_bytecount,
    clippy::print_stdout,
    clippy::format_push_string,
    clippy::format_collect,
    reason = "helpers of tests may be as blunt as tests"
)]

#[macro_use]
mod every;

mod benchmark;
mod board;
mod bounds;
mod catalog;
mod check;
mod common;
mod csv_probes;
mod data;
mod fuzz;
mod holdout;
mod invalid;
mod official;
mod offline;
mod oracle;
mod own;
mod prepare;
mod preview;
mod remarks;
mod vectors;
mod vision;
