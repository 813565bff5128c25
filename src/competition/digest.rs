//! SHA-256 in hexadecimal, of files and of what was read.

use std::fmt::Write;

/// A finished hash as text.
pub(crate) fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
