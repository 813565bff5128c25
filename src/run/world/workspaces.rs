//! Workspaces of executions: one folder each, named by the effect, gone before the next execution begins.
//!
//! What cannot be removed is no reason to lose a result that was paid for: it is put aside in `work/`, which is
//! emptied at the end of the sitting and at the beginning of the next.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use podium_sandbox::workspace;
use podium_types::key::EffectKey;
use podium_types::sha256::Sha256;
use tokio::task::JoinHandle;

/// Begins the name of what was put aside.
const TRASH: &str = "trash-";

/// Longer names are cut: file systems take 255 bytes, and paths have an end, too.
const LONGEST: usize = 100;

/// The workspaces below `work/`.
#[derive(Debug)]
pub(super) struct Workspaces {
    work: PathBuf,
    put_aside: AtomicU32,
    /// Removals that go on while the result is used.
    going: Mutex<Vec<JoinHandle<()>>>,
}

impl Workspaces {
    /// Those below `work`.
    pub(super) const fn new(work: PathBuf) -> Self {
        Self { work, put_aside: AtomicU32::new(0), going: Mutex::new(Vec::new()) }
    }

    /// The workspace of an effect, which need not be there.
    pub(super) fn path(&self, key: &EffectKey) -> PathBuf {
        self.work.join(name(key))
    }

    /// Has `make` make it, empty.
    pub(super) fn create(&self, path: &Path, make: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.clear(path)?;
        make()
    }

    /// Removes it, or puts it aside, while others go on: nobody will look at it again, and what remains of it takes no
    /// result away. Whoever needs its room [waits](Self::cleared).
    pub(super) fn clear_behind(self: &Arc<Self>, path: PathBuf) {
        let workspaces = Arc::clone(self);
        let going = tokio::task::spawn_blocking(move || {
            if let Err(error) = workspaces.clear(&path) {
                tracing::warn!(%error, path = %path.display(), "a workspace could not be put aside");
            }
        });
        self.going.lock().unwrap_or_else(PoisonError::into_inner).push(going);
    }

    /// Waits until what is being removed is gone.
    pub(super) async fn cleared(&self) {
        let going = std::mem::take(&mut *self.going.lock().unwrap_or_else(PoisonError::into_inner));
        for removal in going {
            let _ = removal.await;
        }
    }

    /// Nothing stands at `path` any more: it is removed, or put aside where it cannot be.
    pub(super) fn clear(&self, path: &Path) -> io::Result<()> {
        let Err(error) = workspace::remove(path) else { return Ok(()) };
        let aside = loop {
            let number = self.put_aside.fetch_add(1, Ordering::Relaxed);
            let aside = self.work.join(format!("{TRASH}{number}"));
            if std::fs::symlink_metadata(&aside).is_err() {
                break aside;
            }
        };
        tracing::warn!(%error, path = %path.display(), aside = %aside.display(), "a workspace could not be removed");
        std::fs::rename(path, aside)
    }
}

/// The name of an effect's workspace. Keys come from strategies, so whatever is no letter, digit or hyphen is spelled
/// in digits; two keys never get one name.
fn name(key: &EffectKey) -> String {
    let mut name = String::from("workspace-");
    for byte in key.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => name.push(char::from(byte)),
            b'/' => name.push('.'),
            _ => {
                use std::fmt::Write as _;
                // Writing to a string cannot fail.
                let _ = write!(name, "_{byte:02x}");
            }
        }
    }
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        // `_s` begins no spelled byte.
        name = format!("{name}_sha-{}", Sha256::of(key.as_str().as_bytes()));
    }
    name
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_key_has_a_name_of_its_own_that_stays_inside() {
        let long = |end| format!("step/1/{}{end}", "x".repeat(300));
        let keys = ["node/7/execute/0", "node/7/execute/1", "node_7_execute_0", "node.7.execute.0"];
        let odd = ["../../etc", "..", "", "/", "a b", "a_20b", "ü", "\0", &long('1'), &long('2')];
        let names: BTreeSet<String> =
            keys.iter().chain(&odd).map(|key| name(&EffectKey::from_journal((*key).to_owned()))).collect();
        assert_eq!(names.len(), keys.len() + odd.len(), "{names:?}");
        assert!(names.contains("workspace-node.7.execute.0"));
        for name in &names {
            assert!(name.starts_with("workspace-") && name.len() < 200, "{name}");
            assert!(
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)),
                "{name}"
            );
        }
    }

    #[test]
    fn what_cannot_be_removed_is_put_aside() {
        let place = tempfile::tempdir().unwrap();
        let work = place.path().join("work");
        std::fs::create_dir(&work).unwrap();
        let workspaces = Workspaces::new(work.clone());
        let path = workspaces.path(&EffectKey::node(1, "execute", 0));
        // The removal of a workspace refuses a path that is itself a link.
        std::os::unix::fs::symlink(place.path(), &path).unwrap();
        assert!(workspace::remove(&path).is_err());
        workspaces.create(&path, || workspace::create(&path)).unwrap();
        assert!(path.join("submission").is_dir() && work.join("trash-0").is_symlink());
        workspaces.clear(&path).unwrap();
        assert!(!path.exists());
    }
}
