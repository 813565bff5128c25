//! Warm starts: a script begins in a copy of an interpreter that has imported the heavy packages already.
//!
//! A fork server (`server.py`) is started at first use, one for each command line, environment and set of folders that
//! scripts are started with, so that what a copy inherits is what a cold start would have given it. It stands outside
//! of every jail, in namespaces of its own with a read-only view of the files, has no network and no secret, and never
//! sees what runs. An execution still gets a fresh jail with its own limits and control group: the copy enters it and
//! only then becomes the program. When anything of this does not work, the execution starts cold, and that is said
//! once.
//!
//! Where a warm start differs from a cold one: the program is process 3 of its jail beside a waiting shell, the parent
//! of its process is outside (`os.getppid()` is 0), it leads its own session, `sys.meta_path` holds one finder more,
//! the shared libraries of the profile are loaded, the memory it shares with the server is not counted, and all
//! copies of one server have the same addresses. Scripts that say `# podium: cold`, name a package that keeps state
//! of a device ([`fitness`]), commands and sessions start cold.

mod channel;
mod copy;
mod fitness;
mod server;
mod servers;

pub(crate) use channel::receive;
pub(crate) use copy::{Copy, Request, request};
pub(crate) use fitness::fits;
pub(crate) use server::{Server, source};
pub(crate) use servers::{Key, Servers};
