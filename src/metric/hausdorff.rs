//! The Hausdorff distance of two sets of voxels, exact and without a volume in memory.
//!
//! A [`Volume`] is a stack of masks kept as runs along the lines of each slice. Only voxels that the other set lacks
//! can be far from it. A distance to one voxel is convex along a run, so a whole run is settled when its two ends lie
//! near the same voxel; otherwise it is halved. The nearest voxel is sought in rings around a point, and the search
//! ends as soon as the point cannot raise the maximum found so far. The result is that of comparing all pairs.

use crate::mask::{Mask, Run};

/// Slices of one size. Pixels are numbered down the columns, so a line is a column of a slice.
#[derive(Clone, Debug, Default)]
pub struct Volume {
    height: u64,
    width: usize,
    slices: usize,
    voxels: u64,
    /// Rows of each line, lines slice by slice.
    runs: Vec<Run>,
    /// Where the runs of each line of a span end.
    ends: Vec<usize>,
    /// The first line with a run and the one after the last, slice by slice.
    spans: Vec<(usize, usize)>,
    /// How many lines there are in the spans of the slices before each.
    before: Vec<usize>,
}

/// A voxel: slice, column, row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    slice: usize,
    line: usize,
    row: u64,
}

impl Volume {
    /// Stacks masks of slices of this height and width (pixels). What lies beyond a slice is cut off.
    pub fn stack(masks: &[Mask], height: u64, width: usize) -> Self {
        let mut volume = Self::empty(height, width);
        for mask in masks {
            volume.push(mask);
        }
        volume
    }

    /// No slice yet; all will have this height and width (pixels).
    pub fn empty(height: u64, width: usize) -> Self {
        Self { height, width, ..Self::default() }
    }

    /// Puts one more slice on top.
    pub fn push(&mut self, mask: &Mask) {
        let mut left = mask.runs().iter().copied();
        let mut pending = left.next();
        let (mut first, mut after) = (self.width, 0);
        let before = self.ends.len();
        for line in 0..self.width {
            let begin = line as u64 * self.height;
            let end = begin + self.height;
            while let Some(run) = pending.filter(|run| run.start < end) {
                let part = Run { start: run.start - begin, end: run.end.min(end) - begin };
                self.voxels += part.area();
                self.runs.push(part);
                (first, after) = (first.min(line), line + 1);
                pending = if run.end > end { Some(Run { start: end, end: run.end }) } else { left.next() };
                if run.end > end {
                    break;
                }
            }
            if line >= first {
                self.ends.push(self.runs.len());
            }
        }
        self.ends.truncate(before + after.saturating_sub(first));
        self.before.push(before);
        self.spans.push((first, after));
        self.slices += 1;
    }

    /// Number of voxels.
    pub const fn voxels(&self) -> u64 {
        self.voxels
    }

    /// Slices, rows and columns.
    pub const fn shape(&self) -> (usize, u64, usize) {
        (self.slices, self.height, self.width)
    }

    /// Runs of rows in a line; none outside the volume.
    fn line(&self, slice: usize, line: usize) -> &[Run] {
        let Some(((first, after), before)) = self.spans.get(slice).zip(self.before.get(slice)) else {
            return &[];
        };
        if line < *first || line >= *after {
            return &[];
        }
        let position = before + line - first;
        let start = position.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(position).copied().unwrap_or(start);
        self.runs.get(start..end).unwrap_or_default()
    }

    /// The row of a line that is nearest to `row`.
    fn nearest_row(&self, slice: usize, line: usize, row: u64) -> Option<u64> {
        let runs = self.line(slice, line);
        let at = runs.partition_point(|run| run.end <= row);
        let after = runs.get(at).map(|run| run.start.max(row));
        let before = at.checked_sub(1).and_then(|before| runs.get(before)).map(|run| run.end - 1);
        match (before, after) {
            (Some(before), Some(after)) if row - before < after - row => Some(before),
            (before, after) => after.or(before),
        }
    }

    /// The runs of a line that `other` lacks there.
    fn missing_in(&self, other: &Self, slice: usize, line: usize, missing: &mut Vec<Run>) {
        missing.clear();
        let mut cuts = other.line(slice, line).iter().peekable();
        for run in self.line(slice, line) {
            let mut start = run.start;
            while let Some(cut) = cuts.peek().filter(|cut| cut.start < run.end) {
                if cut.start > start {
                    missing.push(Run { start, end: cut.start });
                }
                start = start.max(cut.end);
                if cut.end > run.end {
                    break;
                }
                cuts.next();
            }
            if start < run.end {
                missing.push(Run { start, end: run.end });
            }
        }
    }
}

/// Symmetric Hausdorff distance of two sets of voxels: the largest distance from a voxel of one set to the nearest
/// voxel of the other, with `steps` the distances between neighbouring slices, rows and columns.
///
/// `None` when either set is empty. Range 0 to ∞, lower is better. Symmetric. Source: Hausdorff 1914; agrees with
/// `scipy`'s `directed_hausdorff`, taken both ways.
pub fn hausdorff(left: &Volume, right: &Volume, steps: [f64; 3]) -> Option<f64> {
    if left.voxels == 0 || right.voxels == 0 {
        return None;
    }
    let mut search = Search { to: right, steps, farthest: 0.0, last: None };
    search.all(left);
    let farthest = search.farthest;
    let mut search = Search { to: left, steps, farthest, last: None };
    search.all(right);
    Some(search.farthest.sqrt())
}

/// One direction: the largest squared distance to `to` so far.
struct Search<'a> {
    to: &'a Volume,
    steps: [f64; 3],
    farthest: f64,
    /// The voxel that was nearest to the point before; likely near enough to the next.
    last: Option<Point>,
}

/// Lines are visited in so many passes, coarse first, so that the maximum is nearly known when most of them come.
const PASSES: usize = 61;

impl Search<'_> {
    fn all(&mut self, from: &Volume) {
        let lines = from.slices * from.width;
        let mut missing = Vec::new();
        for pass in 0..PASSES {
            for position in (pass..lines).step_by(PASSES) {
                let (slice, line) = (position / from.width, position % from.width);
                from.missing_in(self.to, slice, line, &mut missing);
                for run in &missing {
                    self.run(slice, line, *run);
                }
            }
        }
    }

    /// Raises the maximum to the largest distance from a voxel of this run.
    fn run(&mut self, slice: usize, line: usize, run: Run) {
        let (first, last) = (Point { slice, line, row: run.start }, Point { slice, line, row: run.end - 1 });
        if self.last.is_some_and(|near| self.settles(first, last, near)) {
            return;
        }
        let near_first = self.point(first);
        if self.settles(first, last, near_first) {
            return;
        }
        let near_last = self.point(last);
        if self.settles(first, last, near_last) || run.area() <= 2 {
            return;
        }
        // The ends are done; the rest is halved.
        let (start, end) = (run.start + 1, run.end - 1);
        let middle = start + (end - start) / 2;
        for half in [Run { start, end: middle }, Run { start: middle, end }] {
            if half.start < half.end {
                self.run(slice, line, half);
            }
        }
    }

    /// Whether one voxel is near enough to both ends of a run, and so to all of it.
    fn settles(&self, first: Point, last: Point, near: Point) -> bool {
        self.squared(first, near) <= self.farthest && self.squared(last, near) <= self.farthest
    }

    /// Raises the maximum to the distance of a point; returns its nearest voxel, or one that is near enough.
    fn point(&mut self, point: Point) -> Point {
        let (squared, near) = self.nearest(point);
        self.farthest = self.farthest.max(squared);
        self.last = Some(near);
        near
    }

    fn nearest(&self, point: Point) -> (f64, Point) {
        let mut best = (f64::INFINITY, point);
        for offset in 0..self.to.slices.max(point.slice + 1) {
            let depth = offset as f64 * self.steps[0];
            if depth * depth >= best.0 {
                break;
            }
            let sides = [point.slice.checked_sub(offset), (offset > 0).then_some(point.slice + offset)];
            for slice in sides.into_iter().flatten() {
                self.nearest_in_slice(point, slice, &mut best);
                if best.0 <= self.farthest {
                    return best;
                }
            }
        }
        best
    }

    /// Looks for a nearer voxel in one slice, in lines farther and farther away.
    fn nearest_in_slice(&self, point: Point, slice: usize, best: &mut (f64, Point)) {
        let Some((first, after)) = self.to.spans.get(slice).copied().filter(|(first, after)| first < after)
        else {
            return;
        };
        let nearest_line = point.line.clamp(first, after - 1);
        let widest = point.line.abs_diff(first).max(point.line.abs_diff(after - 1));
        for offset in point.line.abs_diff(nearest_line)..=widest {
            let probe = Point { slice, line: point.line + offset, row: point.row };
            if self.squared(point, probe) >= best.0 {
                return;
            }
            let sides = [point.line.checked_sub(offset), (offset > 0).then_some(point.line + offset)];
            for line in sides.into_iter().flatten().filter(|line| (first..after).contains(line)) {
                let Some(row) = self.to.nearest_row(slice, line, point.row) else { continue };
                let near = Point { slice, line, row };
                let squared = self.squared(point, near);
                if squared < best.0 {
                    *best = (squared, near);
                }
                if best.0 <= self.farthest {
                    return;
                }
            }
        }
    }

    fn squared(&self, left: Point, right: Point) -> f64 {
        let [slices, rows, columns] = self.steps;
        let depth = left.slice.abs_diff(right.slice) as f64 * slices;
        let down = left.row.abs_diff(right.row) as f64 * rows;
        let across = left.line.abs_diff(right.line) as f64 * columns;
        depth * depth + down * down + across * across
    }
}
