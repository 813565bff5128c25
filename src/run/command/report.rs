//! How an agent of its own came through the run: how often it began, what it asked, and whether it asked the same after it
//! was started again. A function of the journal.

use std::collections::{BTreeMap, BTreeSet};

use podium_scaffold::{Effect, EffectResult};
use podium_types::agent::{Heard, Reply};
use podium_types::execution::Execution;
use serde::{Deserialize, Serialize};

use super::desk::step_of;
use crate::run::journal::{Entry, Record};

/// All that an agent asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReport {
    /// How often it was started; once where nothing had cut it.
    pub starts: u32,
    /// Requests that it made.
    pub requests: u32,
    /// Of these, refused before a call was made: for a limit of the run, or as they asked for what there is not.
    pub refused: u32,
    /// Of these, answered by a call of before it was started again.
    pub served: u32,
    /// Why requests were refused that asked for what there is not, such as a model of an unknown name, and how often.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refusals: BTreeMap<String, u64>,
    /// What it did each time that it was started again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restarts: Vec<Restart>,
}

/// An agent that was started again, in a fresh workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {
    /// Calls of before.
    pub earlier: u32,
    /// Of these, how many it asked for again and was answered by.
    pub served: u32,
    /// Calls that it made anew.
    pub fresh: u32,
    /// It made new calls, or ended, without having asked for all the earlier ones: it went another way than before.
    pub diverged: bool,
}

impl AgentReport {
    /// Of a journal; `None` where no agent was heard.
    pub fn of(entries: &[Entry]) -> Option<Self> {
        let mut report = Self::default();
        let mut known: BTreeSet<u32> = BTreeSet::new();
        let mut again: BTreeSet<u32> = BTreeSet::new();
        let mut last: Option<Restart> = None;
        for entry in entries {
            let Record::Result { key, effect, result, .. } = &entry.record else { continue };
            match (&**effect, &**result) {
                (_, EffectResult::Heard(Heard::Began)) => {
                    report.starts += 1;
                    report.restarts.extend(last.take());
                    again.clear();
                    let earlier = u32::try_from(known.len()).unwrap_or(u32::MAX);
                    last = (report.starts > 1).then_some(Restart { earlier, ..Restart::default() });
                }
                (_, EffectResult::Heard(Heard::Asked(_))) => report.requests += 1,
                (Effect::Execute(request), EffectResult::Execution(execution)) if request.agent.is_some() => {
                    report.take_refusals(execution);
                }
                (_, EffectResult::Heard(Heard::Over { .. })) => {
                    if let Some(restart) = &mut last {
                        restart.diverged |= restart.served < restart.earlier;
                    }
                }
                // Also one that waited for room under a limit, and was not replied to before.
                (Effect::Chat { .. }, _) => known.extend(step_of(key)),
                (Effect::Reply { reply: Reply::Refused { .. }, .. }, _) => report.refused += 1,
                (Effect::Reply { reply: Reply::AnswerOf { step }, .. }, _) => {
                    let is_new = known.insert(*step);
                    let Some(restart) = &mut last else { continue };
                    if is_new {
                        restart.fresh += 1;
                        restart.diverged |= restart.served < restart.earlier;
                    } else if again.insert(*step) {
                        report.served += 1;
                        restart.served += 1;
                    }
                }
                _ => {}
            }
        }
        report.restarts.extend(last);
        (report.starts > 0).then_some(report)
    }

    /// Requests that were refused unheard: only the execution tells of them.
    fn take_refusals(&mut self, execution: &Execution) {
        for (why, count) in &execution.requests_refused {
            let of_report = self.refusals.entry(why.clone()).or_insert(0);
            *of_report = of_report.saturating_add(*count);
            let count = u32::try_from(*count).unwrap_or(u32::MAX);
            self.requests = self.requests.saturating_add(count);
            self.refused = self.refused.saturating_add(count);
        }
    }

    /// Whether it went another way than before, after it was started again.
    pub fn diverged(&self) -> bool {
        self.restarts.iter().any(|restart| restart.diverged)
    }
}
