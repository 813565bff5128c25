//! Edit distance of texts, fast: texts that are nearly the same are told by their few edits, and else the columns of the
//! distance table are kept as bit vectors, 64 characters to a word.
//! Distances count Unicode code points, as Python's do; nothing is trimmed, folded or normalised.

use std::collections::BTreeMap;

use crate::error::{MetricError, same_length};
use crate::few_edits::{few_edits, shared, shared_end};
use crate::sum::mean;

const WORD: usize = 64;
const ASCII: usize = 128;

/// Computes edit distances of texts one after another without a new allocation for each.
///
/// The result equals [`levenshtein`](crate::levenshtein) of the texts' characters. Time `n·⌈m/64⌉` where `m` is the
/// shorter length after common ends are cut, less where few edits lead from one text to the other. Source: Myers 1999, in
/// the block form of Hyyrö 2003.
#[derive(Clone, Debug, Default)]
pub struct TextDistance {
    /// Texts that are not ASCII, as numbers of their characters.
    left: Vec<usize>,
    right: Vec<usize>,
    /// Numbers of the characters that are not ASCII.
    others: BTreeMap<char, usize>,
    /// For each number the positions of its character in the pattern, as many words as blocks.
    positions: Vec<u64>,
    blocks: Vec<Block>,
}

/// Where one column of the table rises and falls downwards, for 64 rows of it.
#[derive(Clone, Copy, Debug)]
struct Block {
    rises: u64,
    falls: u64,
    last: u64,
}

impl Block {
    /// Takes the block one column on. `step` is how the row above changes in it; the return value how its last row does.
    const fn advance(&mut self, mut equal: u64, step: i8) -> i8 {
        let vertical = equal | self.falls;
        equal |= (step < 0) as u64;
        let horizontal = ((equal & self.rises).wrapping_add(self.rises) ^ self.rises) | equal;
        let mut up = self.falls | !(horizontal | self.rises);
        let mut down = self.rises & horizontal;
        let result = (up & self.last != 0) as i8 - (down & self.last != 0) as i8;
        up = (up << 1) | (step > 0) as u64;
        down = (down << 1) | (step < 0) as u64;
        self.rises = down | !(vertical | up);
        self.falls = up & vertical;
        result
    }
}

impl TextDistance {
    /// With empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The least number of inserted, deleted and replaced characters that turn one text into the other.
    pub fn between(&mut self, left: &str, right: &str) -> usize {
        let (left, right) = without_common_ends(left, right);
        if left.is_ascii() && right.is_ascii() {
            return self.between_bytes(left.as_bytes(), right.as_bytes());
        }
        self.others.clear();
        let mut number = |character: char| match u8::try_from(character) {
            Ok(byte) if byte.is_ascii() => usize::from(byte),
            _ => {
                let next = ASCII + self.others.len();
                *self.others.entry(character).or_insert(next)
            }
        };
        let (mut longer, mut shorter) = (std::mem::take(&mut self.left), std::mem::take(&mut self.right));
        longer.clear();
        longer.extend(left.chars().map(&mut number));
        shorter.clear();
        shorter.extend(right.chars().map(&mut number));
        if longer.len() < shorter.len() {
            std::mem::swap(&mut longer, &mut shorter);
        }
        let numbers = ASCII + self.others.len();
        let distance = self.by_columns(longer.iter().copied(), shorter.iter().copied(), numbers);
        (self.left, self.right) = (longer, shorter);
        distance
    }

    /// Of ASCII, where each byte is a character.
    fn between_bytes(&mut self, left: &[u8], right: &[u8]) -> usize {
        let (longer, shorter) = if left.len() < right.len() { (right, left) } else { (left, right) };
        // As many edits as take no longer to look for than the columns.
        let columns = longer.len() * shorter.len().div_ceil(WORD);
        if let Some(distance) = few_edits(longer, shorter, columns.isqrt() / 2) {
            return distance;
        }
        let number = |byte: &u8| usize::from(*byte);
        self.by_columns(longer.iter().map(number), shorter.iter().map(number), ASCII)
    }

    /// Column by column of the table; characters are told by their numbers.
    fn by_columns(
        &mut self,
        text: impl ExactSizeIterator<Item = usize>,
        pattern: impl ExactSizeIterator<Item = usize>,
        numbers: usize,
    ) -> usize {
        let (mut rises, mut falls) = (pattern.len(), 0);
        if rises == 0 {
            return text.len();
        }
        let words = rises.div_ceil(WORD);
        self.positions.clear();
        self.positions.resize(numbers * words, 0);
        self.blocks.clear();
        for block in 0..words {
            let rows = (rises - block * WORD).min(WORD);
            self.blocks.push(Block { rises: u64::MAX, falls: 0, last: 1 << (rows - 1) });
        }
        for (position, number) in pattern.enumerate() {
            if let Some(word) = self.positions.get_mut(number * words + position / WORD) {
                *word |= 1 << (position % WORD);
            }
        }
        for number in text {
            let positions = self.positions.get(number * words..).unwrap_or_default();
            let mut step = 1;
            for (block, equal) in self.blocks.iter_mut().zip(positions) {
                step = block.advance(*equal, step);
            }
            rises += usize::from(step > 0);
            falls += usize::from(step < 0);
        }
        rises - falls
    }
}

/// Both texts without the characters that they share at their beginning and at their end. Bytes are compared, which is
/// much faster than characters, and no character is cut.
fn without_common_ends<'a>(left: &'a str, right: &'a str) -> (&'a str, &'a str) {
    let mut prefix = shared(left.as_bytes(), right.as_bytes());
    while !left.is_char_boundary(prefix) {
        prefix -= 1;
    }
    let rest = |text: &'a str| text.get(prefix..).unwrap_or_default();
    let (left, right) = (rest(left), rest(right));
    let mut suffix = shared_end(left.as_bytes(), right.as_bytes());
    while !left.is_char_boundary(left.len() - suffix) {
        suffix -= 1;
    }
    let rest = |text: &'a str| text.get(..text.len() - suffix).unwrap_or_default();
    (rest(left), rest(right))
}

/// Mean edit distance of texts, in characters.
///
/// Range 0 to ∞, lower is better. Source: Kaggle's `levenshtein-mean`.
pub fn mean_text_distance<T: AsRef<str>>(truth: &[T], predicted: &[T]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let mut distance = TextDistance::new();
    let distances: Vec<f64> = truth
        .iter()
        .zip(predicted)
        .map(|(left, right)| distance.between(left.as_ref(), right.as_ref()) as f64)
        .collect();
    Ok(mean(&distances))
}

/// Edit distances of all sequences together by the number of true items: `Σ d(t, p) / Σ |t|`.
///
/// An error rate that may exceed 1; NaN or infinite where there is no true item at all. Range 0 to ∞, lower is better.
/// Source: the `ChaLearn` gesture challenge of 2013; the word error rate of speech recognition is the same.
pub fn edit_rate<T: PartialEq>(truth: &[Vec<T>], predicted: &[Vec<T>]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let distances: usize =
        truth.iter().zip(predicted).map(|(left, right)| crate::levenshtein(left, right)).sum();
    let items: usize = truth.iter().map(Vec::len).sum();
    Ok(distances as f64 / items as f64)
}
