//! What changed in the home workspace, kept in the content store up to a cap, so that the files of any step can be had
//! later.
//!
//! Changes are found by metadata. The first look of a sitting knows none, so it reads what it may keep, and finds by
//! their hashes that most is as it was. Caches in the home folder of programs are none of it.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use podium_sandbox::workspace::{INPUT, Seen, survey};
use podium_types::execution::Collected;

use crate::run::journal::{HomeChange, HomeFiles, Kept, LeftOut};
use crate::run::validation;

/// Entries of the workspace that are looked at.
const MOST_ENTRIES: usize = 10_000;
/// A larger file is not kept.
const FILE_BYTES: u64 = 8 << 20;
/// What a run keeps in all.
const RUN_BYTES: u64 = 64 << 20;
/// Files kept at one look: each is synced to the disk.
const MOST_AT_ONCE: usize = 200;
/// Files named at one look of those that are not kept.
const MOST_NAMED: usize = 100;

/// At the top of the workspace, what is not the agent's own work.
const SKIPPED: [&str; 3] = [INPUT, validation::FOLDER, ".home"];

/// What is known of the workspace.
pub(super) struct Keeper {
    seen: BTreeMap<String, Seen>,
    files: HomeFiles,
}

impl Keeper {
    /// With what the journal knows.
    pub(super) const fn new(files: HomeFiles) -> Self {
        Self { seen: BTreeMap::new(), files }
    }

    /// The files as they are known.
    pub(super) const fn files(&self) -> &HomeFiles {
        &self.files
    }

    /// Looks at the workspace and keeps what changed since the last look.
    pub(super) fn look(&mut self, workspace: &Path, store: &Path) -> io::Result<HomeChange> {
        let found = survey(workspace, &SKIPPED, MOST_ENTRIES)?;
        let mut change = HomeChange { unseen: found.unseen && !self.files.others, ..HomeChange::default() };
        for (path, seen) in &found.files {
            if self.seen.get(path) != Some(seen) {
                self.changed(workspace, store, path, *seen, &mut change)?;
            }
        }
        if !found.unseen {
            let gone = self.files.kept.keys().chain(self.files.left_out.keys());
            change.removed = gone.filter(|path| !found.files.contains_key(*path)).cloned().collect();
        }
        self.seen = found.files;
        self.files.apply(&change);
        Ok(change)
    }

    fn changed(
        &self,
        workspace: &Path,
        store: &Path,
        path: &str,
        seen: Seen,
        change: &mut HomeChange,
    ) -> io::Result<()> {
        let known = self.files.kept.get(path);
        let stored: u64 = change.kept.values().map(|kept| kept.bytes).sum();
        let room = RUN_BYTES.saturating_sub(self.files.stored_bytes).saturating_sub(stored);
        // One of the same size may be the very same, which takes no room.
        let as_it_was = known.is_some_and(|kept| kept.bytes == seen.bytes);
        let why = if seen.bytes > FILE_BYTES {
            format!("larger than {} MiB", FILE_BYTES >> 20)
        } else if seen.bytes > room && !as_it_was {
            format!("the {} MiB that a run keeps are used up", RUN_BYTES >> 20)
        } else if change.kept.len() >= MOST_AT_ONCE {
            format!("more than {MOST_AT_ONCE} files changed at once")
        } else {
            match podium_sandbox::collect(workspace, path, store, FILE_BYTES)? {
                Collected::File { sha256, bytes } => {
                    let kept = Kept { sha256, bytes };
                    if known != Some(&kept) {
                        change.kept.insert(path.to_owned(), kept);
                    }
                    return Ok(());
                }
                Collected::Missing { found } => found,
            }
        };
        let left = LeftOut { bytes: seen.bytes, why };
        if self.files.left_out.get(path) == Some(&left) {
            return Ok(());
        }
        // What was kept before must not be taken for what is there now, so it is always named.
        if known.is_some() || change.left_out.len() < MOST_NAMED {
            change.left_out.insert(path.to_owned(), left);
        } else {
            change.more += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_kept_up_to_a_cap_and_the_rest_is_named() {
        let place = tempfile::tempdir().unwrap();
        let (home, store) = (place.path().join("home"), place.path().join("content"));
        podium_sandbox::workspace::create(&home).unwrap();
        let write = |path: &str, content: &[u8]| std::fs::write(home.join(path), content).unwrap();
        let mut keeper = Keeper::new(HomeFiles::default());
        assert!(keeper.look(&home, &store).unwrap().is_empty());
        write("a.py", b"one");
        write("working/b.csv", b"two");
        write("input/c", b"mounted");
        write(".home/d", b"a cache");
        write("large", &vec![0; 9 << 20]);
        std::os::unix::fs::symlink("/etc/passwd", home.join("link")).unwrap();
        let change = keeper.look(&home, &store).unwrap();
        assert_eq!(change.kept.keys().collect::<Vec<_>>(), ["a.py", "working/b.csv"]);
        assert_eq!(change.left_out["large"].why, "larger than 8 MiB");
        assert!(change.removed.is_empty() && change.more == 0 && !change.unseen);
        assert!(keeper.look(&home, &store).unwrap().is_empty(), "nothing changed");

        write("a.py", b"won");
        std::fs::remove_file(home.join("working/b.csv")).unwrap();
        let change = keeper.look(&home, &store).unwrap();
        assert_eq!((change.kept.len(), &change.removed), (1, &vec!["working/b.csv".to_owned()]));
        assert_eq!(std::fs::read(store.join(change.kept["a.py"].sha256.as_str())).unwrap(), b"won");

        // A new sitting knows what the journal does, and finds all as it was.
        let mut again = Keeper::new(keeper.files().clone());
        assert!(again.look(&home, &store).unwrap().is_empty());

        for number in 0..9 {
            write(&format!("filler-{number}"), &vec![number; 8 << 20]);
        }
        let change = again.look(&home, &store).unwrap();
        assert_eq!((change.kept.len(), change.left_out.len()), (7, 2), "64 MiB, of which some were used");
        assert!(change.left_out.values().all(|left| left.why.contains("used up")));
    }
}
