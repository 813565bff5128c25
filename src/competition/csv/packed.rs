//! Plain numbers as the file spells them, in eight bytes each: a column of such cells waits for its type in the memory
//! that its numbers will take, and can still be spelled as it came should a later cell make it text. Cells of another
//! kind among them, if they are few, are kept apart.

use crate::csv::column::{Column, Texts};
use crate::csv::number::{
    DIGITS, Decimals, Digits, NoInteger, UnsignedSeen, boolean, int64, is_exact, is_missing, ratio, uint64,
};

/// A cell: `-`, up to 17 digits, perhaps with a point among them or at their end, spelled without zeros that could be
/// left out in front; or nothing at all; or a place among those that are kept apart.
///
/// From the lowest bit: the digits as a whole number (57 bits), how many of them stand behind the point or that there
/// is none (5), whether there is a minus sign, whether it is none of these but empty (0) or kept apart (its place + 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed(u64);

const PLACE: u32 = 57;
const NO_POINT: u64 = 0x1F;
const MINUS: u64 = 1 << 62;
const OTHER: u64 = 1 << 63;
const EMPTY: Packed = Packed(OTHER);

/// So many may be kept apart whatever the column is; beyond, it has to be this many times as long as they are many.
const FEW: usize = 64;
const SHARE: usize = 4;

/// How many digits a number has.
fn length(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |power| power as usize + 1)
}

impl Packed {
    /// The cell, where it is a number of this kind or nothing.
    #[inline]
    fn of(cell: &[u8]) -> Option<Self> {
        let (sign, body) = match cell {
            [] => return Some(EMPTY),
            [b'-', body @ ..] => (MINUS, body),
            body => (0, body),
        };
        let Digits { number, count, behind } = Digits::of(body)?;
        let packed = Self(number | behind.map_or(NO_POINT, |behind| behind as u64) << PLACE | sign);
        (packed.count() == count).then_some(packed)
    }

    fn apart(place: usize) -> Self {
        Self(OTHER | (place as u64 + 1))
    }

    fn digits(self) -> u64 {
        self.0 & ((1 << PLACE) - 1)
    }

    /// Digits behind the point, where there is one.
    fn behind(self) -> Option<usize> {
        let behind = self.0 >> PLACE & NO_POINT;
        (behind != NO_POINT && self.0 & OTHER == 0).then_some(behind as usize)
    }

    /// How many digits are spelled: at least one in front of the point.
    fn count(self) -> usize {
        length(self.digits()).max(self.behind().unwrap_or_default() + 1)
    }

    /// Whether there is nothing in the cell.
    fn is_empty(self) -> bool {
        self == EMPTY
    }

    fn is_negative(self) -> bool {
        self.0 & MINUS != 0
    }

    /// Writes the cell as it was spelled, instead of what `text` holds.
    fn spell(self, text: &mut String) {
        use std::fmt::Write as _;
        text.clear();
        if self.is_empty() {
            return;
        }
        if self.is_negative() {
            text.push('-');
        }
        // Writing to a string does not fail.
        let _ = write!(text, "{:0width$}", self.digits(), width = self.count());
        if let Some(behind) = self.behind() {
            text.insert(text.len() - behind, '.');
        }
    }

    /// As a whole number, without a point.
    fn integer(self) -> i64 {
        let number = self.digits().cast_signed();
        if self.is_negative() { -number } else { number }
    }

    /// As a double; `text` is overwritten.
    fn double(self, decimals: Decimals, text: &mut String) -> f64 {
        if decimals == Decimals::Quick && !(is_exact(self.digits()) && self.count() <= DIGITS) {
            self.spell(text);
            return decimals.double(text.as_bytes()).unwrap_or(f64::NAN);
        }
        ratio(self.is_negative(), self.digits(), self.behind().unwrap_or_default())
    }
}

/// The cells of a block that has not ended.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    cells: Vec<Packed>,
    apart: Texts,
}

impl Waiting {
    /// Takes the next cell of a block of so many rows; not taken when too many cells would be kept apart.
    pub(crate) fn push(&mut self, cell: &str, block_rows: usize) -> bool {
        let packed = Packed::of(cell.as_bytes()).or_else(|| {
            let place = self.apart.len();
            if place >= FEW && place * SHARE >= self.cells.len() {
                return None;
            }
            self.apart.push_spelled(cell);
            Some(Packed::apart(place))
        });
        let Some(packed) = packed else { return false };
        if self.cells.capacity() == 0 {
            // Room for all at once: what is not used of it costs nothing, and what grows bit by bit is copied and leaves
            // holes.
            self.cells.reserve_exact(block_rows);
        }
        self.cells.push(packed);
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are numbers and empty cells only.
    pub(crate) fn is_plain(&self) -> bool {
        self.apart.is_empty()
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = Untyped<'_>> {
        self.cells.iter().map(|cell| match self.spelled(*cell) {
            Some(text) => Untyped::Spelled(text.as_bytes()),
            None => Untyped::Plain(*cell),
        })
    }

    /// The text of a cell that is kept apart.
    fn spelled(&self, cell: Packed) -> Option<&str> {
        let place = if cell.0 & OTHER == 0 { None } else { (cell.0 & !OTHER).checked_sub(1) };
        self.apart.get(usize::try_from(place?).ok()?)
    }

    /// Appends all cells as they were spelled.
    pub(crate) fn spell(self, to: &mut Texts) {
        let mut text = String::new();
        for cell in &self.cells {
            if let Some(text) = self.spelled(*cell) {
                to.push_spelled(text);
            } else {
                cell.spell(&mut text);
                to.push_spelled(&text);
            }
        }
    }

    /// The column that they are where they are plain. Its numbers stand where the cells stood.
    pub(crate) fn column(self, decimals: Decimals) -> Column {
        let cells = self.cells;
        let decimal = cells.iter().any(|cell| cell.behind().is_some());
        if !decimal && !cells.iter().any(|cell| cell.is_empty()) {
            let mut cells: Vec<i64> = cells.into_iter().map(Packed::integer).collect();
            cells.shrink_to_fit();
            return Column::Integer(cells);
        }
        let mut text = String::new();
        let mut double = |cell: Packed| match (cell.is_empty(), decimal) {
            (true, _) => f64::NAN,
            // Beside empty cells alone a whole number is read as one first: zero has no sign then.
            (_, false) => cell.integer() as f64,
            (_, true) => cell.double(decimals, &mut text),
        };
        let mut cells: Vec<f64> = cells.into_iter().map(&mut double).collect();
        cells.shrink_to_fit();
        Column::Float(cells)
    }
}

/// A cell whose column has no type yet.
#[derive(Clone, Copy, Debug)]
#[expect(private_interfaces, reason = "what a plain cell is made of is nobody else's business")]
pub(crate) enum Untyped<'a> {
    /// A plain number, or nothing.
    Plain(Packed),
    /// Anything, as the file spells it.
    Spelled(&'a [u8]),
}

/// What `number` makes of the spelling.
impl Untyped<'_> {
    pub(crate) fn is_missing(self) -> bool {
        match self {
            Self::Plain(cell) => cell.is_empty(),
            Self::Spelled(text) => is_missing(text),
        }
    }

    pub(crate) fn int64(self) -> Result<i64, NoInteger> {
        match self {
            Self::Plain(cell) if cell.behind().is_some() || cell.is_empty() => Err(NoInteger::Invalid),
            Self::Plain(cell) => Ok(cell.integer()),
            Self::Spelled(text) => int64(text),
        }
    }

    pub(crate) fn uint64(self, seen: &mut UnsignedSeen) -> Result<u64, NoInteger> {
        match self {
            Self::Plain(cell) if cell.is_negative() => {
                seen.signed = true;
                Ok(0)
            }
            Self::Plain(cell) if cell.behind().is_some() || cell.is_empty() => Err(NoInteger::Invalid),
            Self::Plain(cell) => Ok(cell.digits()),
            Self::Spelled(text) => uint64(text, seen),
        }
    }

    /// `scratch` is overwritten.
    pub(crate) fn double(self, decimals: Decimals, scratch: &mut String) -> Option<f64> {
        match self {
            Self::Plain(cell) => Some(cell.double(decimals, scratch)).filter(|_| !cell.is_empty()),
            Self::Spelled(text) => decimals.double(text),
        }
    }

    pub(crate) fn boolean(self) -> Option<bool> {
        match self {
            Self::Plain(_) => None,
            Self::Spelled(text) => boolean(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::number::BEHIND;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = String> {
        prop_oneof![
            "-?[0-9]{0,19}[.e]?[0-9]{0,5}",
            "-?0?[.]0{0,6}[0-9]{0,18}",
            "-?[1-9][0-9]{0,3}[.]?[0-9]{0,18}",
            any::<f64>().prop_map(|value| format!("{value:?}")),
            (0f64..1.0).prop_map(|value| format!("{value:?}")),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Whatever is packed is spelled as it came, and means what its spelling means.
        #[test]
        fn a_packed_cell_is_its_spelling(cell in number()) {
            let mut text = "old".to_owned();
            let Some(packed) = Packed::of(cell.as_bytes()) else {
                let body = cell.trim_start_matches('-');
                let digits = body.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count();
                let padded = body.starts_with('.') || body.len() > 1 && body.starts_with('0') && !body.starts_with("0.");
                let behind = body.split_once('.').map_or(0, |(_, behind)| behind.len());
                let none = !body.bytes().any(|byte| byte.is_ascii_digit());
                prop_assert!(padded || none || body.contains('e') || digits > 17 || behind > BEHIND, "{}", cell);
                return Ok(());
            };
            packed.spell(&mut text);
            prop_assert_eq!(&text, &cell);
            let (plain, spelled) = (Untyped::Plain(packed), Untyped::Spelled(cell.as_bytes()));
            prop_assert_eq!(plain.is_missing(), spelled.is_missing());
            prop_assert_eq!(plain.int64(), spelled.int64());
            let mut seen = [UnsignedSeen::default(); 2];
            prop_assert_eq!(plain.uint64(&mut seen[0]), spelled.uint64(&mut seen[1]));
            prop_assert_eq!(format!("{:?}", seen[0]), format!("{:?}", seen[1]));
            prop_assert_eq!(plain.boolean(), spelled.boolean());
            for decimals in [Decimals::Exact, Decimals::Quick] {
                let bits = [plain, spelled].map(|cell| cell.double(decimals, &mut text).map(f64::to_bits));
                prop_assert_eq!(bits[0], bits[1], "{:?}", decimals);
            }
            if !cell.is_empty() {
                let double = plain.double(Decimals::Exact, &mut text).map(f64::to_bits);
                prop_assert_eq!(double, cell.parse().ok().map(f64::to_bits));
            }
        }
    }
}
