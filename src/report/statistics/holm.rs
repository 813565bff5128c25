//! Holm's step-down correction: with m comparisons, the chance that any of them is called wrongly stays below the level.
//!
//! Sture Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6 (1979).

/// Corrected p-values, in the order of `p_values`: `p̃(i) = max over j ≤ i of min(1, (m − j + 1) · p(j))`, where `p(j)`
/// is the j-th smallest.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    let value = |place: usize| p_values.get(place).copied().unwrap_or(1.0);
    order.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let mut corrected = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, place) in order.into_iter().enumerate() {
        largest = largest.max((value(place) * (p_values.len() - rank) as f64).min(1.0));
        if let Some(slot) = corrected.get_mut(place) {
            *slot = largest;
        }
    }
    corrected
}
