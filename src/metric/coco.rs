//! Average precision of detections as `pycocotools` computes it, for one threshold of overlap, one range of areas and
//! at most so many detections per image and class.
//!
//! The matcher stores matches as ids and takes 0 for "unmatched". Callers who number from 1 get the textbook result;
//! graders that number from 0 get, like the official ones, a first truth and a first detection that are treated as
//! unmatched in places. Boxes and areas come apart, because some callers hand over boxes in one meaning and areas in
//! another. NaN runs through as it does there.

use crate::sum::mean;

/// A true box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CocoTruth {
    /// Rank of its image.
    pub image: usize,
    /// Its class.
    pub class: i64,
    /// Its id.
    pub id: u64,
    /// Left, top, width, height, for the overlap.
    pub place: [f64; 4],
    /// For the range of areas.
    pub area: f64,
}

/// A predicted box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CocoDetection {
    /// Rank of its image.
    pub image: usize,
    /// Its class.
    pub class: i64,
    /// Its id.
    pub id: u64,
    /// Confidence; NaN ranks last.
    pub score: f64,
    /// Left, top, width, height, for the overlap.
    pub place: [f64; 4],
    /// For the range of areas.
    pub area: f64,
}

/// What counts as a match and which boxes take part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CocoOptions {
    /// The least overlap of a match.
    pub threshold: f64,
    /// Boxes outside are ignored (both ends belong to the range).
    pub areas: (f64, f64),
    /// The best detections of an image and class that take part.
    pub most: usize,
}

/// Points of recall at which precision is read.
const POINTS: u32 = 101;

/// Mean over the classes of the truth and over 101 points of recall of the precision there.
///
/// Truth is taken in the given order image by image, detections by confidence, then image, then the given order. A
/// class whose true boxes are all ignored is left out; −1 when no class is left. Range 0 to 1, higher is better.
/// Source: `pycocotools` 2.0, `COCOeval`.
pub fn coco_mean_average_precision(
    truth: &[CocoTruth],
    detections: &[CocoDetection],
    options: CocoOptions,
) -> f64 {
    let mut truth: Vec<&CocoTruth> = truth.iter().collect();
    let mut detections: Vec<&CocoDetection> = detections.iter().collect();
    truth.sort_by_key(|one| (one.class, one.image));
    detections.sort_by_key(|one| (one.class, one.image));
    let curves: Vec<Vec<f64>> = truth
        .chunk_by(|left, right| left.class == right.class)
        .filter_map(|truth| {
            let class = truth.first()?.class;
            let first = detections.partition_point(|one| one.class < class);
            let after = detections.partition_point(|one| one.class <= class);
            curve(truth, detections.get(first..after)?, options)
        })
        .collect();
    // Recall by recall, as the official array lies in memory: the mean then agrees to the last bit.
    let precisions: Vec<f64> = (0..POINTS as usize)
        .flat_map(|point| curves.iter().filter_map(move |curve| curve.get(point).copied()))
        .collect();
    if precisions.is_empty() { -1.0 } else { mean(&precisions) }
}

/// What became of a detection.
struct Judged {
    score: f64,
    matched: bool,
    ignored: bool,
}

/// Precision at the points of recall of one class, both sides image by image; none when no true box counts.
fn curve(truth: &[&CocoTruth], detections: &[&CocoDetection], options: CocoOptions) -> Option<Vec<f64>> {
    let positives = truth.iter().filter(|truth| !outside(truth.area, options)).count();
    let mut judged = Vec::with_capacity(detections.len());
    let mut others = truth;
    for found in detections.chunk_by(|left, right| left.image == right.image) {
        let image = found.first()?.image;
        others = others.get(others.partition_point(|one| one.image < image)..)?;
        let own = others.get(..others.partition_point(|one| one.image == image))?;
        judge(own, found, options, &mut judged);
    }
    if positives == 0 {
        return None;
    }
    judged.sort_by(|left, right| descending(left.score, right.score));
    let (mut hits, mut misses) = (0u64, 0u64);
    let (mut recalls, mut precisions) = (Vec::new(), Vec::new());
    for one in &judged {
        if !one.ignored {
            *(if one.matched { &mut hits } else { &mut misses }) += 1;
        }
        recalls.push(hits as f64 / positives as f64);
        precisions.push(hits as f64 / (misses as f64 + hits as f64 + f64::EPSILON));
    }
    let mut envelope = 0.0f64;
    for precision in precisions.iter_mut().rev() {
        envelope = envelope.max(*precision);
        *precision = envelope;
    }
    let at = |point: u32| if point + 1 == POINTS { 1.0 } else { f64::from(point) * 0.01 };
    let read = |point| precisions.get(recalls.partition_point(|recall| *recall < at(point))).copied();
    Some((0..POINTS).map(|point| read(point).unwrap_or(0.0)).collect())
}

/// Whether a box is outside the range of areas; NaN is not.
fn outside(area: f64, options: CocoOptions) -> bool {
    area < options.areas.0 || area > options.areas.1
}

/// By score, highest first, NaN last.
fn descending(left: f64, right: f64) -> std::cmp::Ordering {
    match (left.is_nan(), right.is_nan()) {
        (false, false) => right.partial_cmp(&left).unwrap_or(std::cmp::Ordering::Equal),
        (left, right) => left.cmp(&right),
    }
}

/// Matches the detections of one image and class.
fn judge(
    truth: &[&CocoTruth],
    detections: &[&CocoDetection],
    options: CocoOptions,
    judged: &mut Vec<Judged>,
) {
    let mut detections = detections.to_vec();
    detections.sort_by(|left, right| descending(left.score, right.score));
    detections.truncate(options.most);
    // Ignored boxes come last, and a regular match is never given up for one.
    let mut truth: Vec<(&CocoTruth, bool)> =
        truth.iter().map(|truth| (*truth, outside(truth.area, options))).collect();
    truth.sort_by_key(|(_, ignored)| *ignored);
    let mut taken = vec![0u64; truth.len()];
    for detection in detections {
        let mut best = options.threshold.min(1.0 - 1e-10);
        let mut found: Option<(usize, u64, bool)> = None;
        for (position, ((one, ignored), taken)) in truth.iter().zip(&taken).enumerate() {
            if *taken > 0 {
                continue;
            }
            if *ignored && found.is_some_and(|(_, _, ignored)| !ignored) {
                break;
            }
            let overlap = overlap(detection.place, one.place);
            // Not `overlap >= best`: NaN passes here, as it does there.
            if overlap < best {
                continue;
            }
            best = overlap;
            found = Some((position, one.id, *ignored));
        }
        let (mut id, mut ignored) = (0, false);
        if let Some((position, truth_id, truth_ignored)) = found {
            (id, ignored) = (truth_id, truth_ignored);
            if let Some(taken) = taken.get_mut(position) {
                *taken = detection.id;
            }
        }
        ignored |= id == 0 && outside(detection.area, options);
        judged.push(Judged { score: detection.score, matched: id != 0, ignored });
    }
}

/// Intersection over union of boxes given by left, top, width and height. A NaN edge yields to the other box's.
fn overlap(left: [f64; 4], right: [f64; 4]) -> f64 {
    let side = |at: usize| {
        let edge = |place: [f64; 4]| match at {
            0 => (place[0], place[2]),
            _ => (place[1], place[3]),
        };
        let ((one, one_size), (two, two_size)) = (edge(left), edge(right));
        (one_size + one).min(two_size + two) - one.max(two)
    };
    let (width, height) = (side(0), side(1));
    if width <= 0.0 || height <= 0.0 {
        return 0.0;
    }
    let common = width * height;
    common / (left[2] * left[3] + right[2] * right[3] - common)
}
