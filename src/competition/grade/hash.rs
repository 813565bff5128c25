//! A fast hash for key look-ups. Only the answers' keys, which are ours, are ever put into a map; a submission is
//! looked up and never inserted, so nobody can make keys collide on purpose and the default hash would protect nothing.

use std::hash::{BuildHasherDefault, Hasher};

/// For `HashMap::with_capacity_and_hasher`.
pub(crate) type FastHash = BuildHasherDefault<FastHasher>;

/// Multiply and rotate, eight bytes at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FastHasher(u64);

impl FastHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
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
