//! How much memory this process may use: the machine's, or less in a container or a slice.

use std::path::{Path, PathBuf};

/// Bytes of memory that there are for this process and all it starts.
pub fn memory() -> u64 {
    let info = rustix::system::sysinfo();
    let machine = u64::from(info.mem_unit) * info.totalram;
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    limit(&groups, Path::new("/sys/fs/cgroup")).map_or(machine, |limit| limit.min(machine))
}

/// The least memory limit of the control groups in `groups` (the text of `/proc/self/cgroup`) and of those above them,
/// with the hierarchies mounted below `root`. In a container the group's path may be the host's, and then only the
/// top of what is mounted is found.
fn limit(groups: &str, root: &Path) -> Option<u64> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let (mount, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let group = mount.join(path);
        let folders: Vec<PathBuf> = group.ancestors().map(Path::to_owned).collect();
        let inside = folders.into_iter().take_while(|folder| folder.starts_with(&mount));
        // `max` is no number, and no limit.
        inside
            .filter_map(|folder| std::fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok())
            .min()
    };
    groups.lines().filter_map(of_line).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_limit_on_the_way_up_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/memory.max", "4096\n");
        write("a/b/memory.max", "max\n");
        write("memory/c/memory.limit_in_bytes", "8192\n");
        let limit = |groups| limit(groups, root.path());
        assert_eq!(limit("0::/a/b\n"), Some(4096));
        assert_eq!(limit("3:cpu:/c\n7:memory:/c/gone\n0::/\n"), Some(8192));
        assert_eq!(limit("0::/other\n1:name=systemd:/a\nnonsense\n"), None);
    }
}
