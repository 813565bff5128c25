//! Answers as JSON lines: one value a line.
//!
//! Real ones hold whole web pages beside the few fields that a grader reads. So fields that the catalog does not name
//! are checked to be JSON and passed over, never held, and one buffer serves all lines.

use std::fmt;
use std::io::{self, BufRead};

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Why there are no answers.
#[derive(Debug)]
pub(crate) enum LinesFault {
    /// The file cannot be read.
    Io(io::Error),
    /// This line, from 1, is no JSON.
    Line(usize),
}

/// Reads all lines but blank ones. Of objects only the named fields are kept, all where none is named.
pub(crate) fn read(mut input: impl BufRead, fields: Option<&[String]>) -> Result<Vec<Value>, LinesFault> {
    let (mut values, mut line) = (Vec::new(), Vec::new());
    for number in 1.. {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(LinesFault::Io)? == 0 {
            break;
        }
        let text = line.trim_ascii();
        if !text.is_empty() {
            values.push(value(text, fields).map_err(|_| LinesFault::Line(number))?);
        }
    }
    Ok(values)
}

fn value(text: &[u8], fields: Option<&[String]>) -> serde_json::Result<Value> {
    let Some(fields) = fields.filter(|_| text.first() == Some(&b'{')) else {
        return serde_json::from_slice(text);
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let object = deserializer.deserialize_map(Fields(fields))?;
    deserializer.end()?;
    Ok(Value::Object(object))
}

/// Keeps these fields of an object; of a repeated one the last, as Python does.
struct Fields<'a>(&'a [String]);

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut kept = Map::new();
        while let Some(name) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            if self.0.iter().any(|field| *field == name) {
                let value = map.next_value()?;
                kept.insert(name.into_owned(), value);
            } else {
                map.next_value::<IgnoredAny>().map_err(A::Error::custom)?;
            }
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_fields_are_held() {
        let text =
            "{\"a\": 1, \"page\": \"long \\u00e9\", \"b\": [{\"c\": null}]}\n\n {\"a\":2, \"a\" : 3} \n7\n";
        let fields = ["a".to_owned(), "b".to_owned()];
        let found = read(text.as_bytes(), Some(&fields)).unwrap();
        let expected: Vec<Value> = ["{\"a\":1,\"b\":[{\"c\":null}]}", "{\"a\":3}", "7"]
            .map(|line| serde_json::from_str(line).unwrap())
            .into();
        assert_eq!(found, expected);
        assert_eq!(read(text.as_bytes(), None).unwrap().len(), 3);
        for (bad, line) in [("{}\n{\"x\": nope}", 2), ("{\"a\": 1} 2", 1), ("{", 1), ("{\"x\": \"\\q\"}", 1)]
        {
            assert!(matches!(read(bad.as_bytes(), Some(&fields)), Err(LinesFault::Line(at)) if at == line));
        }
    }
}
