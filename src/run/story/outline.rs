//! A run's story without its texts, read as the journal grows: what a list, a tree and a plot need is kept, the texts of
//! a node or step are read again when somebody opens it. So a run of many thousand entries opens at once.
//!
//! An entry that does not read is a fault to be told, and never the end: a damaged run is the one that is looked at.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use podium_report::story::{Item, Story, Unit};
use podium_types::key::EffectKey;
use podium_types::money::Usd;
use podium_types::usage::Usage;

use super::gather::gather;
use crate::run::error::RunError;
use crate::run::journal::glance::{Glance, Journal};
use crate::run::journal::{Entry, JournalError, Record, Stamp};
use crate::run::mirror;
use crate::run::sitting::StoredRun;
use crate::run::summary::RunReport;

/// More faults are counted, not told.
const MOST_FAULTS: usize = 20;

/// What is known of a run so far.
#[derive(Debug, Default)]
pub struct Outline {
    read: u64,
    stamp: Stamp,
    last: Option<Last>,
    spent: Option<Usage>,
    /// Entries that belong to the whole run: sittings, limits, remarks, selections.
    whole: Vec<Entry>,
    parts: BTreeMap<u32, Part>,
    is_loop: bool,
    faults: Vec<String>,
    more_faults: u64,
}

/// The entry that was committed last.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Last {
    /// Its effect key.
    pub key: String,
    /// Wall-clock time, RFC 3339.
    pub at: String,
}

/// A node or step.
#[derive(Debug, Default)]
struct Part {
    /// Where its entries are.
    entries: Vec<u64>,
    /// The entry that changed it last, and of a node the one that finished it.
    changed: u64,
    finished: u64,
    spent: Option<f64>,
    item: Option<Item>,
}

impl Outline {
    /// Reads what the journal has got since the last time.
    ///
    /// # Errors
    /// When there is no journal to be read where there should be one.
    pub fn read_on(&mut self, run: &StoredRun) -> Result<(), RunError> {
        run.check_journal()?;
        if !run.folder.journal_path().exists() {
            return Ok(());
        }
        let read = open(run).and_then(|journal| {
            // Another journal in its place: the run was begun anew.
            if journal.last()? < self.read {
                *self = Self::default();
            }
            let mut steps: BTreeMap<u32, Vec<Entry>> = BTreeMap::new();
            journal.each(self.read, |glance| {
                self.take(run, &glance, &mut steps);
                ControlFlow::Continue(())
            })?;
            self.finish_steps(run, &journal, steps);
            Ok(())
        });
        match read {
            Err(error) if error.is_busy() => self.read_mirror(run).ok_or_else(|| error.into()),
            Err(error) if self.read > 0 => {
                self.fault(error.to_string());
                Ok(())
            }
            read => Ok(read?),
        }
    }

    /// The journal of a network file system is locked while the run goes on: its mirror is read whole.
    fn read_mirror(&mut self, run: &StoredRun) -> Option<()> {
        let entries = mirror::read(&run.folder)?;
        let mut steps: BTreeMap<u32, Vec<Entry>> = BTreeMap::new();
        let from = self.read;
        for entry in entries.into_iter().filter(|entry| entry.seq > from) {
            let usage = used(&entry);
            let key = entry.record.key().cloned();
            self.note(entry.seq, entry.stamp, key.as_ref(), &entry.at);
            self.spend(key.as_ref(), usage);
            self.keep(run, key.as_ref(), entry, &mut steps);
        }
        for (number, entries) in steps {
            self.settle(number, run, &entries);
        }
        Some(())
    }

    fn take(&mut self, run: &StoredRun, glance: &Glance<'_>, steps: &mut BTreeMap<u32, Vec<Entry>>) {
        if glance.seq != self.read + 1 {
            self.fault(format!("entry {} of the journal is missing", self.read + 1));
        }
        let key = glance.key.map(|key| EffectKey::from_journal(key.to_owned()));
        self.note(glance.seq, glance.stamp, key.as_ref(), glance.at());
        if matches!(glance.kind, "result" | "charge") {
            match glance.usage() {
                Ok(usage) => self.spend(key.as_ref(), Some(usage)),
                Err(error) => self.fault(error.to_string()),
            }
        }
        if is_needed(glance.effect, key.as_ref()) {
            match glance.entry() {
                Ok(entry) => self.keep(run, key.as_ref(), entry, steps),
                Err(error) => self.fault(error.to_string()),
            }
        }
    }

    fn note(&mut self, seq: u64, stamp: Stamp, key: Option<&EffectKey>, at: &str) {
        (self.read, self.stamp) = (seq, stamp);
        let Some(key) = key else { return };
        self.last = Some(Last { key: key.to_string(), at: at.to_owned() });
        if let Some(number) = key.number() {
            let part = self.parts.entry(number).or_default();
            part.entries.push(seq);
            part.changed = seq;
        }
    }

    fn spend(&mut self, key: Option<&EffectKey>, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        let spent = self.spent.unwrap_or(Usage::NOTHING).plus(&usage);
        self.spent = Some(spent);
        if let Some(part) = key.and_then(EffectKey::number).and_then(|number| self.parts.get_mut(&number)) {
            part.spent = spent.cost.map(Usd::dollars);
        }
    }

    fn keep(
        &mut self,
        run: &StoredRun,
        key: Option<&EffectKey>,
        entry: Entry,
        steps: &mut BTreeMap<u32, Vec<Entry>>,
    ) {
        let number = key.and_then(EffectKey::number);
        match (number, entry.record.effect()) {
            (Some(number), Some("node")) => {
                self.settle(number, run, std::slice::from_ref(&entry));
                self.parts.entry(number).or_default().finished = entry.seq;
            }
            (_, Some("note" | "final selection")) => self.whole.push(entry.clone()),
            (None, _) if entry.record.effect() != Some("preview") => self.whole.push(entry.clone()),
            _ => {}
        }
        if let Some(number) = number.filter(|_| key.is_some_and(is_step)) {
            self.is_loop = true;
            steps.entry(number).or_default().push(entry);
        }
    }

    /// Makes an item of its entries; chats may be left out of them.
    fn settle(&mut self, number: u32, run: &StoredRun, entries: &[Entry]) {
        let Some(mut item) = gather(&run.config, entries).items.pop() else { return };
        let part = self.parts.entry(number).or_default();
        item.detail = podium_report::story::Detail::default();
        item.spent = part.spent;
        part.item = Some(item);
    }

    /// Steps may have begun before what was read just now.
    fn finish_steps(&mut self, run: &StoredRun, journal: &Journal, steps: BTreeMap<u32, Vec<Entry>>) {
        for (number, fresh) in steps {
            let first = fresh.first().map_or(0, |entry| entry.seq);
            let earlier = self.parts.get(&number).map(|part| part.entries.clone()).unwrap_or_default();
            let earlier = earlier.into_iter().filter(|seq| *seq < first);
            let mut entries: Vec<Entry> = earlier.filter_map(|seq| journal.entry(seq).ok()).collect();
            entries.extend(fresh);
            self.settle(number, run, &entries);
        }
    }

    fn fault(&mut self, told: String) {
        let known = self.faults.contains(&told);
        if !known && self.faults.len() < MOST_FAULTS {
            self.faults.push(told);
        } else if !known {
            self.more_faults += 1;
        }
    }

    /// The number of the entry that was read last.
    pub const fn read(&self) -> u64 {
        self.read
    }

    /// What was committed last.
    pub const fn last(&self) -> Option<&Last> {
        self.last.as_ref()
    }

    /// What of the journal does not read.
    pub fn faults(&self) -> Vec<String> {
        let more = (self.more_faults > 0).then(|| format!("and {} faults more", self.more_faults));
        self.faults.iter().cloned().chain(more).collect()
    }

    /// The story so far, with the items that changed after entry `since`, in the order in which they finished.
    pub fn story(&self, run: &StoredRun, report: Option<&RunReport>, since: u64) -> Story {
        let mut parts: Vec<&Part> = self.parts.values().filter(|part| part.item.is_some()).collect();
        if !self.is_loop {
            parts.sort_by_key(|part| part.finished);
        }
        let items = parts.iter().filter(|part| part.changed > since).filter_map(|part| part.item.clone());
        Story {
            unit: if self.is_loop { Unit::Step } else { Unit::Node },
            run_ms: self.stamp.run_ms,
            cost: self.spent.unwrap_or(Usage::NOTHING).cost.map(Usd::dollars),
            items: items.collect(),
            ..super::story(run, &self.whole, report)
        }
    }

    /// A node or step with all its texts.
    ///
    /// # Errors
    /// When the journal does not read any more.
    pub fn item(&self, run: &StoredRun, number: u32) -> Result<Option<Item>, RunError> {
        let Some(part) = self.parts.get(&number) else { return Ok(None) };
        let entries: Vec<Entry> = match open(run) {
            Ok(journal) => part.entries.iter().filter_map(|seq| journal.entry(*seq).ok()).collect(),
            Err(error) if error.is_busy() => {
                let all = mirror::read(&run.folder).unwrap_or_default().into_iter();
                all.filter(|entry| part.entries.binary_search(&entry.seq).is_ok()).collect()
            }
            Err(error) => return Err(error.into()),
        };
        let item = gather(&run.config, &self.amid(number, part, entries)).items.pop();
        Ok(item.map(|item| Item { spent: part.spent, ..item }))
    }

    /// The entries of a step with those of the whole run that fall into its time: sittings and sessions that begin or end.
    fn amid(&self, number: u32, part: &Part, mut entries: Vec<Entry>) -> Vec<Entry> {
        if !self.is_loop {
            return entries;
        }
        let before = self.parts.range(..number).next_back().and_then(|(_, part)| part.entries.last());
        let behind = self.parts.range(number + 1..).next().and_then(|(_, part)| part.entries.first());
        let (from, to) = (before.copied().unwrap_or(0), behind.copied().unwrap_or(u64::MAX));
        let first = self.whole.iter().position(|entry| matches!(entry.record, Record::Started { .. }));
        let amid = self.whole.iter().enumerate().filter(|(place, entry)| {
            let own = part.entries.binary_search(&entry.seq).is_ok();
            // The first sitting tells those that follow from a beginning.
            !own && (Some(*place) == first
                || (from < entry.seq && entry.seq < to && entry.record.key().is_none()))
        });
        entries.extend(amid.map(|(_, entry)| entry.clone()));
        entries.sort_by_key(|entry| entry.seq);
        entries
    }
}

pub(super) fn open(run: &StoredRun) -> Result<Journal, JournalError> {
    Journal::open(&run.folder.journal_path(), run.folder.content())
}

fn is_step(key: &EffectKey) -> bool {
    key.as_str().starts_with("step/")
}

/// A node's record tells all of it; a step has none, and what was done in it tells how it went. Chats are long and tell
/// neither.
fn is_needed(effect: Option<&str>, key: Option<&EffectKey>) -> bool {
    match effect {
        Some("chat") => false,
        None | Some("node" | "note" | "final selection") => true,
        Some(_) => key.is_some_and(is_step),
    }
}

fn used(entry: &Entry) -> Option<Usage> {
    match &entry.record {
        Record::Result { usage, .. } | Record::Charge { usage, .. } => Some(*usage),
        _ => None,
    }
}
