//! The order in which pandas sorts rows by a key column, and when two keys are equal.
//!
//! Official graders sort both sides by key and pair rows by position. Where keys repeat, the pairing depends on NumPy's
//! unstable sort, so its introsort is repeated here for text keys, comparison by comparison (median of three, the larger
//! part stacked, insertion sort for spans up to 16 entries, heapsort past the depth limit). Integer keys are sorted
//! stably: there the official order depends on the vector unit of the processor.

use std::cmp::Ordering;

use crate::csv::{Cell, Column, Texts};
use crate::grade::rows::Rows;

/// Spans of more entries than this and one are partitioned.
const SMALL: usize = 15;

/// A key column holds kinds of cells that have no order: numbers beside text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unsortable;

/// Rows in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) rows: Rows,
    /// Whether a key stands twice, missing ones aside.
    pub(crate) repeats: bool,
}

/// Rows in the order of `sort_values(by=column)`: ascending, texts by code point, missing cells last in file order.
pub(crate) fn sorted_rows(column: &Column) -> Result<Rows, Unsortable> {
    order_of(column).map(|order| order.rows)
}

/// [`sorted_rows`], and whether keys repeat.
pub(crate) fn order_of(column: &Column) -> Result<Order, Unsortable> {
    match column {
        Column::Integer(cells) => return Ok(stable(cells.iter().copied())),
        Column::Unsigned(cells) => return Ok(stable(cells.iter().copied())),
        Column::Boolean(cells) => return Ok(stable(cells.iter().copied())),
        Column::Text(cells) => {
            if let Some(rows) = distinct(cells) {
                return Ok(Order { rows, repeats: false });
            }
        }
        Column::Float(_) | Column::Mixed(_) => {}
    }
    let mut rows: Vec<usize> = Vec::with_capacity(column.len());
    let mut missing = Vec::new();
    for (row, cell) in column.cells().enumerate() {
        if cell == Cell::Missing { missing.push(row) } else { rows.push(row) }
    }
    match column {
        Column::Float(cells) => {
            let value = |row: usize| cells.get(row).copied().unwrap_or(f64::NAN);
            rows.sort_by(|left, right| value(*left).partial_cmp(&value(*right)).unwrap_or(Ordering::Equal));
        }
        Column::Text(cells) => {
            let texts: Vec<&str> = cells.iter().flatten().collect();
            let order = numpy_argsort(texts.len(), |left, right| texts.get(left) < texts.get(right));
            rows = order.into_iter().filter_map(|position| rows.get(position).copied()).collect();
        }
        _ => {
            let cells: Vec<Cell<'_>> = rows.iter().map(|row| column.cell(*row)).collect();
            let texts = cells.iter().filter(|cell| matches!(cell, Cell::Text(_))).count();
            if texts != 0 && texts != cells.len() {
                return Err(Unsortable);
            }
            let less = |left: usize, right: usize| match (cells.get(left), cells.get(right)) {
                (Some(left), Some(right)) => compare(left, right) == Some(Ordering::Less),
                _ => false,
            };
            let order = numpy_argsort(cells.len(), less);
            rows = order.into_iter().filter_map(|position| rows.get(position).copied()).collect();
        }
    }
    let repeats = !rows.is_sorted_by(|left, right| !same_key(&column.cell(*left), &column.cell(*right)));
    rows.extend(missing);
    Ok(Order { rows: rows.into_iter().collect(), repeats })
}

/// Rows in the order of their keys, equal ones in file order.
fn stable<T: Ord + Copy>(keys: impl ExactSizeIterator<Item = T> + Clone) -> Order {
    if keys.clone().is_sorted() {
        let repeats = !keys.clone().is_sorted_by(|left, right| left < right);
        return Order { rows: Rows::All(keys.len()), repeats };
    }
    let mut keyed: Vec<(T, usize)> = keys.zip(0..).collect();
    keyed.sort_unstable();
    let repeats = !keyed.is_sorted_by(|left, right| left.0 < right.0);
    Order { rows: keyed.into_iter().map(|(_, row)| row).collect(), repeats }
}

/// Rows in the order of their texts, missing ones last, where no text stands twice. Any sort gives that one order, and
/// one that compares eight bytes at once is several times faster than NumPy's.
fn distinct(cells: &Texts) -> Option<Rows> {
    if cells.iter().is_sorted_by(|left, right| left.is_some() && left < right) {
        return Some(Rows::All(cells.len()));
    }
    // What all texts begin with tells none apart.
    let first = cells.iter().flatten().next().unwrap_or_default().as_bytes();
    let shared = cells.iter().flatten().fold(first.len(), |shared, text| {
        first.iter().zip(text.as_bytes()).take(shared).take_while(|(left, right)| left == right).count()
    });
    let mut keyed: Vec<(u64, usize)> = Vec::with_capacity(cells.len());
    keyed.extend(
        cells.iter().zip(0..).filter_map(|(text, row)| Some((eight_bytes(text?.as_bytes(), shared), row))),
    );
    let text = |row: usize| cells.get(row).unwrap_or_default();
    keyed.sort_unstable_by(|left, right| left.0.cmp(&right.0).then_with(|| text(left.1).cmp(text(right.1))));
    if !keyed.is_sorted_by(|left, right| left.0 < right.0 || text(left.1) < text(right.1)) {
        return None;
    }
    let missing = (0..cells.len()).filter(|row| cells.get(*row).is_none());
    Some(keyed.iter().map(|(_, row)| *row).chain(missing).collect())
}

/// The bytes from `start` on as a number that orders as they do, zeros past the end.
fn eight_bytes(text: &[u8], start: usize) -> u64 {
    let rest = text.get(start..).unwrap_or_default();
    match rest.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => (0..8).fold(0, |number, at| number << 8 | u64::from(rest.get(at).copied().unwrap_or(0))),
    }
}

/// Whether two keys are equal as `left == right` of pandas columns has it: a missing key equals nothing, text never
/// equals a number, and a whole number equals a float of its value.
pub(crate) fn same_key(left: &Cell<'_>, right: &Cell<'_>) -> bool {
    match (left, right) {
        (Cell::Missing, _) | (_, Cell::Missing) => false,
        (Cell::Float(left), right) | (right, Cell::Float(left)) => right.number() == Some(*left),
        (left, right) => compare(left, right) == Some(Ordering::Equal),
    }
}

/// Numbers by value, texts by code point; nothing else compares.
fn compare(left: &Cell<'_>, right: &Cell<'_>) -> Option<Ordering> {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => match (left, right) {
            (Cell::Text(left), Cell::Text(right)) => Some(left.cmp(right)),
            (left, right) => left.number()?.partial_cmp(&right.number()?),
        },
    }
}

fn whole(cell: &Cell<'_>) -> Option<i128> {
    match *cell {
        Cell::Boolean(value) => Some(i128::from(value)),
        Cell::Integer(value) => Some(i128::from(value)),
        Cell::Unsigned(value) => Some(i128::from(value)),
        Cell::Missing | Cell::Float(_) | Cell::Text(_) => None,
    }
}

/// Positions `0..len` in the order that NumPy's `argsort(kind="quicksort")` gives them, where `less` tells which of two
/// positions holds the smaller value.
pub(crate) fn numpy_argsort(len: usize, less: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    let mut spans = vec![(0, len, 2 * i64::from(len.checked_ilog2().unwrap_or(0)))];
    while let Some((mut low, mut high, mut depth)) = spans.pop() {
        // The limit is looked at only when a span is taken up, not while its smaller parts are cut further.
        if depth < 0 {
            heap_sort(order.get_mut(low..high).unwrap_or_default(), &less);
            continue;
        }
        while high - low > SMALL + 1 {
            let pivot = low + partition(order.get_mut(low..high).unwrap_or_default(), &less);
            depth -= 1;
            if pivot - low < high - 1 - pivot {
                spans.push((pivot + 1, high, depth));
                high = pivot;
            } else {
                spans.push((low, pivot, depth));
                low = pivot + 1;
            }
        }
        insertion_sort(order.get_mut(low..high).unwrap_or_default(), &less);
    }
    order
}

/// Entry at a position; all positions asked for exist.
fn at(span: &[usize], position: usize) -> usize {
    span.get(position).copied().unwrap_or_default()
}

/// Puts what is smaller than the median of three before it and what is larger behind; returns where it ends up.
fn partition(span: &mut [usize], less: impl Fn(usize, usize) -> bool) -> usize {
    let last = span.len() - 1;
    let middle = last >> 1;
    for (left, right) in [(0, middle), (middle, last), (0, middle)] {
        if less(at(span, right), at(span, left)) {
            span.swap(left, right);
        }
    }
    let pivot = at(span, middle);
    let (mut i, mut j) = (0, last - 1);
    span.swap(middle, j);
    loop {
        i += 1;
        while less(at(span, i), pivot) {
            i += 1;
        }
        j -= 1;
        while less(pivot, at(span, j)) {
            j -= 1;
        }
        if i >= j {
            break;
        }
        span.swap(i, j);
    }
    span.swap(i, last - 1);
    i
}

fn insertion_sort(span: &mut [usize], less: impl Fn(usize, usize) -> bool) {
    for end in 1..span.len() {
        let entry = at(span, end);
        let mut place = end;
        while place > 0 && less(entry, at(span, place - 1)) {
            span.swap(place, place - 1);
            place -= 1;
        }
    }
}

fn heap_sort(span: &mut [usize], less: impl Fn(usize, usize) -> bool) {
    // Positions count from 1 here, so that the children of `k` are `2k` and `2k + 1`.
    let sift = |span: &mut [usize], entry: usize, start: usize, n: usize| {
        let (mut parent, mut child) = (start, 2 * start);
        while child <= n {
            if child < n && less(at(span, child - 1), at(span, child)) {
                child += 1;
            }
            if !less(entry, at(span, child - 1)) {
                break;
            }
            span.swap(parent - 1, child - 1);
            (parent, child) = (child, 2 * child);
        }
        if let Some(place) = span.get_mut(parent - 1) {
            *place = entry;
        }
    };
    for start in (1..=span.len() / 2).rev() {
        let entry = at(span, start - 1);
        sift(span, entry, start, span.len());
    }
    for n in (1..span.len()).rev() {
        let entry = at(span, n);
        span.swap(0, n);
        sift(span, entry, 1, n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(values: &[u32]) -> Vec<usize> {
        numpy_argsort(values.len(), |left, right| values.get(left) < values.get(right))
    }

    /// What NumPy 2.2.6 gave for `numpy.array([...], dtype=object).argsort()` of the same values, as text.
    #[test]
    fn equal_keys_come_in_numpys_order() {
        let values: Vec<u32> = (0..50).map(|k| k * 7919 % 13).collect();
        let order = [
            0, 26, 13, 39, 33, 20, 46, 7, 27, 40, 14, 1, 34, 8, 47, 21, 2, 41, 28, 15, 22, 48, 35, 9, 3, 16,
            29, 42, 36, 49, 23, 10, 30, 4, 43, 17, 11, 24, 37, 18, 44, 5, 31, 38, 25, 12, 19, 6, 32, 45,
        ];
        assert_eq!(sorted(&values), order);
        assert_eq!(sorted(&[]), [0usize; 0]);
        assert_eq!(sorted(&[7]), [0]);
    }

    fn listed<const N: usize>(rows: [u32; N]) -> Rows {
        Rows::Listed(rows.to_vec())
    }

    fn sorted_column(texts: &[&str]) -> Vec<usize> {
        let mut cells = Texts::default();
        for text in texts {
            cells.push(Some(text));
        }
        sorted_rows(&Column::Text(cells)).unwrap().iter().collect()
    }

    #[test]
    fn missing_keys_stand_last_and_equal_numbers_in_file_order() {
        let mut cells = Texts::default();
        for text in [None, Some("b"), None, Some("a")] {
            cells.push(text);
        }
        assert_eq!(sorted_rows(&Column::Text(cells)), Ok(listed([3, 1, 0, 2])));
        assert_eq!(sorted_rows(&Column::Integer(vec![2, 1, 2, 1, -5])), Ok(listed([4, 1, 3, 0, 2])));
        assert_eq!(sorted_rows(&Column::Boolean(vec![true, false, true])), Ok(listed([1, 0, 2])));
    }

    /// As above, by a checksum. The second list drives a median-of-three quicksort to its depth limit.
    #[test]
    fn long_lists_come_in_numpys_order() {
        let checksum = |order: Vec<usize>| -> usize {
            order.iter().enumerate().map(|(place, row)| (place + 1) * row).sum()
        };
        let squares: Vec<u32> = (0..5000).map(|k| k * k % 97).collect();
        assert_eq!(checksum(sorted(&squares)), 31_263_819_474);
        let half = 1000;
        let mut hard = vec![0; 2 * half];
        for i in 1..=half {
            if i % 2 == 1 {
                hard[i - 1] = i;
                hard[i] = half + i;
            }
            hard[half + i - 1] = 2 * i;
        }
        let hard: Vec<u32> =
            hard.into_iter().map(|value| u32::try_from(value / 3).unwrap_or_default()).collect();
        assert_eq!(checksum(sorted(&hard)), 2_250_677_894);
    }

    #[test]
    fn texts_without_repeats_sort_by_code_point() {
        let tables: [&[&str]; 4] = [
            &["key_10", "key_2", "key_", "key_1", "key_100000000000", "key_1000000000", "key_\u{e9}"],
            &["", "b", "a\u{10ffff}", "a", "a\u{ffff}", "ab"],
            &["twelve bytes", "twelve bytes and more", "twelve byte"],
            &[],
        ];
        for texts in tables {
            let found = sorted_column(texts);
            let mut expected: Vec<usize> = (0..texts.len()).collect();
            expected.sort_by_key(|row| texts[*row].chars().collect::<Vec<char>>());
            assert_eq!(found, expected, "{texts:?}");
        }
        assert_eq!(sorted_column(&["a", "b", "c"]), [0, 1, 2]);
        assert_eq!(sorted_column(&["b", "a", "b", "a", ""]), [4, 1, 3, 0, 2]);
    }

    #[test]
    fn heaps_sort() {
        let values: Vec<u32> = (0..200).map(|k| k * 7919 % 101).collect();
        let mut order: Vec<usize> = (0..values.len()).collect();
        heap_sort(&mut order, |left, right| values.get(left) < values.get(right));
        assert!(order.is_sorted_by_key(|position| values.get(*position)));
        assert!(sorted(&values).is_sorted_by_key(|position| values.get(*position)));
    }
}
