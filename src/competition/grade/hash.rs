//! A fast hash for key look-ups, and a sieve before it for look-ups that mostly find nothing. Only the answers' keys, which are ours, are ever put into a map; a submission is
//! looked up and never inserted, so nobody can make keys collide on purpose and the default hash would protect nothing.

use std::hash::{BuildHasherDefault, Hasher};

/// Spreads the bits of a number.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// For `HashMap::with_capacity_and_hasher`.
pub(crate) type FastHash = BuildHasherDefault<FastHasher>;

/// Multiply and rotate, eight bytes at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FastHasher(u64);

impl FastHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(SPREAD);
    }
}

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        // The map takes its bucket from the low bits, where a product mixes least.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        let last = rest.iter().fold(rest.len() as u64, |last, byte| (last << 8) | u64::from(*byte));
        self.add(last);
    }

    fn write_u8(&mut self, value: u8) {
        self.add(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.add(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }
}

/// A set of numbers in a few bits each: what it says is not among them is not, what it says may be mostly is.
#[derive(Clone, Debug)]
pub(crate) struct Sieve {
    bits: Vec<u64>,
    /// Takes a spread number to the number of its bit.
    shift: u32,
}

impl Sieve {
    /// For about this many numbers: sixteen bits for each.
    pub(crate) fn with_room(numbers: usize) -> Self {
        let words = (numbers / 4).next_power_of_two();
        Self { bits: vec![0; words], shift: 64 - 6 - words.trailing_zeros() }
    }

    pub(crate) fn add(&mut self, number: u64) {
        let (word, bit) = self.place(number);
        if let Some(word) = self.bits.get_mut(word) {
            *word |= bit;
        }
    }

    pub(crate) fn may_hold(&self, number: u64) -> bool {
        let (word, bit) = self.place(number);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    fn place(&self, number: u64) -> (usize, u64) {
        let place = number.wrapping_mul(SPREAD) >> self.shift;
        (usize::try_from(place / 64).unwrap_or(usize::MAX), 1 << (place % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sieve_keeps_all_of_its_own_and_few_others() {
        for count in [0, 1, 3, 4, 100, 5000] {
            let mut sieve = Sieve::with_room(count);
            (0..count as u64).for_each(|number| sieve.add(number * 7));
            assert!((0..count as u64).all(|number| sieve.may_hold(number * 7)));
            let others = (0..10_000).filter(|number| sieve.may_hold(number * 7 + 1)).count();
            assert!(others < 2500, "{others} of 10000 beside {count}");
        }
    }
}
