//! Thrift's compact notation, read into a tree and written field by field. Broken bytes give nothing.

/// Nesting of the heads is small.
const DEPTH: usize = 16;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Thrift<'a> {
    Integer(i64),
    Bytes(&'a [u8]),
    List(Vec<Thrift<'a>>),
    Struct(Vec<(i64, Thrift<'a>)>),
    /// Something that is skipped: a double or a map.
    Other,
}

impl<'a> Thrift<'a> {
    /// Reads a struct; tells how many bytes it took.
    pub(super) fn read(bytes: &'a [u8]) -> Option<(Self, usize)> {
        let mut rest = bytes;
        let value = structure(&mut rest, 0)?;
        Some((value, bytes.len() - rest.len()))
    }

    pub(super) fn field(&self, number: i64) -> Option<&Self> {
        let Self::Struct(fields) = self else { return None };
        fields.iter().find(|(known, _)| *known == number).map(|(_, value)| value)
    }

    pub(super) fn integer(&self, number: i64) -> Option<i64> {
        if let Self::Integer(value) = self.field(number)? { Some(*value) } else { None }
    }

    pub(super) fn length(&self, number: i64) -> Option<usize> {
        usize::try_from(self.integer(number)?).ok()
    }

    pub(super) fn text(&self, number: i64) -> Option<&'a str> {
        if let Self::Bytes(bytes) = self.field(number)? { std::str::from_utf8(bytes).ok() } else { None }
    }

    pub(super) fn list(&self, number: i64) -> Option<&[Self]> {
        if let Self::List(items) = self.field(number)? { Some(items) } else { None }
    }
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, after) = rest.split_first()?;
    *rest = after;
    Some(*first)
}

pub(super) fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(rest)?;
        value |= u64::from(next & 0x7f) << shift;
        if next & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn zigzag(rest: &mut &[u8]) -> Option<i64> {
    let value = varint(rest)?;
    Some((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
}

fn structure<'a>(rest: &mut &'a [u8], depth: usize) -> Option<Thrift<'a>> {
    let mut fields = Vec::new();
    let mut number = 0;
    loop {
        let head = byte(rest)?;
        if head == 0 {
            return Some(Thrift::Struct(fields));
        }
        number = match head >> 4 {
            0 => zigzag(rest)?,
            step => number + i64::from(step),
        };
        let value = match head & 15 {
            1 => Thrift::Integer(1),
            2 => Thrift::Integer(0),
            kind => value(rest, kind, depth)?,
        };
        fields.push((number, value));
    }
}

fn value<'a>(rest: &mut &'a [u8], kind: u8, depth: usize) -> Option<Thrift<'a>> {
    if depth > DEPTH {
        return None;
    }
    match kind {
        1 | 2 => byte(rest).map(|value| Thrift::Integer(i64::from(value == 1))),
        3 => byte(rest).map(|value| Thrift::Integer(value.cast_signed().into())),
        4..=6 => zigzag(rest).map(Thrift::Integer),
        7 => {
            *rest = rest.get(8..)?;
            Some(Thrift::Other)
        }
        8 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            let (bytes, after) = rest.split_at_checked(length)?;
            *rest = after;
            Some(Thrift::Bytes(bytes))
        }
        9 | 10 => {
            let head = byte(rest)?;
            let count = if head >> 4 == 15 { varint(rest)? } else { u64::from(head >> 4) };
            let mut items = Vec::new();
            for _ in 0..count {
                items.push(value(rest, head & 15, depth + 1)?);
            }
            Some(Thrift::List(items))
        }
        12 => structure(rest, depth + 1),
        _ => None,
    }
}

/// A struct that is written; fields come in ascending order.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    bytes: Vec<u8>,
    last: i64,
}

impl Encoder {
    fn head(&mut self, number: i64, kind: u8) {
        let step = u8::try_from(number - self.last).unwrap_or_default();
        self.bytes.push(step << 4 | kind);
        self.last = number;
    }

    fn push_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(low_bits(value) | 0x80);
            value >>= 7;
        }
        self.bytes.push(low_bits(value));
    }

    fn push_zigzag(&mut self, value: i64) {
        self.push_varint(((value << 1) ^ (value >> 63)).cast_unsigned());
    }

    pub(super) fn int32(mut self, number: i64, value: i64) -> Self {
        self.head(number, 5);
        self.push_zigzag(value);
        self
    }

    pub(super) fn int64(mut self, number: i64, value: i64) -> Self {
        self.head(number, 6);
        self.push_zigzag(value);
        self
    }

    fn push_text(&mut self, text: &str) {
        self.push_varint(text.len() as u64);
        self.bytes.extend(text.bytes());
    }

    pub(super) fn text(mut self, number: i64, text: &str) -> Self {
        self.head(number, 8);
        self.push_text(text);
        self
    }

    pub(super) fn structure(mut self, number: i64, value: Self) -> Self {
        self.head(number, 12);
        self.bytes.extend(value.finish());
        self
    }

    fn list_head(&mut self, number: i64, count: usize, kind: u8) {
        self.head(number, 9);
        match u8::try_from(count).ok().filter(|count| *count < 15) {
            Some(count) => self.bytes.push(count << 4 | kind),
            None => {
                self.bytes.push(0xf0 | kind);
                self.push_varint(count as u64);
            }
        }
    }

    pub(super) fn structures(mut self, number: i64, values: Vec<Self>) -> Self {
        self.list_head(number, values.len(), 12);
        for value in values {
            self.bytes.extend(value.finish());
        }
        self
    }

    pub(super) fn int32s(mut self, number: i64, values: &[i64]) -> Self {
        self.list_head(number, values.len(), 5);
        for value in values {
            self.push_zigzag(*value);
        }
        self
    }

    pub(super) fn texts(mut self, number: i64, values: &[&str]) -> Self {
        self.list_head(number, values.len(), 8);
        for value in values {
            self.push_text(value);
        }
        self
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// The lower seven bits.
pub(super) fn low_bits(value: u64) -> u8 {
    u8::try_from(value & 0x7f).unwrap_or_default()
}
