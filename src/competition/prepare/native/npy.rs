//! Arrays in numpy's own file format, as far as a preparation reads and writes them: version 1, rows of any type that has
//! a fixed size.

use crate::prepare::error::PrepareError;

/// An array.
#[derive(Debug)]
pub(crate) struct Array<'a> {
    /// Type of an element, as numpy spells it: `<f4`, `|b1`, `<U2`.
    pub(crate) kind: String,
    /// Whether columns lie together rather than rows.
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: &'a [u8],
}

impl<'a> Array<'a> {
    /// Reads the head of a file; `name` names it in errors.
    pub(crate) fn read(bytes: &'a [u8], name: &str) -> Result<Self, PrepareError> {
        Self::parse(bytes)
            .ok_or_else(|| PrepareError::unfit(format!("{name} is no array that is known here")))
    }

    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(b"\x93NUMPY")?;
        let (head, data) = match rest {
            [1, _, rest @ ..] => {
                let (length, rest) = rest.split_first_chunk()?;
                rest.split_at_checked(u16::from_le_bytes(*length).into())?
            }
            [2 | 3, _, rest @ ..] => {
                let (length, rest) = rest.split_first_chunk()?;
                rest.split_at_checked(u32::from_le_bytes(*length).try_into().ok()?)?
            }
            _ => return None,
        };
        let head = std::str::from_utf8(head).ok()?;
        let after = |key: &str| Some(head.split_once(&format!("'{key}':"))?.1.trim_start());
        let kind = after("descr")?.strip_prefix('\'')?.split_once('\'')?.0.to_owned();
        let fortran = after("fortran_order")?.starts_with("True");
        let shape = after("shape")?.strip_prefix('(')?.split_once(')')?.0;
        let shape: Vec<usize> = shape
            .split(',')
            .map(str::trim)
            .filter(|number| !number.is_empty())
            .map(|number| number.parse().ok())
            .collect::<Option<_>>()?;
        let array = Self { kind, fortran, shape, data };
        let whole = array.shape.iter().try_fold(array.element()?, |size, side| size.checked_mul(*side))?;
        (array.data.len() >= whole).then_some(array)
    }

    /// Bytes of an element.
    pub(crate) fn element(&self) -> Option<usize> {
        let size: usize = self.kind.get(2..)?.parse().ok()?;
        if self.kind.get(1..2) == Some("U") { size.checked_mul(4) } else { Some(size) }
    }

    /// Bytes of one row, which is all that has one first index.
    pub(crate) fn row(&self) -> usize {
        let element = self.element().unwrap_or_default();
        self.shape.iter().skip(1).product::<usize>() * element
    }

    /// The bytes of the row at `place`.
    pub(crate) fn row_at(&self, place: usize) -> &'a [u8] {
        let row = self.row();
        self.data.get(place * row..(place + 1) * row).unwrap_or_default()
    }

    /// The head of an array of the same kind with another number of rows.
    pub(crate) fn head(&self, rows: usize) -> Vec<u8> {
        let mut shape = rows.to_string();
        match self.shape.get(1..) {
            Some(sides) if !sides.is_empty() => {
                for side in sides {
                    shape.extend([", ", &side.to_string()]);
                }
            }
            _ => shape.push(','),
        }
        let mut text = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}", self.kind);
        // Room for the first side to grow to 21 digits; then up to a multiple of 64, a line end at the end.
        let digits = rows.to_string().len();
        text.extend(std::iter::repeat_n(' ', 21usize.saturating_sub(digits)));
        let fixed = 10 + text.len() + 1;
        text.extend(std::iter::repeat_n(' ', fixed.next_multiple_of(64) - fixed));
        text.push('\n');
        let mut head = b"\x93NUMPY\x01\x00".to_vec();
        head.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
        head.extend(text.bytes());
        head
    }

    /// Elements as whole numbers, in the order in which they lie; none of a type that is no number.
    pub(crate) fn integers(&self) -> Option<Vec<i64>> {
        let size = self.element()?;
        let elements = self.data.chunks_exact(size).take(self.shape.iter().product());
        let read = |bytes: &[u8]| -> Option<i64> {
            Some(match (self.kind.as_str(), bytes) {
                ("|b1" | "|u1", [value]) => i64::from(*value),
                ("|i1", [value]) => i64::from(value.cast_signed()),
                ("<i4", _) => i64::from(i32::from_le_bytes(*bytes.first_chunk()?)),
                ("<i8", _) => i64::from_le_bytes(*bytes.first_chunk()?),
                ("<f4", _) => {
                    i64::from(f32::from_le_bytes(*bytes.first_chunk()?).to_bits() == 1f32.to_bits())
                }
                ("<f8", _) => {
                    i64::from(f64::from_le_bytes(*bytes.first_chunk()?).to_bits() == 1f64.to_bits())
                }
                _ => return None,
            })
        };
        elements.map(read).collect()
    }

    /// An element of a row of texts or numbers, as Python prints it.
    pub(crate) fn label(&self, place: usize) -> Option<String> {
        let bytes = self.row_at(place);
        if self.kind.starts_with("<U") {
            let characters =
                bytes.as_chunks::<4>().0.iter().map(|four| char::from_u32(u32::from_le_bytes(*four)));
            let text: Option<String> = characters.collect();
            return text.map(|text| text.trim_end_matches('\0').to_owned());
        }
        let one = Self { kind: self.kind.clone(), fortran: false, shape: vec![1], data: bytes };
        Some(one.integers()?.first()?.to_string())
    }
}
