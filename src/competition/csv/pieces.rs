//! A file in pieces, read as they are asked for or ahead of time by a thread of its own. Where a piece ends changes
//! nothing in what is read.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

/// Most bytes of a piece.
const PIECE: usize = 32 * 1024;
/// Pieces that are read ahead or in use at one time.
const DEPTH: usize = 3;
/// A character that a piece cut is put together in front of the next piece: room for all but its last byte.
const FRONT: usize = 3;

/// The begin of a character whose end has not come yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    bytes: [u8; FRONT],
    length: usize,
}

impl Held {
    /// At most three bytes.
    pub(crate) fn of(rest: &[u8]) -> Self {
        let mut bytes = [0; FRONT];
        bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Self { bytes, length: rest.len().min(FRONT) }
    }
}

/// A piece, with room in front.
#[derive(Debug)]
pub(crate) struct Piece {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Piece {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; FRONT + PIECE].into_boxed_slice(), start: FRONT, end: FRONT }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Puts what the piece before ended with in front of this one.
    pub(crate) fn put_in_front(&mut self, held: &Held) {
        self.start = FRONT - held.length;
        if let Some(front) = self.buffer.get_mut(self.start..FRONT) {
            front.iter_mut().zip(held.bytes).for_each(|(to, from)| *to = from);
        }
    }

    /// Reads once; nothing is the end of the file.
    fn fill(&mut self, input: &mut impl Read) -> io::Result<usize> {
        (self.start, self.end) = (FRONT, FRONT);
        loop {
            match input.read(self.buffer.get_mut(FRONT..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.end = FRONT + read;
                    return Ok(read);
                }
            }
        }
    }
}

/// Where pieces come from.
pub(crate) trait Pieces {
    /// The next piece for a used one; it is empty at the end of the file.
    fn next(&mut self, used: Piece) -> io::Result<Piece>;
}

impl Pieces for &mut dyn Pieces {
    fn next(&mut self, used: Piece) -> io::Result<Piece> {
        (**self).next(used)
    }
}

/// Each piece is read when it is asked for.
pub(crate) struct Direct<R>(pub(crate) R);

impl<R: Read> Pieces for Direct<R> {
    fn next(&mut self, mut used: Piece) -> io::Result<Piece> {
        used.fill(&mut self.0).map(|_| used)
    }
}

/// Pieces that another thread reads ahead.
pub(crate) struct Ahead {
    filled: Receiver<io::Result<Piece>>,
    used: Sender<Piece>,
}

impl Pieces for Ahead {
    fn next(&mut self, used: Piece) -> io::Result<Piece> {
        // After the end nobody wants it.
        let _ = self.used.send(used);
        self.filled.recv().unwrap_or_else(|_| Err(io::Error::other("the reading has ended")))
    }
}

/// Calls `take` with the pieces of `input`, which a thread reads ahead; none where no thread could be had, and nothing
/// was read then.
pub(crate) fn ahead<T>(input: impl Read + Send, take: impl FnOnce(Ahead) -> T) -> Option<T> {
    let (fill, filled) = sync_channel(DEPTH);
    let (used, free) = channel::<Piece>();
    let read = move || {
        let mut input = input;
        for mut piece in free {
            let read = piece.fill(&mut input);
            let ended = !matches!(read, Ok(1..));
            // Nobody wants more where the other end is gone.
            if fill.send(read.map(|_| piece)).is_err() || ended {
                return;
            }
        }
    };
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, read).ok()?;
        for _ in 1..DEPTH {
            let _ = used.send(Piece::new());
        }
        Some(take(Ahead { filled, used }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads its numbers' worth of bytes one after the other, then fails or ends.
    struct Odd {
        sizes: Vec<usize>,
        fails: bool,
    }

    impl Read for Odd {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.sizes.pop() {
                Some(size) => {
                    let size = size.min(buffer.len());
                    buffer[..size].fill(u8::try_from(self.sizes.len() % 251).unwrap());
                    Ok(size)
                }
                None if self.fails => Err(io::Error::other("the disk is gone")),
                None => Ok(0),
            }
        }
    }

    fn all(mut pieces: impl Pieces) -> (Vec<u8>, bool) {
        let mut bytes = Vec::new();
        let mut piece = Piece::new();
        loop {
            piece = match pieces.next(piece) {
                Ok(piece) if piece.bytes().is_empty() => return (bytes, true),
                Ok(piece) => piece,
                Err(_) => return (bytes, false),
            };
            bytes.extend_from_slice(piece.bytes());
        }
    }

    #[test]
    fn what_is_read_ahead_is_what_is_read() {
        for fails in [false, true] {
            let odd = || Odd { sizes: (0..500).map(|number| 1 + number * 7919 % 150_000).collect(), fails };
            assert_eq!(ahead(odd(), all), Some(all(Direct(odd()))));
        }
    }

    #[test]
    fn one_who_has_seen_enough_need_not_read_to_the_end() {
        let endless = io::repeat(b'x');
        let first = ahead(endless, |mut pieces| pieces.next(Piece::new()).unwrap().bytes().len());
        assert_eq!(first, Some(PIECE));
    }

    #[test]
    fn a_cut_character_is_put_together() {
        for held in ["", "a", "ab", "abc"] {
            let mut piece = Piece::new();
            piece.fill(&mut b"def".as_slice()).unwrap();
            piece.put_in_front(&Held::of(held.as_bytes()));
            assert_eq!(piece.bytes(), format!("{held}def").as_bytes());
        }
    }
}
