//! Shell sessions: commands are lines for an interactive shell that reads from a pipe.
//!
//! Interactive, because such a shell lives on after a syntax error or an interrupt and drops the rest of the command
//! line, as people expect. Each command is evaluated with its standard streams set anew and our descriptors closed, so
//! that it inherits nothing and a command that closes or redirects the shell's own streams does so for itself only. The
//! line after it tells its exit code.

use std::{
    ffi::OsString,
    os::fd::RawFd,
    path::{Path, PathBuf},
};

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

/// What an interactive bash would do beside the commands.
const QUIET: &str = "set +H; set +o history; unset HISTFILE PROMPT_COMMAND";
/// The descriptors of a bash that opens them itself.
const OPENED: [RawFd; 3] = [100, 101, 102];
/// The same of another shell, which knows descriptors of one digit only.
const ONE_DIGIT: [RawFd; 3] = [7, 8, 9];

impl Shell {
    /// For a shell that inherits these descriptors: commands' input, their output, and where their ends are told.
    pub(super) fn inheriting(path: PathBuf, descriptors: [RawFd; 3]) -> Self {
        if is_bash(&path) {
            return Self::with(path, descriptors, QUIET.to_owned());
        }
        // Opened anew through the names of the old, which such a shell cannot close: its commands inherit them, which
        // is untidy and does no harm.
        let names = descriptors.map(|descriptor| format!("/proc/self/fd/{descriptor}"));
        Self::with(path, ONE_DIGIT, opening(ONE_DIGIT, &names))
    }

    /// For a shell that opens these files, in the same order.
    pub(super) fn opening(path: PathBuf, names: &[String; 3]) -> Self {
        if is_bash(&path) {
            return Self::with(path, OPENED, format!("{}; {QUIET}", opening(OPENED, names)));
        }
        Self::with(path, ONE_DIGIT, opening(ONE_DIGIT, names))
    }

    fn with(path: PathBuf, [input, output, control]: [RawFd; 3], setup: String) -> Self {
        let own = if is_bash(&path) { "builtin" } else { "command" };
        Self { path, input, output, control, setup, own }
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

fn is_bash(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "bash")
}

/// The line that opens files under these numbers. The names are ours and need no quotes.
fn opening([input, output, control]: [RawFd; 3], [from, to, told]: &[String; 3]) -> String {
    format!("exec {input}<{from} {output}>{to} {control}>{told}")
}

/// One word of the shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What a shell's claim means.
pub(super) fn state(number: i64) -> SessionState {
    SessionState::Exited { code: i32::try_from(number).unwrap_or(-1) }
}
