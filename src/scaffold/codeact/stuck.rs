//! Finds an agent that goes in circles: the same call with the same result, the same call that fails each time, answers
//! that call nothing, and two calls that alternate. What results came to is compared, so one that looks at a growing log
//! is in no circle, nor is one that waits for a program, or whose calls crashes of the harness cut.

use crate::codeact::spec::StuckSpec;

/// A turn as the detector sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The calls with their arguments; empty: it called nothing.
    pub calls: Vec<String>,
    /// What they came to, without what differs each time.
    pub came_to: Vec<String>,
    /// All of them failed.
    pub failed: bool,
    /// One of them waited for a program that goes on, or was cut by a crash of the harness: that is no doing of the agent.
    pub excused: bool,
}

/// A circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The same call with the same result.
    Same,
    /// The same call with an error.
    Errors,
    /// Answers that call nothing.
    Messages,
    /// Two calls that alternate.
    Alternating,
}

impl Pattern {
    /// The word that templates know it by.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Errors => "errors",
            Self::Messages => "messages",
            Self::Alternating => "alternating",
        }
    }

    /// In a few words, for people.
    pub const fn told(self) -> &'static str {
        match self {
            Self::Same => "the same call with the same result again and again",
            Self::Errors => "the same call with an error again and again",
            Self::Messages => "answers that call no tool",
            Self::Alternating => "two calls in turn with the same results",
        }
    }
}

/// The circle that the newest turns are in, and how many they are.
pub fn find(traces: &[Trace], spec: &StuckSpec) -> Option<(Pattern, usize)> {
    let tail = |length: usize| {
        let start = traces.len().checked_sub(length).filter(|_| length > 0)?;
        traces.get(start..)
    };
    let all = |tail: &[Trace], holds: &dyn Fn(&Trace, &Trace) -> bool| {
        tail.iter().zip(tail.iter().skip(1)).all(|(before, after)| holds(before, after))
    };
    let acts = |tail: &[Trace]| tail.iter().all(|trace| !trace.calls.is_empty() && !trace.excused);
    let is = |pattern, length: usize, holds: &dyn Fn(&[Trace]) -> bool| {
        tail(length).filter(|tail| holds(tail)).map(|_| (pattern, length))
    };
    is(Pattern::Same, spec.same, &|tail| acts(tail) && all(tail, &|before, after| before == after))
        .or_else(|| {
            is(Pattern::Errors, spec.errors, &|tail| {
                let failed = tail.iter().all(|trace| trace.failed);
                acts(tail) && failed && all(tail, &|before, after| before.calls == after.calls)
            })
        })
        .or_else(|| {
            is(Pattern::Messages, spec.messages, &|tail| tail.iter().all(|trace| trace.calls.is_empty()))
        })
        .or_else(|| {
            is(Pattern::Alternating, spec.alternating, &|tail| {
                let period = tail.iter().zip(tail.iter().skip(2)).all(|(one, other)| one == other);
                acts(tail) && tail.len() > 2 && period && tail.first() != tail.get(1)
            })
        })
}
