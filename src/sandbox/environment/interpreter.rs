//! A Python interpreter, and what it says of itself.
//!
//! The interpreter is asked rather than its path looked at: what `PATH` names may be a shim or a link.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use podium_types::execution::Ended;
use rustix::process::{Pid, PidfdFlags, Signal};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{Sandbox, SandboxError, trial};

/// The oldest Python that is supported.
const OLDEST: (u32, u32) = (3, 11);

/// How long one may take to tell of itself; a disk on the network is slow.
const ANSWER: Duration = Duration::from_mins(1);

/// Prints what [`Told`] holds. Names and versions of packages stand in the first lines of their metadata; Python's own
/// `importlib.metadata` would read and take apart all of each file, a tenth of a second for a small environment. Of
/// `json` only what it is built on is loaded: the whole takes half as long as all the rest.
const ABOUT: &str = "
import os, sys
try:
    from _json import encode_basestring_ascii as told
except ImportError:
    from json import dumps as told
def metadata(folder):
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith('.dist-info'):
            yield os.path.join(path, 'METADATA')
        elif name.endswith('.egg-info'):
            yield os.path.join(path, 'PKG-INFO') if os.path.isdir(path) else path
        elif name == 'EGG-INFO':
            yield os.path.join(path, 'PKG-INFO')
def package(path):
    found = {}
    try:
        with open(path, encoding='utf-8', errors='replace') as lines:
            for line in lines:
                name, colon, value = line.partition(':')
                if not colon and not line.strip() or len(found) == 2:
                    break
                if name in ('Name', 'Version'):
                    found[name] = value.strip()
    except OSError:
        pass
    return found
packages = {}
for folder in sys.path:
    for found in map(package, metadata(folder)):
        if len(found) == 2:
            packages.setdefault(found['Name'].lower(), found['Version'])
version = '.'.join(map(str, sys.version_info[:3]))
found = {'path': sys.executable, 'version': version, 'prefix': sys.prefix, 'base_prefix': sys.base_prefix}
def table(items, value):
    return '{' + ','.join(told(name) + ':' + value(of) for name, of in items) + '}'
print(table([*found.items(), ('packages', packages)], lambda of: told(of) if isinstance(of, str) else table(of.items(), told)))
";

/// Installed packages with their versions.
pub(super) type Packages = BTreeMap<String, String>;

/// What an interpreter says of itself.
#[derive(Debug, Deserialize)]
struct Told {
    #[serde(flatten)]
    interpreter: Interpreter,
    packages: Packages,
}

/// An interpreter that was run and is new enough.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// `sys.executable`.
    pub path: PathBuf,
    /// For example `3.11.7`.
    pub version: String,
    /// `sys.prefix`: the environment's folder.
    pub prefix: PathBuf,
    /// `sys.base_prefix`: the installation it stands on.
    pub base_prefix: PathBuf,
}

impl Interpreter {
    /// The one the user named, else the first of `python3` and `python` on PATH that is new enough.
    pub fn find(named: Option<&Path>) -> Result<Self, SandboxError> {
        if let Some(path) = named {
            return Self::ask(path);
        }
        let mut failures = Vec::new();
        for name in ["python3", "python"] {
            match Self::ask(Path::new(name)) {
                Ok(found) => return Ok(found),
                Err(SandboxError::NoPython { message }) => failures.push(message),
                Err(other) => return Err(other),
            }
        }
        Err(SandboxError::NoPython { message: failures.join("; ") })
    }

    /// Runs it and reads what it says.
    pub(super) fn ask(python: &Path) -> Result<Self, SandboxError> {
        Ok(Self::ask_all(python)?.0)
    }

    /// The same with its packages.
    pub(super) fn ask_all(python: &Path) -> Result<(Self, Packages), SandboxError> {
        let told: Told = run_json(python, ABOUT)?;
        Ok((told.interpreter.checked(python)?, told.packages))
    }

    /// The same inside a sandbox.
    pub(super) async fn ask_inside(
        sandbox: &dyn Sandbox,
        python: &Path,
    ) -> Result<(Self, Packages), SandboxError> {
        let told: Told = run_json_inside(sandbox, python, ABOUT).await?;
        Ok((told.interpreter.checked(python)?, told.packages))
    }

    /// Refuses one that is too old.
    fn checked(self, python: &Path) -> Result<Self, SandboxError> {
        let about = self;
        let mut numbers = about.version.split('.').map_while(|part| part.parse::<u32>().ok());
        if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < OLDEST {
            return Err(SandboxError::NoPython {
                message: format!(
                    "`{}` is Python {}, older than {}.{}",
                    python.display(),
                    about.version,
                    OLDEST.0,
                    OLDEST.1
                ),
            });
        }
        Ok(about)
    }
}

/// Runs a few lines in isolated mode inside a sandbox, in an empty workspace, and parses the JSON they print.
async fn run_json_inside<T: DeserializeOwned>(
    sandbox: &dyn Sandbox,
    python: &Path,
    code: &str,
) -> Result<T, SandboxError> {
    let failed = |why: String| SandboxError::NoPython { message: format!("`{}` {why}", python.display()) };
    let trial = trial::command([&python.to_string_lossy(), "-I", "-c", code])?;
    let execution = sandbox.execute(&trial.job).await?;
    let text = execution.output.text();
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    if execution.ended != Ended::Exit(0) {
        return Err(failed(format!("failed in the sandbox: {last}")));
    }
    serde_json::from_str(last).map_err(|error| failed(format!("answered nonsense: {error}")))
}

/// Runs a few lines in isolated mode and parses the JSON they print.
pub(super) fn run_json<T: DeserializeOwned>(python: &Path, code: &str) -> Result<T, SandboxError> {
    run_json_within(ANSWER, python, code)
}

fn run_json_within<T: DeserializeOwned>(
    limit: Duration,
    python: &Path,
    code: &str,
) -> Result<T, SandboxError> {
    let failed = |why: String| SandboxError::NoPython { message: format!("`{}` {why}", python.display()) };
    let not_started = |error: io::Error| failed(format!("cannot be started: {error}"));
    let mut command = Command::new(python);
    command.args(["-I", "-c", code]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(not_started)?;
    let process = rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty())
        .map_err(SandboxError::system("pidfd_open"))?;
    let (sender, answer) = mpsc::channel();
    // Ends with the program, or when what that has left behind has closed its output.
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = answer.recv_timeout(limit) else {
        // It may have ended this moment.
        let _ = rustix::process::pidfd_send_signal(&process, Signal::KILL);
        return Err(failed(format!("does not answer within {} s", limit.as_secs())));
    };
    let output = output.map_err(not_started)?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
        return Err(failed(format!("failed: {last}")));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(format!("answered nonsense: {error}")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn one_that_does_not_answer_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python");
        std::fs::write(&python, "#!/bin/sh\nexec sleep 300\n").unwrap();
        std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
        let refused = run_json_within::<Interpreter>(Duration::ZERO, &python, ABOUT).unwrap_err();
        assert!(refused.to_string().contains("does not answer within 0 s"), "{refused}");
        assert!(refused.hint().is_some());
    }
}
