//! Which processors of this machine are taken: leases that several harnesses side by side honour.
//!
//! A processor is a small file in the cache folder, and whoever holds the kernel's lock on it holds the lease. The lock
//! ends with the process, however it ends, so nothing has to be swept but the folders of earlier boots. The file says
//! who holds it (process, start time, boot, as the names of control groups do), for people and for messages.
//!
//! Harnesses with another cache folder, those of other users say, are not known here. Central processors may be
//! shared where there are too few, and then it is said; graphics processors are never shared.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{CpuSet, Gpu, SandboxError, cgroup::label};

/// The leases of an earlier boot are kept for so long: in a home that several machines share, it may be another one's.
const FORGOTTEN: Duration = Duration::from_hours(24 * 30);

/// The leases of this machine.
#[derive(Clone, Debug)]
pub struct Leases {
    folder: PathBuf,
}

/// One processor, given back when it is dropped.
#[derive(Debug)]
struct Lease {
    file: File,
}

/// Central processors that are leased together.
#[derive(Debug)]
pub struct CpuLease {
    /// All of them.
    pub cpus: CpuSet,
    /// Those of them that others hold as well, for there were too few.
    pub shared: Vec<usize>,
    _held: Vec<Lease>,
}

/// Graphics processors that are leased together.
#[derive(Debug, Default)]
pub struct GpuLease {
    /// All of them.
    pub gpus: Vec<Gpu>,
    _held: Vec<Lease>,
}

impl CpuLease {
    /// Processors that nobody else is told of, for where no lease can be kept.
    pub fn unheld(candidates: &CpuSet, count: usize) -> Self {
        let cpus = CpuSet::of(candidates.ids().into_iter().take(count));
        Self { cpus, shared: Vec::new(), _held: Vec::new() }
    }
}

impl Leases {
    /// The leases in a cache folder, which is made when it is not there.
    pub fn open(cache: &Path) -> Result<Self, SandboxError> {
        let all = cache.join("leases");
        let folder = all.join(label::boot_id());
        std::fs::create_dir_all(&folder).map_err(SandboxError::io("creating", &folder))?;
        sweep(&all, &folder);
        Ok(Self { folder })
    }

    /// Takes `count` of these processors, the free ones first. Never waits and never fails for want of free ones: what is
    /// shared then is said.
    pub fn cpus(&self, candidates: &CpuSet, count: usize) -> Result<CpuLease, SandboxError> {
        let (mut taken, mut held, mut busy) = (Vec::new(), Vec::new(), Vec::new());
        for cpu in candidates.ids() {
            if taken.len() == count {
                break;
            }
            match self.take(&format!("cpu-{cpu}"))? {
                Some(lease) => {
                    taken.push(cpu);
                    held.push(lease);
                }
                None => busy.push(cpu),
            }
        }
        busy.truncate(count.saturating_sub(taken.len()));
        taken.extend(&busy);
        Ok(CpuLease { cpus: CpuSet::of(taken), shared: busy, _held: held })
    }

    /// Takes `count` of these graphics processors, or says who holds those that are missing.
    pub fn gpus(&self, candidates: &[Gpu], count: usize) -> Result<GpuLease, SandboxError> {
        let (mut gpus, mut held, mut busy) = (Vec::new(), Vec::new(), Vec::new());
        for gpu in candidates {
            if gpus.len() == count {
                break;
            }
            let name = format!("gpu-{}", gpu.minor);
            match self.take(&name)? {
                Some(lease) => {
                    gpus.push(gpu.clone());
                    held.push(lease);
                }
                None => busy.push(format!("GPU {} is held by {}", gpu.index, self.holder(&name))),
            }
        }
        if gpus.len() < count {
            return Err(SandboxError::Gpus { asked: count, found: candidates.len(), busy });
        }
        Ok(GpuLease { gpus, _held: held })
    }

    fn take(&self, name: &str) -> Result<Option<Lease>, SandboxError> {
        let path = self.folder.join(name);
        let failed = SandboxError::io("leasing", &path);
        let mut options = OpenOptions::new();
        let file = match options.read(true).write(true).create(true).truncate(false).open(&path) {
            Ok(file) => file,
            Err(error) => return Err(failed(error)),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        // The lock is the lease; the name in the file only helps people.
        let _ = file.set_len(0).and_then(|()| (&file).write_all(label::fresh().as_bytes()));
        Ok(Some(Lease { file }))
    }

    /// Who holds it, in words.
    fn holder(&self, name: &str) -> String {
        let mut text = String::new();
        let read =
            File::open(self.folder.join(name)).and_then(|file| file.take(256).read_to_string(&mut text));
        let process = read.ok().and_then(|_| text.split('.').nth(3)?.parse::<u32>().ok());
        process.map_or_else(|| "another harness".to_owned(), |process| format!("process {process}"))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        // Explicitly: a child that was just forked has the descriptor, too, until it becomes another program.
        let _ = self.file.unlock();
    }
}

/// Removes the folders of boots that nobody has used for long.
fn sweep(all: &Path, mine: &Path) {
    for entry in std::fs::read_dir(all).into_iter().flatten().flatten() {
        let used = entry.metadata().and_then(|facts| facts.modified()).ok();
        let age = used.and_then(|used| SystemTime::now().duration_since(used).ok());
        if entry.path() != mine && age.is_some_and(|age| age > FORGOTTEN) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_disjoint_and_come_back() {
        let cache = tempfile::tempdir().unwrap();
        // Two harnesses, each with its own view of the folder.
        let (one, other) = (Leases::open(cache.path()).unwrap(), Leases::open(cache.path()).unwrap());
        let machine = CpuSet::of([0, 1, 2, 5]);
        let first = one.cpus(&machine, 2).unwrap();
        let second = other.cpus(&machine, 1).unwrap();
        assert_eq!((first.cpus.ids(), second.cpus.ids()), (vec![0, 1], vec![2]));
        assert!(first.shared.is_empty() && second.shared.is_empty());
        // One is left: the second of two is shared, and named.
        let third = one.cpus(&machine, 2).unwrap();
        assert_eq!((third.cpus.ids(), third.shared.clone()), (vec![0, 5], vec![0]));
        drop((first, third));
        let fourth = other.cpus(&machine, 3).unwrap();
        assert_eq!((fourth.cpus.ids(), fourth.shared.is_empty()), (vec![0, 1, 5], true));
    }

    #[test]
    fn a_graphics_processor_is_never_shared() {
        let cache = tempfile::tempdir().unwrap();
        let leases = Leases::open(cache.path()).unwrap();
        let gpu = |index| Gpu { index, minor: 7, name: "NVIDIA A10".to_owned(), uuid: None, bus: None };
        let held = leases.gpus(&[gpu(0)], 1).unwrap();
        let refused = leases.gpus(&[gpu(0)], 1).unwrap_err();
        let me = format!("GPU 0 is held by process {}", std::process::id());
        assert!(refused.to_string().contains(&me) && refused.hint().is_some(), "{refused}");
        drop(held);
        assert_eq!(leases.gpus(&[gpu(0)], 1).unwrap().gpus.len(), 1);
        let none = leases.gpus(&[], 1).unwrap_err();
        assert!(none.to_string().contains("this machine has none"), "{none}");
    }

    #[test]
    fn only_old_boots_are_forgotten() {
        let cache = tempfile::tempdir().unwrap();
        let all = cache.path().join("leases");
        let old = all.join("00000000");
        std::fs::create_dir_all(&old).unwrap();
        std::fs::create_dir_all(all.join("11111111")).unwrap();
        std::fs::write(old.join("cpu-0"), "").unwrap();
        let long_ago = SystemTime::now().checked_sub(FORGOTTEN + Duration::from_hours(1)).unwrap();
        File::open(&old).unwrap().set_modified(long_ago).unwrap();
        Leases::open(cache.path()).unwrap();
        assert!(!old.exists() && all.join("11111111").exists());
    }
}
