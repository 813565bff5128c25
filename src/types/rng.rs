//! The random numbers of a strategy: a small generator of our own, so that a choice replays on any machine and
//! with any version of any crate. SplitMix64 (Steele, Lea, Flood 2014); not for cryptography.

/// A seeded generator.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator that starts from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in 0..n; 0 when n is 0. Multiply-shift; the bias is below n / 2^64.
    #[expect(clippy::cast_possible_truncation, reason = "the high half of the product is below n")]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// A uniformly chosen element; `None` of an empty slice.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// An index chosen with a chance in proportion to its weight; weights that are not above 0 are never chosen. `None`
    /// when none is. One draw.
    pub fn weighted(&mut self, weights: &[f64]) -> Option<usize> {
        let usable = |weight: f64| if weight.is_finite() && weight > 0.0 { weight } else { 0.0 };
        let mut left = self.uniform() * weights.iter().copied().map(usable).sum::<f64>();
        let mut last = None;
        for (place, weight) in weights.iter().copied().map(usable).enumerate() {
            if weight > 0.0 {
                last = Some(place);
                if left < weight {
                    return last;
                }
                left -= weight;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_values() {
        let mut rng = Rng::new(1_234_567);
        assert_eq!(rng.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::new(7);
        let mut counts = [0u32; 5];
        for _ in 0..50_000 {
            counts[rng.below(5)] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!(rng.pick::<u8>(&[]), None);
    }

    #[test]
    fn weights_are_kept() {
        let mut rng = Rng::new(3);
        let mut counts = [0u32; 4];
        for _ in 0..40_000 {
            counts[rng.weighted(&[1.0, 0.0, 3.0, f64::NAN]).unwrap()] += 1;
        }
        assert!(counts[1] == 0 && counts[3] == 0 && (9_500..10_500).contains(&counts[0]), "{counts:?}");
        assert_eq!((rng.weighted(&[]), rng.weighted(&[0.0, -1.0])), (None, None));
    }
}
