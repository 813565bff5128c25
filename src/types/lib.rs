//! Plain types that cross the layers.
//!
//! One chat request, one execution and one submission verdict exist once, here, and travel unchanged from the
//! strategy that asks to the layer that does the work and back into the run journal. Nothing here performs I/O,
//! knows the time, or knows a competition's answers.
//!
//! - [`key`]: effect keys and the seeds derived from them
//! - [`chat`]: messages, tools, requests and answers of language models
//! - [`execution`]: what is run in a sandbox and what came of it
//! - [`agent`](mod@agent): an agent that is a program of its own
//! - [`files`](mod@files): what tools do with files of a run's home workspace
//! - [`hidden`](mod@hidden): characters that are not seen
//! - [`session`]: a shell or kernel that keeps state, and what is seen of it
//! - [`log`](mod@log): the log of a step, as people read it
//! - [`verdict`]: what a submission check tells (format only, never a score)
//! - [`evaluation`](mod@evaluation): what scoring by training labels came to
//! - [`money`], [`usage`]: dollars as integers, tokens, unknown cost
//! - [`number`]: floats that survive JSON, NaN and infinities included
//! - [`direction`](mod@direction), [`range`](mod@range): which way a metric improves, and what it can be
//! - [`nearest`](mod@nearest): the nearest right name for a wrong one
//! - [`canonical`]: JSON with sorted keys, and its hash
//! - [`rng`]: the random numbers of a strategy
//! - [`sha256`]: hashes that name content
//! - [`tokens`]: estimates of tokens, and trimming by them

pub mod agent;
pub mod canonical;
pub mod chat;
pub mod direction;
pub mod evaluation;
pub mod execution;
pub mod files;
pub mod hidden;
pub mod key;
pub mod log;
pub mod money;
pub mod nearest;
pub mod number;
pub mod range;
pub mod rng;
pub mod session;
pub mod sha256;
pub mod tokens;
pub mod usage;
pub mod verdict;
