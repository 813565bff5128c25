//! A place in a lane: it is given back when it is dropped, whatever became of the call.

use std::sync::Arc;

use podium_types::usage::Usage;

use super::expectation::Tokens;
use super::lane::Lane;

/// What a call needs.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    /// The provider's name of the model.
    pub(crate) model: Arc<str>,
    /// Our estimate of the prompt's tokens.
    pub(crate) estimate: u64,
    /// The output limit that will be sent.
    pub(crate) output_limit: u32,
}

/// What a place was charged with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charge {
    pub(super) tokens: Tokens,
    pub(super) at_request: Option<u64>,
    pub(super) at_tokens: Option<u64>,
    pub(super) pauses: u64,
}

/// A place. Dropped before [`Place::sent`] it was never taken; dropped after it, it ends.
#[derive(Debug)]
pub(crate) struct Place {
    lane: Arc<Lane>,
    need: Need,
    charge: Charge,
    sent: bool,
}

impl Place {
    pub(super) const fn new(lane: Arc<Lane>, need: Need, charge: Charge) -> Self {
        Self { lane, need, charge, sent: false }
    }

    /// The call's bytes leave now.
    pub(crate) const fn sent(&mut self) {
        self.sent = true;
    }

    /// The call was turned away and used no tokens.
    pub(crate) fn refused(&self) {
        self.lane.change(|state, now| state.correct(now, &self.need, &self.charge, Tokens::default()));
    }

    /// The call was answered. An estimated usage is no news.
    pub(crate) fn answered(&self, usage: &Usage) {
        let used = Tokens { input: usage.input_tokens, output: usage.output_tokens };
        self.lane.change(|state, now| {
            state.answered(self.charge.pauses);
            if !usage.estimated {
                state.correct(now, &self.need, &self.charge, used);
                state.learn(&self.need, used);
            }
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.lane.change(|state, now| {
            if !self.sent {
                state.undo(now, &self.need, &self.charge);
            }
            state.end(&self.need.model, self.charge.pauses);
        });
    }
}
