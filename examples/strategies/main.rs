//! A program of one's own: Podium's command line with a policy, an operator, an action, a tool and a strategy more.
//!
//! ```sh
//! cargo run --example strategies -- scaffolds check mine
//! ```
//! In a crate outside this repository it is the same: the dependencies are `podium`, `podium-scaffold` and `serde`.
//! The interface is unstable: it may change with any version.

mod action;
mod operator;
mod policy;
mod strategy;
mod tool;

use std::process::ExitCode;

use podium_scaffold::Registry;

fn main() -> ExitCode {
    let registry = Registry::shipped()
        .with_policy::<policy::EpsilonSpec>("epsilon")
        .with_operator::<operator::Twice>("twice")
        .with_action(action::ListSizes)
        .with_tool(tool::CountedCheck)
        .with::<strategy::BestOf>("best_of");
    podium::cli::main_with(registry)
}
