//! Kernel sessions: cells for a small Python program of ours, `kernel.py`.
//!
//! It runs them in `IPython`'s shell where that is installed in the environment, else in a plain interpreter with the
//! same protocol. It comes through a pipe of its own, so nothing of it stands in the workspace.

use std::{ffi::OsString, path::Path};

use podium_types::{execution::Exception, session::SessionState};
use serde::Deserialize;

/// The program.
pub(super) const PROGRAM: &str = include_str!("kernel.py");

/// Reads and runs it. `-P` keeps the workspace off the module path while the kernel imports what it needs itself.
const LOADER: &str = "import sys\nname = sys.argv[1]\nwith open(int(name) if name.isdigit() else name, 'rb') as kernel:\n    code = kernel.read()\nexec(compile(code, '<kernel>', 'exec'))";

/// The command line, with the descriptors of the program, the cells and the answers, or with the names of the files
/// that are these.
pub(super) fn argv(python: &Path, channels: [String; 3]) -> Vec<OsString> {
    let mut argv: Vec<OsString> = vec![python.into(), "-P".into(), "-c".into(), LOADER.into()];
    argv.extend(channels.map(OsString::from));
    argv
}

/// A cell as the program reads it.
pub(super) fn call(nonce: &str, cell: &str) -> String {
    format!("{nonce} {}\n{cell}", cell.len())
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Answer {
    Ready { program: String },
    Completed { value: Option<String> },
    Raised { exception: Exception, traceback: String },
}

/// What a kernel's claim means. One that cannot be read is an exception of the kernel's.
pub(super) fn state(body: &[u8]) -> SessionState {
    match serde_json::from_slice(body) {
        Ok(Answer::Ready { program }) => SessionState::Completed { value: Some(program) },
        Ok(Answer::Completed { value }) => SessionState::Completed { value },
        Ok(Answer::Raised { exception, traceback }) => SessionState::Raised { exception, traceback },
        Err(error) => SessionState::Raised {
            exception: Exception {
                kind: "KernelError".to_owned(),
                message: format!("the kernel answered nonsense: {error}"),
                line: None,
            },
            traceback: String::new(),
        },
    }
}
