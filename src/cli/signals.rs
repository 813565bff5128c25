//! Being told to stop: what a command does that must not leave its folders and control groups behind.
//!
//! What kills a harness on the spot is swept at the next start; the ordinary ways to end a command clear up at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

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
    pub(crate) async fn any(&mut self) {
        tokio::select! {
            _ = self.int.recv() => {}
            () = Self::end(&mut self.term, &mut self.hup) => {}
        }
    }

    /// Waits for one that is no interrupt, or for an interrupt from now on.
    pub(crate) async fn any_from_now(&mut self) {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = Self::end(&mut self.term, &mut self.hup) => {}
        }
    }

    async fn end(term: &mut Signal, hup: &mut Signal) {
        tokio::select! {
            _ = term.recv() => {}
            _ = hup.recv() => {}
        }
    }
}
