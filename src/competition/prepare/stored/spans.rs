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
    pub(super) fn of(ends: &[usize]) -> Self {
        let width = ends.first().copied().unwrap_or_default();
        if (1..).zip(ends).all(|(row, end)| *end == row * width) {
            return Self::Even(width);
        }
        Self::near(ends).unwrap_or_else(|| Self::Far(ends.into()))
    }

    fn near(ends: &[usize]) -> Option<Self> {
        let mut bases = Vec::with_capacity(ends.len().div_ceil(NEAR));
        let mut near = Vec::with_capacity(ends.len());
        let mut base = 0;
        for rows in ends.chunks(NEAR) {
            bases.push(u32::try_from(base).ok()?);
            for end in rows {
                near.push(u16::try_from(end - base).ok()?);
            }
            base = rows.last().copied().unwrap_or(base);
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
            let spans = Spans::of(&ends);
            let mut start = 0;
            for (row, end) in ends.iter().enumerate() {
                assert_eq!(spans.span(row), start..*end, "{row} of {spans:?}");
                start = *end;
            }
        }
        assert!(matches!(Spans::of(&[29, 58]), Spans::Even(29)));
        assert!(matches!(Spans::of(&[1, 3]), Spans::Near { .. }));
        assert!(matches!(Spans::of(&long), Spans::Far(_)));
    }
}
