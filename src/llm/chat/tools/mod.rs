//! Tools for models that have none, or do not use the ones they have: a call is one JSON object in a tag of the
//! answer's text.
//!
//! `form` writes definitions, earlier calls and results into the prompt; `read` finds calls in an answer; `demand`
//! asks again where a demanded call is missing; `forced` has the model's decoder make it. The caller gets the same
//! typed calls whichever way they came, and nothing here knows a protocol.

mod demand;
mod forced;
mod form;
mod read;

pub(super) use demand::turn;
pub(super) use form::{allowed, as_text, demand, tell_at_the_end};
