//! What declared and native preparations do with whole tables: part them by rows or by groups, spread labels over columns.

use crate::csv::Column;
use crate::parallel::both;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::split::{Size, train_test_split};

/// Parts rows; both parts in the order of the permutation.
pub(crate) fn rows_parted(frame: &Frame, size: Size, seed: u32) -> (Frame, Frame) {
    let parts = train_test_split(frame.rows(), size, seed);
    (frame.take_all(parts.train), frame.take_all(parts.test))
}

/// Parts the distinct cells of a column, in the order in which they first come, and the rows with them; rows keep the
/// order of the file.
pub(crate) fn groups_parted(
    frame: &Frame,
    column: &str,
    size: Size,
    seed: u32,
) -> Result<(Frame, Frame), PrepareError> {
    let (numbers, groups) = frame.group_numbers(column)?;
    let parts = train_test_split(groups, size, seed);
    let rows = |places: &[u32]| {
        let mut wanted = vec![false; groups as usize];
        for place in places {
            if let Some(wanted) = wanted.get_mut(*place as usize) {
                *wanted = true;
            }
        }
        let is_wanted = |row: &u32| {
            let number = numbers.get(*row as usize);
            number.and_then(|number| wanted.get(*number as usize)).copied().unwrap_or_default()
        };
        frame.places(is_wanted)
    };
    Ok(both(|| frame.take_all(rows(&parts.train)), || frame.take_all(rows(&parts.test))))
}

/// A column of labels as one column of 0 and 1 a class, in the order of the classes.
pub(crate) fn one_hot(frame: &Frame, column: &str, classes: &[String]) -> Result<Frame, PrepareError> {
    let labels = frame.column(column)?.texts();
    let mut hot = frame.without(&[column])?;
    for class in classes {
        let cells = labels.iter().map(|label| i64::from(label == class));
        hot = hot.with(class, Column::Integer(cells.collect()));
    }
    Ok(hot)
}

/// The items at these places.
pub(crate) fn at<T: Clone>(items: &[T], places: &[u32]) -> Vec<T> {
    places.iter().filter_map(|place| items.get(*place as usize)).cloned().collect()
}

/// A number of things as a number of rows.
pub(crate) fn rows<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}
