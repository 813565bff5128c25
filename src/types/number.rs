//! Floats that survive JSON.
//!
//! `serde_json` writes NaN and infinities as `null`, and SQLite turns NaN into NULL. Scores may be either, and both
//! mean something, so they are stored as the strings `"NaN"`, `"Infinity"` and `"-Infinity"`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A float with a lossless JSON form. Compares bitwise for NaN, so that records can be compared.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || (self.0.is_nan() && other.0.is_nan())
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(value)
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match word(self.0) {
            Some(word) => f.write_str(word),
            None => write!(f, "{}", self.0),
        }
    }
}

fn word(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value == f64::INFINITY {
        Some("Infinity")
    } else if value == f64::NEG_INFINITY {
        Some("-Infinity")
    } else {
        None
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match word(self.0) {
            Some(word) => serializer.serialize_str(word),
            None => serializer.serialize_f64(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Number;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, \"NaN\", \"Infinity\" or \"-Infinity\"")
            }
            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Number, E> {
                match text {
                    "NaN" => Ok(Number(f64::NAN)),
                    "Infinity" => Ok(Number(f64::INFINITY)),
                    "-Infinity" => Ok(Number(f64::NEG_INFINITY)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1, -0.0, 1e300, 1.0] {
            let text = serde_json::to_string(&Number(value)).unwrap();
            assert_eq!(serde_json::from_str::<Number>(&text).unwrap(), Number(value), "{text}");
        }
    }

    /// A metric that comes back from the journal one unit in the last place off asks for another request than the one
    /// that is journaled: a resume would refuse the run.
    #[test]
    fn every_float_comes_back_to_the_last_bit() {
        let mut rng = crate::rng::Rng::new(5);
        for _ in 0..20_000 {
            let value = rng.uniform() * 10_f64.powi(i32::try_from(rng.below(30)).unwrap() - 15);
            let text = serde_json::to_string(&Number(value)).unwrap();
            let back: Number = serde_json::from_str(&text).unwrap();
            assert_eq!(back.0.to_bits(), value.to_bits(), "{text}");
            let tree: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(tree.as_f64().map(f64::to_bits), Some(value.to_bits()), "{text}");
        }
    }
}
