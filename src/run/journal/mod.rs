//! The run journal: the durable record of all that a run did.
//!
//! One SQLite file, one writer thread. Every append is committed before the caller goes on, so that no kill takes what a
//! strategy has seen; what was paid for or cannot be had again is on the disk by then (`synchronous=FULL`), and should
//! the power fail, so is all before it. On a local file system the journal is in WAL mode and others may read
//! while it is written; on a network file system it is locked exclusively with a rollback journal, and readers use
//! the mirrored `events.jsonl`.
//!
//! - [`record`]: what stands in it
//! - [`call`]: what is kept of a model call beside its answer
//! - [`home`]: what changed in the home workspace
//! - [`store`]: the SQLite side
//! - [`glance`]: a journal looked at, little by little
//! - [`writer`]: the thread, and what it does on a full disk
//! - [`place`]: which kind of file system a folder is on

pub mod call;
pub mod glance;
pub mod home;
mod place;
pub mod record;
mod store;
mod writer;

pub use call::{Billed, CallNote, CallTrace, TryFailure, TryTrace, WaitTrace};
pub use home::{HomeChange, HomeFiles, Kept, LeftOut};
pub use place::FileSystem;
pub use record::{Entry, Intent, Record, Stamp, name_of};
pub use store::{JournalError, PATIENCE, read_entries, read_open_intents};
pub use writer::{Journal, Opened};
