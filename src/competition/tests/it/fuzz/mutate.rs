//! Small damages to the bytes of a CSV file, chosen so that most mutants are still read.

/// A xorshift generator.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % bound.max(1)
    }
}

/// What an adversary, or a program that goes wrong, writes into a cell.
const WORDS: &[&str] = &[
    "",
    " ",
    "\"",
    "\"\"",
    ",",
    ",,,",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\0",
    "\u{feff}",
    "nan",
    "NaN",
    "None",
    "<NA>",
    "inf",
    "-inf",
    "1e400",
    "-1e400",
    "1e-400",
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "0.5",
    "1.5",
    "+3",
    "007",
    "1_0",
    "0x10",
    "true",
    "False",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "1e308",
    "5e-324",
    "0.1 0.2 0.3",
    "1 1",
    "1 2 3",
    "1 99999999999999999999",
    "2 9223372036854775807",
    "-5 3",
    "1 0",
    "no",
    "14 1 100 100 50 50",
    "x",
    "é",
    "٣",
    "𝟘",
    "[]",
    "{}",
    "[1, 2",
    "['a']",
    "[[1.0]]",
    "1:2",
    "yes",
    "none 1 0 0 1 1",
    "U+306F 1 1",
    "InChI=1S/",
    "1.0 1 1 1 1 1 1 1 car",
    "5 5 0 0 -1 -1",
    "[(1, 0.5, 2.0)]",
    "A B C",
];

/// One to six damages to `seed`; now and then a part of `other` is put in.
pub(crate) fn mutate(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(6) {
        damage(&mut bytes, other, random);
    }
    bytes
}

fn damage(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(12) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 => drop(bytes.splice(at..at, word(random).bytes())),
        // A whole cell becomes another.
        2..=5 => {
            let cell = span(bytes, at, b",\n");
            drop(bytes.splice(cell, word(random).bytes()));
        }
        6 => drop(bytes.drain(span(bytes, at, b"\n"))),
        7 => {
            let row = bytes[span(bytes, at, b"\n")].to_vec();
            let to = span(bytes, random.below(bytes.len() + 1), b"\n").start;
            drop(bytes.splice(to..to, row.into_iter().chain([b'\n'])));
        }
        8 => {
            // Two cells change places.
            let (left, right) = (span(bytes, at, b",\n"), span(bytes, random.below(bytes.len() + 1), b",\n"));
            let (left, right) = if left.start <= right.start { (left, right) } else { (right, left) };
            let (one, two) = (bytes[left.clone()].to_vec(), bytes[right.clone()].to_vec());
            if left.end < right.start {
                drop(bytes.splice(right, one));
                drop(bytes.splice(left, two));
            }
        }
        9 => bytes.truncate(at),
        10 => {
            // One byte is put into every row, at the same column.
            let mark = word(random);
            let text: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let width = random.below(5);
            let rows = text.into_iter().map(|mut row| {
                let comma = row.iter().enumerate().filter(|(_, byte)| **byte == b',').nth(width);
                let place = comma.map_or(row.len(), |(place, _)| place);
                drop(row.splice(place..place, mark.bytes()));
                row
            });
            *bytes = rows.collect::<Vec<_>>().join(&b'\n');
        }
        _ => {
            let from = random.below(other.len() + 1);
            let to = (from + random.below(80)).min(other.len());
            drop(bytes.splice(at..at, other[from..to].iter().copied()));
        }
    }
}

fn word(random: &mut Random) -> &'static str {
    WORDS[random.below(WORDS.len())]
}

/// What stands around a position between two of these bytes.
fn span(bytes: &[u8], at: usize, bounds: &[u8]) -> std::ops::Range<usize> {
    let before = bytes[..at].iter().rposition(|byte| bounds.contains(byte)).map_or(0, |found| found + 1);
    let after =
        bytes[at..].iter().position(|byte| bounds.contains(byte)).map_or(bytes.len(), |found| at + found);
    before..after
}
