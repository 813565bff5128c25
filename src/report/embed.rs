//! Text of any origin inside HTML: no character of it is ever read as markup, as script, or as a direction mark.

use std::fmt::Write as _;

use podium_types::hidden::is_hidden;
use serde::Serialize;
use sha2::Digest as _;

/// Text between tags or in a quoted attribute. Control characters and marks that hide or reorder text are spelled out.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            _ if character.is_control() || is_hidden(character) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "[U+{:04X}]", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out
}

/// JSON inside a `script` element of a type that is no script: the same document, in which no `<` can end the element
/// or begin a comment, and no character is invisible. They stand inside strings only.
///
/// # Errors
/// When the value has no JSON form.
pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, serde_json::Error> {
    let plain = serde_json::to_string(value)?;
    let mut out = String::with_capacity(plain.len() + plain.len() / 16);
    let mut units = [0; 2];
    for character in plain.chars() {
        if matches!(character, '<' | '>' | '&') || character.is_control() || is_hidden(character) {
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    Ok(out)
}

/// The source expression by which a content security policy allows exactly this inline script or style
/// (Content Security Policy Level 3, section 6.7.3).
pub fn allowed(content: &str) -> String {
    format!("'sha256-{}'", base64(&sha2::Sha256::digest(content.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            let letter = ALPHABET.get(digit as usize).copied().map_or('=', char::from);
            out.push(if place > group.len() { '=' } else { letter });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_as_markup_or_script() {
        let hostile = "</script><!-- & \u{202e}\u{e0041}\u{7}'\"";
        assert_eq!(text(hostile), "&lt;/script&gt;&lt;!-- &amp; [U+202E][U+E0041][U+0007]&#39;&quot;");
        let embedded = json(hostile).unwrap();
        assert!(embedded.is_ascii() && !embedded.contains(['<', '>', '&']), "{embedded}");
        assert_eq!(serde_json::from_str::<String>(&embedded).unwrap(), hostile);
    }

    /// RFC 4648, section 10, and the digest of nothing.
    #[test]
    fn hashes_are_written_as_policies_want_them() {
        let table = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in table {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(allowed(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}
