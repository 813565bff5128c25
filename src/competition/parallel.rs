//! Work shared out among threads: many independent pieces, many rows, or two things at once.
//!
//! Results come in the order in which they were asked for, so that they do not depend on how many threads there are.
//! Where a thread cannot be had its work is done in place.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

/// Fewer rows than this per thread are not worth starting it.
const LEAST: usize = 1 << 15;

/// A piece of work that ended in a panic, which is a bug of ours: the others are not lost with it.
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
            done.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    thread::scope(|scope| {
        for _ in 1..workers {
            // The others do what one that cannot be had would have done.
            let _ = thread::Builder::new().spawn_scoped(scope, worker);
        }
        worker();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Two pieces of work at the same time.
pub(crate) fn both<A: Send, B>(one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let begun = thread::Builder::new().spawn_scoped(scope, &one);
        let other = other();
        (finish(begun, &one), other)
    })
}

/// The values that `work` makes of the rows `0..rows`, in the order of the rows, or the first error by row. `work` gets a
/// range of rows; it may leave some out.
pub(crate) fn map_rows<T: Send, E: Send>(
    rows: usize,
    work: impl Fn(Range<usize>) -> Result<Vec<T>, E> + Sync,
) -> Result<Vec<T>, E> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(rows / LEAST).max(1);
    if threads == 1 {
        return work(0..rows);
    }
    let step = rows.div_ceil(threads);
    let work = |part: usize| work((part * step).min(rows)..((part + 1) * step).min(rows));
    let work = &work;
    let parts = thread::scope(|scope| {
        let workers: Vec<_> = (1..threads)
            .map(|part| (part, thread::Builder::new().spawn_scoped(scope, move || work(part))))
            .collect();
        let first = std::iter::once(work(0));
        let others = workers.into_iter().map(|(part, worker)| finish(worker, || work(part)));
        first.chain(others).collect::<Result<Vec<Vec<T>>, E>>()
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// Makes the pieces `0..pieces` by several threads, and hands them to `take` one by one in their order; few are held at a
/// time. The first error of `take` ends it.
pub(crate) fn ordered<T: Send, E>(
    pieces: u32,
    make: impl Fn(u32) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(pieces as usize);
    if threads < 2 {
        return (0..pieces).try_for_each(|piece| take(make(piece)));
    }
    let make = &make;
    thread::scope(|scope| {
        let makers: Vec<Option<Receiver<T>>> = (0..threads)
            .map(|first| {
                let (sender, made) = sync_channel(2);
                let maker = move || {
                    // An error of `take` closes the channel.
                    let mut mine = (0..pieces).skip(first).step_by(threads);
                    mine.try_for_each(|piece| sender.send(make(piece)).ok())
                };
                thread::Builder::new().spawn_scoped(scope, maker).ok().map(|_| made)
            })
            .collect();
        for (piece, maker) in (0..pieces).zip(makers.iter().cycle()) {
            let made = maker.as_ref().and_then(|made| made.recv().ok());
            // Where there is no thread, or one was lost, the piece is made here.
            take(made.unwrap_or_else(|| make(piece)))?;
        }
        Ok(())
    })
}

/// What a thread made; where none could be had, the work is done here.
fn finish<T>(begun: std::io::Result<ScopedJoinHandle<'_, T>>, work: impl FnOnce() -> T) -> T {
    match begun {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => work(),
    }
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

    #[test]
    fn both_are_done() {
        assert_eq!(both(|| 1, || 2), (1, 2));
    }

    #[test]
    fn pieces_are_taken_in_their_order_until_one_is_refused() {
        for pieces in [0, 1, 2, 999] {
            let mut taken = Vec::new();
            let all = ordered(
                pieces,
                |piece| piece * 3,
                |piece| {
                    taken.push(piece);
                    if piece == 2997 { Err("enough") } else { Ok(()) }
                },
            );
            assert_eq!(all, Ok(()));
            assert_eq!(taken, (0..pieces).map(|piece| piece * 3).collect::<Vec<_>>());
        }
        let refused =
            ordered(1_000_000, |piece| piece, |piece| if piece == 77 { Err(piece) } else { Ok(()) });
        assert_eq!(refused, Err(77));
    }

    #[test]
    fn order_and_first_error_do_not_depend_on_threads() {
        for rows in [0, 1, LEAST - 1, LEAST, 3 * LEAST + 17] {
            let all = map_rows(rows, |range| Ok::<_, ()>(range.collect()));
            assert_eq!(all, Ok((0..rows).collect()));
        }
        let rows = 4 * LEAST;
        let failed = map_rows(rows, |range| {
            let bad = |row: &usize| [LEAST / 2, rows - 1].contains(row);
            range.clone().find(bad).map_or_else(|| Ok(range.collect()), Err)
        });
        assert_eq!(failed, Err(LEAST / 2));
    }
}
