//! Many independent pieces of work on all processors, in the order in which they were asked for.
//!
//! A piece that panics is a bug of ours; it is caught and handed back as such, so that the others are not lost with it.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A piece of work that ended in a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a bug of this program ended the work on it")]
pub struct Panicked;

/// Does `work` on every item, as many at a time as there are processors; the results stand in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<Result<R, Panicked>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let worker = || {
        while let Some((place, item)) = {
            let place = next.fetch_add(1, Ordering::Relaxed);
            items.get(place).map(|item| (place, item))
        } {
            let result = catch_unwind(AssertUnwindSafe(|| work(item))).map_err(|_| Panicked);
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((place, result));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(items.len());
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(worker);
        }
        worker();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_panics_takes_no_other_with_it() {
        let items: Vec<u32> = (0..500).collect();
        let results = in_parallel(&items, |item| {
            assert_ne!(*item, 7, "a bug");
            item * 2
        });
        for (item, result) in items.iter().zip(&results) {
            assert_eq!(*result, if *item == 7 { Err(Panicked) } else { Ok(item * 2) });
        }
        assert_eq!(results.len(), 500);
        assert!(in_parallel(&[] as &[u32], |item| *item).is_empty());
    }
}
