//! Building a profile into its folder: a lock, a virtual environment, an installer, and the marker last.

use std::{
    collections::VecDeque,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Interpreter, SandboxError, workspace};

/// How many of the installer's last lines an error carries.
const LAST_LINES: usize = 15;

/// Holds the exclusive lock of an environment's folder until dropped; waits while another process builds.
pub(super) fn lock(folder: &Path) -> Result<File, SandboxError> {
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent).map_err(SandboxError::io("creating", parent))?;
    }
    let path = folder.with_extension("lock");
    let file = File::create(&path).map_err(SandboxError::io("creating", &path))?;
    file.lock().map_err(SandboxError::io("locking", &path))?;
    Ok(file)
}

/// Builds the environment and returns its interpreter.
pub(super) fn install(
    folder: &Path,
    profile: &str,
    requirements: &str,
    interpreter: &Interpreter,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, SandboxError> {
    workspace::remove(folder).map_err(SandboxError::io("removing the unfinished", folder))?;
    let uv = has_uv();
    let mut create = if uv {
        let mut command = Command::new("uv");
        command.args(["venv", "--no-project", "--python"]).arg(&interpreter.path);
        command
    } else {
        let mut command = Command::new(&interpreter.path);
        command.args(["-m", "venv"]);
        command
    };
    run(profile, create.arg(folder), progress)?;

    let list = folder.join("requirements.txt");
    std::fs::write(&list, requirements).map_err(SandboxError::io("writing", &list))?;
    let python = folder.join("bin").join("python");
    let mut fill = if uv {
        let mut command = Command::new("uv");
        command.args(["pip", "install", "--compile-bytecode", "--python"]).arg(&python);
        command
    } else {
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "install", "--no-input", "--disable-pip-version-check"]);
        command
    };
    run(profile, fill.arg("-r").arg(&list), progress)?;
    Ok(python)
}

/// Writes the marker whole: a temporary file, synced, then renamed.
pub(super) fn write_marker(path: &Path, content: &[u8]) -> Result<(), SandboxError> {
    let failed = |source| SandboxError::Io { action: "writing", path: path.to_owned(), source };
    let parent = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(parent).map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn has_uv() -> bool {
    let mut command = Command::new("uv");
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs one step of the installer; a failure carries its last lines.
fn run(profile: &str, command: &mut Command, progress: &mut dyn FnMut(&str)) -> Result<(), SandboxError> {
    let failed = |message: String| SandboxError::Environment { name: profile.to_owned(), message };
    let program = command.get_program().to_string_lossy().into_owned();
    let cannot_start = |error: std::io::Error| failed(format!("`{program}` cannot be started: {error}"));
    let (reader, writer) = std::io::pipe().map_err(cannot_start)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone().map_err(cannot_start)?)
        .stderr(writer)
        .spawn()
        .map_err(cannot_start)?;
    // The command holds the writing end; without this the pipe would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());

    let mut last = VecDeque::with_capacity(LAST_LINES);
    for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        progress(&line);
        if last.len() == LAST_LINES {
            last.pop_front();
        }
        last.push_back(line);
    }
    let status = child.wait().map_err(cannot_start)?;
    if status.success() {
        return Ok(());
    }
    let lines: Vec<String> = last.into();
    Err(failed(format!("`{program}` ended with {status}:\n{}", lines.join("\n"))))
}
