//! SHA-256 hashes that name content. One that exists is 64 lower-case hexadecimal digits, wherever it came from, so it
//! can be joined to a path and stays one plain component.

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// A SHA-256, as it is written: 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256(String);

/// Not a SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 of 64 lower-case hexadecimal digits")]
pub struct NoSha256;

impl Sha256 {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_digest(&sha2::Sha256::digest(bytes).into())
    }

    /// A hash that was computed piece by piece.
    pub fn from_digest(digest: &[u8; 32]) -> Self {
        let hex = b"0123456789abcdef";
        let nibbles = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        Self(nibbles.filter_map(|nibble| hex.get(usize::from(nibble))).copied().map(char::from).collect())
    }

    /// The 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Sha256 {
    type Error = NoSha256;

    fn try_from(text: String) -> Result<Self, NoSha256> {
        let right = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if right { Ok(Self(text)) } else { Err(NoSha256) }
    }
}

impl std::str::FromStr for Sha256 {
    type Err = NoSha256;

    fn from_str(text: &str) -> Result<Self, NoSha256> {
        Self::try_from(text.to_owned())
    }
}

impl From<Sha256> for String {
    fn from(hash: Sha256) -> Self {
        hash.0
    }
}

impl std::fmt::Display for Sha256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn only_a_hash_becomes_one() {
        assert_eq!(Sha256::of(b"abc").as_str(), ABC);
        assert_eq!(ABC.parse(), Ok(Sha256::of(b"abc")));
        let path = format!("../../{}", &ABC[6..]);
        let (upper, long) = (ABC.to_uppercase(), format!("{ABC}0"));
        for wrong in ["", "abc", &ABC[1..], &long, &upper, &path, &ABC.replace('b', "é")] {
            assert_eq!(wrong.parse::<Sha256>(), Err(NoSha256), "{wrong}");
            let json = serde_json::to_string(wrong).unwrap();
            assert!(serde_json::from_str::<Sha256>(&json).is_err(), "{wrong}");
        }
        let json = format!("\"{ABC}\"");
        let hash: Sha256 = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&hash).unwrap(), json);
    }
}
