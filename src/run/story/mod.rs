//! A run told as plain data, for pages and viewers: read from the journal, and from the report where the run has ended.
//!
//! - [`gather`]: what the journal says of each node or step; [`log`]: what of it is the log of a loop
//! - [`facts`]: what the run is, and how it was graded
//! - [`outline`]: a story that is read as it grows, its texts left where they are; [`search`]: a word in all of them
//!
//! Works on a run that is still going on as well. Must not know: how anything is shown.

mod facts;
mod gather;
mod log;
pub mod outline;
pub mod search;

use podium_report::story::{Ending, Story, Unit};
use podium_types::money::Usd;

use crate::run::journal::Entry;
use crate::run::sitting::StoredRun;
use crate::run::summary::{self, RunReport};
use crate::run::tally::Tally;

/// The story of a run so far.
pub fn story(run: &StoredRun, entries: &[Entry], report: Option<&RunReport>) -> Story {
    let config = &run.config;
    let tally = Tally::of(config.limits, entries);
    let gathered = gather::gather(config, entries);
    let selected = summary::selected(entries).and_then(|(node, _)| node).or(gathered.selected);
    Story {
        title: format!("{} on {}", config.scaffold.id, config.task.competition),
        run: run.folder.name(),
        unit: if gathered.is_tree { Unit::Node } else { Unit::Step },
        metric: config.task.metric.clone(),
        direction: config.task.direction,
        facts: facts::facts(run, entries, tally.limits, report),
        ending: report.map(|report| Ending {
            outcome: report.outcome.word().to_owned(),
            stopped_by: report.stopped_by.word().to_owned(),
            detail: report.detail.clone(),
        }),
        grade: report.and_then(facts::grade),
        run_ms: tally.stamp.run_ms,
        cost: tally.usage.cost.map(Usd::dollars),
        selected,
        warnings: facts::warnings(run, report),
        notes: facts::notes(entries, report),
        left_out: None,
        items: gathered.items,
    }
}

/// A long text as its two ends of `most` bytes each, with the number of bytes between them and what is said of them.
fn both_ends(text: &str, most: usize, why: &str) -> (String, usize) {
    if text.len() <= 2 * most {
        return (text.to_owned(), 0);
    }
    let mut head = most;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - most;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let cut = tail - head;
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    (format!("{head}\n[... {cut} bytes {why} ...]\n{tail}"), cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_output_keeps_its_ends_and_says_what_is_missing() {
        let most = 16 << 10;
        assert_eq!(both_ends("short", most, ""), ("short".to_owned(), 0));
        let long = format!("a{}z", "é".repeat(2 * most));
        let (text, cut) = both_ends(&long, most, "are elsewhere");
        assert!(text.starts_with("aé") && text.ends_with("éz") && text.contains(&format!("{cut} bytes")));
        assert!(cut > 0 && text.len() < long.len());
    }
}
