//! Run-length text to a [`Mask`]: `start length start length …`, pixels numbered from 1.
//!
//! The rules are those of the decoder that most segmentation competitions share, down to what NumPy does with odd
//! counts and huge numbers: starts ascend, starts and lengths are positive, no pixel twice; a run is cut at the end of
//! the image, and one beyond it marks nothing. The decoder knows neither the shape of an image nor the order in which
//! its pixels are numbered.

use crate::literal::{Integer, integer, plain_integer, words};
use crate::mask::{Mask, Run};

/// Why a text is no mask. Tokens and runs count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RleError {
    /// A token is no integer in Python's syntax.
    #[error("token {token} is not a whole number")]
    NotInteger {
        /// Its position.
        token: usize,
    },
    /// Three or more starts with one length less. (One start alone is an empty mask; two starts share one length.)
    #[error("{tokens} numbers are no pairs of start and length")]
    Unpaired {
        /// Number of tokens.
        tokens: usize,
    },
    /// A start is smaller than the one before.
    #[error("run {run} starts before the run in front of it")]
    Unsorted {
        /// The run.
        run: usize,
    },
    /// A start or length is zero or negative.
    #[error("run {run} has a start or length below 1")]
    NotPositive {
        /// The run.
        run: usize,
    },
    /// A run marks a pixel that an earlier one has marked.
    #[error("run {run} overlaps the run in front of it")]
    Overlap {
        /// The run.
        run: usize,
    },
    /// Numbers from 2^63 to 2^64 − 1, which NumPy turns into floats that cannot bound a run.
    #[error("a start or length lies between 2^63 and 2^64")]
    Unusable,
}

/// What a decoder lets pass although it may not be meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RleQuirks {
    /// There is one length less than starts.
    pub odd: bool,
    /// A run reaches beyond the image.
    pub cut: bool,
}

/// Decodes run-length text for an image of so many pixels. Text of blanks is an empty mask.
pub fn decode_rle(text: &str, pixels: u64) -> Result<Mask, RleError> {
    decode_rle_noting(text, pixels).map(|(mask, _)| mask)
}

/// [`decode_rle`], and what it let pass.
pub fn decode_rle_noting(text: &str, pixels: u64) -> Result<(Mask, RleQuirks), RleError> {
    match decode_plain(text, pixels) {
        Some(decoded) => Ok(decoded),
        None => decode_any(text, pixels),
    }
}

/// Pairs of plain numbers that break no rule, straight to runs: nearly every text.
fn decode_plain(text: &str, pixels: u64) -> Option<(Mask, RleQuirks)> {
    let (mut mask, mut quirks) = (Mask::default(), RleQuirks::default());
    let mut before = 0;
    let mut numbers = words(text);
    while let Some(start) = numbers.next() {
        let (start, length) = (plain_integer(start)?, plain_integer(numbers.next()?)?);
        if start < before || start == 0 || length == 0 {
            return None;
        }
        before = start;
        let (start, length) = (u64::try_from(start).ok()?, u64::try_from(length).ok()?);
        let run = Run { start: (start - 1).min(pixels), end: (start - 1 + length).min(pixels) };
        quirks.cut |= start - 1 + length > pixels;
        if run.start < run.end && !mask.push(run) {
            return None;
        }
    }
    Some((mask, quirks))
}

/// Numbers of every spelling and size, odd counts, and texts that break a rule.
fn decode_any(text: &str, pixels: u64) -> Result<(Mask, RleQuirks), RleError> {
    let numbers: Result<Vec<Integer>, RleError> = words(text)
        .enumerate()
        .map(|(position, word)| integer(word).ok_or(RleError::NotInteger { token: position + 1 }))
        .collect();
    let numbers = numbers?;
    let odd = numbers.len() % 2 == 1;
    check(&numbers)?;
    let pairs = pairs(&numbers)?.map(|(start, length)| (saturated(start), saturated(length)));
    if numbers.len() == 1 {
        return Ok((Mask::default(), RleQuirks { odd, cut: false }));
    }
    let starts = Kind::of(numbers.iter().step_by(2));
    let lengths = Kind::of(numbers.iter().skip(1).step_by(2));
    let bounds = match (starts, lengths) {
        (Kind::Signed, Kind::Signed) => wrapping,
        // Sums of floats, or of signed and unsigned numbers, are floats.
        (Kind::Floats, _)
        | (_, Kind::Floats)
        | (Kind::Unsigned, Kind::Signed)
        | (Kind::Signed, Kind::Unsigned) => {
            return Err(RleError::Unusable);
        }
        // Where both are unsigned, sums wrap around too, but every start is beyond any image.
        (Kind::Objects, _) | (_, Kind::Objects) | (Kind::Unsigned, Kind::Unsigned) => exact,
    };
    let (mask, cut) = mark(pairs.map(|(start, length)| bounds(start, length)), pixels)?;
    Ok((mask, RleQuirks { odd, cut }))
}

/// NumPy's type of an array made of positive Python integers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `int64`: all below 2^63. Sums wrap around.
    Signed,
    /// `uint64`: all from 2^63 below 2^64.
    Unsigned,
    /// `float64`: some of each.
    Floats,
    /// `object`: one is larger. Sums are exact.
    Objects,
}

impl Kind {
    fn of<'a>(numbers: impl Iterator<Item = &'a Integer>) -> Self {
        let kinds = numbers.map(|number| match number {
            Integer::Small(value) if *value <= i128::from(i64::MAX) => Self::Signed,
            Integer::Small(value) if *value <= i128::from(u64::MAX) => Self::Unsigned,
            _ => Self::Objects,
        });
        kinds.reduce(Self::promote).unwrap_or(Self::Floats)
    }

    fn promote(self, other: Self) -> Self {
        match (self, other) {
            (Self::Objects, _) | (_, Self::Objects) => Self::Objects,
            (left, right) if left == right => left,
            _ => Self::Floats,
        }
    }
}

/// Starts ascend, and all numbers are positive.
fn check(numbers: &[Integer]) -> Result<(), RleError> {
    let mut neighbours = numbers.iter().step_by(2).zip(numbers.iter().skip(2).step_by(2));
    if let Some(run) = neighbours.position(|(before, start)| start < before) {
        return Err(RleError::Unsorted { run: run + 2 });
    }
    match numbers.iter().position(|number| *number <= Integer::Small(0)) {
        Some(token) => Err(RleError::NotPositive { run: token / 2 + 1 }),
        None => Ok(()),
    }
}

/// Starts with their lengths as NumPy broadcasts them: equal counts pair up, a single length serves two starts, and a
/// single start without a length makes no run.
fn pairs(numbers: &[Integer]) -> Result<impl Iterator<Item = (&Integer, &Integer)>, RleError> {
    if numbers.len() % 2 == 1 && numbers.len() > 3 {
        return Err(RleError::Unpaired { tokens: numbers.len() });
    }
    let lengths = numbers.iter().skip(1).step_by(2);
    Ok(numbers.iter().step_by(2).zip(lengths.clone().chain(lengths)))
}

/// The first pixel and the pixel after the last one, counted from 0.
fn exact(start: i128, length: i128) -> (i128, i128) {
    (start - 1, start - 1 + length)
}

/// The same in 64 bits. An end that wraps below zero counts from the end of the image and, being far below it, leaves
/// nothing of the run.
fn wrapping(start: i128, length: i128) -> (i128, i128) {
    let (first, end) = exact(start, length);
    if end > i128::from(i64::MAX) { (first, first) } else { (first, end) }
}

fn saturated(number: &Integer) -> i128 {
    match number {
        // Half the range, so that a sum of two stays within it.
        Integer::Small(value) => (*value).clamp(i128::MIN / 2, i128::MAX / 2),
        Integer::Huge { .. } => i128::MAX / 2,
    }
}

/// The mask of these runs, and whether one reaches beyond the image.
fn mark(runs: impl Iterator<Item = (i128, i128)>, pixels: u64) -> Result<(Mask, bool), RleError> {
    let (mut mask, mut beyond) = (Mask::default(), false);
    let cut = |bound: i128| u64::try_from(bound).unwrap_or(u64::MAX).min(pixels);
    for (position, (first, end)) in runs.enumerate() {
        let run = Run { start: cut(first), end: cut(end) };
        beyond |= end > i128::from(pixels);
        if run.start < run.end && !mask.push(run) {
            return Err(RleError::Overlap { run: position + 1 });
        }
    }
    Ok((mask, beyond))
}
