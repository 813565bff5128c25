//! What a run keeps of a model call beside its answer: all that a bill and a bug report need. It decides nothing: no
//! hash, no budget and no replay looks at it, and journals without it read as before.

use podium_types::usage::Usage;
use serde::{Deserialize, Serialize};

/// How a model call went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallTrace {
    /// The model as asked, `provider/name`.
    pub model: String,
    /// The role that called.
    pub role: String,
    /// The model as the provider named it in its answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served: Option<String>,
    /// The provider's id of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its tries in order.
    pub tries: Vec<TryTrace>,
    /// Its waits in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitTrace>,
    /// What a user may have to know later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<CallNote>,
}

/// One try of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TryTrace {
    /// Its number within the call, from 1.
    pub attempt: u32,
    /// From its sending to its answer, its failure or its being given up, in milliseconds.
    pub elapsed_ms: u64,
    /// From its sending to the first piece of an answer, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u64>,
    /// Why it failed; none when it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<TryFailure>,
    /// What it was billed.
    pub billed: Billed,
    /// How much that is, where the call's own usage does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Why a try failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TryFailure {
    /// The HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The kind of the service's failure: `rate_limited`, `stalled`, ...; none where the request itself was at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The service's words or the transport's, without secrets.
    pub message: String,
}

/// What a try was billed, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billed {
    /// Nothing.
    Nothing,
    /// What it used.
    Used,
    /// Nobody knows: charged at its worst case.
    #[default]
    WorstCase,
}

/// A wait for the model service, which is not run time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitTrace {
    /// Tries sent before it.
    pub after: u32,
    /// Why, in words.
    pub why: String,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// What happened in a call that its answer does not show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum CallNote {
    /// A try used more than its worst case: a limit can be passed by the difference.
    ExceededWorstCase {
        /// Which try.
        attempt: u32,
        /// What was reserved.
        worst: Usage,
        /// What was used.
        used: Usage,
    },
    /// The server told a usage that cannot be true. What is untrue of it is estimated.
    ImplausibleUsage {
        /// Which try.
        attempt: u32,
        /// What the server told.
        told: Usage,
        /// What was counted.
        settled: Usage,
    },
    /// The server counted far fewer tokens than the prompt has: it seems to have cut the prompt.
    Truncated {
        /// The prompt's tokens by our own count.
        counted: u64,
        /// The prompt's tokens as the server told them.
        told: u64,
    },
    /// The document did not fit its schema, and the model was asked to mend it.
    Repaired {
        /// What was wrong.
        problem: String,
    },
}

impl CallTrace {
    /// Leaves out what the record beside it says anyway: the usage of a try that alone was billed.
    #[must_use]
    pub fn lean(mut self) -> Self {
        if let [only] = self.tries.as_mut_slice()
            && only.billed != Billed::WorstCase
        {
            only.usage = None;
        }
        self
    }

    /// From the sending of the try that was answered to its first piece, in milliseconds.
    pub fn first_byte_ms(&self) -> Option<u64> {
        self.tries.iter().rfind(|sent| sent.failure.is_none())?.first_byte_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_call_takes_little_room_and_reads_back() {
        let plain = CallTrace {
            model: "openai/m".to_owned(),
            role: "code".to_owned(),
            served: Some("m-1".to_owned()),
            id: Some("chatcmpl-1".to_owned()),
            tries: vec![TryTrace {
                attempt: 1,
                elapsed_ms: 900,
                first_byte_ms: Some(300),
                failure: None,
                billed: Billed::Used,
                usage: Some(Usage::NOTHING),
            }],
            ..CallTrace::default()
        };
        let lean = plain.lean();
        let text = serde_json::to_string(&lean).unwrap();
        assert_eq!(
            text,
            r#"{"model":"openai/m","role":"code","served":"m-1","id":"chatcmpl-1","tries":[{"attempt":1,"elapsed_ms":900,"first_byte_ms":300,"billed":"used"}]}"#
        );
        assert_eq!(serde_json::from_str::<CallTrace>(&text).unwrap(), lean);
    }
}
