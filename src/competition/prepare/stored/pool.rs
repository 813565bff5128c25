//! Texts that stand end to end. Those of at most sixteen different bytes, as dates, numbers and hashes are, take half a
//! byte for each.

use std::ops::Range;

use crate::csv::Texts;
use crate::prepare::cells::Cells;
use crate::prepare::stored::spans::Spans;

/// Distinct bytes that half a byte counts.
const HALF: usize = 16;

/// Fewer bytes than this are not worth an alphabet.
const SHORT: usize = 1 << 12;

/// Texts; some may be missing.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    letters: Letters,
    spans: Spans,
    missing: Option<Box<[bool]>>,
}

/// How letters are stored.
#[derive(Clone, Debug)]
enum Letters {
    Plain(Box<str>),
    /// In pairs, by the two letters that each byte stands for.
    Halved {
        halves: Box<[u8]>,
        pairs: Box<[[u8; 2]; 256]>,
    },
}

impl Pool {
    /// Of these rows.
    pub(super) fn of(cells: &Texts, rows: Range<usize>) -> Self {
        if let Some((text, ends)) = cells.run(rows.clone()) {
            return Self { letters: Letters::of(text), spans: Spans::of(ends), missing: None };
        }
        let (mut text, mut ends, mut missing) =
            (String::new(), Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for row in rows {
            let cell = cells.get(row);
            text.push_str(cell.unwrap_or_default());
            ends.push(text.len());
            missing.push(cell.is_none());
        }
        let missing = missing.contains(&true).then(|| missing.into());
        Self { letters: Letters::of(&text), spans: Spans::of(ends.into_iter()), missing }
    }

    fn is_missing(&self, row: usize) -> bool {
        self.missing.as_ref().is_some_and(|missing| missing.get(row) == Some(&true))
    }

    /// One text; `scratch` holds it where it does not stand here as it is.
    pub(super) fn get<'s>(&'s self, row: usize, scratch: &'s mut String) -> Option<&'s str> {
        if self.is_missing(row) {
            return None;
        }
        let span = self.spans.span(row);
        match &self.letters {
            Letters::Plain(text) => text.get(span),
            Letters::Halved { halves, pairs } => {
                scratch.clear();
                let pairs = halves
                    .get(span.start / 2..span.end.div_ceil(2))?
                    .iter()
                    .filter_map(|byte| pairs.get(usize::from(*byte)));
                let letters = pairs.flatten().skip(span.start % 2).take(span.len());
                scratch.extend(letters.copied().map(char::from));
                Some(scratch)
            }
        }
    }

    /// Appends one text as a cell; a missing one is empty.
    #[inline]
    pub(super) fn gather(&self, row: usize, cells: &mut Cells) {
        if self.is_missing(row) {
            return cells.push(&[]);
        }
        let span = self.spans.span(row);
        match &self.letters {
            Letters::Plain(text) => cells.push_part(text.as_bytes(), span),
            Letters::Halved { halves, pairs } => cells.push_halves(halves, span, pairs),
        }
    }

    /// Waits for the memory of one text.
    pub(super) fn touch(&self, row: usize) -> u8 {
        let start = self.spans.span(row).start;
        let byte = match &self.letters {
            Letters::Plain(text) => text.as_bytes().get(start),
            Letters::Halved { halves, .. } => halves.get(start / 2),
        };
        byte.copied().unwrap_or_default()
    }
}

impl Letters {
    fn of(text: &str) -> Self {
        if text.len() < SHORT { None } else { Self::halved(text.as_bytes()) }
            .unwrap_or_else(|| Self::Plain(text.into()))
    }

    /// By an alphabet; none where there are too many different bytes, or some that are not ASCII.
    fn halved(bytes: &[u8]) -> Option<Self> {
        const NONE: u8 = u8::MAX;
        let (mut alphabet, mut codes, mut letters) = ([0; HALF], [NONE; 128], 0_u8);
        for byte in bytes {
            let code = codes.get_mut(usize::from(*byte))?;
            if *code == NONE {
                *alphabet.get_mut(usize::from(letters))? = *byte;
                *code = letters;
                letters += 1;
            }
        }
        let code = |byte: &u8| codes.get(usize::from(*byte)).copied().unwrap_or_default();
        let halves =
            bytes.chunks(2).map(|pair| pair.first().map_or(0, code) << 4 | pair.get(1).map_or(0, code));
        let letter = |code: usize| alphabet.get(code).copied().unwrap_or_default();
        let pairs = std::array::from_fn(|byte| [letter(byte / HALF), letter(byte % HALF)]);
        Some(Self::Halved { halves: halves.collect(), pairs: Box::new(pairs) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_take_half() {
        let mut dates = Texts::default();
        for row in 0..1000 {
            dates.push(Some(&format!("2009-06-15 17:26:21.{row:09}")));
        }
        let pool = Pool::of(&dates, 0..1000);
        let Pool { letters: Letters::Halved { halves, .. }, spans: Spans::Even(29), missing: None } = pool
        else {
            panic!("not halved");
        };
        assert_eq!(halves.len(), 14_500);
    }
}
