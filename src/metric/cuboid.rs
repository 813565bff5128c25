//! Upright boxes in space that are turned about the vertical axis, and how much two of them overlap.
//!
//! A [`Cuboid`] holds the corners of its ground rectangle as computed once, so that a box met by many others costs
//! little. The common ground of two boxes is that of two convex polygons, clipped one by the other; boxes that cannot
//! touch are told apart without clipping.

use std::f64::consts::SQRT_2;

/// Why numbers make no box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CuboidError {
    /// A number of the center, the size or the turn is NaN.
    #[error("a number of the box is NaN")]
    NotANumber,
    /// A side is zero or negative.
    #[error("a side of the box is not positive")]
    NotPositive,
    /// The corners, as rounded, make no right angles: the box is infinite, very large or very far away.
    #[error("the box is too large or too far away for its corners to be right-angled")]
    NotOrthogonal,
}

/// The largest dot product of two edges that meet in a right angle (square metres).
const RIGHT_ANGLE: f64 = 1e-8;

type Corner = [f64; 2];

/// An upright box.
#[derive(Clone, Debug, PartialEq)]
pub struct Cuboid {
    /// Of the ground rectangle, around it.
    corners: [Corner; 4],
    center: Corner,
    /// From the center to the corners.
    radius: f64,
    bottom: f64,
    top: f64,
    volume: f64,
}

impl Cuboid {
    /// A box by its center, its width, length and height, and its turn about the vertical axis in radians. The length
    /// lies along the direction of the turn, the width across it.
    pub fn new(center: [f64; 3], size: [f64; 3], turn: f64) -> Result<Self, CuboidError> {
        if center.iter().chain(&size).chain([&turn]).any(|number| number.is_nan()) {
            return Err(CuboidError::NotANumber);
        }
        if size.iter().any(|side| *side <= 0.0) {
            return Err(CuboidError::NotPositive);
        }
        let [x, y, z] = center;
        let [width, length, height] = size;
        // By the unit quaternion of the turn, which is how the corners come by their last bits.
        let (sine, cosine) = (turn / 2.0).sin_cos();
        let (cosine, sine) = (cosine * cosine - sine * sine, 2.0 * cosine * sine);
        let along = [length / 2.0 * cosine, length / 2.0 * sine];
        let across = [width / 2.0 * sine, width / 2.0 * cosine];
        let corners = [
            [x + along[0] + across[0], y + along[1] - across[1]],
            [x + along[0] - across[0], y + along[1] + across[1]],
            [x - along[0] - across[0], y - along[1] + across[1]],
            [x - along[0] + across[0], y - along[1] - across[1]],
        ];
        let [first, second, third, fourth] = corners;
        let right_angled = [
            (first, second, fourth),
            (second, first, third),
            (third, second, fourth),
            (fourth, first, third),
        ]
        .into_iter()
        .all(|(at, one, two)| {
            let dot = (one[0] - at[0]) * (two[0] - at[0]) + (one[1] - at[1]) * (two[1] - at[1]);
            dot.abs() <= RIGHT_ANGLE
        });
        if !right_angled {
            return Err(CuboidError::NotOrthogonal);
        }
        Ok(Self {
            corners,
            center: [x, y],
            // A half diagonal is at most √2 times the longer half side; a little more, for rounding.
            radius: width.max(length) / 2.0 * SQRT_2 * (1.0 + 1e-9),
            bottom: z - height / 2.0,
            top: z + height / 2.0,
            volume: width * length * height,
        })
    }

    /// Intersection over union of two boxes: the common volume by the common ground and the common height.
    ///
    /// Clipped to the range 0 to 1, higher is better. Symmetric but for rounding. Source: the evaluation of the
    /// nuScenes and Lyft detection tasks.
    pub fn iou(&self, other: &Self) -> f64 {
        let height = (self.top.min(other.top) - self.bottom.max(other.bottom)).max(0.0);
        let common = if height > 0.0 { height * self.common_ground(other) } else { 0.0 };
        (common / (self.volume + other.volume - common)).clamp(0.0, 1.0)
    }

    fn common_ground(&self, other: &Self) -> f64 {
        let reach = self.radius + other.radius;
        let apart = [self.center[0] - other.center[0], self.center[1] - other.center[1]];
        if apart.iter().any(|distance| distance.abs() > reach) {
            return 0.0;
        }
        // Near the origin coordinates lose nothing when they are multiplied.
        let origin = self.center;
        let moved = |corner: Corner| [corner[0] - origin[0], corner[1] - origin[1]];
        let mut polygon: Vec<Corner> = self.corners.iter().map(|corner| moved(*corner)).collect();
        let mut clipped = Vec::with_capacity(8);
        let [first, second, third, fourth] = other.corners.map(moved);
        for edge in [(first, second), (second, third), (third, fourth), (fourth, first)] {
            clip(&polygon, edge, &mut clipped);
            std::mem::swap(&mut polygon, &mut clipped);
        }
        area(&polygon)
    }
}

/// Keeps the part of a polygon to the left of an edge (Sutherland and Hodgman 1974).
fn clip(polygon: &[Corner], (from, to): (Corner, Corner), kept: &mut Vec<Corner>) {
    kept.clear();
    let side =
        |point: Corner| (to[0] - from[0]) * (point[1] - from[1]) - (to[1] - from[1]) * (point[0] - from[0]);
    let Some(mut before) = polygon.last().copied() else { return };
    for point in polygon.iter().copied() {
        let (here, there) = (side(point), side(before));
        if (here >= 0.0) != (there >= 0.0) {
            let share = there / (there - here);
            kept.push([
                before[0] + share * (point[0] - before[0]),
                before[1] + share * (point[1] - before[1]),
            ]);
        }
        if here >= 0.0 {
            kept.push(point);
        }
        before = point;
    }
}

/// Area of a polygon by the shoelace formula.
fn area(polygon: &[Corner]) -> f64 {
    let Some(mut before) = polygon.last().copied() else { return 0.0 };
    let mut twice = 0.0;
    for point in polygon {
        twice += before[0] * point[1] - before[1] * point[0];
        before = *point;
    }
    (twice / 2.0).abs()
}
