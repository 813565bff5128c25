//! Reading the program's output pipe, whose other end hostile code holds.

use std::{
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use podium_types::execution::Output;
use tokio::{io::AsyncReadExt, net::unix::pipe, time::timeout};

use crate::{SandboxError, output::Recorder, tree::poll_failed};

/// A larger pipe means fewer turns for a program that prints much; not every user may have it.
const PIPE_BYTES: usize = 1 << 20;

/// The reading end, and what is kept of what came through.
pub(crate) struct Reader {
    pipe: Option<pipe::Receiver>,
    buffer: Vec<u8>,
    kept: Kept,
}

/// What is kept of the output. Shared, so that it can be taken by whoever looks while another reads on.
#[derive(Clone)]
pub(crate) struct Kept {
    recorder: Arc<Mutex<Recorder>>,
    limits: (usize, usize),
}

impl Kept {
    fn new(head: usize, tail: usize) -> Self {
        Self { recorder: Arc::new(Mutex::new(Recorder::new(head, tail))), limits: (head, tail) }
    }

    fn recorder(&self) -> MutexGuard<'_, Recorder> {
        // Nothing that holds the lock can panic half-way.
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, bytes: &[u8]) {
        self.recorder().push(bytes);
    }

    /// What was kept since the last time, which stays.
    pub(crate) fn copy(&self) -> Output {
        self.recorder().clone().finish()
    }

    /// What was kept since the last time.
    pub(crate) fn take(&self) -> Output {
        let (head, tail) = self.limits;
        std::mem::replace(&mut *self.recorder(), Recorder::new(head, tail)).finish()
    }
}

impl Reader {
    /// Keeps `head` bytes from the beginning and `tail` from the end.
    pub(crate) fn new(output: OwnedFd, head: usize, tail: usize) -> Result<Self, SandboxError> {
        let _ = rustix::pipe::fcntl_setpipe_size(&output, PIPE_BYTES);
        let pipe = pipe::Receiver::from_owned_fd(output).map_err(poll_failed)?;
        Ok(Self { pipe: Some(pipe), buffer: vec![0; 256 << 10], kept: Kept::new(head, tail) })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Reads once; may be dropped while it waits.
    pub(crate) async fn read(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(&mut self.buffer).await {
            Ok(count) if count > 0 => self.kept.push(self.buffer.get(..count).unwrap_or_default()),
            // The end of the pipe, or a pipe that cannot be read, which is the same to us.
            _ => self.pipe = None,
        }
    }

    /// Reads what is in the pipe at this moment and no more, so that something that prints without end holds up
    /// nobody.
    pub(crate) fn catch_up(&mut self) {
        let Some(pipe) = &self.pipe else { return };
        let mut left = usize::try_from(rustix::io::ioctl_fionread(pipe).unwrap_or(0)).unwrap_or(0);
        while left > 0 {
            // Past the runtime, which may not know yet of bytes that came a moment ago.
            let room = self.buffer.len().min(left);
            let Some(buffer) = self.buffer.get_mut(..room) else { return };
            match rustix::io::read(pipe, &mut *buffer) {
                Ok(count @ 1..) => {
                    self.kept.push(buffer.get(..count).unwrap_or_default());
                    left -= count.min(left);
                }
                Ok(0) | Err(_) => return,
            }
        }
    }

    /// Reads what is left. Something that escaped may still hold the pipe, so not for ever.
    pub(crate) async fn drain(&mut self, limit: Duration) {
        let all = async {
            while self.is_open() {
                self.read().await;
            }
        };
        let _ = timeout(limit, all).await;
    }

    /// Where the output is kept.
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }
}
