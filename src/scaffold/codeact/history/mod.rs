//! The history of an agent: its turns, and what of them the model is shown.
//!
//! A turn is an answer with its calls and their results, and it is one thing: whatever is left out, a call is never
//! parted from its result. Left out is the middle, for which a summary may stand ([`condense`]).

pub mod condense;
pub(crate) mod plan;

use podium_types::chat::{Message, Speaker};
use podium_types::tokens::estimate_text;

use crate::codeact::stuck::Trace;

/// One turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn {
    /// The step.
    pub(crate) number: u32,
    /// The answer, as the model is shown it again.
    pub(crate) message: Message,
    /// What came of its calls, in order.
    pub(crate) results: Vec<Told>,
    /// What the harness says besides: what is left, an answer that calls nothing.
    pub(crate) notice: String,
    /// What the turn was, for whoever looks for circles.
    pub(crate) trace: Trace,
}

/// What came of a call, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// The provider's name of the call; empty in text formats.
    pub(crate) id: String,
    /// The tool.
    pub(crate) tool: String,
    /// The words.
    pub(crate) text: String,
}

/// Turns that are not shown any more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forgotten {
    /// The place of the first turn behind them; they begin behind the first turns, which stay.
    pub(crate) until: usize,
    /// What stands for them.
    pub(crate) notice: String,
    /// Their summary; empty: there is none.
    pub(crate) summary: String,
}

/// All turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    turns: Vec<Turn>,
    tokens: Vec<u64>,
    keep_first: usize,
    pub(crate) forgotten: Forgotten,
}

impl Turn {
    /// Tokens that the turn takes, estimated from above.
    fn tokens(&self) -> u64 {
        let calls = self.message.tool_calls.iter();
        let calls: u64 =
            calls.map(|call| 8 + estimate_text(&call.name) + estimate_text(&call.arguments)).sum();
        let state = self.message.provider_state.as_ref().map_or(0, |state| estimate_text(&state.to_string()));
        let results: u64 = self.results.iter().map(|told| 8 + estimate_text(&told.text)).sum();
        8 + estimate_text(&self.message.content) + calls + state + results + estimate_text(&self.notice)
    }
}

impl History {
    /// Of which so many first turns always stay.
    pub(crate) fn new(keep_first: usize) -> Self {
        Self { keep_first, ..Self::default() }
    }

    /// One more turn.
    pub(crate) fn push(&mut self, turn: Turn) {
        self.tokens.push(turn.tokens());
        self.turns.push(turn);
    }

    /// The newest turn.
    pub(crate) fn last(&self) -> Option<&Turn> {
        self.turns.last()
    }

    /// Turns that are shown: the first, and the recent.
    fn shown(&self) -> (&[Turn], &[Turn]) {
        let first = self.keep_first.min(self.turns.len());
        let until = self.forgotten.until.max(first).min(self.turns.len());
        (self.turns.get(..first).unwrap_or_default(), self.turns.get(until..).unwrap_or_default())
    }

    /// How many turns are shown.
    pub(crate) fn shown_turns(&self) -> usize {
        let (first, recent) = self.shown();
        first.len() + recent.len()
    }

    /// Tokens of what is shown.
    pub(crate) fn shown_tokens(&self) -> u64 {
        let first = self.keep_first.min(self.tokens.len());
        let until = self.forgotten.until.max(first).min(self.tokens.len());
        let sum = |range: Option<&[u64]>| range.unwrap_or_default().iter().sum::<u64>();
        sum(self.tokens.get(..first)) + sum(self.tokens.get(until..)) + estimate_text(&self.forgotten.notice)
    }

    /// The conversation behind its `opening`. What comes to the model in a row is one message. With `cut`, every text of
    /// a turn goes through it.
    pub(crate) fn messages(
        &self,
        opening: Vec<Message>,
        native: bool,
        cut: &dyn Fn(&str) -> String,
    ) -> Vec<Message> {
        let mut messages = opening;
        let (first, recent) = self.shown();
        for turn in first {
            turn.show(&mut messages, native, cut);
        }
        if !self.forgotten.notice.is_empty() {
            say(&mut messages, &self.forgotten.notice);
        }
        for turn in recent {
            turn.show(&mut messages, native, cut);
        }
        messages
    }
}

impl Turn {
    fn show(&self, messages: &mut Vec<Message>, native: bool, cut: &dyn Fn(&str) -> String) {
        // An empty message is one that some services refuse.
        if !self.message.content.trim().is_empty() || !self.message.tool_calls.is_empty() {
            messages.push(self.message.clone());
        }
        let last = self.results.len().saturating_sub(1);
        for (place, told) in self.results.iter().enumerate() {
            let mut text = cut(&told.text);
            if place == last && !self.notice.is_empty() {
                text = format!("{}\n\n{}", text.trim_end(), self.notice.trim_end());
            }
            if native {
                let id = Some(told.id.clone());
                messages.push(Message { tool_call_id: id, ..Message::text(Speaker::Tool, text) });
            } else {
                say(messages, &text);
            }
        }
        if self.results.is_empty() && !self.notice.is_empty() {
            say(messages, &self.notice);
        }
    }
}

/// Says something to the model, in the message before where that is to it as well.
fn say(messages: &mut Vec<Message>, text: &str) {
    match messages.last_mut().filter(|last| last.role == Speaker::User) {
        Some(last) => last.content = format!("{}\n\n{}", last.content.trim_end(), text.trim_end()),
        None => messages.push(Message::text(Speaker::User, text.trim_end())),
    }
}
