//! What a program printed, with its head and tail kept.
//!
//! Memory is bounded by the two limits however much is printed; what lies between is counted. The text is decoded
//! leniently: invalid UTF-8 is replaced, control characters are kept, for it is the reader's part to escape them.

use std::collections::VecDeque;

use podium_types::execution::Output;

/// Collects bytes into a head and a ring for the tail.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    head: Vec<u8>,
    head_limit: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    dropped: u64,
}

impl Recorder {
    pub(crate) fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self { head: Vec::new(), head_limit, tail: VecDeque::new(), tail_limit, dropped: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.head_limit.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // Of a chunk longer than the tail only its end can stay.
        let (skipped, kept) = rest.split_at(rest.len().saturating_sub(self.tail_limit));
        let overflow = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit);
        let overflow = if skipped.is_empty() { overflow } else { self.tail.len() };
        self.tail.drain(..overflow);
        self.tail.extend(kept);
        self.dropped += (skipped.len() + overflow) as u64;
    }

    /// The text. Without a gap everything is the head.
    pub(crate) fn finish(mut self) -> Output {
        let tail = self.tail.make_contiguous();
        if self.dropped == 0 {
            self.head.extend_from_slice(tail);
            return Output { head: decode(&self.head), tail: String::new(), dropped_bytes: 0 };
        }
        Output { head: decode(&self.head), tail: decode(tail), dropped_bytes: self.dropped }
    }
}

fn decode(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(head: usize, tail: usize, chunks: &[&str]) -> Output {
        let mut recorder = Recorder::new(head, tail);
        for chunk in chunks {
            recorder.push(chunk.as_bytes());
        }
        recorder.finish()
    }

    fn output(head: &str, tail: &str, dropped_bytes: u64) -> Output {
        Output { head: head.to_owned(), tail: tail.to_owned(), dropped_bytes }
    }

    #[test]
    fn what_fits_is_all_head() {
        assert_eq!(recorded(4, 4, &["abc", "defgh"]), output("abcdefgh", "", 0));
    }

    #[test]
    fn the_middle_is_counted_whatever_the_chunks() {
        let want = output("abcd", "wxyz", 18);
        let text = "abcdefghijklmnopqrstuvwxyz";
        for size in 1..=text.len() {
            let chunks: Vec<&str> =
                text.as_bytes().chunks(size).map(|chunk| std::str::from_utf8(chunk).unwrap()).collect();
            assert_eq!(recorded(4, 4, &chunks), want, "chunks of {size}");
        }
    }

    #[test]
    fn nothing_kept_is_nothing_kept() {
        assert_eq!(recorded(0, 0, &["abc"]), output("", "", 3));
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        let mut recorder = Recorder::new(10, 10);
        recorder.push(b"a\xff\0b");
        assert_eq!(recorder.finish().head, "a\u{fffd}\0b");
    }
}
