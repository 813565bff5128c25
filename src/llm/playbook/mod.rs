//! The stand-in model `playbook/default`: **not a language model**, but a library of real solutions with a rule for
//! choosing among them. It lets a clone run, test and show the whole harness without a key. Results made with it
//! show that the harness works, not which scaffold is better, and every output must say so.
//!
//! It sees the rendered prompt and nothing else, as a model would: no hidden markers, no competition, no journal.
//! Its answer is a function of the request and its seed, never of a call counter or a clock, so seeds differ and
//! replays agree. Choices hang on the seed and on what the prompt shows (which script, which failure), not on the
//! prompt's every byte: a prompt that tells the time left must not change the run.
//!
//! - `library`: the scripts, as data
//! - `prompt`: what a prompt shows: which library scripts, which failure, which validation score
//! - `choice`: draft, debug, improve
//! - `turns`: the six fields of a research loop
//! - `review`: reads an execution's output; never invents a metric
//! - `agent`: calls tools, where a request offers a shell

mod agent;
mod choice;
mod library;
mod prompt;
mod review;
mod turns;

use podium_types::canonical;
use podium_types::chat::ChatRequest;
use podium_types::rng::Rng;

pub use library::{Library, LibraryError};

/// The provider part of the stand-in's name.
pub const PROVIDER: &str = "playbook";
/// The model part of the stand-in's name.
pub const MODEL: &str = "default";

/// What a prompt says where training rows are to be predicted, too.
const VALIDATION: &str = "`./validation/";

/// What the stand-in says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    /// Text: a plan with one fenced script, or a review as JSON.
    Text(String),
    /// A review as a call of the tool on offer: its name and arguments.
    Call(String, String),
    /// Text, and calls of tools: their names and arguments.
    Calls(String, Vec<(String, String)>),
}

impl Library {
    /// The answer to `request`.
    pub(crate) fn reply(&self, request: &ChatRequest) -> Reply {
        let text = prompt::rendered(request);
        if let Some(output) = &request.output {
            return Reply::Text(review::document(self, &text, &output.schema).to_string());
        }
        if let Some(reply) = agent::reply(self, request) {
            return reply;
        }
        if let Some(tool) = request.tools.first() {
            let arguments = review::document(self, &text, &tool.parameters).to_string();
            return Reply::Call(tool.name.clone(), arguments);
        }
        let seed = request.seed.unwrap_or_else(|| seed_of(&text));
        if turns::asked(&text) {
            return Reply::Text(turns::answer(&text, &mut Rng::new(seed)));
        }
        if let Some(summary) = turns::summary(&text) {
            return Reply::Text(summary);
        }
        let script = choice::choose(self, &prompt::Seen::read(self, &text), &mut Rng::new(seed));
        Reply::Text(match script {
            Some(script) => {
                let code = self.code(script, text.contains(VALIDATION));
                format!("{}\n\n```python\n{}\n```\n", script.plan.trim(), code.trim_end())
            }
            None => String::new(),
        })
    }
}

/// For a request without a seed: the head of its text's hash.
fn seed_of(text: &str) -> u64 {
    let hash = canonical::hash_bytes(text.as_bytes());
    hash.get(..16).and_then(|head| u64::from_str_radix(head, 16).ok()).unwrap_or_default()
}
