//! OpenAI's protocol, against any server that speaks it: chat completions, and the Responses API beside it.
//!
//! async-openai carries the requests and parses the event streams (`carrier`); the types on the wire are our own,
//! because servers vary more than its types allow.

mod carrier;
mod chat;
mod errors;
mod reading;
mod responses;

pub(crate) use chat::ChatCompletions;
pub(crate) use errors::ERRORS;
pub(crate) use responses::Responses;
