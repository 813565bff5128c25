//! What is told while competitions are prepared. Numbers of bytes are differences, so whoever adds them up knows how far
//! all of them are.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use podium_download::{DownloadError, Watch};

use crate::run::failpoint;

/// Something that happened to one competition.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// An archive begins to come, or goes on: so many bytes are there of so many.
    Begun {
        /// The competition.
        id: &'a str,
        /// Bytes that are there.
        there: u64,
        /// Bytes in all, where that is known.
        bytes: Option<u64>,
    },
    /// So many bytes are there from before.
    There(u64),
    /// So many bytes more have come.
    Came(u64),
    /// So many bytes are of no use.
    Lost(u64),
    /// A transfer is tried again.
    Again {
        /// The competition.
        id: &'a str,
        /// Why.
        why: &'a DownloadError,
        /// After how long.
        after: Duration,
    },
    /// A step begins.
    Stage {
        /// The competition.
        id: &'a str,
        /// Which.
        stage: Stage,
    },
}

/// A step of one competition, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The sum of an archive is compared with the recorded one.
    Checking,
    /// The archive is unpacked.
    Unpacking,
    /// The data are prepared.
    Preparing,
}

impl Stage {
    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Checking => "checking",
            Self::Unpacking => "unpacking",
            Self::Preparing => "preparing",
        }
    }
}

/// Who is told.
pub(super) type Tell<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// Tells of one competition's transfer.
pub(super) struct Telling<'a> {
    pub(super) id: &'a str,
    pub(super) tell: Tell<'a>,
}

impl Watch for Telling<'_> {
    fn begun(&self, there: u64, bytes: Option<u64>) {
        (self.tell)(Event::Begun { id: self.id, there, bytes });
        instant();
    }

    fn there(&self, bytes: u64) {
        (self.tell)(Event::There(bytes));
    }

    fn came(&self, bytes: u64) {
        (self.tell)(Event::Came(bytes));
        instant();
    }

    fn lost(&self, bytes: u64) {
        (self.tell)(Event::Lost(bytes));
    }

    fn again(&self, why: &DownloadError, after: Duration) {
        (self.tell)(Event::Again { id: self.id, why, after });
    }
}

/// An instant at which a test may kill the process; they are counted over all competitions.
pub(super) fn instant() {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    failpoint::reach("provision", COUNT.fetch_add(1, Ordering::Relaxed) + 1);
}
