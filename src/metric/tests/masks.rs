//! Masks, run-length text and volumes against arrays of pixels.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "helpers of tests may be as blunt as tests"
)]

use podium_metric::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// A mask from an array of pixels, every run cut where `cuts` says so too.
fn mask(pixels: &[bool], cuts: &[bool]) -> Mask {
    let mut mask = Mask::default();
    let mut start = None;
    for (position, cut) in cuts.iter().take(pixels.len() + 1).enumerate() {
        let set = pixels.get(position).copied().unwrap_or(false);
        if let Some(from) = start
            && (!set || *cut)
        {
            assert!(mask.push(Run { start: from as u64, end: position as u64 }));
            start = None;
        }
        if set && start.is_none() {
            start = Some(position);
        }
    }
    mask
}

fn pixels(mask: &Mask, count: usize) -> Vec<bool> {
    let mut pixels = vec![false; count];
    for run in mask.runs() {
        pixels[run.start as usize..run.end as usize].fill(true);
    }
    pixels
}

fn count(test: impl Fn(bool, bool) -> bool, left: &[bool], right: &[bool]) -> f64 {
    left.iter().zip(right).filter(|(left, right)| test(**left, **right)).count() as f64
}

/// The decoder as the official one does it, on an array: `None` where it raises.
fn slow_decode(numbers: &[i64], pixels: usize) -> Option<Vec<bool>> {
    let starts: Vec<i64> = numbers.iter().copied().step_by(2).collect();
    let mut lengths: Vec<i64> = numbers.iter().copied().skip(1).step_by(2).collect();
    let mut sorted = starts.clone();
    sorted.sort_unstable();
    if sorted != starts || numbers.iter().any(|number| *number <= 0) {
        return None;
    }
    let mut image = vec![false; pixels];
    match (starts.len(), lengths.len()) {
        (1, 0) => return Some(image),
        (2, 1) => lengths.push(lengths[0]),
        (starts, lengths) if starts != lengths => return None,
        _ => {}
    }
    for (start, length) in starts.into_iter().zip(lengths) {
        let first = (start as usize - 1).min(pixels);
        let end = (start as usize - 1 + length as usize).min(pixels);
        if image[first..end].contains(&true) {
            return None;
        }
        image[first..end].fill(true);
    }
    Some(image)
}

proptest! {
    #[test]
    fn areas(rows in vec(any::<[bool; 4]>(), 0..80)) {
        let mut columns = [vec![], vec![], vec![], vec![]];
        for row in &rows {
            columns.iter_mut().zip(row).for_each(|(column, set)| column.push(*set));
        }
        let [one, two, mut cuts, mut more] = columns;
        cuts.push(false);
        more.push(true);
        let (left, right) = (mask(&one, &cuts), mask(&two, &more));
        let common = count(|a, b| a && b, &one, &two);
        let either = count(|a, b| a || b, &one, &two);
        prop_assert_eq!(left.common_area(&right) as f64, common);
        let union: Vec<bool> = one.iter().zip(&two).map(|(a, b)| *a || *b).collect();
        prop_assert_eq!(pixels(&left.union(&right), rows.len()), union);
        prop_assert_eq!(left.same_pixels(&right), one == two);
        prop_assert!(left.same_pixels(&mask(&one, &more)));
        let missed = count(|a, b| a && !b, &one, &two);
        let extra = count(|a, b| !a && b, &one, &two);
        if either > 0.0 {
            prop_assert_eq!(mask_iou(&left, &right), common / either);
            prop_assert!((dice(&left, &right) - common / (common + f64::midpoint(missed, extra))).abs() < 1e-12);
        } else {
            prop_assert!(dice(&left, &right).is_nan());
        }
        let (precision, recall) = (common / (common + extra), common / (common + missed));
        let slow = if common > 0.0 { 1.25 * precision * recall / (0.25 * precision + recall) } else { 0.0 };
        prop_assert!((mask_f_beta(&left, &right, 0.5) - slow).abs() < 1e-12);
    }

    #[test]
    fn run_length_text(
        numbers in vec(-1i64..30, 0..9),
        steps in vec((1i64..9, 1i64..9), 0..8),
        size in 0usize..40,
        ascending in any::<bool>(),
    ) {
        // Half of the lists ascend, or hardly any would decode.
        let mut from = 0;
        let climbing = steps.iter().flat_map(|(gap, length)| {
            from += gap + length;
            [from - length, *length]
        });
        let numbers: Vec<i64> = if ascending { climbing.collect() } else { numbers };
        let text = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let found = decode_rle(&text, size as u64).ok().map(|mask| pixels(&mask, size));
        prop_assert_eq!(found, slow_decode(&numbers, size), "{}", text);
        let quirks = decode_rle_noting(&text, size as u64).map(|(_, quirks)| quirks);
        let end = if let [.., start, length] = numbers[..] { start - 1 + length } else { 0 };
        if let (Ok(quirks), 0) = (quirks, numbers.len() % 2) {
            prop_assert_eq!(quirks, RleQuirks { odd: false, cut: end > size as i64 });
        }
        // The way of unusual spellings says the same.
        let spelled = numbers.iter().map(|number| format!("{number:+}")).collect::<Vec<_>>().join("\t");
        prop_assert_eq!(decode_rle(&spelled, size as u64), decode_rle(&text, size as u64));
    }

    #[test]
    fn nothing_panics(text in "[0-9 +_-]{0,60}|.*", size in any::<u64>()) {
        let _ = decode_rle(&text, size);
    }

    #[test]
    fn distance_of_volumes(
        voxels in vec((any::<bool>(), prop::bool::weighted(0.1)), 60..=60),
        shape in prop::sample::select(vec![(3usize, 4usize, 5usize), (1, 5, 12), (5, 12, 1), (12, 1, 5), (4, 5, 3)]),
        dense in any::<bool>(),
        steps in (0.1f64..3.0, 0.1f64..3.0, 0.1f64..3.0),
    ) {
        let (slices, height, width) = shape;
        let (one, two): (Vec<bool>, Vec<bool>) = voxels.iter().map(|(a, b)| (*a && dense || *b, *b != dense)).unzip();
        let cuts = vec![false; height * width + 1];
        let stack = |voxels: &[bool]| {
            let masks: Vec<Mask> = voxels.chunks(height * width).map(|slice| mask(slice, &cuts)).collect();
            Volume::stack(&masks, height as u64, width)
        };
        let steps = [steps.0, steps.1, steps.2];
        let points = |voxels: &[bool]| -> Vec<[f64; 3]> {
            (0..slices * height * width)
                .filter(|at| voxels[*at])
                .map(|at| {
                    let (slice, pixel) = (at / (height * width), at % (height * width));
                    [slice as f64 * steps[0], (pixel % height) as f64 * steps[1], (pixel / height) as f64 * steps[2]]
                })
                .collect()
        };
        let (left, right) = (points(&one), points(&two));
        let apart = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt();
        let one_way = |from: &[[f64; 3]], to: &[[f64; 3]]| {
            from.iter().map(|a| to.iter().map(|b| apart(a, b)).fold(f64::INFINITY, f64::min)).fold(0.0, f64::max)
        };
        let (first, second) = (stack(&one), stack(&two));
        prop_assert_eq!((first.voxels(), second.voxels()), (left.len() as u64, right.len() as u64));
        match hausdorff(&first, &second, steps) {
            None => prop_assert!(left.is_empty() || right.is_empty()),
            Some(found) => {
                let slow: f64 = f64::max(one_way(&left, &right), one_way(&right, &left));
                prop_assert!((found - slow).abs() <= 1e-12 * slow.max(1.0), "{} {}", found, slow);
                prop_assert_eq!(hausdorff(&second, &first, steps), Some(found));
            }
        }
    }
}

/// What NumPy makes of numbers that its integers cannot hold.
#[test]
fn huge_numbers() {
    let decoded = |text: &str| decode_rle(text, 10).map(|mask| mask.area());
    // 2^63 − 1, 2^63, 2^64 − 1, 2^64
    let (signed, unsigned, last, object) =
        ("9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616");
    let table: &[(String, Result<u64, RleError>)] = &[
        (format!("3 {signed}"), Ok(0)),
        (format!("1 {signed}"), Ok(10)),
        (format!("{signed} 5"), Ok(0)),
        (format!("3 {unsigned}"), Err(RleError::Unusable)),
        (format!("3 2 8 {last}"), Err(RleError::Unusable)),
        (format!("{unsigned} 3"), Err(RleError::Unusable)),
        (format!("{unsigned} {last}"), Ok(0)),
        (format!("3 2 {unsigned} 3"), Err(RleError::Unusable)),
        (format!("3 {object}"), Ok(8)),
        (format!("3 2 8 {object}"), Ok(5)),
        (format!("3 2 {object} 1"), Ok(2)),
        (format!("3 {unsigned} {object} 1"), Err(RleError::Unusable)),
        (format!("3 {unsigned} {object} {last}"), Ok(8)),
        (unsigned.to_owned(), Ok(0)),
        (object.to_owned(), Ok(0)),
        (format!("{object} 1 {unsigned} 1"), Err(RleError::Unsorted { run: 2 })),
        (format!("1{} 1 2{} 1", "0".repeat(50), "0".repeat(49)), Err(RleError::Unsorted { run: 2 })),
        (format!("3 -{object}"), Err(RleError::NotPositive { run: 1 })),
    ];
    for (text, expected) in table {
        assert_eq!(&decoded(text), expected, "{text}");
    }
    assert_eq!(decoded("2 3 5"), Ok(6));
    let odd = RleQuirks { odd: true, cut: false };
    for text in ["2 3 5", "4"] {
        assert_eq!(decode_rle_noting(text, 10).map(|(_, quirks)| quirks), Ok(odd), "{text}");
    }
}
