//! Processors for executions that run at the same time: each leases a set of its own, so that none slows another.
//!
//! What the run holds is cut into sets of the size that is granted. There is a lease for every worker: where the machine
//! has fewer sets, several share one, evenly, and a slow execution keeps no other from beginning. Graphics processors
//! are never shared: with them there are as many leases as they suffice for. Who finds none free waits; the longest
//! wait is served first.

use std::sync::{Arc, Mutex, PoisonError};

use podium_sandbox::{CpuSet, Gpu};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What one execution uses.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) cpus: CpuSet,
    pub(super) gpus: Vec<Gpu>,
}

/// The leases, taken one at a time.
#[derive(Debug)]
pub(super) struct Leases {
    shares: Arc<Mutex<Shares>>,
    count: Arc<Semaphore>,
}

/// Who has what.
#[derive(Debug, Default)]
struct Shares {
    free: Vec<Share>,
    taken: Vec<CpuSet>,
}

impl Shares {
    /// The place of the free share whose processors are used least; the first of equals.
    fn next(&self) -> Option<usize> {
        let users = |share: &Share| self.taken.iter().filter(|cpus| **cpus == share.cpus).count();
        (0..self.free.len()).min_by_key(|place| self.free.get(*place).map(users))
    }

    fn take(&mut self) -> Option<Share> {
        let share = self.free.remove(self.next()?);
        self.taken.push(share.cpus.clone());
        Some(share)
    }

    fn give_back(&mut self, share: Share) {
        if let Some(place) = self.taken.iter().position(|cpus| *cpus == share.cpus) {
            self.taken.remove(place);
        }
        self.free.push(share);
    }
}

/// A leased set, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    share: Share,
    shares: Arc<Mutex<Shares>>,
    _permit: OwnedSemaphorePermit,
}

impl Leases {
    /// Leases for `workers` executions at a time, each with `grant` of `processors` and `gpu_grant` of `gpus`.
    pub(super) fn new(
        processors: &[usize],
        grant: usize,
        gpus: &[Gpu],
        gpu_grant: usize,
        workers: usize,
    ) -> Self {
        let mut sets: Vec<CpuSet> =
            processors.chunks_exact(grant.max(1)).map(|set| CpuSet::of(set.iter().copied())).collect();
        if sets.is_empty() {
            // A machine with fewer processors has one set, of all it has.
            sets.push(CpuSet::of(processors.iter().copied()));
        }
        let count = gpus.len().checked_div(gpu_grant).map_or(workers, |sets| sets.min(workers)).max(1);
        let mut gpus = gpus.chunks(gpu_grant.max(1)).map(<[Gpu]>::to_vec);
        let share = |cpus| Share { cpus, gpus: gpus.next().filter(|_| gpu_grant > 0).unwrap_or_default() };
        let free: Vec<Share> = sets.into_iter().cycle().take(count).map(share).collect();
        let shares = Shares { free, taken: Vec::new() };
        Self { shares: Arc::new(Mutex::new(shares)), count: Arc::new(Semaphore::new(count)) }
    }

    /// A share, as soon as there is one.
    pub(super) async fn lease(&self) -> Option<Lease> {
        // Never closed, and as many permits as shares.
        let permit = Arc::clone(&self.count).acquire_owned().await.ok()?;
        let share = self.shares.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Lease { share, shares: Arc::clone(&self.shares), _permit: permit })
    }

    /// The share that would be leased now, where one is free.
    pub(super) fn next(&self) -> Option<Share> {
        let shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        shares.next().and_then(|place| shares.free.get(place)).cloned()
    }
}

impl Lease {
    /// What is leased.
    pub(super) const fn share(&self) -> &Share {
        &self.share
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Before the permit, which is dropped after this.
        self.shares.lock().unwrap_or_else(PoisonError::into_inner).give_back(self.share.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn none_free(leases: &Leases) -> bool {
        tokio::time::timeout(Duration::from_millis(20), leases.lease()).await.is_err()
    }

    #[tokio::test]
    async fn sets_are_disjoint_and_come_back() {
        let leases = Leases::new(&[0, 1, 2, 5, 6], 2, &[], 0, 2);
        let one = leases.lease().await.unwrap();
        let other = leases.lease().await.unwrap();
        assert_eq!((one.share().cpus.ids(), other.share().cpus.ids()), (vec![0, 1], vec![2, 5]));
        assert!(none_free(&leases).await, "two workers, two leases");
        drop(other);
        assert_eq!(leases.lease().await.unwrap().share().cpus.ids(), [2, 5]);
    }

    #[tokio::test]
    async fn workers_share_what_is_too_little_for_them_evenly() {
        let leases = Leases::new(&[0, 1], 1, &[], 0, 4);
        let mut held = Vec::new();
        for expected in [0, 1, 0, 1] {
            let lease = leases.lease().await.unwrap();
            assert_eq!(lease.share().cpus.ids(), [expected]);
            held.push(lease);
        }
        assert!(none_free(&leases).await, "four workers, four leases");
        // Two of one processor come back: the next ones go there, and then to the one that is used least.
        held.swap_remove(3);
        held.swap_remove(1);
        for expected in [1, 1] {
            let lease = leases.lease().await.unwrap();
            assert_eq!(lease.share().cpus.ids(), [expected]);
            held.push(lease);
        }
        held.clear();
        let (one, other) = (leases.lease().await.unwrap(), leases.lease().await.unwrap());
        assert_ne!(one.share().cpus.ids(), other.share().cpus.ids());
    }

    #[tokio::test]
    async fn a_small_machine_has_one_set() {
        let leases = Leases::new(&[3], 4, &[], 0, 2);
        let (one, other) = (leases.lease().await.unwrap(), leases.lease().await.unwrap());
        assert_eq!((one.share().cpus.ids(), other.share().cpus.ids()), (vec![3], vec![3]));
    }

    #[tokio::test]
    async fn graphics_processors_are_never_shared() {
        let gpu = |index| Gpu { index, minor: 0, name: String::new(), uuid: None, bus: None };
        for (processors, cpus) in [(&[0, 1, 2][..], [0, 1]), (&[0][..], [0, 0])] {
            let leases = Leases::new(processors, 1, &[gpu(0), gpu(1)], 1, 3);
            let one = leases.lease().await.unwrap();
            let other = leases.lease().await.unwrap();
            assert_eq!((&one.share().gpus[..], &other.share().gpus[..]), (&[gpu(0)][..], &[gpu(1)][..]));
            assert_eq!([one.share().cpus.ids(), other.share().cpus.ids()].concat(), cpus);
            assert!(none_free(&leases).await, "a third would have no graphics processor");
        }
    }
}
