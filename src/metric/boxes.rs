//! Boxes and points in an image: overlap of two boxes, detections matched to true boxes, points found inside boxes.
//!
//! Coordinates are any numbers, also NaN and infinities, which never match. The functions know nothing of files, and
//! what a label is they only compare.

/// Two opposite corners: left, top, right, bottom.
pub type Corners = [f64; 4];

/// Intersection over union of two boxes given by corners: `w·h / (A₁ + A₂ − w·h)`, with `w` and `h` the sides of the
/// common part and `A` the product of a box's sides.
///
/// No pixel is added to a side. Sides of the common part are 0 at least, those of a box keep their sign; 0 when the
/// union is not positive. Range 0 to 1 for proper boxes, higher is better. Symmetric. Source: Jaccard 1912.
pub fn box_iou(left: Corners, right: Corners) -> f64 {
    let area = |[x1, y1, x2, y2]: Corners| (x2 - x1) * (y2 - y1);
    let width = (left[2].min(right[2]) - left[0].max(right[0])).max(0.0);
    let height = (left[3].min(right[3]) - left[1].max(right[1])).max(0.0);
    let common = width * height;
    let union = area(left) + area(right) - common;
    if union > 0.0 { common / union } else { 0.0 }
}

/// Matches predictions, best first, to true boxes of one image and class.
///
/// Each prediction takes the free true box that it overlaps most, the first of equals, where the overlap exceeds the
/// threshold. Returns which predictions found one and how many true boxes stay free.
pub fn match_boxes(truth: &[Corners], predicted: &[Corners], threshold: f64) -> (Vec<bool>, usize) {
    let mut free: Vec<Option<Corners>> = truth.iter().copied().map(Some).collect();
    let hits = predicted
        .iter()
        .map(|guess| {
            let mut best = threshold;
            let mut taken = None;
            for slot in &mut free {
                let Some(overlap) = slot.map(|truth| box_iou(truth, *guess)) else { continue };
                if overlap > best {
                    best = overlap;
                    taken = Some(slot);
                }
            }
            taken.map(|slot| *slot = None).is_some()
        })
        .collect();
    (hits, free.iter().flatten().count())
}

/// A labelled box: left, top, width, height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelledBox {
    /// The class.
    pub label: u32,
    /// Left, top, width, height.
    pub place: [f64; 4],
}

/// A labelled point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelledPoint {
    /// The class.
    pub label: u32,
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// Hits, false alarms and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// True things that were found.
    pub hits: u64,
    /// Predictions that found nothing.
    pub false_alarms: u64,
    /// True things that were not found.
    pub misses: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.hits += other.hits;
        self.false_alarms += other.false_alarms;
        self.misses += other.misses;
    }
}

/// Matches the points of one image to its boxes.
///
/// Boxes come in order; each takes the first free point of its label that lies inside, edges excluded.
pub fn points_in_boxes(boxes: &[LabelledBox], points: &[LabelledPoint]) -> Counts {
    // By label, in order: what is free shrinks as boxes take points.
    let mut free: Vec<(usize, &LabelledPoint)> = points.iter().enumerate().collect();
    free.sort_by_key(|(position, point)| (point.label, *position));
    let mut taken = vec![false; free.len()];
    let mut counts = Counts::default();
    for LabelledBox { label, place: [left, top, width, height] } in boxes {
        let first = free.partition_point(|(_, point)| point.label < *label);
        let inside = |point: &LabelledPoint| {
            *left < point.x && point.x < left + width && *top < point.y && point.y < top + height
        };
        let same_label = free.get(first..).unwrap_or_default();
        let found = same_label
            .iter()
            .zip(taken.get_mut(first..).unwrap_or_default())
            .take_while(|((_, point), _)| point.label == *label)
            .find(|((_, point), taken)| !**taken && inside(point));
        match found {
            Some((_, taken)) => {
                *taken = true;
                counts.hits += 1;
            }
            None => counts.misses += 1,
        }
    }
    counts.false_alarms = points.len() as u64 - counts.hits;
    counts
}

/// F1 of counts: `2·P·R / (P + R)`, with precision `P = hits / (hits + false alarms)` and recall `R = hits / (hits +
/// misses)`.
///
/// 0 when nothing is hit. The last bits may differ from those of [`f1_from_counts`](crate::f1_from_counts), which divides
/// once. Range 0 to 1, higher is better. Source: Kaggle's micro F1 of detections.
pub fn harmonic_f1(counts: Counts) -> f64 {
    if counts.hits == 0 {
        return 0.0;
    }
    let hits = counts.hits as f64;
    let precision = hits / (counts.hits + counts.false_alarms) as f64;
    let recall = hits / (counts.hits + counts.misses) as f64;
    2.0 * precision * recall / (precision + recall)
}

/// Area under the envelope of precision over recall of a ranking, best prediction first.
///
/// `Σ (R_i − R_{i−1})·max_{j ≥ i} P_j`, with `P = hits so far / rank` and `R = hits so far / positives`. 0 when nothing
/// is predicted; NaN when there is nothing to find. Range 0 to 1, higher is better. Source: Pascal VOC 2010.
pub fn envelope_average_precision(hits: &[bool], positives: usize) -> f64 {
    if hits.is_empty() {
        return 0.0;
    }
    let mut found = 0usize;
    let steps: Vec<(f64, f64)> = hits
        .iter()
        .enumerate()
        .map(|(position, hit)| {
            found += usize::from(*hit);
            (found as f64 / positives as f64, found as f64 / (position + 1) as f64)
        })
        .collect();
    let mut areas = Vec::new();
    let mut envelope = 0.0f64;
    for (position, (recall, precision)) in steps.iter().enumerate().rev() {
        envelope = envelope.max(*precision);
        let before = position.checked_sub(1).and_then(|before| steps.get(before)).map_or(0.0, |step| step.0);
        if before < *recall {
            areas.push((recall - before) * envelope);
        }
    }
    areas.reverse();
    crate::sum::pairwise_sum(&areas)
}
