//! How the official preparation parts rows: scikit-learn's `train_test_split` without strata, as places.
//!
//! Sizes are taken in doubles, as there: 0.14 of 4750 is a little more than 665 and becomes 666.

use crate::prepare::random::RandomState;

/// How many rows go where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// This fraction of the rows is test, rounded up; the rest is train.
    Test(f64),
    /// So many rows are test; the rest is train.
    TestRows(u32),
    /// This fraction of the rows is train, rounded down; the rest is test.
    Train(f64),
    /// So many rows of each; what is left over is dropped.
    Both {
        /// Rows to train on.
        train: u32,
        /// Rows to predict.
        test: u32,
    },
}

impl Size {
    /// Rows of train and of test among `rows`.
    pub fn rows(self, rows: u32) -> (u32, u32) {
        let whole = f64::from(rows);
        match self {
            Self::Test(share) => {
                let test = count((share * whole).ceil()).min(rows);
                (rows - test, test)
            }
            Self::TestRows(test) => (rows.saturating_sub(test), test.min(rows)),
            Self::Train(share) => {
                let train = count((share * whole).floor()).min(rows);
                (train, rows - train)
            }
            Self::Both { train, test } => {
                let test = test.min(rows);
                (train.min(rows - test), test)
            }
        }
    }
}

/// A number of rows from a double that holds a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, which is meant"
)]
fn count(rows: f64) -> u32 {
    rows as u32
}

/// Places of the two parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// To train on.
    pub train: Vec<u32>,
    /// To predict.
    pub test: Vec<u32>,
}

/// Parts `rows` rows as `train_test_split(random_state=seed)` does; both parts in the order of the permutation.
pub fn train_test_split(rows: u32, size: Size, seed: u32) -> Parts {
    let mut order = RandomState::new(seed).permutation(rows);
    let (train, test) = size.rows(rows);
    // A large table has a large order: it is not held twice.
    let test = order.drain(..order.len().min(test as usize)).collect();
    order.truncate(train as usize);
    order.shrink_to_fit();
    Parts { train: order, test }
}

/// `DataFrame.sample(n=count, random_state=seed)`: places of the rows in the order in which they come.
pub fn sample(rows: u32, count: u32, seed: u32) -> Vec<u32> {
    let mut order = RandomState::new(seed).permutation(rows);
    order.truncate(count as usize);
    order
}
