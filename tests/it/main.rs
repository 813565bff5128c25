//! The tests from outside: one binary, one module per promise or command.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test tells its failure by its panic, and what it skips on standard error"
)]

mod support;

mod attacks;
mod bans;
mod best;
mod border;
mod browser;
mod calls;
mod checks;
mod cluster;
mod codeact;
mod command;
mod competitions;
mod crash;
mod damage;
mod defects;
mod demo;
mod disk;
mod errors;
mod experiment;
mod experiment_report;
mod external;
mod fetch;
mod grade;
mod grade_list;
mod grade_nodes;
mod granted;
mod grants;
mod guide;
mod hidden;
mod holdout;
mod home;
mod json_errors;
mod layout;
mod licences;
mod loops;
mod model;
mod network;
mod obfuscated;
mod offline;
mod own;
mod own_models;
mod page;
mod parity;
mod parse;
mod prompts;
mod real;
mod recording;
mod reference;
mod resume;
mod sandbox;
mod scaffolds;
mod secrets;
mod secrets_everywhere;
mod server;
mod service;
mod stranger;
mod strategies;
mod view;
mod workers;
