//! The parser, after Python's `json`: strict, but for the words `NaN`, `Infinity` and `-Infinity`. Of a key that comes
//! twice the first place and the last value count. Nesting is bounded, so that no file can overflow the stack.

use crate::prepare::json::{Json, Text};

/// A text is no JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no JSON: {problem} at byte {position}")]
pub struct Bad {
    /// What is wrong.
    pub problem: &'static str,
    /// Where, from 0.
    pub position: usize,
}

/// How bytes are characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// As usual.
    #[default]
    Utf8,
    /// Each byte is one character.
    Latin1,
}

/// Deeper values are refused.
const DEPTH: usize = 500;

/// Parses UTF-8.
pub fn parse(bytes: &[u8]) -> Result<Json, Bad> {
    let mut parser = Parser { bytes, position: 0 };
    let value = parser.value(0)?;
    parser.blanks();
    if parser.position < bytes.len() { Err(parser.bad("something after the value")) } else { Ok(value) }
}

/// Parses bytes of an encoding.
pub fn parse_as(bytes: &[u8], encoding: Encoding) -> Result<Json, Bad> {
    match encoding {
        Encoding::Utf8 => parse(bytes),
        Encoding::Latin1 => {
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            parse(text.as_bytes())
        }
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Parser<'_> {
    const fn bad(&self, problem: &'static str) -> Bad {
        Bad { problem, position: self.position }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.position += self.rest().iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.position += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, Bad> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.bad("an unknown word"));
        }
        self.position += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Json, Bad> {
        if depth > DEPTH {
            return Err(self.bad("too deep a value"));
        }
        self.blanks();
        match self.peek() {
            None => Err(self.bad("the end")),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => Ok(Json::Text(self.text()?)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Boolean(true)),
            Some(b'f') => self.word("false", Json::Boolean(false)),
            Some(b'N') => self.word("NaN", Json::Number("NaN".into())),
            Some(b'I') => self.word("Infinity", Json::Number("Infinity".into())),
            Some(b'-') if self.rest().starts_with(b"-I") => {
                self.word("-Infinity", Json::Number("-Infinity".into()))
            }
            Some(_) => self.number(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, Bad> {
        self.position += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.take(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.take(b']') {
                return Ok(Json::List(items));
            }
            if !self.take(b',') {
                return Err(self.bad("neither a comma nor the end of an array"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, Bad> {
        self.position += 1;
        let mut members: Vec<(Text, Json)> = Vec::new();
        self.blanks();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        // Looked up by a map only where it is long: most objects have few keys.
        let mut places = std::collections::HashMap::new();
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.bad("no key"));
            }
            let key = self.text()?;
            self.blanks();
            if !self.take(b':') {
                return Err(self.bad("no colon"));
            }
            let value = self.value(depth + 1)?;
            let place = *places.entry(key.clone()).or_insert(members.len());
            match members.get_mut(place) {
                Some((_, old)) => *old = value,
                None => members.push((key, value)),
            }
            self.blanks();
            if self.take(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.take(b',') {
                return Err(self.bad("neither a comma nor the end of an object"));
            }
        }
    }

    fn digits(&mut self) -> usize {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.position += digits;
        digits
    }

    fn number(&mut self) -> Result<Json, Bad> {
        let start = self.position;
        self.take(b'-');
        if self.digits() == 0 {
            return Err(self.bad("no value"));
        }
        if self.rest().first() == Some(&b'.') && self.rest().get(1).is_some_and(u8::is_ascii_digit) {
            self.position += 1;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            let before = self.position;
            self.position += 1;
            if !self.take(b'-') {
                self.take(b'+');
            }
            if self.digits() == 0 {
                self.position = before;
            }
        }
        let spelled = self.bytes.get(start..self.position).unwrap_or_default();
        Ok(Json::Number(String::from_utf8_lossy(spelled).into()))
    }

    fn text(&mut self) -> Result<Text, Bad> {
        self.position += 1;
        let mut text = Vec::new();
        loop {
            let plain =
                self.rest().iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count();
            text.extend_from_slice(self.rest().get(..plain).unwrap_or_default());
            self.position += plain;
            match self.peek() {
                Some(b'"') => {
                    self.position += 1;
                    if std::str::from_utf8(&text).is_err() && !is_wtf8(&text) {
                        return Err(self.bad("a text that is not UTF-8"));
                    }
                    return Ok(text.into());
                }
                Some(b'\\') => self.escape(&mut text)?,
                Some(_) => return Err(self.bad("a control character in a text")),
                None => return Err(self.bad("the end inside a text")),
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), Bad> {
        self.position += 1;
        let Some(letter) = self.peek() else { return Err(self.bad("the end inside a text")) };
        self.position += 1;
        let byte = match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut unit = self.unit()?;
                if (0xd800..0xdc00).contains(&unit) && self.rest().starts_with(b"\\u") {
                    let before = self.position;
                    self.position += 2;
                    let low = self.unit()?;
                    if (0xdc00..0xe000).contains(&low) {
                        unit = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    } else {
                        self.position = before;
                    }
                }
                push_unit(text, unit);
                return Ok(());
            }
            _ => return Err(self.bad("an unknown escape")),
        };
        text.push(byte);
        Ok(())
    }

    fn unit(&mut self) -> Result<u32, Bad> {
        let digits = self.rest().first_chunk::<4>().filter(|four| four.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else { return Err(self.bad("an escape that is too short")) };
        let unit =
            digits.iter().fold(0, |unit, digit| unit * 16 + char::from(*digit).to_digit(16).unwrap_or(0));
        self.position += 4;
        Ok(unit)
    }
}

/// Appends a code point; a lone surrogate as three bytes of its own.
fn push_unit(text: &mut Vec<u8>, unit: u32) {
    if let Some(character) = char::from_u32(unit) {
        text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let six = |shift: u32| u8::try_from(unit >> shift & 0x3f).unwrap_or_default() | 0x80;
    text.extend([0xed, six(6), six(0)]);
}

/// Whether everything that is no UTF-8 is a lone surrogate.
fn is_wtf8(text: &[u8]) -> bool {
    let mut rest = text;
    while let Err(error) = std::str::from_utf8(rest) {
        let bad = rest.get(error.valid_up_to()..).unwrap_or_default();
        match bad {
            [0xed, 0xa0..=0xbf, 0x80..=0xbf, after @ ..] => rest = after,
            _ => return false,
        }
    }
    true
}
