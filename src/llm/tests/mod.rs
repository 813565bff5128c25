//! Tests of the whole client: against a faulty HTTP server of our own on a real socket, and against the stand-in.

mod anthropic;
mod azure;
mod budget;
mod conformance;
mod conversation;
mod gemini;
mod openrouter;
mod pacing;
mod real;
mod responses;
mod server;
mod setup;
mod spans;
mod stand_in;
mod tool_calls;
