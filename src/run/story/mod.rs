//! A run told as plain data, for pages and viewers: read from the journal, and from the report where the run has ended.
//!
//! - [`gather`]: what the journal says of each node or step
//! - [`facts`]: what the run is, and how it was graded
//! - [`outline`]: a story that is read as it grows, its texts left where they are; [`search`]: a word in all of them
//!
//! Works on a run that is still going on as well. Must not know: how anything is shown.

mod facts;
mod gather;
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
    let selected = summary::selected(entries).and_then(|(node, _)| node);
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
