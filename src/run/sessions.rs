//! What the shells and kernels of a loop came to: how many there were, what was sent to them, and the limits that they hit.
//!
//! A function of the journal. What a session used, and what the sandbox stopped in it, is known when all of it is dead, so
//! a run that goes on has no account yet of those that are open.

use std::collections::BTreeMap;

use podium_scaffold::{Effect, EffectResult};
use podium_types::execution::LimitHit;
use podium_types::key::EffectKey;
use podium_types::session::{Observation, SessionAct, SessionEnd, SessionKind};
use serde::{Deserialize, Serialize};

use crate::run::journal::{Entry, Record};

/// All sessions of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionReport {
    /// Shells that have ended, by themselves or with a sitting; one that was started anew is one.
    pub shells: u32,
    /// Kernels that have ended.
    pub kernels: u32,
    /// Commands and cells that were sent.
    pub calls: u32,
    /// Of these, cut by a crash or a stop of the harness.
    pub interrupted: u32,
    /// CPU time of those that have ended, in seconds; `null`: it could not be measured.
    pub cpu_s: Option<f64>,
    /// The largest peak memory of one, in bytes; `null`: it could not be measured.
    pub peak_memory_bytes: Option<u64>,
}

impl SessionReport {
    /// Of a journal; `None` where it has no session.
    pub fn of(entries: &[Entry]) -> Option<Self> {
        let mut report = Self::default();
        for entry in entries {
            if let Record::Result { effect, result, .. } = &entry.record
                && let Effect::Session(request) = &**effect
                && matches!(request.act, SessionAct::Send { .. })
            {
                report.calls += 1;
                report.interrupted += u32::from(**result == EffectResult::Interrupted);
            }
        }
        for (_, end) in ends(entries) {
            report.cpu_s = sum(report.cpu_s, end.cpu_ms.map(|ms| ms as f64 / 1e3));
            report.peak_memory_bytes = report.peak_memory_bytes.max(end.peak_memory_bytes);
        }
        for entry in entries {
            match &entry.record {
                Record::SessionEnded { session: SessionKind::Shell, .. } => report.shells += 1,
                Record::SessionEnded { session: SessionKind::Kernel, .. } => report.kernels += 1,
                _ => {}
            }
        }
        (report != Self::default()).then_some(report)
    }
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

/// The ends of sessions, each with the key of the last act on it.
pub fn ends(entries: &[Entry]) -> Vec<(Option<&EffectKey>, &SessionEnd)> {
    let mut last: BTreeMap<&str, &EffectKey> = BTreeMap::new();
    let mut ends = Vec::new();
    for entry in entries {
        match &entry.record {
            Record::Result { key, effect, .. } => {
                if let Effect::Session(request) = &**effect {
                    last.insert(&request.name, key);
                }
            }
            Record::SessionEnded { name, end, .. } => ends.push((last.get(name.as_str()).copied(), &**end)),
            _ => {}
        }
    }
    ends
}

/// The limits that fired in sessions, in order. One that several observations of a call tell, and the end of its session
/// once more, is one.
pub fn limits(entries: &[Entry]) -> Vec<LimitHit> {
    let mut hits = Vec::new();
    let mut told: BTreeMap<&str, (Place, LimitHit)> = BTreeMap::new();
    for entry in entries {
        match &entry.record {
            Record::Result { effect, result, .. } => {
                let (Effect::Session(request), EffectResult::Session(Ok(answer))) = (&**effect, &**result)
                else {
                    continue;
                };
                let seen = answer.before.iter().chain([&answer.observation]);
                for (seen, hit) in seen.filter_map(|seen| Some((seen, seen.limit.as_ref()?))) {
                    let new = (Place::of(seen), hit.clone());
                    if told.get(request.name.as_str()) != Some(&new) {
                        hits.push(hit.clone());
                        told.insert(&request.name, new);
                    }
                }
            }
            Record::SessionEnded { name, end, .. } => {
                let known = told.remove(name.as_str()).map(|(_, hit)| hit);
                hits.extend(end.limit.clone().filter(|hit| known.as_ref() != Some(hit)));
            }
            _ => {}
        }
    }
    hits
}

/// A call of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    generation: u32,
    call: u64,
}

impl Place {
    const fn of(seen: &Observation) -> Self {
        Self { generation: seen.generation, call: seen.call }
    }
}

#[cfg(test)]
mod tests {
    use podium_types::execution::{Collected, Ended, Output};
    use podium_types::session::{SessionAnswer, SessionRequest, SessionState};
    use podium_types::usage::Usage;

    use super::*;
    use crate::run::journal::Stamp;

    const MEMORY: LimitHit = LimitHit::Memory { limit_bytes: 1 << 30 };

    fn entries(records: Vec<Record>) -> Vec<Entry> {
        let entry = |(record, seq)| Entry { seq, stamp: Stamp::default(), at: String::new(), record };
        records.into_iter().zip(1..).map(entry).collect()
    }

    fn act(step: u32, act: SessionAct, result: EffectResult) -> Record {
        let request = SessionRequest { name: "shell".to_owned(), kind: SessionKind::Shell, act, soft_ms: 1 };
        Record::Result {
            key: EffectKey::step(step, "shell"),
            hash: String::new(),
            effect: Box::new(Effect::Session(Box::new(request))),
            result: Box::new(result),
            usage: Usage::NOTHING,
            took_ms: 1,
            waited_ms: 0,
            call: None,
            home: None,
        }
    }

    fn seen(call: u64, limit: Option<LimitHit>) -> EffectResult {
        let observation = Observation {
            call,
            generation: 1,
            state: SessionState::Running,
            output: Output::default(),
            wall_ms: 1,
            limit,
            background: Vec::new(),
            interrupted: false,
        };
        EffectResult::Session(Ok(Box::new(SessionAnswer { observation, opened: false, before: None })))
    }

    fn end(session: SessionKind, limit: Option<LimitHit>) -> Record {
        let end = SessionEnd {
            ended: Ended::Signal(9),
            limit,
            output: Output::default(),
            submission: Collected::Missing { found: "nothing".to_owned() },
            wall_ms: 5,
            cpu_ms: Some(1_500),
            peak_memory_bytes: Some(7),
            blocked: BTreeMap::from([("network".to_owned(), 3)]),
            names_asked: BTreeMap::new(),
            submission_checks: 0,
        };
        Record::SessionEnded { name: session.name().to_owned(), session, end: Box::new(end) }
    }

    #[test]
    fn a_limit_that_is_told_again_and_again_counts_once() {
        let send = || SessionAct::Send { input: "x".to_owned() };
        let cpu = LimitHit::CpuTime { limit_ms: 1 };
        let journal = entries(vec![
            act(0, send(), seen(1, None)),
            act(1, SessionAct::Wait, seen(1, Some(cpu.clone()))),
            act(2, SessionAct::Wait, seen(1, Some(cpu.clone()))),
            act(3, send(), seen(2, Some(MEMORY))),
            end(SessionKind::Shell, Some(MEMORY)),
            act(4, send(), EffectResult::Interrupted),
            end(SessionKind::Shell, Some(MEMORY)),
            end(SessionKind::Kernel, None),
        ]);
        assert_eq!(limits(&journal), [cpu, MEMORY, MEMORY]);
        let report = SessionReport {
            shells: 2,
            kernels: 1,
            calls: 3,
            interrupted: 1,
            cpu_s: Some(4.5),
            peak_memory_bytes: Some(7),
        };
        assert_eq!(SessionReport::of(&journal), Some(report));
        let keys: Vec<Option<&str>> =
            ends(&journal).into_iter().map(|(key, _)| key.map(EffectKey::as_str)).collect();
        assert_eq!(keys, [Some("step/3/shell"), Some("step/4/shell"), None]);
        assert_eq!(SessionReport::of(&[]), None);
    }
}
