//! Where the texts of one block stand in its buffer: a width where all are of one length, else two bytes a row beside a
//! base for every few rows, else eight.

use std::ops::Range;

/// Rows that share a base.
const NEAR: usize = 64;

/// The spans of one block, end to end from position 0.
#[derive(Clone, Debug)]
pub(super) enum Spans {
    /// All of this length.
    Even(usize),
    /// Ends by their distance from the base of their rows.
    Near { bases: Box<[u32]>, ends: Box<[u16]> },
    /// Ends.
    Far(Box<[usize]>),
}

impl Spans {
    /// By the ends of the spans.
    pub(super) fn of(ends: impl Iterator<Item = usize> + Clone) -> Self {
        let width = ends.clone().next().unwrap_or_default();
        if (1..).zip(ends.clone()).all(|(row, end)| end == row * width) {
            return Self::Even(width);
        }
        Self::near(ends.clone()).unwrap_or_else(|| Self::Far(ends.collect()))
    }

    fn near(ends: impl Iterator<Item = usize>) -> Option<Self> {
        let rows = ends.size_hint().0;
        let (mut bases, mut near) = (Vec::with_capacity(rows.div_ceil(NEAR)), Vec::with_capacity(rows));
        let (mut base, mut last) = (0, 0);
        for (row, end) in ends.enumerate() {
            if row.is_multiple_of(NEAR) {
                base = last;
                bases.push(u32::try_from(base).ok()?);
            }
            near.push(u16::try_from(end - base).ok()?);
            last = end;
        }
        Some(Self::Near { bases: bases.into(), ends: near.into() })
    }

    /// One span; empty where there is no such row.
    pub(super) fn span(&self, row: usize) -> Range<usize> {
        match self {
            Self::Even(width) => row * width..(row + 1) * width,
            Self::Near { bases, ends } => {
                let base = bases.get(row / NEAR).map_or(0, |base| *base as usize);
                let end = |row: usize| ends.get(row).map_or(0, |end| usize::from(*end));
                let start = if row.is_multiple_of(NEAR) { 0 } else { end(row.wrapping_sub(1)) };
                base + start..base + end(row)
            }
            Self::Far(ends) => {
                let end = |row: usize| ends.get(row).copied().unwrap_or_default();
                row.checked_sub(1).map_or(0, end)..end(row)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_where_their_ends_say() {
        let long = [0, 70_000, 70_001, 1 << 33];
        let cases: [Vec<usize>; 5] = [
            (1..300).map(|row| row * 29).collect(),
            (0..300).map(|row| row * row / 7).collect(),
            vec![0; 70],
            long.to_vec(),
            Vec::new(),
        ];
        for ends in cases {
            let spans = Spans::of(ends.iter().copied());
            let mut start = 0;
            for (row, end) in ends.iter().enumerate() {
                assert_eq!(spans.span(row), start..*end, "{row} of {spans:?}");
                start = *end;
            }
        }
        assert!(matches!(Spans::of([29, 58].into_iter()), Spans::Even(29)));
        assert!(matches!(Spans::of([1, 3].into_iter()), Spans::Near { .. }));
        assert!(matches!(Spans::of(long.into_iter()), Spans::Far(_)));
    }
}
