//! The texts of one block. Few distinct ones are stored once; texts of at most sixteen different bytes, as dates, numbers
//! and hashes are, take half a byte for each; others stand end to end as they are.
//!
//! A block of one row or more gives back exactly the texts that it was made of.

use std::collections::HashMap;

use crate::csv::Texts;
use crate::prepare::stored::spans::Spans;

/// Distinct texts of a block are counted by one byte.
const FEW: usize = 256;

/// Distinct bytes that half a byte counts.
const HALF: usize = 16;

/// Texts of a block; some may be missing.
#[derive(Clone, Debug)]
pub(super) enum TextBlock {
    /// Each is one of few.
    Few { texts: Texts, codes: Box<[u8]> },
    /// End to end; half bytes where there is an alphabet.
    Many { bytes: Box<[u8]>, alphabet: Option<Box<[u8; HALF]>>, spans: Spans, missing: Option<Box<[bool]>> },
}

impl TextBlock {
    /// Of these cells.
    pub(super) fn of<'a>(cells: impl Iterator<Item = Option<&'a str>> + Clone) -> Self {
        Self::few(cells.clone()).unwrap_or_else(|| Self::many(cells))
    }

    fn few<'a>(cells: impl Iterator<Item = Option<&'a str>>) -> Option<Self> {
        let (mut texts, mut codes) = (Texts::default(), Vec::with_capacity(cells.size_hint().0));
        let mut known: HashMap<Option<&str>, u8> = HashMap::new();
        let mut last: Option<(Option<&str>, u8)> = None;
        for cell in cells {
            // Neighbours are often alike.
            let code = match last.filter(|(before, _)| *before == cell) {
                Some((_, code)) => code,
                None => match known.get(&cell) {
                    Some(code) => *code,
                    None => {
                        let code = u8::try_from(texts.len()).ok()?;
                        texts.push(cell);
                        known.insert(cell, code);
                        code
                    }
                },
            };
            last = Some((cell, code));
            codes.push(code);
        }
        // Of a short block most may be distinct: then it is no gain.
        let gain = codes.len() >= 2 * texts.len().min(FEW);
        gain.then(|| Self::Few { texts, codes: codes.into() })
    }

    fn many<'a>(cells: impl Iterator<Item = Option<&'a str>>) -> Self {
        let rows = cells.size_hint().0;
        let (mut bytes, mut ends, mut missing) =
            (Vec::new(), Vec::with_capacity(rows), Vec::with_capacity(rows));
        for cell in cells {
            bytes.extend_from_slice(cell.unwrap_or_default().as_bytes());
            ends.push(bytes.len());
            missing.push(cell.is_none());
        }
        let missing = missing.contains(&true).then(|| missing.into());
        let spans = Spans::of(&ends);
        match halved(&bytes) {
            Some((alphabet, halves)) => {
                Self::Many { bytes: halves.into(), alphabet: Some(Box::new(alphabet)), spans, missing }
            }
            None => Self::Many { bytes: bytes.into(), alphabet: None, spans, missing },
        }
    }

    /// One text; `scratch` holds it where it does not stand in the block as it is.
    pub(super) fn get<'s>(&'s self, row: usize, scratch: &'s mut String) -> Option<&'s str> {
        match self {
            Self::Few { texts, codes } => texts.get(usize::from(*codes.get(row)?)),
            Self::Many { bytes, alphabet, spans, missing } => {
                if missing.as_ref().is_some_and(|missing| missing.get(row) == Some(&true)) {
                    return None;
                }
                let span = spans.span(row);
                let Some(alphabet) = alphabet else {
                    return std::str::from_utf8(bytes.get(span)?).ok();
                };
                scratch.clear();
                for place in span {
                    let pair = bytes.get(place / 2).copied().unwrap_or_default();
                    let half = if place % 2 == 0 { pair >> 4 } else { pair & 15 };
                    scratch.push(char::from(alphabet.get(usize::from(half)).copied().unwrap_or_default()));
                }
                Some(scratch)
            }
        }
    }

    /// Waits for the memory of one text.
    pub(super) fn touch(&self, row: usize) -> u8 {
        match self {
            Self::Few { codes, .. } => codes.get(row).copied().unwrap_or_default(),
            Self::Many { bytes, alphabet, spans, .. } => {
                let start = spans.span(row).start;
                let start = if alphabet.is_some() { start / 2 } else { start };
                bytes.get(start).copied().unwrap_or_default()
            }
        }
    }
}

/// The bytes as half bytes of an alphabet; none where they are too many different ones, or not ASCII.
fn halved(bytes: &[u8]) -> Option<([u8; HALF], Vec<u8>)> {
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
    let pair = |pair: &[u8]| pair.first().map_or(0, code) << 4 | pair.get(1).map_or(0, code);
    Some((alphabet, bytes.chunks(2).map(pair).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_come_back_as_they_went_in(
            cells in prop_oneof![
                prop::collection::vec(prop::option::of("[0-9:. -]{0,20}"), 0..600),
                prop::collection::vec(prop::option::of("[a-zé]{0,3}"), 0..600),
                prop::collection::vec(prop::option::of(prop::sample::select(vec!["yes", "no", ""]).prop_map(str::to_owned)), 0..600),
            ]
        ) {
            let cells: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
            let block = TextBlock::of(cells.iter().copied());
            let mut scratch = String::new();
            for (row, cell) in cells.iter().enumerate() {
                prop_assert_eq!(block.get(row, &mut scratch), *cell);
                block.touch(row);
            }
        }
    }

    #[test]
    fn dates_take_half_and_few_words_one_byte() {
        let dates: Vec<String> = (0..1000).map(|row| format!("2009-06-15 17:26:21.{row:09}")).collect();
        let TextBlock::Many { bytes, alphabet: Some(_), spans: Spans::Even(29), missing: None } =
            TextBlock::of(dates.iter().map(|date| Some(date.as_str())))
        else {
            panic!("not halved");
        };
        assert_eq!(bytes.len(), 14_500);
        let words = ["PLAIN", "PUNCT", "DATE"];
        let words = TextBlock::of((0..1000).map(|row| Some(words[row % 3])));
        assert!(matches!(words, TextBlock::Few { texts, .. } if texts.len() == 3));
    }
}
