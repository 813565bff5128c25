//! Being told to stop: what a command does that must not leave its folders and control groups behind.
//!
//! What kills a harness on the spot is swept at the next start; the ordinary ways to end a command clear up at once.

use std::io;
use std::task::{Context, Waker};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What somebody wants who sends a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Ctrl-C: that what goes on is stopped.
    Interrupt,
    /// SIGTERM or SIGHUP: that the command ends.
    End,
}

/// Ctrl-C, SIGTERM and SIGHUP, from when this was made.
pub(crate) struct Signals {
    int: Signal,
    term: Signal,
    hup: Signal,
}

impl Signals {
    /// To be called inside a runtime.
    ///
    /// # Errors
    /// When no signal can be watched.
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for one of them.
    pub(crate) async fn any(&mut self) -> Told {
        tokio::select! {
            _ = self.int.recv() => Told::Interrupt,
            _ = self.term.recv() => Told::End,
            _ = self.hup.recv() => Told::End,
        }
    }

    /// Passes over the interrupts that have come: they were for something that is over.
    pub(crate) fn forget_interrupts(&mut self) {
        while self.int.poll_recv(&mut Context::from_waker(Waker::noop())).is_ready() {}
    }
}
