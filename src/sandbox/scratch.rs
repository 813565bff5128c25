//! Temporary folders that a killed harness does not leave for ever.
//!
//! Their name tells their owner, as that of a control group does, so that the sweep at the next start removes what is
//! left and nothing else. Others can write where they lie: only a real folder of our own user is touched, and what is
//! in it is removed as a hostile workspace is.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use tempfile::TempDir;

use crate::{SandboxError, cgroup::label, workspace};

/// What failed where the temporary folder is not there or cannot be written.
pub(crate) const MAKING: &str = "creating a folder in";

/// An empty folder in the temporary folder of the machine, removed when dropped.
pub fn folder() -> Result<TempDir, SandboxError> {
    folder_in(&std::env::temp_dir())
}

/// An empty folder in `place`, which is one that [`sweep`] looks at.
pub(crate) fn folder_in(place: &Path) -> Result<TempDir, SandboxError> {
    let made = tempfile::Builder::new().prefix(&format!("{}.", label::fresh())).tempdir_in(place);
    made.map_err(SandboxError::io(MAKING, place))
}

/// Removes what dead owners left; returns how many folders that were.
pub(crate) fn sweep() -> usize {
    let temporary = std::env::temp_dir();
    let spare = Path::new("/var/tmp");
    sweep_in(&temporary) + if temporary == spare { 0 } else { sweep_in(spare) }
}

fn sweep_in(place: &Path) -> usize {
    let user = rustix::process::geteuid().as_raw();
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(label::owner_is_dead))
        .filter(|entry| entry.metadata().is_ok_and(|facts| facts.is_dir() && facts.uid() == user))
        .filter(|entry| workspace::remove(&entry.path()).is_ok())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_dead_left_is_swept() {
        let place = tempfile::tempdir().unwrap();
        let own = label::fresh();
        let dead = own.replacen(&format!(".{}.", std::process::id()), &format!(".{}.", u32::MAX >> 1), 1);
        let make = |name: &str| fs::create_dir_all(place.path().join(name).join("inner")).unwrap();
        for name in [&own, &format!("{dead}.Xa9"), "podium.local", "other"] {
            make(name);
        }
        std::os::unix::fs::symlink(place.path().join("other"), place.path().join(format!("{dead}.link")))
            .unwrap();
        assert_eq!(sweep_in(place.path()), 1);
        let mut left: Vec<_> = fs::read_dir(place.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut want = vec!["other".to_owned(), "podium.local".to_owned(), own, format!("{dead}.link")];
        want.sort();
        assert_eq!(left, want);
        assert!(place.path().join("other/inner").exists());
    }
}
