//! What a jail's file system holds: an allow-list, in mount order.
//!
//! System folders read-only, an `/etc` of the jails' own, the read-only mounts of the job at their own
//! path, the workspace, and the input. The rest of the host does not exist. The root itself, `/dev` and `/proc` are
//! sealed read-only. `/proc` must be: the jail's user is the harness's user under another number, and where that is
//! root the kernel would let it write system settings below `/proc/sys`, which reach the whole host.
//!
//! Paths of mounted host folders can be read inside, in `/proc/self/mountinfo`: their names must hold no secrets.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use super::{arguments::Arguments, devices, nodes::Nodes};
use crate::{
    Job, SandboxError,
    callback::script,
    job::{MOUNTS, check_mount_name},
    workspace,
};

/// Where the workspace is, inside.
pub(crate) const WORKSPACE: &str = "/workspace";
/// User and group inside; never root.
pub(super) const USER: &str = "1000";

/// Folders of the system besides `/usr`: on most systems symbolic links into it.
pub(crate) const LINKED: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"];
/// Parts of `/etc` that programs need and that hold nothing private.
pub(crate) const ETC: [&str; 3] = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts"];
/// Files of `/proc` that are masked, where they are and the jail's user could read them: physical memory and its pages,
/// keys, timers, addresses and slabs, and the interrupts, which tell when others type. Where the harness is root its
/// jails pass for the owner of files that are root's alone, so those are masked there. The rest is what every user of a
/// machine may see (its processors, disks and buses, how its kernel was built), mere counts (`key-users`,
/// `pagetypeinfo`), or refused to a user namespace by the kernel (`kmsg`); each mask costs a tenth of a millisecond.
/// Switches such as `sysrq-trigger` need no mask: all of `/proc` is sealed read-only.
pub(crate) const MASKED: [&str; 13] = [
    "interrupts",
    "kallsyms",
    "kcore",
    "keys",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "latency_stats",
    "modules",
    "sched_debug",
    "slabinfo",
    "timer_list",
    "vmallocinfo",
];

/// Adds all mounts of a job, with `etc` as `/etc`.
pub(super) fn mounts(
    arguments: &mut Arguments,
    job: &Job,
    nodes: &Nodes,
    etc: &Path,
) -> Result<(), SandboxError> {
    check(job)?;
    system(arguments, etc);
    if job.submission_check.is_some() {
        arguments.program(script::PATH, &script::text(&job.python))?;
    }
    processes(arguments);
    kernel(arguments, job, nodes)?;
    for folder in read_only(job)? {
        arguments.add("--ro-bind", [&folder, &folder]);
    }
    for (name, path) in &job.mounts {
        arguments.add("--ro-bind", [path.as_path(), &Path::new(MOUNTS).join(name)]);
    }
    devices::driver(arguments, &job.gpus)?;
    arguments.add("--bind", [job.workspace.as_path(), Path::new(WORKSPACE)]);
    if let Some(input) = &job.input {
        let inside = Path::new(WORKSPACE).join(workspace::INPUT);
        arguments.add("--ro-bind", [input.as_path(), &inside]);
        for (name, file) in replaced(job, input) {
            arguments.add("--ro-bind", [file, &inside.join(name)]);
        }
    }
    for (name, folder) in &job.beside {
        arguments.add("--ro-bind", [folder.as_path(), &Path::new(WORKSPACE).join(name)]);
    }
    arguments.add("--remount-ro", ["/"]);
    arguments.add("--chdir", [WORKSPACE]);
    Ok(())
}

/// The files of the input that others stand in for. A name must be that of a regular file, which is the place to mount
/// at: a link could lead elsewhere.
pub(crate) fn replaced<'a>(job: &'a Job, input: &Path) -> impl Iterator<Item = (&'a str, &'a Path)> {
    let is_file = |name: &str| input.join(name).symlink_metadata().is_ok_and(|found| found.is_file());
    let there: Vec<(&str, &Path)> = job
        .input_instead
        .iter()
        .filter(|(name, _)| is_file(name))
        .map(|(name, file)| (name.as_str(), file.as_path()))
        .collect();
    there.into_iter()
}

/// The view of a fork server for a job: all that the job's program sees, but for the input, the content of the
/// workspace and the processes, which are the host's. Everything is read-only.
pub(super) fn server_mounts(
    arguments: &mut Arguments,
    job: &Job,
    nodes: &Nodes,
    etc: &Path,
) -> Result<(), SandboxError> {
    check(job)?;
    system(arguments, etc);
    arguments.add("--ro-bind", ["/proc", "/proc"]);
    kernel(arguments, job, nodes)?;
    for folder in read_only(job)? {
        arguments.add("--ro-bind", [&folder, &folder]);
    }
    arguments.add("--dir", [WORKSPACE]);
    Ok(())
}

/// Where the kernel and its services speak to the host's programs: a read-only mount stops neither a connection to a
/// socket nor a look at the host's processes.
const LIVE: [&str; 4] = ["/proc", "/sys", "/dev", "/run"];
/// Folders of files below these.
const FILES: [&str; 2] = ["/dev/shm", "/run/media"];

/// Refuses a mount of something other than files.
fn check_is_files(path: &Path) -> Result<(), SandboxError> {
    let source = path.canonicalize().map_err(SandboxError::io("mounting", path))?;
    let facts = source.metadata().map_err(SandboxError::io("mounting", path))?;
    let refused = |what: &str| SandboxError::Job {
        message: format!("`{}` cannot be mounted: it is {what}", path.display()),
    };
    if !facts.is_dir() && !facts.is_file() {
        return Err(refused("no folder and no regular file"));
    }
    let is_below = |folder: &&str| source.starts_with(folder) && source != Path::new(folder);
    if LIVE.iter().any(|folder| source.starts_with(folder)) && !FILES.iter().any(is_below) {
        return Err(refused("the kernel's or a service's, through which the host could be reached"));
    }
    Ok(())
}

/// Refuses a job of which a mount is or contains a folder that must stay hidden, or is no files at all. Links are resolved on both sides, so
/// a detour changes nothing.
pub(crate) fn check(job: &Job) -> Result<(), SandboxError> {
    let hidden: Vec<PathBuf> = job.hidden.iter().map(|path| resolved(path)).collect();
    let system = ["/usr"].into_iter().chain(LINKED).chain(ETC).map(Path::new);
    let beside = job.beside.iter().map(|(_, folder)| folder);
    let given =
        job.read_only.iter().chain([&job.workspace]).chain(&job.input).chain(beside).map(PathBuf::as_path);
    for mount in system.chain(given) {
        let source = resolved(mount);
        if let Some(hidden) = hidden.iter().find(|hidden| hidden.starts_with(&source)) {
            return Err(SandboxError::Exposed { mount: mount.to_owned(), hidden: hidden.clone() });
        }
    }
    job.input.as_deref().map_or(Ok(()), check_is_files)?;
    for (name, folder) in &job.beside {
        check_mount_name(name).map_err(|message| SandboxError::Job { message })?;
        check_is_files(folder)?;
    }
    for (name, path) in &job.mounts {
        check_mount_name(name).map_err(|message| SandboxError::Job { message })?;
        check_is_files(path)?;
        let source = path.canonicalize().map_err(SandboxError::io("mounting", path))?;
        // A part of what is hidden is no better than the whole.
        if let Some(hidden) =
            hidden.iter().find(|hidden| hidden.starts_with(&source) || source.starts_with(hidden))
        {
            return Err(SandboxError::Exposed { mount: path.clone(), hidden: hidden.clone() });
        }
        if job.workspace.starts_with(&source) {
            let message =
                format!("`{}` cannot be mounted read-only: the workspace lies in it", path.display());
            return Err(SandboxError::Job { message });
        }
    }
    read_only(job).map(|_| ())
}

/// The path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
    })
}

/// `/usr` and the folders beside it, and `/etc`.
fn system(arguments: &mut Arguments, etc: &Path) {
    arguments.add("--ro-bind", ["/usr", "/usr"]);
    for folder in LINKED {
        match std::fs::read_link(folder) {
            Ok(target) => arguments.add("--symlink", [target.as_path(), Path::new(folder)]),
            Err(_) => arguments.add("--ro-bind-try", [folder, folder]),
        }
    }
    arguments.add("--ro-bind", [etc, Path::new("/etc")]);
    for folder in ETC.map(Path::new) {
        // Its place is there where the host has the folder.
        if folder.file_name().is_some_and(|name| etc.join(name).is_dir()) {
            arguments.add("--ro-bind", [folder, folder]);
        }
    }
}

/// `/proc`, less what tells of the host.
fn processes(arguments: &mut Arguments) {
    arguments.add("--proc", ["/proc"]);
    for path in masked() {
        arguments.add("--ro-bind", ["/dev/null", path]);
    }
    arguments.add("--remount-ro", ["/proc"]);
}

/// `/dev`, the memory file systems, and a `/sys` that tells of nothing but the processors granted, which is
/// where C libraries and Python look for their number.
fn kernel(arguments: &mut Arguments, job: &Job, nodes: &Nodes) -> Result<(), SandboxError> {
    arguments.add("--dev", ["/dev"]);
    nodes.add(arguments);
    for (folder, size) in [("/dev/shm", job.limits.shm_bytes), ("/tmp", job.limits.tmp_bytes)] {
        arguments.add("--perms", ["1777"]);
        arguments.add("--size", [size.max(4096).to_string()]);
        arguments.add("--tmpfs", [folder]);
    }
    devices::nodes(arguments, &job.gpus, nodes);
    arguments.add("--remount-ro", ["/dev"]);
    let count = job.limits.cpus.count();
    let range = if count == 1 { "0\n".to_owned() } else { format!("0-{}\n", count - 1) };
    for name in ["online", "possible", "present"] {
        arguments.file(&format!("/sys/devices/system/cpu/{name}"), &range)?;
    }
    for cpu in 0..count {
        arguments.add("--dir", [format!("/sys/devices/system/cpu/cpu{cpu}")]);
    }
    Ok(())
}

/// What of [`MASKED`] is on this machine and could be read; looked up once.
fn masked() -> &'static [String] {
    static PATHS: OnceLock<Vec<String>> = OnceLock::new();
    PATHS.get_or_init(|| {
        let root = rustix::process::geteuid().is_root();
        let readable = |path: &String| {
            std::fs::metadata(path).is_ok_and(|facts| root || facts.permissions().mode() & 0o004 != 0)
        };
        let told = |name: &&str| *name != "kallsyms" || are_addresses_told();
        MASKED.iter().copied().filter(told).map(|name| format!("/proc/{name}")).filter(readable).collect()
    })
}

/// Whether the kernel tells its addresses to users without rights, to whom `kallsyms` is a list of zeros otherwise:
/// where neither `kptr_restrict` nor `perf_event_paranoid` forbids it.
fn are_addresses_told() -> bool {
    let setting = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}"));
        text.ok().and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0)
    };
    setting("kptr_restrict") == 0 && setting("perf_event_paranoid") <= 1
}

/// The job's read-only mounts that are not there already. One that would show the workspace's surroundings is refused.
pub(crate) fn read_only(job: &Job) -> Result<Vec<PathBuf>, SandboxError> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut sorted = job.read_only.clone();
    sorted.sort();
    for folder in sorted {
        let refused = |why: &str| SandboxError::Job {
            message: format!("`{}` cannot be mounted read-only: {why}", folder.display()),
        };
        if !folder.is_absolute() {
            return Err(refused("the path is not absolute"));
        }
        if job.workspace.starts_with(&folder) || folder.parent().is_none() {
            return Err(refused("the workspace lies in it"));
        }
        let store = job.submission.as_ref().map(|rule| &rule.store);
        if store.is_some_and(|store| store.starts_with(&folder)) {
            return Err(refused("the submission store lies in it"));
        }
        if ["/proc", "/dev", "/sys", "/etc", MOUNTS, WORKSPACE].iter().any(|taken| folder.starts_with(taken))
        {
            return Err(refused("the jail has its own"));
        }
        let covered = folder.starts_with("/usr") || folders.iter().any(|outer| folder.starts_with(outer));
        if !covered {
            folders.push(folder);
        }
    }
    Ok(folders)
}
