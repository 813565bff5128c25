//! Sums as NumPy makes them: pairwise over halves down to blocks of 128 with eight accumulators. The error grows
//! with log n rather than n, and means agree with NumPy's to the last bit for contiguous input.

const BLOCK: usize = 128;

/// Pairwise sum of a slice, bit-compatible with `numpy.sum` of a contiguous float64 array.
pub fn pairwise_sum(values: &[f64]) -> f64 {
    if values.len() < 8 {
        return values.iter().fold(-0.0, |sum, value| sum + value) + 0.0;
    }
    if values.len() <= BLOCK {
        return block_sum(values);
    }
    let half = values.len() / 2;
    let (left, right) = values.split_at(half - half % 8);
    pairwise_sum(left) + pairwise_sum(right)
}

fn block_sum(values: &[f64]) -> f64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (position, chunk) in chunks.iter().enumerate() {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = if position == 0 { *value } else { *lane + value };
        }
    }
    // ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), as NumPy adds its lanes.
    let (pairs, _) = lanes.as_chunks::<2>();
    let pairs: Vec<f64> = pairs.iter().map(|[left, right]| left + right).collect();
    let halves: Vec<f64> = pairs.chunks(2).map(|pair| pair.iter().sum()).collect();
    rest.iter().fold(halves.iter().sum(), |sum, value| sum + value)
}

/// Arithmetic mean by [`pairwise_sum`]; NaN of nothing.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { f64::NAN } else { pairwise_sum(values) / values.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_parts_do_not_drift() {
        let parts = vec![0.1; 1_000_000];
        assert!((pairwise_sum(&parts) - 100_000.0).abs() < 1e-9);
        assert!(mean(&[]).is_nan());
    }
}
