//! JSON with sorted keys, and its hash.
//!
//! Request hashes decide whether a recorded answer belongs to a request, so they must not depend on a map's
//! insertion order, nor on a feature that some dependency switches on in `serde_json`.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Writes `value` as JSON with the keys of every object in byte order and no white space.
pub fn to_string(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|left, right| left.0.cmp(right.0));
            out.push('{');
            for (position, (key, item)) in entries.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// SHA-256 (lower-case hex) of the sorted-key JSON of `value`.
///
/// # Errors
/// Only for types whose serialisation itself fails (a map with non-string keys, say).
pub fn hash<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    Ok(hash_bytes(to_string(&serde_json::to_value(value)?).as_bytes()))
}

/// SHA-256 of `bytes`, lower-case hex.
pub fn hash_bytes(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let hex = b"0123456789abcdef";
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from(hex.get(usize::from(nibble)).copied().unwrap_or(b'0')));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_at_every_depth() {
        let value = serde_json::json!({"b": [{"z": 1, "a": "é\n"}], "a": null});
        assert_eq!(to_string(&value), r#"{"a":null,"b":[{"a":"é\n","z":1}]}"#);
    }

    #[test]
    fn known_digest() {
        assert_eq!(hash_bytes(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
