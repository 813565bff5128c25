//! Finding the end of a call in what came through the control descriptor.
//!
//! Whatever runs in a session may write there. What is looked for is the number drawn for the running call, which
//! nobody knew before it was sent; all that stands before it is dropped, so that no junk, however long, can displace
//! what comes later.

use std::{fs::File, io::Read};

use crate::{SandboxError, collect::hex};

/// A longer answer is none of ours.
const LONGEST_BODY: usize = 1 << 20;
/// No header is longer: the number, a decimal number, and a line break.
const LONGEST_HEADER: usize = 96;

/// A number that nobody can guess.
pub(super) fn nonce() -> Result<String, SandboxError> {
    let mut bytes = [0_u8; 16];
    let source = "/dev/urandom";
    File::open(source)
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(SandboxError::io("reading", source))?;
    Ok(hex(&bytes))
}

/// What was told of a call: its number, then a decimal number, and where that counts them, so many bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) number: i64,
    pub(super) body: Vec<u8>,
}

/// What came and was not used yet.
#[derive(Debug, Default)]
pub(super) struct Control {
    bytes: Vec<u8>,
}

impl Control {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Forgets everything: nothing is expected.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// The claim under this number, once it is whole. `with_body` says whether the decimal number counts bytes.
    pub(super) fn claim(&mut self, nonce: &str, with_body: bool) -> Option<Claim> {
        loop {
            let Some(at) = find(&self.bytes, nonce.as_bytes()) else {
                // The number may have come in part.
                let kept = self.bytes.len().min(nonce.len());
                self.bytes.drain(..self.bytes.len() - kept);
                return None;
            };
            self.bytes.drain(..at);
            let rest = self.bytes.get(nonce.len()..).unwrap_or_default();
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                if rest.len() > LONGEST_HEADER {
                    self.bytes.drain(..nonce.len());
                    continue;
                }
                return None;
            };
            let number = rest.get(..end).and_then(|text| std::str::from_utf8(text).ok()?.trim().parse().ok());
            let start = nonce.len() + end + 1;
            let length =
                if with_body { number.and_then(|number: i64| usize::try_from(number).ok()) } else { Some(0) };
            match (number, length) {
                (Some(number), Some(length)) if length <= LONGEST_BODY => {
                    let body = self.bytes.get(start..start + length)?.to_vec();
                    self.bytes.drain(..start + length);
                    return Some(Claim { number, body });
                }
                _ => {
                    self.bytes.drain(..nonce.len());
                }
            }
        }
    }
}

/// Where a text begins.
fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len().max(1)).position(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(number: i64, body: &str) -> Claim {
        Claim { number, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn a_claim_is_found_behind_junk_and_in_pieces() {
        let text = "junk 7\nnonce\nnonce x\n\nnonce 3\nabcrest";
        for size in 1..=text.len() {
            let mut control = Control::default();
            let mut found = None;
            for piece in text.as_bytes().chunks(size) {
                control.push(piece);
                found = found.or_else(|| control.claim("nonce", true));
            }
            assert_eq!(found, Some(claim(3, "abc")), "pieces of {size}");
        }
    }

    #[test]
    fn what_is_no_claim_is_passed_over() {
        let mut control = Control::default();
        control.push(b"nonce -1\nnonce 99999999999\nnonce ");
        control.push(&[b'x'; 200]);
        control.push(b"\nother 5\n");
        assert_eq!(control.claim("nonce", true), None);
        assert!(control.bytes.len() < 10, "junk is not kept: {}", control.bytes.len());
        control.push(b"nonce 130\n");
        assert_eq!(control.claim("nonce", false), Some(claim(130, "")));
    }

    #[test]
    fn numbers_differ() {
        let (first, second) = (nonce().unwrap(), nonce().unwrap());
        assert_eq!(first.len(), 32);
        assert_ne!(first, second);
    }
}
