//! The parameters of a tool, read off the Rust type of its arguments, and their JSON Schema.
//!
//! The type is asked as serde asks it: which fields it has, and for each, what it wants to read. So there is one home of
//! a parameter's name and kind, and no second list. What a parameter means is said by the tool's template.
//!
//! A type of arguments is a struct of `String`, `bool`, integers, `f64`, enums without values, `Vec`s of those, and
//! `Option`s of all of these; an `Option` is what need not be given.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::value::{Error, MapAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value, json};

use crate::spec::fields::fields_of;

/// What a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// Yes or no.
    Flag,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// One of these words.
    Choice(Vec<String>),
    /// Several of a kind.
    List(Box<Kind>),
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub kind: Kind,
    /// Whether a call must give it.
    pub required: bool,
}

/// All parameters of a tool, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema(pub Vec<Parameter>);

impl Kind {
    /// In JSON Schema.
    pub fn json(&self) -> Map<String, Value> {
        let value = match self {
            Self::Text => json!({"type": "string"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Whole => json!({"type": "integer"}),
            Self::Number => json!({"type": "number"}),
            Self::Choice(words) => json!({"type": "string", "enum": words}),
            Self::List(item) => json!({"type": "array", "items": item.json()}),
        };
        match value {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// In a few words, for people and for models.
    pub fn word(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Whole => "whole number".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::List(item) => format!("list of {}", item.word()),
        }
    }
}

impl Schema {
    /// The parameters of a type.
    pub fn of<T: for<'de> Deserialize<'de>>() -> Self {
        let parameter = |name: &&'static str| {
            let mut asked = Asked::default();
            let one = OneField { name: Some(name), asked: &mut asked };
            // It fails once the kind is known: there is nothing to read.
            drop(T::deserialize(MapAccessDeserializer::new(one)));
            let Asked { kind, optional } = asked;
            Some(Parameter { name: (*name).to_owned(), kind: kind?, required: !optional })
        };
        Self(fields_of::<T>().iter().filter_map(parameter).collect())
    }

    /// The parameter of this name.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.0.iter().find(|parameter| parameter.name == name)
    }

    /// The JSON Schema, with descriptions by parameter.
    pub fn json(&self, descriptions: &BTreeMap<String, String>) -> Value {
        let property = |parameter: &Parameter| {
            let mut property = parameter.kind.json();
            if let Some(text) = descriptions.get(&parameter.name) {
                property.insert("description".to_owned(), Value::from(text.as_str()));
            }
            (parameter.name.clone(), Value::Object(property))
        };
        let properties: Map<String, Value> = self.0.iter().map(property).collect();
        let required: Vec<&str> =
            self.0.iter().filter(|parameter| parameter.required).map(|one| one.name.as_str()).collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

/// What a field asked for.
#[derive(Default)]
struct Asked {
    kind: Option<Kind>,
    optional: bool,
}

/// A map of one field.
struct OneField<'a> {
    name: Option<&'static str>,
    asked: &'a mut Asked,
}

impl<'de> MapAccess<'de> for OneField<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        use serde::de::IntoDeserializer as _;
        self.name.take().map(|name| seed.deserialize(name.into_deserializer())).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Recorder(self.asked))
    }
}

/// Notes what is asked for, and gives nothing.
struct Recorder<'a>(&'a mut Asked);

impl Recorder<'_> {
    fn note<T>(self, kind: Kind) -> Result<T, Error> {
        self.0.kind = Some(kind);
        Err(Error::custom("the kind is known"))
    }
}

macro_rules! notes {
    ($kind:expr => $($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            self.note($kind)
        })*
    };
}

impl<'de> Deserializer<'de> for Recorder<'_> {
    type Error = Error;

    notes!(Kind::Text => deserialize_str deserialize_string deserialize_char);
    notes!(Kind::Flag => deserialize_bool);
    notes!(Kind::Whole => deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64);
    notes!(Kind::Number => deserialize_f32 deserialize_f64);

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.optional = true;
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut item = Asked::default();
        drop(visitor.visit_seq(OneItem(&mut item)));
        match item.kind {
            Some(kind) => self.note(Kind::List(Box::new(kind))),
            None => Err(Error::custom("a list of nothing known")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.note(Kind::Choice(words.iter().map(|word| (*word).to_owned()).collect()))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no kind of argument"))
    }

    forward_to_deserialize_any! {
        i128 u128 bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

/// A list of one item.
struct OneItem<'a>(&'a mut Asked);

impl<'de> SeqAccess<'de> for OneItem<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        seed.deserialize(Recorder(self.0)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_the_type() {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Act {
            View,
            Undo,
        }
        #[derive(Deserialize)]
        struct Arguments {
            _command: Act,
            #[serde(rename = "path")]
            _path: String,
            #[serde(rename = "range")]
            _range: Option<Vec<i64>>,
            #[serde(rename = "seconds")]
            _seconds: Option<f64>,
            #[serde(rename = "sure")]
            _sure: Option<bool>,
        }
        let _ = [Act::View, Act::Undo];
        let schema = Schema::of::<Arguments>();
        let descriptions = BTreeMap::from([("path".to_owned(), "Where it is.".to_owned())]);
        assert_eq!(
            schema.json(&descriptions),
            json!({
                "type": "object",
                "properties": {
                    "_command": {"type": "string", "enum": ["view", "undo"]},
                    "path": {"type": "string", "description": "Where it is."},
                    "range": {"type": "array", "items": {"type": "integer"}},
                    "seconds": {"type": "number"},
                    "sure": {"type": "boolean"},
                },
                "required": ["_command", "path"],
                "additionalProperties": false,
            })
        );
        assert_eq!(schema.get("range").unwrap().kind.word(), "list of whole number");
        assert!(schema.get("_path").is_none());
    }

    #[test]
    fn no_arguments_are_no_parameters() {
        #[derive(Deserialize)]
        struct Nothing {}
        assert_eq!(Schema::of::<Nothing>(), Schema::default());
    }
}
