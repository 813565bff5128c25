//! The Python files that a scaffold gives to the sandbox, compiled and never run: those of a strategy's own program, and
//! of an agent those that lie at the top of its mounts and beside the scripts that its command names. Deeper folders are
//! often packages of others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use podium_sandbox::{Interpreter, SandboxError};
use podium_scaffold::Scaffold;
use serde_json::Value;

use crate::run::error::RunError;
use crate::run::site::Site;

/// Where mounts stand in the sandbox.
const MOUNTS: &str = "/mounts/";
/// Of one folder no more files are looked at.
const MOST_FILES: usize = 200;
/// A longer file is data.
const MOST_BYTES: u64 = 1 << 20;

type Texts = BTreeMap<String, Vec<u8>>;

/// Sentences about the files of `scaffold`, which is named `name`; none where all of them can be read.
pub(super) fn faults(
    name: &str,
    scaffold: &Scaffold,
    mounts: &BTreeMap<String, PathBuf>,
    site: &Site,
) -> Result<Vec<String>, SandboxError> {
    let mut texts = match site.program_files(name, scaffold) {
        Ok(files) => files.into_iter().map(|(file, text)| (file, text.into_bytes())).collect(),
        Err(error @ RunError::ProgramFiles(_)) => return Ok(vec![error.in_full()]),
        // Whatever else is wrong is found by other checks.
        Err(_) => Texts::new(),
    };
    texts.retain(|file, _| is_python(Path::new(file)));
    texts.extend(of_mounts(scaffold, mounts));
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let found = Interpreter::find(site.python.as_deref())?.syntax_faults(&texts)?;
    let sentence = |(file, fault): (String, podium_sandbox::environment::SyntaxFault)| {
        let line = fault.line.map(|line| format!(", line {line}")).unwrap_or_default();
        format!("{file}{line}: {}", fault.message)
    };
    Ok(found.into_iter().map(sentence).collect())
}

/// What an agent's command can start.
fn of_mounts(scaffold: &Scaffold, mounts: &BTreeMap<String, PathBuf>) -> Texts {
    let command = scaffold.spec().get("agent").and_then(|agent| agent.get("command"));
    let Some(words) = command.and_then(Value::as_array) else { return Texts::new() };
    let named = words.iter().filter_map(Value::as_str).filter_map(|word| word.strip_prefix(MOUNTS));
    let beside = named.filter(|path| is_python(Path::new(path))).filter_map(|path| {
        let (mount, rest) = path.split_once('/')?;
        let inside = Path::new(rest).parent()?;
        let is_below = inside.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        is_below.then(|| {
            Some((format!("{MOUNTS}{mount}/{}", inside.display()), mounts.get(mount)?.join(inside)))
        })?
    });
    let tops = mounts.iter().map(|(mount, folder)| (format!("{MOUNTS}{mount}"), folder.clone()));
    let folders: BTreeMap<PathBuf, String> =
        beside.chain(tops).map(|(shown, folder)| (folder, shown)).collect();
    folders.iter().flat_map(|(folder, shown)| python_files(folder, shown.trim_end_matches('/'))).collect()
}

/// The Python files that lie in a folder; what cannot be read is no business of this check.
fn python_files(folder: &Path, shown: &str) -> Texts {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = entries.filter(|path| is_python(path)).filter(|path| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST_BYTES)
    });
    let read = |path: PathBuf| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((format!("{shown}/{name}"), std::fs::read(&path).ok()?))
    };
    files.take(MOST_FILES).filter_map(read).collect()
}

fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "py")
}
