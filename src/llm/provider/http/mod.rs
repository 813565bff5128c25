//! What all providers on the network share, whatever they speak: one HTTP client, one exchange per try, bodies that
//! are capped and watched, what errors mean, and the conversation that turns a stream of pieces into an answer.
//!
//! A protocol is a [`Wire`]: what is said and how it is heard. A new one is a folder beside this with a `wire` (a
//! request in its words) and an [`Assembly`] (an answer out of its pieces); the rest stands here.

mod body;
mod complaint;
mod conversation;
mod events;
mod exchange;
mod headers;
mod mend;
mod native;
mod network;
mod window;
mod wire;

pub(crate) use complaint::{Complaint, ErrorDialect, cut};
pub(crate) use conversation::Conversation;
pub(crate) use exchange::{Connection, Exchange, Service, causes, client};
pub(crate) use native::{Outgoing, post};
pub(crate) use wire::{Assembly, Pieces, Wire};
