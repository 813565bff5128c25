//! Boxes in images and in space against slow formulas written another way, or against an identity.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::float_cmp,
    reason = "helpers of tests may be as blunt as tests"
)]

use std::f64::consts::{FRAC_PI_2, PI};

use podium_metric::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn corners() -> impl Strategy<Value = [f64; 4]> {
    (0u8..8, 0u8..8, 1u8..6, 1u8..6).prop_map(|(x, y, w, h)| [x, y, x + w, y + h].map(f64::from))
}

/// A detection: its box and its confidence.
type Found = (Corners, u8);

/// By counting unit squares.
fn slow_iou(left: [f64; 4], right: [f64; 4]) -> f64 {
    let (mut common, mut either) = (0u32, 0u32);
    for x in 0..16 {
        for y in 0..16 {
            let middle = (f64::from(x) + 0.5, f64::from(y) + 0.5);
            let [one, two] = [left, right]
                .map(|[x1, y1, x2, y2]| x1 < middle.0 && middle.0 < x2 && y1 < middle.1 && middle.1 < y2);
            common += u32::from(one && two);
            either += u32::from(one || two);
        }
    }
    f64::from(common) / f64::from(either)
}

/// Precision and recall by going over the whole ranking for each point of recall.
fn slow_envelope(hits: &[bool], positives: usize) -> f64 {
    let at = |rank: usize| hits[..rank].iter().filter(|hit| **hit).count() as f64;
    let found = at(hits.len());
    let best = |least: f64| {
        (1..=hits.len())
            .filter(|rank| at(*rank) >= least)
            .map(|rank| at(rank) / rank as f64)
            .fold(0.0, f64::max)
    };
    let mut area = 0.0;
    let mut target = 1.0;
    while target <= found {
        area += best(target) / positives as f64;
        target += 1.0;
    }
    area
}

fn place() -> impl Strategy<Value = ([f64; 3], [f64; 3], f64)> {
    let center = [-2.0f64..2.0, -2.0f64..2.0, -1.0f64..1.0];
    (center, [0.2f64..4.0, 0.2f64..4.0, 0.2f64..2.0], -7.0f64..7.0)
}

fn cuboid((center, size, turn): ([f64; 3], [f64; 3], f64)) -> Cuboid {
    Cuboid::new(center, size, turn).unwrap()
}

/// Whether a point of the ground lies in a box.
fn covers((center, size, turn): ([f64; 3], [f64; 3], f64), [x, y]: [f64; 2]) -> bool {
    let (x, y) = (x - center[0], y - center[1]);
    let along = x * turn.cos() + y * turn.sin();
    let across = y * turn.cos() - x * turn.sin();
    along.abs() <= size[1] / 2.0 && across.abs() <= size[0] / 2.0
}

/// By a fine grid on the ground.
fn sampled_iou(left: ([f64; 3], [f64; 3], f64), right: ([f64; 3], [f64; 3], f64)) -> f64 {
    const STEP: f64 = 0.05;
    let mut common = 0.0;
    for column in -120..120 {
        for row in -120..120 {
            let point = [f64::from(column) * STEP, f64::from(row) * STEP];
            if covers(left, point) && covers(right, point) {
                common += STEP * STEP;
            }
        }
    }
    let span =
        |(center, size, _): ([f64; 3], [f64; 3], f64)| (center[2] - size[2] / 2.0, center[2] + size[2] / 2.0);
    let (one, two) = (span(left), span(right));
    common *= (one.1.min(two.1) - one.0.max(two.0)).max(0.0);
    let volume = |(_, size, _): ([f64; 3], [f64; 3], f64)| size.iter().product::<f64>();
    common / (volume(left) + volume(right) - common)
}

/// Detections whose ids begin at 1, so that no id means "unmatched"; boxes in one image and class.
fn textbook(truth: &[Vec<[f64; 4]>], detections: &[Vec<Found>], threshold: f64) -> f64 {
    let mut ranking = Vec::new();
    for (truth, detections) in truth.iter().zip(detections) {
        let mut order: Vec<_> = detections.iter().collect();
        order.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
        let mut free: Vec<_> = truth.iter().map(|place| Some(*place)).collect();
        for (place, score) in order {
            let fit =
                |slot: &Option<[f64; 4]>| slot.map_or(-1.0, |truth| box_iou(corner(truth), corner(*place)));
            let best = free.iter().map(fit).fold(-1.0, f64::max);
            // Of equal overlaps the later one.
            let chosen = free.iter().rposition(|slot| fit(slot) == best).filter(|_| best >= threshold);
            if let Some(chosen) = chosen {
                free[chosen] = None;
            }
            ranking.push((*score, chosen.is_some()));
        }
    }
    ranking.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let positives: usize = truth.iter().map(Vec::len).sum();
    let hits = |rank: usize| ranking[..rank].iter().filter(|(_, hit)| *hit).count() as f64;
    let precision = |least: f64| {
        let ranks = (1..=ranking.len()).filter(|rank| hits(*rank) / positives as f64 >= least);
        ranks.map(|rank| hits(rank) / (rank as f64 + f64::EPSILON)).fold(0.0, f64::max)
    };
    (0..=100u8).map(|point| precision(if point == 100 { 1.0 } else { f64::from(point) * 0.01 })).sum::<f64>()
        / 101.0
}

/// Left, top, width and height of a box given by corners.
fn sides([x1, y1, x2, y2]: [f64; 4]) -> [f64; 4] {
    [x1, y1, x2 - x1, y2 - y1]
}

fn corner([x, y, width, height]: [f64; 4]) -> [f64; 4] {
    [x, y, x + width, y + height]
}

proptest! {
    #[test]
    fn overlap_of_boxes(left in corners(), right in corners()) {
        prop_assert!((box_iou(left, right) - slow_iou(left, right)).abs() < 1e-12);
        prop_assert_eq!(box_iou(left, right), box_iou(right, left));
    }

    #[test]
    fn matches(truth in vec(corners(), 0..6), guesses in vec(corners(), 0..6), threshold in 0.0f64..0.9) {
        let (hits, free) = match_boxes(&truth, &guesses, threshold);
        let mut left: Vec<usize> = (0..truth.len()).collect();
        for (guess, hit) in guesses.iter().zip(&hits) {
            let best = left.iter().map(|at| box_iou(truth[*at], *guess)).fold(0.0, f64::max);
            prop_assert_eq!(*hit, best > threshold);
            if *hit {
                let first = left.iter().position(|at| box_iou(truth[*at], *guess) == best).unwrap();
                left.remove(first);
            }
        }
        prop_assert_eq!(left.len(), free);
    }

    #[test]
    fn points(
        boxes in vec((0u32..3, corners()), 0..8),
        points in vec((0u32..3, 0u8..14, 0u8..14), 0..12),
    ) {
        let boxes: Vec<LabelledBox> =
            boxes.iter().map(|(label, corners)| LabelledBox { label: *label, place: sides(*corners) }).collect();
        let point = |(label, x, y): &(u32, u8, u8)| LabelledPoint { label: *label, x: (*x).into(), y: (*y).into() };
        let mut points: Vec<LabelledPoint> = points.iter().map(point).collect();
        let counts = points_in_boxes(&boxes, &points);
        let (mut hits, mut misses) = (0, 0);
        for LabelledBox { label, place: [x, y, w, h] } in boxes {
            let inside = |point: &LabelledPoint| {
                point.label == label && point.x > x && point.x < x + w && point.y > y && point.y < y + h
            };
            match points.iter().position(inside) {
                Some(at) => {
                    points.remove(at);
                    hits += 1;
                }
                None => misses += 1,
            }
        }
        prop_assert_eq!(counts, Counts { hits, false_alarms: points.len() as u64, misses });
        let once = f1_from_counts(hits, hits + misses, hits + points.len() as u64);
        prop_assert!((harmonic_f1(counts) - once).abs() < 1e-12);
    }

    #[test]
    fn envelope(hits in vec(any::<bool>(), 0..30), more in 0usize..5) {
        let positives = hits.iter().filter(|hit| **hit).count() + more;
        prop_assume!(positives > 0);
        prop_assert!((envelope_average_precision(&hits, positives) - slow_envelope(&hits, positives)).abs() < 1e-12);
    }

    #[test]
    fn overlap_in_space(left in place(), right in place()) {
        let (one, two) = (cuboid(left), cuboid(right));
        prop_assert!((one.iou(&two) - sampled_iou(left, right)).abs() < 0.06);
        prop_assert!((one.iou(&two) - two.iou(&one)).abs() < 1e-9);
        prop_assert!((one.iou(&one) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn overlap_in_space_does_not_depend_on_the_view(left in place(), right in place(), turn in -7.0f64..7.0) {
        // Both boxes turned about the origin, moved far away, or turned by half a circle.
        let seen = |(center, size, own): ([f64; 3], [f64; 3], f64)| {
            let [x, y, z] = center;
            let (sine, cosine) = turn.sin_cos();
            cuboid(([2000.0 + x * cosine - y * sine, 1500.0 + x * sine + y * cosine, z], size, own + turn))
        };
        let here = cuboid(left).iou(&cuboid(right));
        prop_assert!((here - seen(left).iou(&seen(right))).abs() < 1e-9);
        prop_assert!((here - cuboid((left.0, left.1, left.2 + PI)).iou(&cuboid(right))).abs() < 1e-9);
        // Width and length change places in a quarter turn.
        let [width, length, height] = left.1;
        let quarter = cuboid((left.0, [length, width, height], left.2 + FRAC_PI_2));
        prop_assert!((here - quarter.iou(&cuboid(right))).abs() < 1e-9);
    }

    #[test]
    fn upright_boxes_in_line(left in corners(), right in corners()) {
        let stand = |[x1, y1, x2, y2]: [f64; 4]| {
            cuboid(([f64::midpoint(x1, x2), f64::midpoint(y1, y2), 0.0], [y2 - y1, x2 - x1, 1.0], 0.0))
        };
        prop_assert!((stand(left).iou(&stand(right)) - box_iou(left, right)).abs() < 1e-12);
    }

    #[test]
    fn detections(images in vec((vec(corners(), 0..4), vec((corners(), 0u8..4), 0..5)), 1..4), threshold in 0.1f64..0.9) {
        let (truth, found): (Vec<Vec<Corners>>, Vec<Vec<Found>>) = images
            .iter()
            .map(|(truth, found)| {
                let truth: Vec<Corners> = truth.iter().copied().map(sides).collect();
                let found: Vec<Found> = found.iter().map(|(place, score)| (sides(*place), *score)).collect();
                (truth, found)
            })
            .unzip();
        let (mut all, mut detections) = (Vec::new(), Vec::new());
        for (image, (truth, found)) in truth.iter().zip(&found).enumerate() {
            for place in truth {
                all.push(CocoTruth { image, class: 1, id: all.len() as u64 + 1, place: *place, area: 1.0 });
            }
            for (place, score) in found {
                let (id, score) = (detections.len() as u64 + 1, f64::from(*score));
                detections.push(CocoDetection { image, class: 1, id, score, place: *place, area: 1.0 });
            }
        }
        let options = CocoOptions { threshold, areas: (0.0, 1e10), most: 100 };
        let score = coco_mean_average_precision(&all, &detections, options);
        if all.is_empty() {
            prop_assert_eq!(score, -1.0);
        } else {
            prop_assert!((score - textbook(&truth, &found, threshold)).abs() < 1e-12);
        }
    }

    #[test]
    fn nothing_panics(numbers in vec(any::<f64>(), 15..=15)) {
        let n = &numbers;
        let boxes = [[n[0], n[1], n[2], n[3]], [n[4], n[5], n[6], n[7]]];
        let _ = match_boxes(&boxes, &boxes, n[8]);
        let truth = CocoTruth { image: 0, class: 1, id: 0, place: boxes[0], area: n[9] };
        let one = CocoDetection { image: 0, class: 1, id: 0, score: n[10], place: boxes[1], area: n[11] };
        let options = CocoOptions { threshold: n[12], areas: (n[13], n[14]), most: 1 };
        let _ = coco_mean_average_precision(&[truth], &[one, one], options);
        let cuboids = (
            Cuboid::new([n[0], n[1], n[2]], [n[3], n[4], n[5]], n[6]),
            Cuboid::new([n[7], n[8], n[9]], [n[10], n[11], n[12]], n[13]),
        );
        if let (Ok(left), Ok(right)) = cuboids {
            let _ = left.iou(&right);
        }
    }
}

#[test]
fn unfit_cuboids() {
    let table = [
        ([0.0, f64::NAN, 0.0], [1.0; 3], 0.0, CuboidError::NotANumber),
        ([0.0; 3], [1.0; 3], f64::NAN, CuboidError::NotANumber),
        ([0.0; 3], [1.0, 0.0, 1.0], 0.0, CuboidError::NotPositive),
        ([f64::INFINITY, 0.0, 0.0], [1.0; 3], 0.0, CuboidError::NotOrthogonal),
        ([2074.08, 856.64, 0.0], [1e7, 2e7, 2.0], 0.7, CuboidError::NotOrthogonal),
        ([1e12, 1e12, 0.0], [2.0, 5.0, 2.0], 0.7, CuboidError::NotOrthogonal),
    ];
    for (center, size, turn, error) in table {
        assert_eq!(Cuboid::new(center, size, turn), Err(error), "{center:?} {size:?} {turn}");
    }
}
