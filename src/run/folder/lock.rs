//! The run's lock: two resumes never meet.
//!
//! On one machine the kernel decides (an exclusive lock on an open file, gone with the process). Across machines,
//! where network file systems may not carry that lock, the holder's heartbeat in the file decides.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A holder on another machine counts as alive for this long after its last heartbeat.
const HEARTBEAT_SECONDS: i64 = 60;

/// How often a holder renews it.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a lock may outlive its killed holder: a child that it had just forked has the lock, too, until it has
/// become another program or is dead.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// Who holds a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Host name.
    pub host: String,
    /// The kernel's boot id.
    pub boot: String,
    /// Process id.
    pub process: u32,
    /// Last heartbeat.
    pub heartbeat: Timestamp,
}

impl Holder {
    /// It was a process of this boot of this machine, and is no more.
    fn is_dead_here(&self, myself: &Self) -> bool {
        let here = self.host == myself.host && self.boot == myself.boot;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process)).unwrap_or_default();
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
        here && matches!(state, None | Some("Z" | "X"))
    }
}

/// Whether somebody works on the run, as far as its lock file tells: a killed holder on another machine counts as alive
/// until its heartbeat is old. Nothing is locked or written.
pub fn seems_held(path: &Path) -> bool {
    holder_of(path).is_some_and(|holder| {
        let myself = myself();
        let age = myself.heartbeat.as_second().saturating_sub(holder.heartbeat.as_second());
        !holder.is_dead_here(&myself) && (holder.boot == myself.boot || age < HEARTBEAT_SECONDS)
    })
}

fn holder_in(file: &mut File) -> std::io::Result<Option<Holder>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    // What does not read back names nobody.
    Ok(serde_json::from_slice(&bytes).ok())
}

/// Who holds a run, as its lock says without anybody taking it; one that was killed stands there with its last heartbeat.
pub fn holder_of(path: &Path) -> Option<Holder> {
    holder_in(&mut File::open(path).ok()?).ok()?
}

/// Why a run could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else runs it.
    #[error("{} is being run by process {} on {}", run.display(), holder.process, holder.host)]
    Held {
        /// The run.
        run: PathBuf,
        /// Who.
        holder: Box<Holder>,
    },
    /// The lock file cannot be used.
    #[error("could not lock {}", path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
}

/// The lock, held until it is dropped.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

impl RunLock {
    /// Takes the lock of the run whose lock file is `path`.
    ///
    /// # Errors
    /// When somebody else holds it.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let io = |source| LockError::Io { path: path.to_owned(), source };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let run = path.parent().unwrap_or(path).to_owned();
        let myself = myself();
        let deadline = Instant::now() + LAST_BREATH;
        let former = loop {
            let former = holder_in(&mut file).map_err(io)?;
            match file.try_lock() {
                Ok(()) => break former,
                Err(TryLockError::Error(source)) => return Err(io(source)),
                Err(TryLockError::WouldBlock) => {
                    // Nobody's name: it was just given up, or just taken.
                    let passing = former.as_ref().is_none_or(|former| former.is_dead_here(&myself));
                    if !passing || Instant::now() > deadline {
                        let holder = Box::new(former.unwrap_or_else(unknown));
                        return Err(LockError::Held { run, holder });
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        };
        if let Some(former) = former
            && former.host != myself.host
        {
            // Clocks of two machines may differ by more than a heartbeat: it is alive if it is recent, or changes.
            let recent = (myself.heartbeat.as_second() - former.heartbeat.as_second()) < HEARTBEAT_SECONDS;
            let alive = recent || {
                std::thread::sleep(HEARTBEAT + Duration::from_secs(5));
                holder_in(&mut file).map_err(io)?.is_some_and(|holder| holder != former)
            };
            if alive {
                return Err(LockError::Held { run, holder: Box::new(former) });
            }
        }
        let mut lock = Self { file };
        lock.beat().map_err(io)?;
        Ok(lock)
    }

    /// Renews the heartbeat.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn beat(&mut self) -> std::io::Result<()> {
        let text = serde_json::to_vec(&myself())?;
        self.file.rewind()?;
        self.file.write_all(&text)?;
        self.file.set_len(text.len() as u64)
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
    }
}

fn myself() -> Holder {
    let read = |path| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
    Holder {
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        boot: read("/proc/sys/kernel/random/boot_id"),
        process: std::process::id(),
        heartbeat: Timestamp::now(),
    }
}

fn unknown() -> Holder {
    Holder { host: "this machine".to_owned(), boot: String::new(), process: 0, heartbeat: Timestamp::now() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(process: u32) -> Holder {
        Holder { process, ..myself() }
    }

    #[test]
    fn a_lock_that_outlives_its_killed_holder_is_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = holder(child.id());
        child.wait().unwrap();
        // What a forked child holds: the same open file.
        let held = RunLock::take(&path).unwrap();
        std::fs::write(&path, serde_json::to_vec(&dead).unwrap()).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| RunLock::take(&path));
            drop(held);
            assert!(waiting.join().unwrap().is_ok());
        });
    }

    #[test]
    fn a_living_holder_is_not_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let _held = RunLock::take(&path).unwrap();
        let begun = Instant::now();
        let refused = RunLock::take(&path).unwrap_err();
        assert!(matches!(refused, LockError::Held { holder, .. } if holder.process == std::process::id()));
        assert!(begun.elapsed() < LAST_BREATH);
    }
}
