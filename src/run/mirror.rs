//! The journal's mirror on network file systems: `events.jsonl`, which others can read while the journal is locked.
//!
//! It is derived. A sitting first brings it up to the journal, since a kill may have fallen between a commit and its
//! line or in the middle of a line; from then on each committed entry is one more line. A mirror that cannot be
//! written is told and stops nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use crate::run::events::RunEvent;
use crate::run::folder::RunFolder;
use crate::run::journal::{Entry, FileSystem};

const FILE: &str = "events.jsonl";

/// The mirror of one sitting; nothing at all on a local file system.
#[derive(Debug)]
pub(super) struct Mirror(Option<File>);

impl Mirror {
    /// Opens the mirror and brings it up to `entries`.
    pub(super) fn open(folder: &RunFolder, file_system: FileSystem, entries: &[Entry]) -> Self {
        if file_system != FileSystem::Network {
            return Self(None);
        }
        match catch_up(&folder.path().join(FILE), entries) {
            Ok(file) => Self(Some(file)),
            Err(error) => {
                tell(&error);
                Self(None)
            }
        }
    }

    /// Takes one event of the stream.
    pub(super) fn event(&mut self, event: &RunEvent) {
        if let (Some(file), RunEvent::Entry { replayed: false, entry }) = (&mut self.0, event)
            && let Err(error) = line(entry).and_then(|line| file.write_all(&line))
        {
            tell(&error);
        }
    }
}

/// The entries in the mirror, up to the first line that is not whole; `None` when there is no mirror.
pub(super) fn read(folder: &RunFolder) -> Option<Vec<Entry>> {
    #[derive(serde::Deserialize)]
    struct Line {
        entry: Entry,
    }
    let text = std::fs::read_to_string(folder.path().join(FILE)).ok()?;
    let lines = text.lines().map_while(|line| serde_json::from_str(line).ok());
    Some(lines.map(|Line { entry }| entry).collect())
}

fn tell(error: &io::Error) {
    tracing::warn!(%error, "events.jsonl could not be written; the next resume brings it up to the journal");
}

/// Cuts what is no whole line, or no entry of this journal, and appends what is missing.
fn catch_up(path: &Path, entries: &[Entry]) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let mut written = Vec::new();
    file.read_to_end(&mut written)?;
    let (mut kept, mut missing) = (0, entries);
    while let Some((entry, rest)) = missing.split_first() {
        let line = line(entry)?;
        if !written.get(kept..).is_some_and(|tail| tail.starts_with(&line)) {
            break;
        }
        (kept, missing) = (kept + line.len(), rest);
    }
    if kept < written.len() {
        file.set_len(kept as u64)?;
    }
    for entry in missing {
        file.write_all(&line(entry)?)?;
    }
    Ok(file)
}

fn line(entry: &Entry) -> io::Result<Vec<u8>> {
    let event = RunEvent::Entry { replayed: false, entry: Box::new(entry.clone()) };
    let mut line = serde_json::to_vec(&event)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::journal::{Record, Stamp};

    fn entry(seq: u64) -> Entry {
        let record = Record::Started {
            program: format!("p{seq}"),
            sandbox: "none".to_owned(),
            config: None,
            files: None,
        };
        Entry { seq, stamp: Stamp::default(), at: "2026-01-01T00:00:00Z".to_owned(), record }
    }

    #[test]
    fn a_torn_or_missing_line_comes_back() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("events.jsonl");
        let entries = [entry(1), entry(2), entry(3)];
        let whole: Vec<u8> = entries.iter().flat_map(|entry| line(entry).unwrap()).collect();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            catch_up(&path, &entries).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
        std::fs::write(&path, [whole.as_slice(), b"{\"event\":"].concat()).unwrap();
        catch_up(&path, &entries).unwrap().write_all(&line(&entry(4)).unwrap()).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), [whole, line(&entry(4)).unwrap()].concat());
    }
}
