//! `podium grade RUN --all-nodes`: what the nodes of an ended run score, and what the final choice lost.

use std::path::Path;
use std::process::ExitCode;

use podium_types::number::Number;

use crate::cli::failure::Failure;
use crate::cli::site::SiteArguments;
use crate::cli::summary::shown;
use crate::cli::terminal::{Terminal, one_line};
use crate::run::oracle::{GradedNode, Oracle};
use crate::run::sitting::StoredRun;

/// Width of the last column.
const NOTE: usize = 60;

pub(crate) fn main(
    run: &Path,
    ended: bool,
    json: bool,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let run = StoredRun::open(run)?;
    let site = site.open_for(Some(&run.place), terminal)?;
    let competition = run.config.competition()?;
    // Before it is closed: a run that cannot be graded stays as it is.
    let answers = site.answers(&competition)?;
    if !run.is_closed() {
        run.close(ended)?;
        terminal.error_line(&format!(
            "{} the run is closed now: podium resume refuses it",
            terminal.yellow("note:")
        ));
    }
    let oracle = run.grade_all_nodes(&competition, &answers)?;
    if json {
        terminal.json(&oracle);
    } else {
        print(&oracle, terminal);
    }
    Ok(ExitCode::SUCCESS)
}

fn print(oracle: &Oracle, terminal: &Terminal) {
    terminal.line("   #  did           validation         test  medal   note");
    for node in &oracle.nodes {
        terminal.line(&line(node, oracle));
    }
    terminal.line("");
    let say = |name: &str, text: &str| terminal.line(&format!("{name:<12}{text}"));
    let better = if oracle.is_lower_better { "lower is better" } else { "higher is better" };
    match (oracle.selected, oracle.best, oracle.selection_loss) {
        (Some(selected), Some(best), Some(loss)) => {
            let of = |id: u32| {
                let node = oracle.nodes.iter().find(|node| node.node == id);
                node.and_then(|node| node.test).map_or_else(|| "none".to_owned(), shown)
            };
            say("handed in", &format!("node {selected}, test {} ({better})", of(selected)));
            say("best", &format!("node {best}, test {}", of(best)));
            if let Some(other) = oracle.best_of_all.filter(|other| *other != best) {
                say(
                    "",
                    &format!("node {other}, test {}, counted as buggy and could not be handed in", of(other)),
                );
            }
            say("loss", &format!("{} lost by the final choice", shown(loss)));
        }
        _ => say("loss", "unknown: no node with a score was handed in"),
    }
    say("note", "oracle figures: they come from the answers, and no strategy may use them");
}

fn line(node: &GradedNode, oracle: &Oracle) -> String {
    let number = |value: Option<Number>| value.map_or_else(|| "-".to_owned(), shown);
    let mark = |is: bool, word: &'static str| if is { word } else { "" };
    let note: Vec<&str> = [
        mark(oracle.selected == Some(node.node), "handed in"),
        mark(oracle.best == Some(node.node), "best"),
        mark(node.buggy.is_some(), "buggy"),
        node.problem.as_deref().unwrap_or_default(),
    ]
    .into_iter()
    .filter(|part| !part.is_empty())
    .collect();
    let line = format!(
        "{:>4}  {:<12}{:>12} {:>12}  {:<6}  {}",
        node.node,
        one_line(&node.operator, 12),
        number(node.validation),
        number(node.test),
        node.medal.unwrap_or("-"),
        one_line(&note.join("; "), NOTE)
    );
    line.trim_end().to_owned()
}
