//! Shell sessions: commands are lines for an interactive shell that reads from a pipe.
//!
//! Interactive, because such a shell lives on after a syntax error or an interrupt and drops the rest of the command
//! line, as people expect. Each command is evaluated with its standard streams set anew and our descriptors closed, so
//! that it inherits nothing and a command that closes or redirects the shell's own streams does so for itself only. The
//! line after it tells its exit code.

use std::{ffi::OsString, os::fd::RawFd, path::PathBuf};

use podium_types::session::SessionState;

/// The descriptor of the file that a command is in, while bash reads it.
const SCRIPT: RawFd = 62;

/// A shell, and the numbers of its descriptors inside.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    path: PathBuf,
    /// Standard input of commands.
    input: RawFd,
    /// Their output.
    output: RawFd,
    /// Where their ends are told.
    control: RawFd,
    /// Runs before the first command.
    setup: String,
    /// What makes the names that follow mean the shell's own commands.
    own: &'static str,
}

impl Shell {
    /// For a shell that inherits these descriptors.
    pub(super) fn new(path: PathBuf, input: RawFd, output: RawFd, control: RawFd) -> Self {
        if path.file_name().is_some_and(|name| name == "bash") {
            let setup = "set +H; set +o history; unset HISTFILE PROMPT_COMMAND".to_owned();
            return Self { path, input, output, control, setup, own: "builtin" };
        }
        // Other shells know descriptors of one digit only. Theirs are opened anew through the names of the old, which
        // such a shell cannot close: its commands inherit them, which is untidy and does no harm.
        let setup =
            format!("exec 7</proc/self/fd/{input} 8>/proc/self/fd/{output} 9>/proc/self/fd/{control}");
        Self { path, input: 7, output: 8, control: 9, setup, own: "command" }
    }

    /// `bash`, `sh`, ...
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(super) fn argv(&self) -> Vec<OsString> {
        let mut argv = vec![self.path.clone().into_os_string()];
        if self.own == "builtin" {
            argv.extend(["--norc", "--noprofile", "--noediting"].map(OsString::from));
        }
        argv.push("-i".into());
        argv
    }

    /// The first lines.
    pub(super) fn hello(&self, nonce: &str) -> String {
        format!("{}\n{}", self.setup, self.tell(nonce, "0"))
    }

    /// The lines of a command.
    pub(super) fn call(&self, nonce: &str, command: &str) -> String {
        let Self { input, output, control, own, .. } = self;
        let streams = format!("<&{input} >&{output} 2>&{output} {input}<&- {output}>&- {control}>&-");
        let evaluate = format!("{own} eval {} {streams}", quote(command));
        let tell = self.tell(nonce, "\"$?\"");
        if self.own == "builtin" {
            // What bash reads from a file it runs without the manners of a terminal: no words on jobs, and no attempt
            // to mend the terminal when a command was killed. No text can hold the number that ends the file.
            format!(
                "builtin source /dev/fd/{SCRIPT} {SCRIPT}<<'{nonce}'\n{evaluate} {SCRIPT}<&-\n{nonce}\n{tell}"
            )
        } else {
            format!("{evaluate}\n{tell}")
        }
    }

    /// A line that tells of the end of an interrupted command. A shell that drops what it has read already at an
    /// interrupt drops the line that would have told it.
    pub(super) fn probe(&self, nonce: &str) -> String {
        self.tell(nonce, "130")
    }

    fn tell(&self, nonce: &str, code: &str) -> String {
        format!("{} printf '\\n{nonce} %d\\n' {code} >&{}\n", self.own, self.control)
    }
}

/// One word of the shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What a shell's claim means.
pub(super) fn state(number: i64) -> SessionState {
    SessionState::Exited { code: i32::try_from(number).unwrap_or(-1) }
}
