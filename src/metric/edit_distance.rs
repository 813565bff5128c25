//! Edit distance of texts, fast: the columns of the distance table are kept as bit vectors, 64 characters to a word.
//! Distances count Unicode code points, as Python's do; nothing is trimmed, folded or normalised.

use std::collections::BTreeMap;

use crate::error::{MetricError, same_length};
use crate::sum::mean;

const WORD: usize = 64;
const ASCII: usize = 128;

/// Computes edit distances of texts one after another without a new allocation for each.
///
/// The result equals [`levenshtein`](crate::levenshtein) of the texts' characters. Time `n·⌈m/64⌉` where `m` is the
/// shorter length after common ends are cut. Source: Myers 1999, in the block form of Hyyrö 2003.
#[derive(Clone, Debug, Default)]
pub struct TextDistance {
    left: Vec<char>,
    right: Vec<char>,
    /// Number of each ASCII character among those of the pattern; 0 for one that does not occur.
    ascii: Vec<usize>,
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
        let result = if up & self.last != 0 { 1 } else { -((down & self.last != 0) as i8) };
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
        self.left.clear();
        self.left.extend(left.chars());
        self.right.clear();
        self.right.extend(right.chars());
        if self.left.len() < self.right.len() {
            std::mem::swap(&mut self.left, &mut self.right);
        }
        if self.right.is_empty() {
            return self.left.len();
        }
        self.index_pattern();
        self.run()
    }

    /// Numbers the characters of the shorter text and notes where each stands.
    fn index_pattern(&mut self) {
        let words = self.right.len().div_ceil(WORD);
        self.ascii.clear();
        self.ascii.resize(ASCII, 0);
        self.others.clear();
        self.positions.clear();
        self.positions.resize(words, 0);
        self.blocks.clear();
        for (position, character) in self.right.iter().enumerate() {
            let fresh = self.positions.len() / words;
            let number = match self.ascii.get_mut(*character as usize) {
                Some(number) => {
                    if *number == 0 {
                        *number = fresh;
                    }
                    *number
                }
                None => *self.others.entry(*character).or_insert(fresh),
            };
            if number == fresh {
                self.positions.resize(self.positions.len() + words, 0);
            }
            if let Some(word) = self.positions.get_mut(number * words + position / WORD) {
                *word |= 1 << (position % WORD);
            }
        }
        for block in 0..words {
            let rows = (self.right.len() - block * WORD).min(WORD);
            self.blocks.push(Block { rises: u64::MAX, falls: 0, last: 1 << (rows - 1) });
        }
    }

    fn run(&mut self) -> usize {
        let words = self.blocks.len();
        let (mut rises, mut falls) = (self.right.len(), 0);
        for character in &self.left {
            let number = match self.ascii.get(*character as usize) {
                Some(number) => *number,
                None => self.others.get(character).copied().unwrap_or_default(),
            };
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
    let same = |(left, right): &(u8, u8)| left == right;
    let mut prefix = left.bytes().zip(right.bytes()).take_while(same).count();
    while !left.is_char_boundary(prefix) {
        prefix -= 1;
    }
    let rest = |text: &'a str| text.get(prefix..).unwrap_or_default();
    let (left, right) = (rest(left), rest(right));
    let mut suffix = left.bytes().rev().zip(right.bytes().rev()).take_while(same).count();
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
