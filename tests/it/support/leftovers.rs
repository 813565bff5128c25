//! What a killed harness may have left on the machine: processes in a jail, control groups.

use std::path::{Path, PathBuf};

/// Processes that have a folder below `place` mounted: those of a jail, seen from outside.
pub(crate) fn jailed(place: &Path) -> Vec<String> {
    let place = place.to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter(|process| process.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .filter_map(|process| {
            let mounts = std::fs::read_to_string(process.path().join("mountinfo")).ok()?;
            // The root of a mount, not its mount point: everybody sees the mount points of the host.
            let inside =
                mounts.lines().any(|line| line.split(' ').nth(3).is_some_and(|root| root.contains(&place)));
            let name = std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            inside.then(|| format!("{} {}", process.file_name().to_string_lossy(), name.trim()))
        })
        .collect()
}

/// Control groups that were made by the process `owner`.
pub(crate) fn groups_of(owner: u32) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![(PathBuf::from("/sys/fs/cgroup"), 0)];
    while let Some((folder, depth)) = pending.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            // podium.BOOT.PIDNS.PID.START.N
            if name.starts_with("podium.") && name.split('.').nth(3) == Some(owner.to_string().as_str()) {
                found.push(entry.path());
            } else if depth < 8 {
                pending.push((entry.path(), depth + 1));
            }
        }
    }
    found
}
