//! Where the texts in one long buffer end: four bytes each as long as the buffer is shorter than 4 GiB, so that a
//! column of short texts does not weigh several times its file.

use std::ops::Range;

/// Ends of consecutive spans, from position 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// All of them fit.
    Short(Vec<u32>),
    /// Some do not.
    Long(Vec<usize>),
}

impl Default for Ends {
    fn default() -> Self {
        Self::Short(Vec::new())
    }
}

impl Ends {
    /// Number of spans.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Short(ends) => ends.len(),
            Self::Long(ends) => ends.len(),
        }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The next span ends here.
    #[inline]
    pub(crate) fn push(&mut self, end: usize) {
        match self {
            Self::Short(ends) => match u32::try_from(end) {
                Ok(end) => ends.push(end),
                Err(_) => self.push_long(end),
            },
            Self::Long(ends) => ends.push(end),
        }
    }

    #[cold]
    fn push_long(&mut self, end: usize) {
        if let Self::Short(ends) = self {
            *self = Self::Long(ends.iter().map(|end| *end as usize).chain([end]).collect());
        }
    }

    /// One span.
    pub(crate) fn span(&self, position: usize) -> Option<Range<usize>> {
        let start = match position.checked_sub(1) {
            None => 0,
            Some(before) => self.end(before)?,
        };
        Some(start..self.end(position)?)
    }

    fn end(&self, position: usize) -> Option<usize> {
        match self {
            Self::Short(ends) => ends.get(position).map(|end| *end as usize),
            Self::Long(ends) => ends.get(position).copied(),
        }
    }

    /// The spans from this one on, in order.
    pub(crate) fn spans(&self, first: usize) -> impl Iterator<Item = Range<usize>> + Clone {
        let mut start = first.checked_sub(1).and_then(|before| self.end(before)).unwrap_or_default();
        (first..self.len()).map(move |position| {
            let end = self.end(position).unwrap_or(start);
            std::mem::replace(&mut start, end)..end
        })
    }

    /// Where these spans stand together.
    pub(crate) fn run(&self, spans: Range<usize>) -> Option<Range<usize>> {
        let end = |behind: usize| behind.checked_sub(1).map_or(Some(0), |last| self.end(last));
        Some(end(spans.start)?..end(spans.end)?)
    }

    /// Where the last span ends.
    pub(crate) fn last(&self) -> usize {
        self.len().checked_sub(1).and_then(|last| self.end(last)).unwrap_or_default()
    }

    /// Appends spans whose buffer was appended at `offset`.
    pub(crate) fn append(&mut self, other: &Self, offset: usize) {
        for position in 0..other.len() {
            self.push(other.end(position).unwrap_or_default() + offset);
        }
    }

    /// Forgets the spans from this one on.
    pub(crate) fn truncate(&mut self, first: usize) {
        match self {
            Self::Short(ends) => ends.truncate(first),
            Self::Long(_) if first == 0 => *self = Self::default(),
            Self::Long(ends) => ends.truncate(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_buffer_makes_long_ends() {
        let mut ends = Ends::default();
        let positions = [3, 3, u32::MAX as usize, u32::MAX as usize + 1, u32::MAX as usize + 7];
        for end in positions {
            ends.push(end);
        }
        assert!(matches!(ends, Ends::Long(_)));
        let spans: Vec<Range<usize>> = ends.spans(0).collect();
        assert_eq!(spans.iter().map(|span| span.end).collect::<Vec<_>>(), positions);
        assert_eq!(
            spans.iter().map(|span| span.start).collect::<Vec<_>>(),
            [0, 3, 3, u32::MAX as usize, u32::MAX as usize + 1]
        );
        assert_eq!(ends.span(1), Some(3..3));
        assert_eq!(ends.span(5), None);
        assert_eq!(ends.spans(3).next(), Some(u32::MAX as usize..u32::MAX as usize + 1));
        assert_eq!(ends.run(1..3), Some(3..u32::MAX as usize));
        assert_eq!(ends.run(0..0), Some(0..0));
        assert_eq!(ends.run(4..6), None);

        let mut other = Ends::default();
        other.push(2);
        other.append(&ends, 2);
        assert_eq!(other.span(1), Some(2..5));
        assert_eq!(other.run(1..3), Some(2..5));
        assert_eq!((other.len(), other.last()), (6, u32::MAX as usize + 9));
        other.truncate(2);
        assert_eq!((other.len(), other.last()), (2, 5));
        other.truncate(0);
        assert_eq!((other.len(), other.last()), (0, 0));
    }
}
