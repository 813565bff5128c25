//! The texts of one block. Few distinct ones are stored once, and each row counts them by a byte; the texts themselves
//! stand in a `Pool`.
//!
//! A block of one row or more gives back exactly the texts that it was made of.

use std::collections::HashMap;
use std::ops::Range;

use crate::csv::Texts;
use crate::prepare::cells::Cells;
use crate::prepare::stored::pool::Pool;

/// Distinct texts of a block are counted by one byte.
const FEW: usize = 256;

/// Texts of a block; some may be missing.
#[derive(Clone, Debug)]
pub(super) enum TextBlock {
    /// Each is one of few.
    Few { texts: Pool, codes: Box<[u8]> },
    /// Each for itself.
    Many(Pool),
}

impl TextBlock {
    /// Of these rows.
    pub(super) fn of(cells: &Texts, rows: Range<usize>) -> Self {
        Self::few(cells, rows.clone()).unwrap_or_else(|| Self::Many(Pool::of(cells, rows)))
    }

    fn few(cells: &Texts, rows: Range<usize>) -> Option<Self> {
        // Most columns have more texts than that, which shows soon.
        let mut codes = Vec::with_capacity(rows.len().min(2 * FEW));
        let mut texts = Texts::default();
        let mut known: HashMap<Option<&str>, u8> = HashMap::new();
        // Most rows show a text that came a moment ago, which these places remember.
        let mut recent: [Option<(Option<&str>, u8)>; RECENT] = [None; RECENT];
        for row in rows {
            let cell = cells.get(row);
            let mut nowhere = None;
            let recent = recent.get_mut(place(cell)).unwrap_or(&mut nowhere);
            let code = match *recent {
                Some((before, code)) if before == cell => code,
                _ => match known.get(&cell) {
                    Some(code) => *code,
                    None => {
                        let code = u8::try_from(texts.len()).ok()?;
                        texts.push(cell);
                        known.insert(cell, code);
                        code
                    }
                },
            };
            *recent = Some((cell, code));
            codes.push(code);
        }
        // Of a short block most may be distinct: then it is no gain.
        let gain = codes.len() >= 2 * texts.len().min(FEW);
        gain.then(|| Self::Few { texts: Pool::of(&texts, 0..texts.len()), codes: codes.into() })
    }

    /// One text; `scratch` holds it where it does not stand in the block as it is.
    pub(super) fn get<'s>(&'s self, row: usize, scratch: &'s mut String) -> Option<&'s str> {
        match self {
            Self::Few { texts, codes } => texts.get(usize::from(*codes.get(row)?), scratch),
            Self::Many(texts) => texts.get(row, scratch),
        }
    }

    /// Appends one text as a cell; a missing one is empty.
    #[inline]
    pub(super) fn gather(&self, row: usize, cells: &mut Cells) {
        match self {
            Self::Few { texts, codes } => match codes.get(row) {
                Some(code) => texts.gather(usize::from(*code), cells),
                None => cells.push(&[]),
            },
            Self::Many(texts) => texts.gather(row, cells),
        }
    }

    /// Waits for the memory of one text.
    pub(super) fn touch(&self, row: usize) -> u8 {
        match self {
            Self::Few { codes, .. } => codes.get(row).copied().unwrap_or_default(),
            Self::Many(texts) => texts.touch(row),
        }
    }
}

/// Places that remember a text each.
const RECENT: usize = 64;

/// Where a text is remembered.
fn place(cell: Option<&str>) -> usize {
    let bytes = cell.unwrap_or_default().as_bytes();
    let end = |byte: Option<&u8>| byte.copied().map_or(0, usize::from);
    (bytes.len() * 17 + end(bytes.first()) * 5 + end(bytes.last())) % RECENT
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts<'a>(cells: impl Iterator<Item = Option<&'a str>>) -> Texts {
        let mut texts = Texts::default();
        cells.for_each(|cell| texts.push(cell));
        texts
    }

    proptest! {
        #[test]
        fn texts_come_back_as_they_went_in(
            cells in prop_oneof![
                prop::collection::vec(prop::option::weighted(0.99, "[0-9:. -]{0,20}"), 0..600),
                prop::collection::vec(prop::option::of("[a-zé]{0,3}"), 0..600),
                prop::collection::vec(prop::option::of(prop::sample::select(vec!["yes", "no", ""]).prop_map(str::to_owned)), 0..600),
            ],
            skipped in 0_usize..100,
        ) {
            let cells: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
            let skipped = skipped.min(cells.len());
            let block = TextBlock::of(&texts(cells.iter().copied()), skipped..cells.len());
            let (mut scratch, mut gathered) = (String::new(), Cells::default());
            let mut start = 0;
            for (row, cell) in cells.iter().skip(skipped).enumerate() {
                prop_assert_eq!(block.get(row, &mut scratch), *cell);
                block.touch(row);
                block.gather(row, &mut gathered);
                let end = gathered.bytes().len();
                prop_assert_eq!(&gathered.bytes()[start..end], cell.unwrap_or_default().as_bytes());
                start = end;
            }
        }
    }

    #[test]
    fn few_words_take_one_byte() {
        let words = ["PLAIN", "PUNCT", "DATE"];
        let words = TextBlock::of(&texts((0..1000).map(|row| Some(words[row % 3]))), 0..1000);
        assert!(matches!(words, TextBlock::Few { codes, .. } if codes.len() == 1000));
    }
}
