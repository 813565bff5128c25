//! A recorded run as a model, `replay/...`: **nothing is asked**; each request gets the answer that one like it got then.
//!
//! Whoever calls hands the requests and answers in; this package knows no run folder and no journal. What is answered is
//! a function of the request and its seed, never of a call counter or a clock, so runs repeat and their replays agree.
//! The first that fits is taken:
//!
//! 1. the same request with the same seed;
//! 2. the same request with another seed; of several one is picked by the seed;
//! 3. and 4. as these, where only times and other numbers in the messages differ: a prompt that tells the time left, or
//!    how long a script took, reads differently in every run.

use std::collections::BTreeMap;

use podium_types::canonical;
use podium_types::chat::{ChatRequest, ChatResult};

/// The provider part of a recording's name.
pub const PROVIDER: &str = "replay";

/// Characters of a prompt that a message about it shows.
const SHOWN: usize = 80;

/// The answers of one recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    source: String,
    answers: Vec<ChatResult>,
    /// Places in `answers` by what was asked, each request under the four ways in which it can be alike.
    asked: BTreeMap<String, Vec<usize>>,
    hash: String,
}

impl Recording {
    /// A recording of `calls`, in their order. `source` says where they are from, for messages.
    pub fn new(source: String, calls: impl IntoIterator<Item = (ChatRequest, ChatResult)>) -> Self {
        let (mut answers, mut asked) = (Vec::new(), BTreeMap::<String, Vec<usize>>::new());
        let mut hashes = String::new();
        for (request, answer) in calls {
            for key in keys(&request) {
                asked.entry(key).or_default().push(answers.len());
            }
            hashes.push_str(&hash(&(&request, &answer)));
            answers.push(answer);
        }
        Self { source, answers, asked, hash: canonical::hash_bytes(hashes.as_bytes()) }
    }

    /// Where the answers are from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How many answers it has.
    pub const fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether it has none.
    pub const fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// SHA-256 of all requests and answers, lower-case hex: two recordings with the same one answer alike.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The answer to `request`, if one like it was asked.
    pub fn answer(&self, request: &ChatRequest) -> Option<&ChatResult> {
        let alike = |key: String| Some((pick(request.seed, &key), self.asked.get(&key)?));
        let (pick, places) = keys(request).into_iter().find_map(alike)?;
        let picked = pick.checked_rem(places.len() as u64)?;
        self.answers.get(*places.get(usize::try_from(picked).ok()?)?)
    }

    /// Why there is no answer, for people: what was asked, and of which run.
    pub(crate) fn has_none(&self, request: &ChatRequest, purpose: &str) -> String {
        let text = request.messages.last().map(|message| message.content.as_str()).unwrap_or_default();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut shown: String = words.chars().take(SHOWN).collect();
        if shown.len() < words.len() {
            shown.push('…');
        }
        format!(
            "the recording {} has no answer to what {purpose} asks: a request of {} messages, the last of which begins \
             \"{shown}\"",
            self.source,
            request.messages.len()
        )
    }
}

/// The four ways in which a recorded request can be like this one, the closest first.
fn keys(request: &ChatRequest) -> [String; 4] {
    let seedless = ChatRequest { seed: None, ..request.clone() };
    let numberless = |request: &ChatRequest| {
        let mut request = request.clone();
        for message in &mut request.messages {
            message.content = without_numbers(&message.content);
        }
        request
    };
    [
        hash(&("exact", request)),
        hash(&("exact, any seed", &seedless)),
        hash(&("but for numbers", numberless(request))),
        hash(&("but for numbers, any seed", numberless(&seedless))),
    ]
}

fn hash<T: serde::Serialize>(value: &T) -> String {
    // Requests and answers are plain data: their serialisation does not fail.
    canonical::hash(value).unwrap_or_default()
}

/// A number that hangs on the seed and on what was asked, and not on its clocks; evenly spread.
fn pick(seed: Option<u64>, key: &str) -> u64 {
    let hash = hash(&(seed, key));
    hash.get(..16).and_then(|head| u64::from_str_radix(head, 16).ok()).unwrap_or_default()
}

/// `text` with every number, and the unit of time behind it, as one mark: `59 min 58 s` and `1 h` read alike.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|character: char| character.is_ascii_digit()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        out.push('#');
        rest = after_number(tail);
        while let Some(next) = more_of_a_duration(rest) {
            rest = after_number(next);
        }
    }
    out.push_str(rest);
    out
}

/// What follows the number, and its unit of time, at the head of `text`.
fn after_number(text: &str) -> &str {
    let number = |character: char| character.is_ascii_digit() || character == '.';
    let tail = text.trim_start_matches(number);
    // A full stop behind the number belongs to the sentence.
    let used = text.len() - tail.len();
    let tail = if text.get(..used).is_some_and(|digits| digits.ends_with('.')) {
        text.get(used - 1..).unwrap_or(tail)
    } else {
        tail
    };
    let spaced = tail.strip_prefix(' ').unwrap_or(tail);
    let letters = spaced.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(spaced.len());
    let (unit, behind) = spaced.split_at(letters);
    if ["ms", "s", "m", "min", "h", "d"].contains(&unit) { behind } else { tail }
}

/// The rest of `text` where it goes on with the next part of a duration: `58 s` after `59 min`.
fn more_of_a_duration(text: &str) -> Option<&str> {
    let next = text.strip_prefix(' ').unwrap_or(text);
    let part = next.starts_with(|character: char| character.is_ascii_digit()) && {
        let digits = next.trim_start_matches(|character: char| character.is_ascii_digit());
        after_number(next).len() < digits.len()
    };
    part.then_some(next)
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{ChatAnswer, ChatError, FinishReason, Message, Speaker};
    use podium_types::usage::Usage;
    use proptest::prelude::*;

    use super::*;

    fn request(text: &str, seed: u64) -> ChatRequest {
        ChatRequest {
            messages: vec![Message::text(Speaker::User, text)],
            seed: Some(seed),
            ..ChatRequest::default()
        }
    }

    fn answer(content: &str) -> ChatAnswer {
        ChatAnswer {
            content: content.to_owned(),
            reasoning: None,
            tool_calls: Vec::new(),
            document: None,
            logprobs: Vec::new(),
            finish: FinishReason::Stop,
            usage: Usage::NOTHING,
            model: "m".to_owned(),
            provider_state: None,
        }
    }

    #[test]
    fn the_closest_request_answers() {
        let refused: ChatResult = Err(ChatError::Refused { message: "no".to_owned() });
        let recording = Recording::new(
            "runs/one".to_owned(),
            [
                (request("left: 1 h", 1), Ok(answer("a"))),
                (request("left: 1 h", 2), Ok(answer("b"))),
                (request("left: 59 min 3 s", 3), Ok(answer("c"))),
                (request("other", 1), refused.clone()),
            ],
        );
        let said = |text, seed| recording.answer(&request(text, seed)).cloned();
        assert_eq!(said("left: 1 h", 1), Some(Ok(answer("a"))));
        assert_eq!(said("left: 1 h", 2), Some(Ok(answer("b"))));
        assert_eq!(said("left: 59 min 3 s", 9), Some(Ok(answer("c"))), "the same words at another seed");
        assert_eq!(said("left: 2 min", 3), Some(Ok(answer("c"))), "the same seed at another time");
        assert_eq!(said("other", 7), Some(refused), "a recorded failure is an answer, too");
        let any = [said("left: 7 s", 8), said("left: 7 s", 8)];
        assert!(any[0].is_some() && any[0] == any[1], "a function of request and seed");
        let picked: std::collections::BTreeSet<String> =
            (10..40).filter_map(|seed| Some(said("left: 1 h", seed)?.unwrap().content)).collect();
        assert_eq!(picked.len(), 2, "another seed picks among all that the request got");
        assert_eq!(said("unheard", 1), None);
        let none = recording.has_none(&request("un\n heard", 1), "code node/3/draft/0");
        assert!(
            none.contains("runs/one") && none.contains("\"un heard\"") && none.contains("node/3"),
            "{none}"
        );
    }

    #[test]
    fn the_hash_is_the_answers() {
        let of =
            |source: &str, text| Recording::new(source.to_owned(), [(request("q", 1), Ok(answer(text)))]);
        assert_eq!(of("here", "a").hash(), of("there", "a").hash());
        assert_ne!(of("here", "a").hash(), of("here", "b").hash());
    }

    #[test]
    fn numbers_and_times_are_one_mark() {
        for (text, marked) in [
            ("Left: 59 min 58 s of run time, 3 steps.", "Left: # of run time, # steps."),
            ("Left: 1 h of run time, 12 steps.", "Left: # of run time, # steps."),
            ("It took 1.5s. It took 1.", "It took #. It took #."),
            ("1h30m 7ms 5 apples", "# # apples"),
            ("a 3 7 b", "a # # b"),
            ("no number", "no number"),
        ] {
            assert_eq!(without_numbers(text), marked, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_marked(text: String) {
            let marked = without_numbers(&text);
            prop_assert!(!marked.contains(|c: char| c.is_ascii_digit()));
            prop_assert_eq!(without_numbers(&marked), marked.clone());
        }
    }
}
