//! Work on many rows, shared out among threads. Results come in the order of the rows, so that they do not depend on
//! how many threads there are; small tables are done in place.

use std::ops::Range;
use std::thread::{self, ScopedJoinHandle};

/// Fewer rows than this per thread are not worth starting it.
const LEAST: usize = 1 << 15;

/// Two pieces of work at the same time.
pub(crate) fn both<A: Send, B>(one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let begun = thread::Builder::new().spawn_scoped(scope, &one);
        let other = other();
        (finish(begun, &one), other)
    })
}

/// One value for each of the rows `0..rows`, or the first error by row. `work` gets a range of rows.
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
    fn both_are_done() {
        assert_eq!(both(|| 1, || 2), (1, 2));
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
