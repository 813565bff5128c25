//! Masks of pixels as runs, and the measures of two masks that are ratios of pixel counts.
//!
//! A [`Mask`] is an ordered list of disjoint runs of pixel numbers, so an image of 10⁹ pixels costs only its runs. Two
//! runs may touch. Counts are exact; every ratio is one division of whole numbers (or of multiples of ¼), so results
//! equal those of pixel arrays to the last bit. How pixels are numbered is the caller's business.

/// Pixels `start..end`, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first pixel.
    pub start: u64,
    /// The pixel after the last one; greater than `start`.
    pub end: u64,
}

impl Run {
    /// Number of pixels.
    pub const fn area(self) -> u64 {
        self.end - self.start
    }
}

/// A set of pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    runs: Vec<Run>,
}

impl Mask {
    /// Adds a run behind the others; says whether it could: it must not be empty and must not begin before the end of
    /// the last one.
    pub fn push(&mut self, run: Run) -> bool {
        let fits = run.start < run.end && self.end() <= run.start;
        if fits {
            self.runs.push(run);
        }
        fits
    }

    /// The runs in order.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Number of pixels.
    pub fn area(&self) -> u64 {
        self.runs.iter().map(|run| run.area()).sum()
    }

    /// Whether there is no pixel.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The pixel after the last one; 0 of an empty mask.
    pub fn end(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.end)
    }

    /// Number of pixels in both masks.
    pub fn common_area(&self, other: &Self) -> u64 {
        let (mut left, mut right) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        let mut area = 0;
        while let (Some(one), Some(two)) = (left.peek(), right.peek()) {
            area += one.end.min(two.end).saturating_sub(one.start.max(two.start));
            if one.end <= two.end {
                left.next();
            } else {
                right.next();
            }
        }
        area
    }

    /// The pixels of either mask. Touching runs are joined.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut runs: Vec<Run> = Vec::with_capacity(self.runs.len() + other.runs.len());
        let (mut left, mut right) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some(one), Some(two)) if two.start < one.start => right.next(),
                (Some(_), _) => left.next(),
                (None, _) => right.next(),
            };
            let Some(next) = next else { return Self { runs } };
            match runs.last_mut() {
                Some(last) if next.start <= last.end => last.end = last.end.max(next.end),
                _ => runs.push(*next),
            }
        }
    }

    /// Whether both masks hold the same pixels, however they are cut into runs.
    pub fn same_pixels(&self, other: &Self) -> bool {
        self.joined().eq(other.joined())
    }

    /// The runs with touching ones joined.
    fn joined(&self) -> impl Iterator<Item = Run> {
        self.runs.chunk_by(|one, two| one.end == two.start).filter_map(|chunk| {
            let (first, last) = (chunk.first()?, chunk.last()?);
            Some(Run { start: first.start, end: last.end })
        })
    }
}

/// Dice coefficient of two masks: `2·|A ∩ B| / (|A| + |B|)`.
///
/// NaN when both are empty; the caller says what that is worth. Range 0 to 1, higher is better. Symmetric. Source:
/// Dice 1945.
pub fn dice(left: &Mask, right: &Mask) -> f64 {
    dice_of_counts(left.common_area(right), left.area() + right.area())
}

/// [`dice`] from counts that were summed over many images: `2·common / total`, with `total = Σ(|A| + |B|)`.
pub fn dice_of_counts(common: u64, total: u64) -> f64 {
    2.0 * common as f64 / total as f64
}

/// Intersection over union of two masks: `|A ∩ B| / |A ∪ B|`.
///
/// NaN when both are empty. Range 0 to 1, higher is better. Symmetric. Source: Jaccard 1912.
pub fn mask_iou(left: &Mask, right: &Mask) -> f64 {
    let common = left.common_area(right);
    common as f64 / (left.area() + right.area() - common) as f64
}

/// F-beta of two masks, pixel by pixel: `(1 + β²)·tp / ((1 + β²)·tp + β²·fn + fp)`.
///
/// 0 when no pixel is hit, also when both are empty. Range 0 to 1, higher is better; β below 1 favours precision.
/// Source: van Rijsbergen 1979.
pub fn mask_f_beta(truth: &Mask, predicted: &Mask, beta: f64) -> f64 {
    let hits = truth.common_area(predicted);
    if hits == 0 {
        return 0.0;
    }
    let (missed, false_alarms) = ((truth.area() - hits) as f64, (predicted.area() - hits) as f64);
    let weight = beta * beta;
    let gained = (1.0 + weight) * hits as f64;
    gained / (gained + weight * missed + false_alarms)
}

/// The ten thresholds 0.5, 0.55, …, 0.95 as `numpy.arange(0.5, 1.0, 0.05)` makes them, errors of rounding included.
pub const IOU_THRESHOLDS: [f64; 10] = [
    0.5,
    0.55,
    0.600_000_000_000_000_1,
    0.650_000_000_000_000_1,
    0.700_000_000_000_000_2,
    0.750_000_000_000_000_2,
    0.800_000_000_000_000_3,
    0.850_000_000_000_000_3,
    0.900_000_000_000_000_4,
    0.950_000_000_000_000_4,
];

/// Share of the thresholds that an overlap exceeds strictly: the precision of one object, averaged over thresholds.
///
/// Range 0 to 1, higher is better; 0 of NaN and of no thresholds. Source: Kaggle's mean precision over thresholds.
pub fn precision_over_thresholds(overlap: f64, thresholds: &[f64]) -> f64 {
    let hits = thresholds.iter().filter(|threshold| overlap > **threshold).count();
    hits as f64 / thresholds.len().max(1) as f64
}
