//! Work on many rows, on as many processors as there are. Results come in the order of the rows, so nothing depends on
//! how many threads took part; where a thread cannot be had, the work is done without it.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// Fewer rows than this take no longer than a thread takes to start.
const MANY: usize = 20_000;

/// Two pieces of work at the same time.
pub(crate) fn both<A: Send, B>(one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let begun = thread::Builder::new().spawn_scoped(scope, &one);
        let other = other();
        let one = match begun {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => one(),
        };
        (one, other)
    })
}

/// Cuts `rows` into consecutive parts and does the work on each; the results in order.
pub(crate) fn in_parts<T: Send>(rows: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(rows / MANY).max(1);
    let work = &work;
    let part = |number: usize| rows * number / threads..rows * (number + 1) / threads;
    thread::scope(|scope| {
        let begun: Vec<_> = (1..threads)
            .map(|number| thread::Builder::new().spawn_scoped(scope, move || work(part(number))))
            .collect();
        let mut results = vec![work(part(0))];
        for (thread, number) in begun.into_iter().zip(1..) {
            results.push(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => work(part(number)),
            });
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_order_and_leave_nothing_out() {
        for rows in [0, 1, MANY, 7 * MANY + 3] {
            let parts = in_parts(rows, Iterator::collect::<Vec<usize>>);
            assert_eq!(parts.concat(), (0..rows).collect::<Vec<usize>>());
        }
        assert_eq!(both(|| 1, || 2), (1, 2));
    }
}
