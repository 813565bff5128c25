//! Parquet, as far as a preparation reads and writes it: flat tables of numbers, plain or by dictionary, packed by Snappy or
//! gzip or not at all. `thrift` is the notation of the heads, `read` and `write` are the two ways.

mod read;
mod thrift;
mod write;

pub use read::Reader;
pub use write::Writer;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 32 bits.
    Int32,
    /// Whole numbers of 64 bits.
    Int64,
    /// 32-bit floats.
    Float,
    /// Doubles.
    Double,
}

impl Kind {
    /// The format's own number of the type.
    const fn number(self) -> i64 {
        match self {
            Self::Int32 => 1,
            Self::Int64 => 2,
            Self::Float => 4,
            Self::Double => 5,
        }
    }

    const fn of(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::Int32),
            2 => Some(Self::Int64),
            4 => Some(Self::Float),
            5 => Some(Self::Double),
            _ => None,
        }
    }

    /// Bytes of a value.
    const fn size(self) -> usize {
        match self {
            Self::Int32 | Self::Float => 4,
            Self::Int64 | Self::Double => 8,
        }
    }
}

/// Values of one column, as bits; `known` says which are there, where some are not.
#[derive(Clone, Debug)]
pub struct Values {
    /// Their type.
    pub kind: Kind,
    /// Of 32-bit types the lower half.
    pub bits: Vec<u64>,
    /// By row; all are there where this is none.
    pub known: Option<Vec<bool>>,
}

impl Values {
    /// Whether the value of a row is there.
    pub fn is_known(&self, row: usize) -> bool {
        self.known.as_ref().is_none_or(|known| known.get(row).copied().unwrap_or(false))
    }

    /// A whole number; of a double none.
    pub fn integer(&self, row: usize) -> Option<i64> {
        let bits = *self.bits.get(row).filter(|_| self.is_known(row))?;
        match self.kind {
            Kind::Int32 => Some(i64::from((u32::try_from(bits & 0xffff_ffff).ok()?).cast_signed())),
            Kind::Int64 => Some(bits.cast_signed()),
            Kind::Float | Kind::Double => None,
        }
    }

    /// These rows.
    #[must_use]
    pub fn take(&self, rows: &[u32]) -> Self {
        let bits = rows.iter().filter_map(|row| self.bits.get(*row as usize)).copied().collect();
        let known = self.known.as_ref();
        let known =
            known.map(|known| rows.iter().map(|row| known.get(*row as usize) == Some(&true)).collect());
        Self { kind: self.kind, bits, known }
    }
}
