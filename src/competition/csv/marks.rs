//! Where in a text the bytes stand that may end a cell. Sixty-four bytes are looked at together, without a branch for
//! each, so that a compiler can do it with vectors.

/// Bytes that are looked at together.
const WIDTH: usize = 64;

/// Positions of marks in order: the delimiter, quotes, NUL, line ends, and the control characters before CR, which mean
/// nothing.
#[derive(Debug)]
pub(crate) struct Marks<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// What has not been looked at yet begins here.
    ahead: usize,
    /// Marks among the bytes before `ahead` that were not told yet, one bit each.
    found: u64,
}

impl<'a> Marks<'a> {
    pub(crate) const fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        Self { bytes, delimiter, ahead: 0, found: 0 }
    }
}

impl Marks<'_> {
    /// Looks at further bytes until there is a mark; none at the end.
    fn look_ahead(&mut self) -> Option<()> {
        while self.found == 0 {
            let rest = self.bytes.get(self.ahead..).filter(|rest| !rest.is_empty())?;
            self.found = match rest.first_chunk() {
                Some(block) => marks_of(block, self.delimiter),
                None => {
                    let mut block = [0; WIDTH];
                    block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                    marks_of(&block, self.delimiter) & ((1 << rest.len()) - 1)
                }
            };
            self.ahead += WIDTH;
        }
        Some(())
    }
}

impl Iterator for Marks<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.found == 0 {
            self.look_ahead()?;
        }
        let position = self.ahead - WIDTH + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(position)
    }
}

/// One bit for each byte, the lowest for the first.
fn marks_of(block: &[u8; WIDTH], delimiter: u8) -> u64 {
    /// Brings the lowest bit of each of eight bytes together in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let flags =
        block.map(|byte| u8::from(byte == delimiter) | u8::from(byte == b'"') | u8::from(byte <= b'\r'));
    let (words, _) = flags.as_chunks::<8>();
    let gathered = words.iter().map(|word| u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56);
    gathered.rev().fold(0, |bits, byte| bits << 8 | byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_mark_is_found(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b';'), Just(b'"')], 0..300)) {
            let slow: Vec<usize> = (0..bytes.len())
                .filter(|place| matches!(bytes[*place], b';' | b'"' | 0..=b'\r'))
                .collect();
            prop_assert_eq!(Marks::new(&bytes, b';').collect::<Vec<_>>(), slow);
        }
    }
}
