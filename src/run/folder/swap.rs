//! Putting a folder in the place of another, so that whoever looks finds the old one or the new one, never a mixture.

use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{FolderError, failed};

/// Puts the folder `fresh` in the place of the folder `path`, and removes the old one. On file systems that cannot
/// exchange two names there is an instant without a folder at `path`. Nothing is synced.
///
/// # Errors
/// When it cannot be put there; the old one then still stands.
pub fn swap_in(fresh: &Path, path: &Path) -> Result<(), FolderError> {
    let fail = |source| failed("write", path, source);
    match renameat_with(CWD, fresh, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => remove(fresh),
        Err(Errno::NOENT) => std::fs::rename(fresh, path).map_err(fail),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => replace(fresh, path),
        Err(errno) => Err(fail(errno.into())),
    }
}

/// For want of an exchange.
fn replace(fresh: &Path, path: &Path) -> Result<(), FolderError> {
    let fail = |source| failed("write", path, source);
    let old = path.with_extension("old");
    remove(&old)?;
    std::fs::rename(path, &old).map_err(fail)?;
    if let Err(error) = std::fs::rename(fresh, path) {
        // Better the old one than none.
        let _ = std::fs::rename(&old, path);
        return Err(fail(error));
    }
    remove(&old)
}

/// Removes a folder of ours, or what somebody put in its place; one that is not there is fine.
pub fn remove(path: &Path) -> Result<(), FolderError> {
    let removed = match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => std::fs::remove_file(path),
        removed => removed,
    };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed("remove", path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_takes_the_place_of_another() {
        let place = tempfile::tempdir().unwrap();
        let (fresh, path) = (place.path().join("best.new"), place.path().join("best"));
        for (number, exchanged) in [true, true, false].into_iter().enumerate() {
            std::fs::create_dir(&fresh).unwrap();
            std::fs::write(fresh.join(number.to_string()), "").unwrap();
            if exchanged { swap_in(&fresh, &path) } else { replace(&fresh, &path) }.unwrap();
            let names: Vec<_> =
                std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names, [number.to_string().as_str()]);
            assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
        }
        // What is in its place may be no folder.
        std::fs::remove_dir_all(&path).unwrap();
        std::fs::write(&path, "").unwrap();
        std::fs::create_dir(&fresh).unwrap();
        swap_in(&fresh, &path).unwrap();
        assert!(path.is_dir() && std::fs::read_dir(place.path()).unwrap().count() == 1);
    }
}
