//! The names of a struct's fields, as serde knows them: the keys that a file may have, with no second list that could
//! go stale.

use serde::de::value::Error;
use serde::de::{Deserializer, Error as _, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

/// The keys that `T` reads from a table; none when it is no struct.
pub(crate) fn fields_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // It fails once the names are known: there is nothing to read.
    drop(T::deserialize(Names(&mut names)));
    names
}

struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("the names are known"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_in_files() {
        #[derive(Deserialize)]
        struct Table {
            #[serde(rename = "one")]
            _first: u32,
            #[serde(rename = "two")]
            _second: Option<u32>,
        }
        assert_eq!(fields_of::<Table>(), ["one", "two"]);
        assert!(fields_of::<u32>().is_empty());
    }
}
