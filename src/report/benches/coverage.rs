//! How often 95 % intervals hold the truth, and how often a sign flip calls nothing something: a table.
//!
//! `cargo bench -p podium-report --bench coverage`

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "../tests/simulated/mod.rs"]
mod simulated;

const EXPERIMENTS: usize = 4000;

fn main() {
    println!(
        "| competitions | seeds | interval holds the truth | sign flip below 0.05 without a difference |"
    );
    println!("|---:|---:|---:|---:|");
    for competitions in [6, 10, 22, 38, 75] {
        for seeds in [1, 3, 10] {
            let found = simulated::coverage(EXPERIMENTS, competitions, seeds);
            println!(
                "| {competitions} | {seeds} | {:.1} % | {:.1} % |",
                100.0 * found.held,
                100.0 * found.false_alarms
            );
        }
    }
}
