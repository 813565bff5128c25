//! Processors for executions that run at the same time: each leases a set of its own, so that none slows another.
//!
//! What the run holds is cut into sets of the size that is granted, graphics processors with them. Who finds none free
//! waits; the longest wait is served first.

use std::sync::{Arc, Mutex, PoisonError};

use podium_sandbox::{CpuSet, Gpu};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What one execution uses.
#[derive(Clone, Debug)]
struct Share {
    cpus: CpuSet,
    gpus: Vec<Gpu>,
}

/// The sets, leased one at a time.
#[derive(Debug)]
pub(super) struct Leases {
    free: Arc<Mutex<Vec<Share>>>,
    count: Arc<Semaphore>,
}

/// A leased set, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    share: Share,
    free: Arc<Mutex<Vec<Share>>>,
    _permit: OwnedSemaphorePermit,
}

impl Leases {
    /// Cuts `processors` into sets of `grant`, each with `gpu_grant` of `gpus`; a machine with fewer processors has one
    /// set, of all it has.
    pub(super) fn new(processors: &[usize], grant: usize, gpus: &[Gpu], gpu_grant: usize) -> Self {
        let mut cpus: Vec<CpuSet> =
            processors.chunks_exact(grant.max(1)).map(|set| CpuSet::of(set.iter().copied())).collect();
        if cpus.is_empty() {
            cpus.push(CpuSet::of(processors.iter().copied()));
        }
        let mut sets: Vec<Share> = if gpu_grant == 0 {
            cpus.into_iter().map(|cpus| Share { cpus, gpus: Vec::new() }).collect()
        } else {
            let gpus = gpus.chunks_exact(gpu_grant).map(<[Gpu]>::to_vec);
            cpus.into_iter().zip(gpus).map(|(cpus, gpus)| Share { cpus, gpus }).collect()
        };
        let count = sets.len();
        // Taken from the end.
        sets.reverse();
        Self { free: Arc::new(Mutex::new(sets)), count: Arc::new(Semaphore::new(count)) }
    }

    /// A set that no other execution has, as soon as there is one.
    pub(super) async fn lease(&self) -> Option<Lease> {
        // Never closed, and as many permits as sets.
        let permit = Arc::clone(&self.count).acquire_owned().await.ok()?;
        let share = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        Some(Lease { share, free: Arc::clone(&self.free), _permit: permit })
    }
}

impl Lease {
    /// The processors.
    pub(super) const fn cpus(&self) -> &CpuSet {
        &self.share.cpus
    }

    /// The graphics processors.
    pub(super) fn gpus(&self) -> &[Gpu] {
        &self.share.gpus
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Before the permit, which is dropped after this.
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.share.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn sets_are_disjoint_and_come_back() {
        let leases = Leases::new(&[0, 1, 2, 5, 6], 2, &[], 0);
        let one = leases.lease().await.unwrap();
        let other = leases.lease().await.unwrap();
        assert_eq!((one.cpus().ids(), other.cpus().ids()), (vec![0, 1], vec![2, 5]));
        let none = tokio::time::timeout(Duration::from_millis(20), leases.lease()).await;
        assert!(none.is_err(), "five processors are two sets of two");
        drop(other);
        assert_eq!(leases.lease().await.unwrap().cpus().ids(), [2, 5]);
    }

    #[tokio::test]
    async fn a_small_machine_has_one_set() {
        let leases = Leases::new(&[3], 4, &[], 0);
        assert_eq!(leases.lease().await.unwrap().cpus().ids(), [3]);
    }

    #[tokio::test]
    async fn graphics_processors_go_with_a_set() {
        let gpu = |index| Gpu { index, minor: 0, name: String::new(), uuid: None, bus: None };
        let leases = Leases::new(&[0, 1, 2], 1, &[gpu(0), gpu(1)], 1);
        let one = leases.lease().await.unwrap();
        let other = leases.lease().await.unwrap();
        assert_eq!((one.gpus(), other.gpus()), (&[gpu(0)][..], &[gpu(1)][..]));
        let none = tokio::time::timeout(Duration::from_millis(20), leases.lease()).await;
        assert!(none.is_err(), "a third would have no graphics processor");
    }
}
