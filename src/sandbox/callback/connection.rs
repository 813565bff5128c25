//! One connection of a hostile client: bytes with a bound, waits with an end.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

use super::http::{self, Answer, Head};

/// Bytes read at a time.
const PIECE: usize = 64 << 10;
/// A body may pause for so long.
const STALL: Duration = Duration::from_secs(5);
/// An answer must have left after so long.
const SEND: Duration = Duration::from_secs(10);
/// After an early answer what still arrives is thrown away for so long, so that a client that sends first and reads
/// then is not cut off before it has read.
const LEAVE: Duration = Duration::from_secs(2);

/// A connection, with what was read of it and not used yet.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
    /// Bytes of the present body that were not taken.
    body: u64,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, read: Vec::new(), body: 0 }
    }

    /// The next request's head; `None` at the end of the connection. What is no request has its answer already.
    pub(super) async fn head(&mut self) -> Result<Option<Head>, io::Result<Answer>> {
        loop {
            if let Some((head, size)) = http::parse(&self.read).map_err(Ok)? {
                self.read.drain(..size);
                return Ok(Some(head));
            }
            let room = http::HEAD.saturating_sub(self.read.len()).max(1);
            let mut limited = (&mut self.stream).take(room as u64);
            if limited.read_buf(&mut self.read).await.map_err(Err)? == 0 {
                return Ok(None);
            }
        }
    }

    /// A body of so many bytes follows.
    pub(super) fn expect_body(&mut self, bytes: u64) {
        self.body = bytes;
    }

    /// The whole body was taken, so a request may follow.
    pub(super) fn is_at_request(&self) -> bool {
        self.body == 0
    }

    /// The next piece of the body, empty at its end.
    pub(super) async fn piece(&mut self) -> io::Result<Vec<u8>> {
        if self.body == 0 {
            return Ok(Vec::new());
        }
        if self.read.is_empty() {
            self.read.reserve(PIECE);
            let mut limited = (&mut self.stream).take(PIECE as u64);
            let stalled = |_| io::Error::from(io::ErrorKind::TimedOut);
            if timeout(STALL, limited.read_buf(&mut self.read)).await.map_err(stalled)?? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let rest = usize::try_from(self.body).unwrap_or(usize::MAX).min(self.read.len());
        let after = self.read.split_off(rest);
        let piece = std::mem::replace(&mut self.read, after);
        self.body -= rest as u64;
        Ok(piece)
    }

    /// Sends everything, or gives up.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        timeout(SEND, self.stream.write_all(bytes)).await.map_err(late)?
    }

    /// Ends the connection without cutting the answer off.
    pub(super) async fn leave(mut self) {
        let deadline = Instant::now() + LEAVE;
        if self.stream.shutdown().await.is_err() {
            return;
        }
        let mut nothing = vec![0_u8; PIECE];
        while let Ok(Ok(1..)) = timeout_at(deadline, self.stream.read(&mut nothing)).await {}
    }
}
