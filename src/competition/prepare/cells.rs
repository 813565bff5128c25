//! Cells of one column as text, end to end: what a writer gathers before it lays rows out.
//!
//! Most cells are short. They are copied sixteen bytes at a time, whatever their length, which takes no call; so there is
//! always room behind what is there, and what stands in the room means nothing.

use std::ops::Range;

/// Bytes that are copied at once.
pub(super) const WIDE: usize = 16;

/// As many digits as a whole number has, and a sign.
const DIGITS: usize = 20;

/// Texts end to end.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// What is there, and room.
    bytes: Vec<u8>,
    length: usize,
    /// Where each cell ends.
    ends: Vec<usize>,
}

impl Cells {
    /// Forgets all cells.
    pub(super) fn clear(&mut self) {
        self.length = 0;
        self.ends.clear();
    }

    /// All cells, end to end.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Where each cell ends.
    pub(super) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The bytes with the room behind them, to copy wide from.
    pub(super) fn roomy(&self) -> &[u8] {
        &self.bytes
    }

    /// A cell of these bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.push_part(bytes, 0..bytes.len());
    }

    /// A cell of a part of these bytes.
    #[inline]
    pub(super) fn push_part(&mut self, bytes: &[u8], part: Range<usize>) {
        self.length = put(&mut self.bytes, self.length, bytes, part);
        self.ends.push(self.length);
    }

    /// A cell of half bytes: each byte of `halves` is a pair of letters, and `part` counts letters.
    pub(super) fn push_halves(&mut self, halves: &[u8], part: Range<usize>, pairs: &[[u8; 2]; 256]) {
        let pair = |byte: &u8| pairs.get(usize::from(*byte)).copied().unwrap_or_default();
        let needed = self.length + part.len() + 2;
        if self.bytes.len() < needed {
            self.bytes.resize(needed.max(2 * self.bytes.len()), 0);
        }
        let Some(halves) = halves.get(part.start / 2..part.end.div_ceil(2)) else { return self.push(&[]) };
        let room = self.bytes.get_mut(self.length..).unwrap_or_default();
        // Of the first pair perhaps only the second letter.
        let (cut, halves) = halves.split_at(halves.len().min(part.start % 2));
        let (first, room) = room.split_at_mut(cut.len());
        for (to, byte) in first.iter_mut().zip(cut) {
            [_, *to] = pair(byte);
        }
        for (to, byte) in room.as_chunks_mut().0.iter_mut().zip(halves) {
            *to = pair(byte);
        }
        self.length += part.len();
        self.ends.push(self.length);
    }

    /// A cell of a whole number.
    pub(super) fn push_whole(&mut self, value: i64) {
        let mut digits = [b'0'; DIGITS + WIDE];
        let mut left = value.unsigned_abs();
        let mut first = DIGITS;
        while left >= 100 {
            first -= 2;
            set_pair(&mut digits, first, left % 100);
            left /= 100;
        }
        first -= 2;
        set_pair(&mut digits, first, left);
        first += usize::from(left < 10);
        if value < 0 {
            first -= 1;
            if let Some(sign) = digits.get_mut(first) {
                *sign = b'-';
            }
        }
        self.push_part(&digits, first..DIGITS);
    }
}

/// Two digits at a place.
fn set_pair(digits: &mut [u8], place: usize, number: u64) {
    let digit = |number: u64| b'0' + u8::try_from(number).unwrap_or_default();
    if let Some(pair) = digits.get_mut(place..).and_then(<[u8]>::first_chunk_mut) {
        *pair = [digit(number / 10), digit(number % 10)];
    }
}

/// Copies a part of `from` to `place` and gives the place behind it; `to` grows where there is no room.
#[inline]
pub(super) fn put(to: &mut Vec<u8>, place: usize, from: &[u8], part: Range<usize>) -> usize {
    let end = place + part.len();
    if part.len() <= WIDE
        && let Some(room) = to.get_mut(place..).and_then(<[u8]>::first_chunk_mut::<WIDE>)
        && let Some(wide) = from.get(part.start..).and_then(<[u8]>::first_chunk::<WIDE>)
    {
        *room = *wide;
        return end;
    }
    put_long(to, place, from.get(part).unwrap_or_default())
}

#[cold]
fn put_long(to: &mut Vec<u8>, place: usize, from: &[u8]) -> usize {
    let end = place + from.len();
    if to.len() < end + WIDE {
        to.resize((end + WIDE).max(2 * to.len()), 0);
    }
    if let Some(room) = to.get_mut(place..end) {
        room.copy_from_slice(from);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(cells: &Cells) -> Vec<String> {
        let mut start = 0;
        let text = |end: &usize| {
            let part = std::mem::replace(&mut start, *end)..*end;
            String::from_utf8(cells.bytes()[part].to_vec()).unwrap()
        };
        cells.ends().iter().map(text).collect()
    }

    proptest! {
        #[test]
        fn cells_are_what_was_pushed(
            pushed in prop::collection::vec((any::<i64>(), 0_u32..64, "[a-c]{0,40}", 0_usize..41), 0..40)
        ) {
            let mut cells = Cells::default();
            cells.push(b"forgotten");
            cells.clear();
            let mut expected = Vec::new();
            for (number, shift, text, start) in pushed {
                let (number, start) = (number >> shift, start.min(text.len()));
                cells.push_whole(number);
                cells.push(text.as_bytes());
                cells.push_part(text.as_bytes(), start..text.len());
                // Half bytes of which each counts a letter of the alphabet.
                let halves: Vec<u8> = text.as_bytes().chunks(2).map(|pair| {
                    (pair[0] - b'a') << 4 | pair.get(1).map_or(0, |letter| letter - b'a')
                }).collect();
                let pairs = std::array::from_fn(|byte| {
                    let byte = u8::try_from(byte).unwrap();
                    [b'a' + (byte >> 4), b'a' + (byte & 15)]
                });
                cells.push_halves(&halves, start..text.len(), &pairs);
                let rest = text[start..].to_owned();
                expected.extend([number.to_string(), text, rest.clone(), rest]);
            }
            prop_assert_eq!(texts(&cells), expected);
        }
    }

    #[test]
    fn the_ends_of_the_whole_numbers_are_spelled() {
        let mut cells = Cells::default();
        let numbers = [i64::MIN, i64::MAX, 0, -1, 9, 10, 99, 100, -100, 101];
        for number in numbers {
            cells.push_whole(number);
        }
        assert_eq!(texts(&cells), numbers.map(|number| number.to_string()));
    }
}
