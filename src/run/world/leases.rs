//! Processors for executions that run at the same time: each leases a set of its own, so that none slows another.
//!
//! The machine's processors are cut into sets of the size that is granted. Who finds none free waits; the longest
//! wait is served first.

use std::sync::{Arc, Mutex, PoisonError};

use podium_sandbox::CpuSet;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The sets, leased one at a time.
#[derive(Debug)]
pub(super) struct Leases {
    free: Arc<Mutex<Vec<CpuSet>>>,
    count: Arc<Semaphore>,
}

/// A leased set, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    set: CpuSet,
    free: Arc<Mutex<Vec<CpuSet>>>,
    _permit: OwnedSemaphorePermit,
}

impl Leases {
    /// Cuts `processors` into sets of `grant`; a machine with fewer has one set, of all it has. `first` says which set
    /// is leased first: two harnesses on one machine should not begin with the same.
    pub(super) fn new(processors: &[usize], grant: usize, first: usize) -> Self {
        let mut sets: Vec<CpuSet> =
            processors.chunks_exact(grant.max(1)).map(|set| CpuSet::of(set.iter().copied())).collect();
        if sets.is_empty() {
            sets.push(CpuSet::of(processors.iter().copied()));
        }
        let count = sets.len();
        sets.rotate_left(first % count);
        // Taken from the end.
        sets.reverse();
        Self { free: Arc::new(Mutex::new(sets)), count: Arc::new(Semaphore::new(count)) }
    }

    /// A set that no other execution has, as soon as there is one.
    pub(super) async fn lease(&self) -> Option<Lease> {
        // Never closed, and as many permits as sets.
        let permit = Arc::clone(&self.count).acquire_owned().await.ok()?;
        let set = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        Some(Lease { set, free: Arc::clone(&self.free), _permit: permit })
    }
}

impl Lease {
    /// The processors.
    pub(super) const fn set(&self) -> &CpuSet {
        &self.set
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Before the permit, which is dropped after this.
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.set.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn sets_are_disjoint_and_come_back() {
        let leases = Leases::new(&[0, 1, 2, 5, 6], 2, 1);
        let one = leases.lease().await.unwrap();
        let other = leases.lease().await.unwrap();
        assert_eq!((one.set().ids(), other.set().ids()), (vec![2, 5], vec![0, 1]));
        let none = tokio::time::timeout(Duration::from_millis(20), leases.lease()).await;
        assert!(none.is_err(), "five processors are two sets of two");
        drop(other);
        assert_eq!(leases.lease().await.unwrap().set().ids(), [0, 1]);
    }

    #[tokio::test]
    async fn a_small_machine_has_one_set() {
        let leases = Leases::new(&[3], 4, 0);
        assert_eq!(leases.lease().await.unwrap().set().ids(), [3]);
    }
}
