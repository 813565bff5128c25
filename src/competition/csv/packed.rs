//! Short plain numbers as the file spells them, in eight bytes each: a column of such cells waits for its type in the
//! memory that its numbers will take, and can still be spelled as it came should a later cell make it text.
//!
//! What is packed is either all whole numbers and empty cells or decimals among them; both are read as `number` reads
//! the spelling.

use crate::csv::column::Column;
use crate::csv::number::{Decimals, FewDigits, ratio};

/// A cell: `-`, digits, perhaps with a point among them or at an end, or nothing at all.
///
/// From the lowest bit: the digits as a whole number (50 bits), how many they are (4), how many of them stand behind the
/// point (4), whether there is a point, whether there is a minus sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed(u64);

const COUNT: u32 = 50;
const BEHIND: u32 = 54;
const POINT: u64 = 1 << 58;
const MINUS: u64 = 1 << 59;

impl Packed {
    /// The cell, where it is one of these.
    #[inline]
    pub(crate) fn of(cell: &[u8]) -> Option<Self> {
        let (sign, body) = match cell {
            [] => return Some(Self(0)),
            [b'-', body @ ..] => (MINUS, body),
            body => (0, body),
        };
        let FewDigits { number, count, behind } = FewDigits::of(body)?;
        let point = behind.map_or(0, |behind| POINT | (behind as u64) << BEHIND);
        Some(Self(number | (count as u64) << COUNT | point | sign))
    }

    fn digits(self) -> u64 {
        self.0 & ((1 << COUNT) - 1)
    }

    fn count(self) -> usize {
        (self.0 >> COUNT & 0xF) as usize
    }

    fn behind(self) -> usize {
        (self.0 >> BEHIND & 0xF) as usize
    }

    /// Whether there is nothing in the cell.
    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn is_decimal(self) -> bool {
        self.0 & POINT != 0
    }

    /// Writes the cell as it was spelled, instead of what `text` holds.
    pub(crate) fn spell(self, text: &mut String) {
        use std::fmt::Write as _;
        text.clear();
        if self.is_empty() {
            return;
        }
        if self.0 & MINUS != 0 {
            text.push('-');
        }
        // Writing to a string does not fail.
        let _ = write!(text, "{:0width$}", self.digits(), width = self.count());
        if self.is_decimal() {
            text.insert(text.len() - self.behind(), '.');
        }
    }

    /// As a whole number, without a point.
    fn integer(self) -> i64 {
        let number = self.digits().cast_signed();
        if self.0 & MINUS == 0 { number } else { -number }
    }

    /// As a double.
    fn exact(self) -> f64 {
        ratio(self.0 & MINUS != 0, self.digits(), self.behind())
    }
}

/// The column that a block of such cells is. Its numbers stand where the cells stood.
pub(crate) fn column(cells: Vec<Packed>, decimals: Decimals) -> Column {
    let decimal = cells.iter().any(|cell| cell.is_decimal());
    if !decimal && !cells.iter().any(|cell| cell.is_empty()) {
        let mut cells: Vec<i64> = cells.into_iter().map(Packed::integer).collect();
        cells.shrink_to_fit();
        return Column::Integer(cells);
    }
    let mut text = String::new();
    let mut double = |cell: Packed| match (cell.is_empty(), decimal, decimals) {
        (true, ..) => f64::NAN,
        // Beside empty cells alone a whole number is read as one first: zero has no sign then.
        (_, false, _) => cell.integer() as f64,
        (_, true, Decimals::Exact) => cell.exact(),
        (_, true, Decimals::Quick) => {
            cell.spell(&mut text);
            decimals.double(text.as_bytes()).unwrap_or(f64::NAN)
        }
    };
    let mut cells: Vec<f64> = cells.into_iter().map(&mut double).collect();
    cells.shrink_to_fit();
    Column::Float(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is packed is spelled as it came.
        #[test]
        fn a_packed_cell_is_spelled_as_it_came(cell in "[-+]?[0-9]{0,16}[.e]?[0-9]{0,5}") {
            let mut text = "old".to_owned();
            match Packed::of(cell.as_bytes()) {
                Some(packed) => {
                    packed.spell(&mut text);
                    prop_assert_eq!(text, cell);
                }
                None => {
                    let digits = cell.bytes().filter(u8::is_ascii_digit).count();
                    prop_assert!(cell.contains(['+', 'e']) || digits == 0 || digits > 15, "{}", cell);
                }
            }
        }
    }
}
