//! Which turns to leave out next: those behind the first and before the recent ones, as long as enough goes for it to be
//! worth the while. A plan always leaves out more than was left out before, so planning ends.

use podium_types::tokens::estimate_text;

use super::History;
use crate::codeact::spec::CondensationSpec;

impl History {
    /// Whether the history is longer than its policy lets it be.
    pub(crate) fn is_long(&self, spec: &CondensationSpec) -> bool {
        self.shown_turns() > spec.max_turns || self.shown_tokens() > spec.max_tokens
    }

    /// The place up to which turns are left out next, where recent turns may have `tokens`; none: what can go is not
    /// enough.
    pub(crate) fn plan(&self, spec: &CondensationSpec, tokens: u64) -> Option<usize> {
        let (start, end) = self.middle();
        let mut until = self.recent(spec, tokens).clamp(start, end);
        let needed = share(self.shown_tokens(), spec.least_progress).max(1);
        let had = estimate_text(&self.forgotten.notice);
        let mut gone: u64 = self.tokens.get(start..until).unwrap_or_default().iter().sum();
        let enough = |gone: u64| gone + had >= needed + summary_tokens(spec, gone + had);
        while (until == start || !enough(gone)) && until < end {
            gone += self.tokens.get(until).copied().unwrap_or_default();
            until += 1;
        }
        (until > start && enough(gone)).then_some(until)
    }

    /// Tokens that a summary of all up to `until` may have.
    pub(super) fn summary_tokens(&self, spec: &CondensationSpec, until: usize) -> u64 {
        let (start, _) = self.middle();
        let gone: u64 = self.tokens.get(start..until).unwrap_or_default().iter().sum();
        summary_tokens(spec, gone + estimate_text(&self.forgotten.notice))
    }

    /// The places between which turns can be left out: the newest turn always stays.
    fn middle(&self) -> (usize, usize) {
        let start = self.keep_first.max(self.forgotten.until).min(self.turns.len());
        (start, self.turns.len().saturating_sub(1).max(start))
    }

    /// The place of the first of the recent turns that may stay.
    fn recent(&self, spec: &CondensationSpec, tokens: u64) -> usize {
        let most = usize::try_from(share(spec.max_turns as u64, spec.keep_recent)).unwrap_or(usize::MAX);
        let mut left = tokens;
        let fits = |size: &&u64| {
            let fits = **size <= left;
            left = left.saturating_sub(**size);
            fits
        };
        self.tokens.len() - self.tokens.iter().rev().take(most).take_while(fits).count()
    }
}

/// Tokens that a summary may have of what takes so many: no more than half of it, or it would be no progress.
fn summary_tokens(spec: &CondensationSpec, of: u64) -> u64 {
    if spec.role.is_some() { spec.summary_tokens.min(of / 2) } else { 0 }
}

/// A share of a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is between 0 and 1")]
pub(crate) fn share(of: u64, share: f64) -> u64 {
    (of as f64 * share) as u64
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{Message, Speaker, ToolCall};
    use proptest::prelude::*;

    use super::*;
    use crate::codeact::history::{Forgotten, Told, Turn};
    use crate::codeact::stuck::Trace;

    fn spec(role: bool) -> CondensationSpec {
        CondensationSpec {
            role: role.then(|| "fast".to_owned()),
            max_turns: 10,
            max_tokens: 2_000,
            keep_first: 2,
            keep_recent: 0.5,
            least_progress: 0.1,
            turn_tokens: 100,
            material_tokens: 1_000,
            summary_tokens: 50,
            tries: 5,
        }
    }

    fn turn(number: u32, words: usize) -> Turn {
        let call = ToolCall { id: format!("call-{number}"), name: "think".into(), arguments: "{}".into() };
        let message = Message {
            tool_calls: vec![call],
            ..Message::text(Speaker::Assistant, "I think. ".repeat(words))
        };
        let told = Told { id: format!("call-{number}"), tool: "think".into(), text: "done".into() };
        Turn { number, message, results: vec![told], notice: "3 left".into(), trace: Trace::default() }
    }

    fn history(sizes: &[usize]) -> History {
        let mut history = History::new(2);
        for (number, words) in sizes.iter().enumerate() {
            history.push(turn(u32::try_from(number).unwrap(), *words));
        }
        history
    }

    #[test]
    fn the_middle_goes_and_the_ends_stay() {
        let mut history = history(&[5; 12]);
        assert!(history.is_long(&spec(true)));
        assert_eq!(history.plan(&spec(true), 1_000), Some(7), "five of twelve are recent, two are first");
        history.forgotten = Forgotten { until: 7, notice: "[gone]".into(), summary: String::new() };
        assert_eq!((history.shown_turns(), history.is_long(&spec(true))), (7, false));
        let messages = history.messages(vec![Message::text(Speaker::User, "task")], true, &str::to_owned);
        let ids: Vec<&str> = messages.iter().filter_map(|message| message.tool_call_id.as_deref()).collect();
        assert_eq!(ids, ["call-0", "call-1", "call-7", "call-8", "call-9", "call-10", "call-11"]);
        assert!(messages.iter().any(|message| message.role == Speaker::User && message.content == "[gone]"));
    }

    #[test]
    fn short_histories_cannot_be_shortened() {
        for sizes in [&[][..], &[5], &[5, 5], &[5, 5, 5]] {
            assert_eq!(history(sizes).plan(&spec(true), 0), None, "{sizes:?}");
        }
        assert_eq!(history(&[5, 5, 90, 5]).plan(&spec(false), 0), Some(3));
    }

    proptest! {
        #[test]
        fn condensing_ends_and_never_parts_a_call_from_its_result(
            sizes in proptest::collection::vec(0_usize..60, 0..40),
            tokens in 0_u64..3_000, role in any::<bool>(), native in any::<bool>(),
        ) {
            let (spec, mut history) = (spec(role), history(&sizes));
            let mut rounds = 0;
            while let Some(until) = history.plan(&spec, tokens) {
                prop_assert!(until > history.forgotten.until && until < sizes.len());
                let before = history.shown_tokens();
                history.forgotten = Forgotten { until, notice: "gone".into(), summary: String::new() };
                prop_assert!(history.shown_tokens() < before);
                rounds += 1;
                prop_assert!(rounds <= sizes.len());
            }
            let messages = history.messages(Vec::new(), native, &str::to_owned);
            let calls: Vec<&str> =
                messages.iter().flat_map(|message| &message.tool_calls).map(|call| call.id.as_str()).collect();
            let results: Vec<&str> = messages.iter().filter_map(|message| message.tool_call_id.as_deref()).collect();
            if native {
                prop_assert_eq!(&calls, &results);
            }
            if let Some(newest) = sizes.len().checked_sub(1) {
                let newest = format!("call-{newest}");
                prop_assert_eq!(calls.last().copied(), Some(newest.as_str()));
            }
        }
    }
}
