//! Work on many rows, shared out among threads. Results come in the order of the rows, so that they do not depend on
//! how many threads there are; small tables are done in place.

use std::ops::Range;
use std::thread;

/// Fewer rows than this per thread are not worth starting it.
const LEAST: usize = 1 << 15;

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
    let work = &work;
    let parts = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|part| (part * step).min(rows)..((part + 1) * step).min(rows))
            .map(|range| scope.spawn(move || work(range)))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Result<Vec<Vec<T>>, E>>()
    })?;
    Ok(parts.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
