//! The sort of Python 3.11's lists, comparison by comparison: natural runs lengthened by binary insertion, merged by the
//! power of their border, with galloping. For keys that have an order any stable sort does the same; where NaN is among
//! them the result depends on which keys are compared, and so it is repeated here.

/// Runs of a long list are made at least half as long as this, and a shorter list is one run.
const LONGEST_MINIMUM: usize = 64;
/// A side that wins so often in a row is galloped through.
const GALLOP: usize = 7;

/// A run that waits to be merged.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: usize,
    length: usize,
    /// Of the border to the next run.
    power: u32,
}

/// Sorts entries upwards where `less` tells which of two is the smaller.
pub(super) fn sort(entries: &mut [usize], less: impl Fn(usize, usize) -> bool) {
    let length = entries.len();
    if length < 2 {
        return;
    }
    let mut sorter = Sorter { entries, less, runs: Vec::new(), gallop: GALLOP };
    let minimum = minimum_run(length);
    let mut start = 0;
    while start < length {
        let natural = sorter.natural_run(start);
        let forced = natural.max(minimum.min(length - start));
        if forced > natural {
            sorter.insert(start, natural, forced);
        }
        sorter.push(start, forced);
        start += forced;
    }
    sorter.merge_all();
}

/// So many entries that the number of runs is a power of two or a little less.
fn minimum_run(mut length: usize) -> usize {
    let mut rest = 0;
    while length >= LONGEST_MINIMUM {
        rest |= length & 1;
        length >>= 1;
    }
    length + rest
}

/// How deep the border of two neighbouring runs stands in a tree over the whole list.
fn power(start: usize, left: usize, right: usize, whole: usize) -> u32 {
    let (mut low, mut high) = (2 * start + left, 2 * start + left + left + right);
    let mut power = 0;
    loop {
        power += 1;
        if low >= whole {
            (low, high) = (low - whole, high - whole);
        } else if high >= whole {
            return power;
        }
        (low, high) = (2 * low, 2 * high);
    }
}

struct Sorter<'a, F> {
    entries: &'a mut [usize],
    less: F,
    runs: Vec<Run>,
    /// Wins in a row from which on a merge gallops; it learns.
    gallop: usize,
}

impl<F: Fn(usize, usize) -> bool> Sorter<'_, F> {
    fn at(&self, place: usize) -> usize {
        self.entries.get(place).copied().unwrap_or_default()
    }

    fn is_less(&self, left: usize, right: usize) -> bool {
        (self.less)(self.at(left), self.at(right))
    }

    /// Length of the run that stands at `start`; one that falls strictly is turned round.
    fn natural_run(&mut self, start: usize) -> usize {
        let end = self.entries.len();
        if start + 1 >= end {
            return end - start;
        }
        let falls = self.is_less(start + 1, start);
        let mut next = start + 2;
        while next < end && self.is_less(next, next - 1) == falls {
            next += 1;
        }
        if falls && let Some(run) = self.entries.get_mut(start..next) {
            run.reverse();
        }
        next - start
    }

    /// Lengthens a sorted run by binary insertion.
    fn insert(&mut self, start: usize, sorted: usize, length: usize) {
        for place in start + sorted..start + length {
            let (mut low, mut high) = (start, place);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.is_less(place, middle) { high = middle } else { low = middle + 1 }
            }
            if let Some(span) = self.entries.get_mut(low..=place) {
                span.rotate_right(1);
            }
        }
    }

    fn push(&mut self, start: usize, length: usize) {
        if let Some(last) = self.runs.last().copied() {
            let border = power(last.start, last.length, length, self.entries.len());
            while let [.., before, _] = self.runs.as_slice()
                && before.power > border
            {
                self.merge(self.runs.len() - 2);
            }
            if let Some(last) = self.runs.last_mut() {
                last.power = border;
            }
        }
        self.runs.push(Run { start, length, power: 0 });
    }

    fn merge_all(&mut self) {
        while self.runs.len() > 1 {
            let mut place = self.runs.len() - 2;
            if let [.., before, _, after] = self.runs.as_slice()
                && before.length < after.length
            {
                place -= 1;
            }
            self.merge(place);
        }
    }

    /// Merges a run with the next one.
    fn merge(&mut self, place: usize) {
        let (Some(left), Some(right)) = (self.runs.get(place).copied(), self.runs.get(place + 1).copied())
        else {
            return;
        };
        if let Some(run) = self.runs.get_mut(place) {
            run.length += right.length;
        }
        self.runs.remove(place + 1);
        let Some(span) = self.entries.get_mut(left.start..right.start + right.length) else { return };
        let before = span.to_vec();
        let (a, b) = before.split_at_checked(left.length).unwrap_or((&before, &[]));
        // What stands before the first of the right run, and behind the last of the left one, stays.
        let kept = gallop_right(&self.less, b.first().copied().unwrap_or_default(), a, 0);
        let a = a.get(kept..).unwrap_or_default();
        let Some(last) = a.last() else { return };
        let length = gallop_left(&self.less, *last, b, b.len() - 1);
        let b = b.get(..length).unwrap_or_default();
        if b.is_empty() {
            return;
        }
        let merged = if a.len() <= b.len() {
            merge_upwards(&self.less, &mut self.gallop, a, b)
        } else {
            merge_downwards(&self.less, &mut self.gallop, a, b)
        };
        span.iter_mut().skip(kept).zip(merged).for_each(|(to, from)| *to = from);
    }
}

/// Where an entry goes in a sorted run, before its equals; looked for from `hint` on in growing steps.
fn gallop_left(less: &impl Fn(usize, usize) -> bool, entry: usize, run: &[usize], hint: usize) -> usize {
    gallop(run, hint, |other| less(other, entry))
}

/// As [`gallop_left`], behind its equals.
fn gallop_right(less: &impl Fn(usize, usize) -> bool, entry: usize, run: &[usize], hint: usize) -> usize {
    gallop(run, hint, |other| !less(entry, other))
}

/// How many entries of a run stand before a place, each of which `before` is to say so of.
fn gallop(run: &[usize], hint: usize, before: impl Fn(usize) -> bool) -> usize {
    let is_before = |place: usize| run.get(place).is_some_and(|other| before(*other));
    let (mut last, mut step) = (0, 1);
    let (mut low, mut high);
    if is_before(hint) {
        let most = run.len() - hint;
        while step < most && is_before(hint + step) {
            (last, step) = (step, 2 * step + 1);
        }
        (low, high) = (hint + last + 1, hint + step.min(most));
    } else {
        let most = hint + 1;
        while step < most && !is_before(hint - step) {
            (last, step) = (step, 2 * step + 1);
        }
        // One before the first place is counted from 1 here.
        (low, high) = (hint + 1 - step.min(most), hint - last);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    high
}

/// Merges from the front; the left run is the shorter one. The first of the right run comes first.
fn merge_upwards(
    less: &impl Fn(usize, usize) -> bool,
    gallop: &mut usize,
    mut left: &[usize],
    mut right: &[usize],
) -> Vec<usize> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    merge_front(less, gallop, &mut merged, &mut left, &mut right);
    // The last of the left run belongs at the end, whatever it compares like.
    if left.len() == 1 {
        merged.extend_from_slice(right);
        merged.extend_from_slice(left);
    } else {
        merged.extend_from_slice(left);
        merged.extend_from_slice(right);
    }
    merged
}

fn take_first(merged: &mut Vec<usize>, from: &mut &[usize], count: usize) {
    let (taken, rest) = from.split_at_checked(count).unwrap_or((from, &[]));
    merged.extend_from_slice(taken);
    *from = rest;
}

/// Until the right run is used up, or one is left of the left run.
fn merge_front(
    less: &impl Fn(usize, usize) -> bool,
    gallop: &mut usize,
    merged: &mut Vec<usize>,
    left: &mut &[usize],
    right: &mut &[usize],
) {
    let first = |run: &[usize]| run.first().copied().unwrap_or_default();
    take_first(merged, right, 1);
    if right.is_empty() || left.len() == 1 {
        return;
    }
    loop {
        let (mut left_wins, mut right_wins) = (0, 0);
        while left_wins < *gallop && right_wins < *gallop {
            if less(first(right), first(left)) {
                take_first(merged, right, 1);
                (left_wins, right_wins) = (0, right_wins + 1);
                if right.is_empty() {
                    return;
                }
            } else {
                take_first(merged, left, 1);
                (left_wins, right_wins) = (left_wins + 1, 0);
                if left.len() == 1 {
                    return;
                }
            }
        }
        *gallop += 1;
        loop {
            *gallop -= usize::from(*gallop > 1);
            let left_wins = gallop_right(less, first(right), left, 0);
            take_first(merged, left, left_wins);
            // Used up only where keys have no order.
            if left_wins > 0 && left.len() <= 1 {
                return;
            }
            take_first(merged, right, 1);
            if right.is_empty() {
                return;
            }
            let right_wins = gallop_left(less, first(left), right, 0);
            take_first(merged, right, right_wins);
            if right.is_empty() {
                return;
            }
            take_first(merged, left, 1);
            if left.len() == 1 {
                return;
            }
            if left_wins < GALLOP && right_wins < GALLOP {
                break;
            }
        }
        *gallop += 1;
    }
}

/// Merges from the end; the right run is the shorter one. The last of the left run comes last.
fn merge_downwards(
    less: &impl Fn(usize, usize) -> bool,
    gallop: &mut usize,
    mut left: &[usize],
    mut right: &[usize],
) -> Vec<usize> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    merge_back(less, gallop, &mut merged, &mut left, &mut right);
    // The first of the right run belongs at the front, whatever it compares like.
    let front = if right.len() == 1 { [right, left] } else { [left, right] };
    merged.reverse();
    [front.concat(), merged].concat()
}

fn take_last(merged: &mut Vec<usize>, from: &mut &[usize], count: usize) {
    let (rest, taken) = from.split_at_checked(from.len().saturating_sub(count)).unwrap_or((&[], from));
    merged.extend(taken.iter().rev());
    *from = rest;
}

/// Until the left run is used up, or one is left of the right run.
fn merge_back(
    less: &impl Fn(usize, usize) -> bool,
    gallop: &mut usize,
    merged: &mut Vec<usize>,
    left: &mut &[usize],
    right: &mut &[usize],
) {
    let last = |run: &[usize]| run.last().copied().unwrap_or_default();
    take_last(merged, left, 1);
    if left.is_empty() || right.len() == 1 {
        return;
    }
    loop {
        let (mut left_wins, mut right_wins) = (0, 0);
        while left_wins < *gallop && right_wins < *gallop {
            if less(last(right), last(left)) {
                take_last(merged, left, 1);
                (left_wins, right_wins) = (left_wins + 1, 0);
                if left.is_empty() {
                    return;
                }
            } else {
                take_last(merged, right, 1);
                (left_wins, right_wins) = (0, right_wins + 1);
                if right.len() == 1 {
                    return;
                }
            }
        }
        *gallop += 1;
        loop {
            *gallop -= usize::from(*gallop > 1);
            let left_wins = left.len() - gallop_right(less, last(right), left, left.len() - 1);
            take_last(merged, left, left_wins);
            if left.is_empty() {
                return;
            }
            take_last(merged, right, 1);
            if right.len() == 1 {
                return;
            }
            let right_wins = right.len() - gallop_left(less, last(left), right, right.len() - 1);
            take_last(merged, right, right_wins);
            // Used up only where keys have no order.
            if right_wins > 0 && right.len() <= 1 {
                return;
            }
            take_last(merged, left, 1);
            if left.is_empty() {
                return;
            }
            if left_wins < GALLOP && right_wins < GALLOP {
                break;
            }
        }
        *gallop += 1;
    }
}
