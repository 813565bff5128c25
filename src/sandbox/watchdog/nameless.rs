//! Files that have lost their last name and are still held: by a descriptor of a process, or by its memory map.
//!
//! They take room on the disk and no walk finds them. The kernel shows them to the harness in `/proc`, thread by
//! thread, for a thread may have descriptors of its own. A file that is on its way from one process to another, in a
//! socket's queue, is shown nowhere; the fall of the file system's free room gives it away (see [`super`]).

use std::{collections::BTreeSet, path::PathBuf};

use rustix::{
    fs::{FileType, Stat},
    process::Pid,
};

use super::disk::{Identity, allocated, identity};

/// Bytes in nameless files on file system `device` that these processes hold; stops once `enough` is passed.
pub(super) fn bytes(processes: &[Pid], device: u64, enough: u64) -> u64 {
    let mut seen = BTreeSet::new();
    let mut total = 0_u64;
    for process in processes {
        let folder = PathBuf::from(format!("/proc/{}", process.as_raw_pid()));
        let tasks = names(folder.join("task")).into_iter().map(|task| task.join("fd"));
        for links in tasks.chain([folder.join("map_files")]) {
            for link in names(links) {
                total = total.saturating_add(nameless(&link, device, &mut seen));
                if total > enough {
                    return total;
                }
            }
        }
    }
    total
}

/// What one link leads to, when it counts and did not before.
fn nameless(link: &std::path::Path, device: u64, seen: &mut BTreeSet<Identity>) -> u64 {
    // The kernel's links lead to the file itself, whatever stands at its old path now.
    let Ok(stat) = rustix::fs::stat(link) else { return 0 };
    let counts = is_file(&stat) && stat.st_nlink == 0 && stat.st_dev == device;
    if counts && seen.insert(identity(&stat)) { allocated(&stat) } else { 0 }
}

fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// The entries of a folder of `/proc`; none when its process is gone.
fn names(folder: PathBuf) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_name_is_counted_once() {
        let place = tempfile::tempdir().unwrap();
        let file = tempfile::tempfile_in(place.path()).unwrap();
        rustix::io::write(&file, &vec![1; 1 << 16]).unwrap();
        let _again = file.try_clone().unwrap();
        let device = rustix::fs::stat(place.path()).unwrap().st_dev;
        let own = [rustix::process::getpid()];
        // Other tests of this process hold such files as well, none as large as this one's second part.
        let before = bytes(&own, device, u64::MAX);
        assert!(before >= 1 << 16, "{before}");
        rustix::fs::ftruncate(&file, 0).unwrap();
        rustix::io::write(&file, &vec![1; 32 << 20]).unwrap();
        let after = bytes(&own, device, u64::MAX);
        assert!((32 << 20..64 << 20).contains(&after), "{after}");
        assert_eq!(bytes(&own, device + 1, u64::MAX), 0);
    }
}
