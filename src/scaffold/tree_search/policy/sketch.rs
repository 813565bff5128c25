//! How alike two programs are: the share of runs of four tokens that they have in common (Broder 1997, On the
//! resemblance and containment of documents), estimated from the smallest hashes of each, so that a program costs a kilobyte
//! however long it is. A function of the text alone; names count, white space does not.

use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Tokens of one run.
const RUN: usize = 4;
/// Hashes that are kept of each program; the estimate's standard error is below 0.05.
const KEPT: usize = 128;

/// The smallest hashes of a program, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sketch(Vec<u64>);

impl Sketch {
    /// Of a program's text.
    pub(crate) fn of(code: &str) -> Self {
        let tokens: Vec<u64> = tokens(code).map(|token| token.bytes().fold(OFFSET, mix)).collect();
        let run = |run: &[u64]| finish(run.iter().flat_map(|token| token.to_le_bytes()).fold(OFFSET, mix));
        let runs: BTreeSet<u64> = tokens.windows(RUN.min(tokens.len()).max(1)).map(run).collect();
        Self(runs.into_iter().take(KEPT).collect())
    }

    /// The share that two programs have in common: 0 to 1; 1 for two empty ones.
    pub(crate) fn likeness(&self, other: &Self) -> f64 {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let (mut seen, mut common) = (0usize, 0usize);
        while seen < KEPT {
            let order = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(left), Some(right)) => left.cmp(right),
            };
            if order != Ordering::Greater {
                left.next();
            }
            if order != Ordering::Less {
                right.next();
            }
            seen += 1;
            common += usize::from(order == Ordering::Equal);
        }
        if seen == 0 { 1.0 } else { common as f64 / seen as f64 }
    }
}

/// Words, and every other character that is not white space by itself.
fn tokens(code: &str) -> impl Iterator<Item = &str> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut rest = code;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let word = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
        let end = if word > 0 { word } else { rest.chars().next()?.len_utf8() };
        let (token, behind) = rest.split_at_checked(end)?;
        rest = behind;
        Some(token)
    })
}

/// FNV-1a, 64 bits.
const OFFSET: u64 = 0xCBF2_9CE4_8422_2325;

const fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01B3)
}

/// Spreads a hash over all its bits: the smallest are to be a fair sample.
const fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_words_and_signs() {
        let cases = [
            ("x_1 = f(é)\n", vec!["x_1", "=", "f", "(", "é", ")"]),
            ("", vec![]),
            (" \n", vec![]),
            ("a→b", vec!["a", "→", "b"]),
        ];
        for (code, expected) in cases {
            assert_eq!(tokens(code).collect::<Vec<_>>(), expected, "{code}");
        }
    }

    #[test]
    fn likeness_is_that_of_the_whole_sets() {
        let line = |kind: &str, n: u32| format!("model_{kind}_{n} = fit(data[{n}], depth={})\n", n * 7 % 13);
        let text = |own: &str, common: u32, all: u32| -> String {
            (0..all).map(|n| line(if n < common { "c" } else { own }, n)).collect()
        };
        let exact = |left: &str, right: &str| {
            let runs = |code: &str| -> BTreeSet<String> {
                let tokens: Vec<&str> = tokens(code).collect();
                tokens.windows(RUN).map(|run| run.join(" ")).collect()
            };
            let (left, right) = (runs(left), runs(right));
            left.intersection(&right).count() as f64 / left.union(&right).count() as f64
        };
        for (common, all) in [(0, 50), (10, 50), (25, 50), (40, 50), (50, 50), (150, 200)] {
            let (left, right) = (text("a", common, all), text("b", common, all));
            let (sketch, other) = (Sketch::of(&left), Sketch::of(&right));
            // Three standard errors of a share of 128.
            assert!((sketch.likeness(&other) - exact(&left, &right)).abs() < 0.135, "{common} of {all}");
            assert!((sketch.likeness(&other) - other.likeness(&sketch)).abs() < f64::EPSILON);
        }
    }

    #[test]
    fn white_space_does_not_count_and_short_programs_compare() {
        let likeness = |left: &str, right: &str| Sketch::of(left).likeness(&Sketch::of(right));
        let cases = [
            ("a = 1\nb = 2", "a=1 b=2", 1.0),
            ("", "", 1.0),
            ("", "a = b + c", 0.0),
            ("x", "x", 1.0),
            ("x", "y", 0.0),
        ];
        for (left, right, expected) in cases {
            assert!((likeness(left, right) - expected).abs() < f64::EPSILON, "{left} {right}");
        }
    }
}
