//! Warm starts: a script begins in a copy of an interpreter that has imported the heavy packages already.
//!
//! A fork server (`python/`) is started at first use, one for each command line, environment and set of folders that
//! scripts are started with, so that what a copy inherits is what a cold start would have given it. It stands outside
//! of every jail, in namespaces of its own with a read-only view of the files, has no network and no secret, and never
//! sees what runs. An execution still gets a fresh jail with its own limits and control group: the copy enters it and
//! only then becomes the program. When anything of this does not work, the execution starts cold, and that is said
//! once.
//!
//! There are heavy servers, with packages of numbers and tables, and light ones, with some of the standard library, for
//! scripts that import none of these ([`Profile`]). A copy waits in its jail for a go, and looks at nothing of the
//! workspace before. So jails can be made with their copies before they are needed (`jail/ahead.rs`); a light server
//! is only ever started for that, in the background.
//!
//! Where a warm start differs from a cold one: the first process of the jail is one that waits, the parent of the
//! program's process is outside (`os.getppid()` is 0), it leads its own session, `sys.meta_path` holds one finder more,
//! the shared libraries of the profile are loaded and their threads begin when they are needed, the memory it shares
//! with the server is not counted, all copies of one server have the same addresses, the C library's own signal 33 is
//! taken, the process is as old as its jail, which may have been made some time before, a module that a script puts before one of the same name is the script's own only for what is imported by the
//! search path from then on, and at the end the server's modules and libraries are not taken apart: an object that a script leaves inside
//! a package is not finalised (what it leaves in its own modules is). Scripts that say `# podium: cold`, name a package
//! that keeps state of a device ([`fitness`]), commands and sessions start cold, and so do the docker and the process
//! kinds.
//!
//! Which scripts begin warm by themselves is the harness's choice, by their time limit: see
//! [`Settings::warm`](crate::Settings). A server is told that the harness is gone by the end of its socket, and so is a
//! copy that waits.

mod channel;
mod copy;
mod fitness;
mod profile;
mod server;
mod servers;

pub(crate) use channel::pair;
pub(crate) use copy::{Copy, Request, request};
pub(crate) use fitness::fitting;
pub(crate) use profile::Profile;
pub(crate) use server::{Server, source};
pub(crate) use servers::{Key, Servers};
