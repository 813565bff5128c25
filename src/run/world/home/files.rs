//! Acts on files of the home workspace, by the sandbox's tools for folders that hostile code has laid out.

use std::sync::Arc;

use podium_sandbox::workspace::{FileError, Files};
use podium_scaffold::EffectResult;
use podium_types::execution::Program;
use podium_types::files::{FileEntry, FileFault, FileText, FilesAnswer, FilesRequest, WriteWhen};
use podium_types::key::EffectKey;
use podium_types::sha256::Sha256;

use super::super::Inner;
use super::super::local::done;
use crate::run::driver::Performed;
use crate::run::stop::{Stop, StoppedBy};

/// Of a file no more than this is read as text, whatever was asked for.
const MOST_TEXT: u64 = 16 << 20;
/// A larger file is not copied.
const MOST_COPIED: u64 = 4 << 30;

/// Why an act was not done.
enum Undone {
    /// For the strategy.
    Fault(FileFault),
    /// The disk is full: for the run.
    NoRoom(FileError),
}

impl From<FileError> for Undone {
    fn from(error: FileError) -> Self {
        if error.is_disk_full() { Self::NoRoom(error) } else { Self::Fault(error.into()) }
    }
}

impl Inner {
    pub(in crate::run::world) async fn act_on_files(
        self: &Arc<Self>,
        key: &EffectKey,
        request: FilesRequest,
    ) -> Performed {
        let _in_flight = self.clock.in_flight();
        if let Err(refused) = self.at_home().await {
            return refused.into();
        }
        let nothing = Program::Command { argv: Vec::new() };
        let files = Files::of(&self.job(nothing, &self.folder.home_path(), None, 0));
        let changes = request.changes();
        match tokio::task::spawn_blocking(move || act(&files, request)).await {
            Ok(Ok(answer)) if changes => self.changed(key, EffectResult::Files(Ok(answer))).await,
            Ok(Ok(answer)) => done(EffectResult::Files(Ok(answer))),
            Ok(Err(Undone::Fault(fault))) => done(EffectResult::Files(Err(fault))),
            Ok(Err(Undone::NoRoom(error))) => Performed::Parked(Stop::disk_full(&error.to_string())),
            Err(panic) => Performed::Parked(Stop::new(StoppedBy::Internal, panic.to_string())),
        }
    }
}

fn act(files: &Files, request: FilesRequest) -> Result<FilesAnswer, Undone> {
    match request {
        FilesRequest::List { path } => {
            let (entries, more) = files.list_some(&path)?;
            let entries = entries.into_iter().map(|entry| FileEntry {
                name: entry.name,
                is_folder: entry.is_folder,
                bytes: entry.bytes,
            });
            Ok(FilesAnswer::Listed { entries: entries.collect(), more })
        }
        FilesRequest::Read { path, max_bytes, beginning } => {
            read(files, path, max_bytes.min(MOST_TEXT), beginning).map(FilesAnswer::Read)
        }
        FilesRequest::Write { path, content, when } => {
            let written = FilesAnswer::Written {
                bytes: content.len() as u64,
                sha256: Some(Sha256::of(content.as_bytes())),
            };
            if may_write(files, &path, content.as_bytes(), when)? {
                files.write(&path, content.as_bytes())?;
            }
            Ok(written)
        }
        FilesRequest::Copy { from, to } => {
            let bytes = files.clone().with_limit(MOST_COPIED).copy(&from, &to)?;
            Ok(FilesAnswer::Written { bytes, sha256: None })
        }
        FilesRequest::Remove { path } => Ok(FilesAnswer::Removed { existed: files.remove(&path)? }),
    }
}

fn read(files: &Files, path: String, max_bytes: u64, beginning: bool) -> Result<FileText, Undone> {
    let (content, bytes) = files.read_beginning(&path, max_bytes)?;
    if content.contains(&0) {
        return Err(Undone::Fault(FileFault::Binary { path, bytes }));
    }
    let whole = bytes <= content.len() as u64;
    if !whole && !beginning {
        return Err(Undone::Fault(FileFault::TooLarge { path, max_bytes }));
    }
    let sha256 = whole.then(|| Sha256::of(&content));
    let (text, lossy) = match String::from_utf8(content) {
        Ok(text) => (text, false),
        Err(error) => {
            let (at, cut) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len().is_none());
            let mut content = error.into_bytes();
            if cut && !whole {
                // The cut fell into a character.
                content.truncate(at);
            }
            let lossy = whole || !cut;
            (String::from_utf8_lossy(&content).into_owned(), lossy)
        }
    };
    Ok(FileText { text, bytes, sha256, lossy })
}

/// Whether the condition of a write holds; `false` where the file has the new content already.
fn may_write(files: &Files, path: &str, content: &[u8], when: WriteWhen) -> Result<bool, Undone> {
    let found = match when {
        WriteWhen::Always => return Ok(true),
        WriteWhen::Absent | WriteWhen::Unchanged { .. } => files.read_beginning(path, MOST_TEXT),
    };
    let found = match found {
        Ok((found, bytes)) if bytes == found.len() as u64 => Some(found),
        // Larger than whatever is written.
        Ok(_) => None,
        Err(FileError::Missing { .. }) if when == WriteWhen::Absent => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    if found.as_deref() == Some(content) {
        return Ok(false);
    }
    let path = path.to_owned();
    match when {
        WriteWhen::Unchanged { sha256 } if found.is_some_and(|found| Sha256::of(&found) == sha256) => {
            Ok(true)
        }
        WriteWhen::Unchanged { .. } => Err(Undone::Fault(FileFault::Changed { path })),
        WriteWhen::Always | WriteWhen::Absent => Err(Undone::Fault(FileFault::Exists { path })),
    }
}
