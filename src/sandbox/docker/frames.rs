//! What comes out of a container: the program's output, and the shell's word on how it ended.
//!
//! Both outputs of the program are one stream. The other belongs to the shell around it (see
//! [`container`](super::container)), which prints a line with the exit code there; a shell prints a word on a crash
//! before it. The program can print there too, so what is kept is bounded, and what it says is a claim.

use std::{pin::Pin, time::Duration};

use bollard::{container::LogOutput, errors::Error as ClientError};
use futures_util::{Stream, StreamExt};
use podium_types::execution::Output;
use tokio::time::timeout;

use crate::output::Recorder;

/// More than a shell says.
const MOST_SAID: usize = 4096;

type Attached = Pin<Box<dyn Stream<Item = Result<LogOutput, ClientError>> + Send>>;

/// The stream, and what is kept of it.
pub(super) struct Frames<'a> {
    stream: Option<&'a mut Attached>,
    recorder: Recorder,
    said: Vec<u8>,
}

impl<'a> Frames<'a> {
    /// Keeps `head` bytes of the output from its beginning and `tail` from its end.
    pub(super) fn new(stream: &'a mut Attached, head: usize, tail: usize) -> Self {
        Self { stream: Some(stream), recorder: Recorder::new(head, tail), said: Vec::new() }
    }

    pub(super) fn are_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Takes one piece; may be dropped while it waits.
    pub(super) async fn read(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        match stream.next().await {
            Some(Ok(LogOutput::StdErr { message })) => {
                let room = MOST_SAID.saturating_sub(self.said.len());
                self.said.extend(message.iter().take(room));
            }
            Some(Ok(piece)) => self.recorder.push(&piece.into_bytes()),
            Some(Err(_)) | None => self.stream = None,
        }
    }

    /// The exit code, once it was said: the first line that is a number.
    pub(super) fn code(&self) -> Option<i32> {
        let text = self.said.get(..=self.said.iter().rposition(|byte| *byte == b'\n')?)?;
        String::from_utf8_lossy(text).lines().find_map(|line| line.parse().ok().filter(|code| *code >= 0))
    }

    /// Takes what is left.
    pub(super) async fn drain(&mut self, limit: Duration) {
        let all = async {
            while self.are_open() {
                self.read().await;
            }
        };
        let _ = timeout(limit, all).await;
    }

    pub(super) fn finish(self) -> Output {
        self.recorder.finish()
    }
}
