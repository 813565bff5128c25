//! What stands in a run journal.

use std::collections::BTreeMap;

use podium_scaffold::{Effect, EffectResult};
use podium_types::key::EffectKey;
use podium_types::session::{SessionEnd, SessionKind};
use podium_types::sha256::Sha256;
use podium_types::usage::Usage;
use serde::{Deserialize, Serialize};

use super::call::CallTrace;
use super::home::HomeChange;
use crate::run::limits::Limits;
use crate::run::stop::Stop;

/// One record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A sitting began: the first, or a resume.
    Started {
        /// Version of the program that runs it.
        program: String,
        /// The sandbox in force, in words.
        sandbox: String,
        /// The file of the run's configuration as it was then. Older journals have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config: Option<Sha256>,
        /// The files of the strategy's own program, where they are others from here on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<BTreeMap<String, String>>,
    },
    /// Limits in force from here on.
    Limits(Limits),
    /// An effect with its result.
    Result {
        /// Its key.
        key: EffectKey,
        /// Hash of the effect, by which a replay knows that it asks for the same.
        hash: String,
        /// The effect.
        effect: Box<Effect>,
        /// Its result.
        result: Box<EffectResult>,
        /// What it used: the answer, and tries that were billed without one.
        usage: Usage,
        /// How long it was in flight, in milliseconds.
        took_ms: u64,
        /// Of these, how long it waited for a model service.
        waited_ms: u64,
        /// Of a model call: how it went. Older journals have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<CallTrace>>,
        /// Which files of the home workspace had changed since the result before; none where none had.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        home: Option<Box<HomeChange>>,
    },
    /// Model tries that were sent and never answered (a crash, a service that kept failing), at their worst case; at
    /// nothing where each is known not to be billed.
    Charge {
        /// The key of the call.
        key: EffectKey,
        /// Their worst case.
        usage: Usage,
        /// How the call went; none after a crash, and in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<CallTrace>>,
    },
    /// A model does not take a parameter: it is not asked again, also after a resume.
    Downgrade {
        /// The call that learnt it.
        key: EffectKey,
        /// The model, `provider/name`.
        model: String,
        /// The parameter, in the client's words.
        parameter: String,
    },
    /// A shell or kernel ended, by itself or with its sitting: what can be known of it only then.
    SessionEnded {
        /// Its name.
        name: String,
        /// What it was.
        session: SessionKind,
        /// What came of it.
        end: Box<SessionEnd>,
    },
    /// A sitting ended.
    Stopped(Stop),
}

impl Record {
    /// The word in the `kind` column.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::Limits(_) => "limits",
            Self::Result { .. } => "result",
            Self::Charge { .. } => "charge",
            Self::Downgrade { .. } => "downgrade",
            Self::SessionEnded { .. } => "session_ended",
            Self::Stopped(_) => "stopped",
        }
    }

    /// The effect's word, for a result.
    pub fn effect(&self) -> Option<&'static str> {
        match self {
            Self::Result { effect, .. } => Some(name_of(effect)),
            _ => None,
        }
    }

    /// The effect key, where the record has one.
    pub const fn key(&self) -> Option<&EffectKey> {
        match self {
            Self::Result { key, .. } | Self::Charge { key, .. } | Self::Downgrade { key, .. } => Some(key),
            Self::Started { .. } | Self::Limits(_) | Self::SessionEnded { .. } | Self::Stopped(_) => None,
        }
    }

    /// When it has to be on the disk, should the power fail: a process that is killed takes nothing that was committed.
    pub fn due(&self) -> Due {
        match self {
            Self::Result { effect, .. } => match &**effect {
                // It is run again where it is not known to have ended: a script in a workspace of its own.
                Effect::Execute(request) if request.workspace.is_fresh() && request.agent.is_none() => {
                    Due::Soon
                }
                // What stood in the home workspace then may be another thing now.
                Effect::Chat { .. }
                | Effect::Execute(_)
                | Effect::Files(_)
                | Effect::Session(_)
                | Effect::Hear
                | Effect::Collect { .. } => Due::AtOnce,
                Effect::BeginStep
                | Effect::Reply { .. }
                | Effect::Validate { .. }
                | Effect::Evaluate { .. }
                | Effect::Preview(_)
                | Effect::Node(_)
                | Effect::Step(_)
                | Effect::Note { .. }
                | Effect::SelectFinal { .. } => Due::Later,
            },
            Self::Started { .. }
            | Self::Limits(_)
            | Self::Charge { .. }
            | Self::Downgrade { .. }
            | Self::SessionEnded { .. }
            | Self::Stopped(_) => Due::AtOnce,
        }
    }

    /// Whether it accounts for all tries of its call that were sent before.
    pub const fn settles(&self) -> bool {
        matches!(self, Self::Result { .. } | Self::Charge { .. })
    }
}

/// When a committed record has to be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Before anybody hears of it: it was paid for, or cannot be had again.
    AtOnce,
    /// Without anybody waiting for it: a resume would come to it again, at the cost of time.
    Soon,
    /// With what is due next: a resume would come to the same again at no cost.
    Later,
}

/// The two clocks of a run, in milliseconds. Time between sittings counts in neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Run time.
    pub run_ms: u64,
    /// Time in which everything in flight waited for a model service.
    pub waiting_ms: u64,
}

/// A record in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Sequence number, from 1, without gaps.
    pub seq: u64,
    /// The run's clocks when it was committed.
    pub stamp: Stamp,
    /// Wall-clock time, RFC 3339. For people; nothing is computed from it.
    pub at: String,
    /// The record.
    pub record: Record,
}

/// Something that cannot be taken back and is about to be done; committed before it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Intent {
    /// A model try is about to be sent. Without an account of it, a resume charges the worst case.
    Try {
        /// The key of the call.
        key: EffectKey,
        /// The try within the call, from 1.
        attempt: u32,
        /// Hash of the effect.
        hash: String,
        /// Its worst case.
        worst: Usage,
    },
    /// An effect that is begun once at most is about to be. Without its result, a resume tells that it was cut.
    Act {
        /// The effect's key.
        key: EffectKey,
        /// Hash of the effect.
        hash: String,
    },
}

impl Intent {
    /// Its effect and its number within it.
    pub const fn place(&self) -> (&EffectKey, u32) {
        match self {
            Self::Try { key, attempt, .. } => (key, *attempt),
            Self::Act { key, .. } => (key, 1),
        }
    }
}

/// The word for an effect, in columns and messages.
pub const fn name_of(effect: &Effect) -> &'static str {
    match effect {
        Effect::BeginStep => "step",
        Effect::Chat { .. } => "chat",
        Effect::Execute(_) => "execution",
        Effect::Files(_) => "file act",
        Effect::Session(_) => "session act",
        Effect::Hear => "agent",
        Effect::Reply { .. } => "reply",
        Effect::Collect { .. } => "collection",
        Effect::Validate { .. } => "submission check",
        Effect::Evaluate { .. } => "evaluation",
        Effect::Preview(_) => "preview",
        Effect::Node(_) => "node",
        Effect::Step(_) => "step log",
        Effect::Note { .. } => "note",
        Effect::SelectFinal { .. } => "final selection",
    }
}

#[cfg(test)]
mod tests {
    use podium_scaffold::effect::python;
    use podium_types::execution::Workspace;

    use super::*;

    fn due(effect: Effect) -> Due {
        let (key, hash) = (EffectKey::node(1, "x", 0), String::new());
        let (effect, result, usage) = (Box::new(effect), Box::new(EffectResult::Interrupted), Usage::NOTHING);
        let (took_ms, waited_ms, call, home) = (0, 0, None, None);
        Record::Result { key, hash, effect, result, usage, took_ms, waited_ms, call, home }.due()
    }

    #[test]
    fn what_is_paid_for_or_done_once_is_never_waited_with() {
        let script = python("solution.py", String::new(), 1);
        let at_home =
            podium_types::execution::ExecutionRequest { workspace: Workspace::Home, ..script.clone() };
        let chat = Effect::Chat { role: "code".to_owned(), request: Box::default(), hears_failures: false };
        assert_eq!(due(chat), Due::AtOnce);
        assert_eq!(due(Effect::Execute(Box::new(at_home))), Due::AtOnce);
        assert_eq!(due(Effect::Execute(Box::new(script))), Due::Soon);
        assert_eq!(due(Effect::BeginStep), Due::Later);
    }
}
