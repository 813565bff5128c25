//! Room on the disk. What a competition takes is a rough figure from the catalog, put right by the true size of its
//! archive; what is promised to those that are under way is not promised twice.

use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

use podium_competition::Competition;

use crate::run::resources::room;

/// How many times its archive a competition takes at most, where the catalog does not say.
const USUAL: f64 = 3.0;

/// What one competition takes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// While it is being prepared.
    pub peak: u64,
    /// Afterwards.
    pub kept: u64,
}

impl Room {
    /// By the catalog: the archive, what it unpacks to and what is prepared. `archive` is its true size, where that is known;
    /// one that lies elsewhere takes nothing here.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rough figures; the cast saturates"
    )]
    pub(super) fn of(
        competition: &Competition,
        archive: Option<u64>,
        elsewhere: bool,
        keep_raw: bool,
    ) -> Self {
        let known = competition.data.size_gb.filter(|size| *size > 0.0);
        let times = match (known, competition.resources.disk_gb) {
            (Some(size), Some(disk)) => (disk / size).max(USUAL),
            _ => USUAL,
        };
        let archive = archive.map_or(known.unwrap_or(0.0) * 1e9, |bytes| bytes as f64);
        let peak = archive * times - if elsewhere { archive } else { 0.0 };
        let kept = if keep_raw { peak } else { archive * (times - 1.0) / 2.0 };
        Self { peak: peak as u64, kept: kept.min(peak) as u64 }
    }

    /// What many of them take at most, `jobs` at a time.
    pub(super) fn of_all(rooms: impl IntoIterator<Item = Self>, jobs: usize) -> u64 {
        let mut kept = 0_u64;
        let mut more: Vec<u64> = Vec::new();
        for room in rooms {
            kept = kept.saturating_add(room.kept);
            more.push(room.peak.saturating_sub(room.kept));
        }
        more.sort_unstable_by(|left, right| right.cmp(left));
        more.iter().take(jobs.max(1)).fold(kept, |sum, more| sum.saturating_add(*more))
    }
}

/// Room that is promised to those under way.
#[derive(Debug)]
pub(super) struct Promised<'a> {
    folder: &'a Path,
    leave_free: u64,
    now: Mutex<(usize, u64)>,
    freed: Condvar,
}

impl<'a> Promised<'a> {
    pub(super) fn new(folder: &'a Path, leave_free: u64) -> Self {
        Self { folder, leave_free, now: Mutex::default(), freed: Condvar::new() }
    }

    /// Waits until there is room, or until nothing else is under way. What those under way have taken by now counts twice,
    /// which is on the safe side.
    pub(super) fn take(&self, room: Room) -> Share<'_, 'a> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        while now.0 > 0 && self.free() < now.1.saturating_add(room.peak) {
            now = self.freed.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        *now = (now.0 + 1, now.1.saturating_add(room.peak));
        Share { of: self, bytes: room.peak }
    }

    /// Bytes that may still be taken.
    pub(super) fn free(&self) -> u64 {
        room(self.folder).saturating_sub(self.leave_free)
    }
}

/// A promise, kept until it is dropped.
pub(super) struct Share<'p, 'a> {
    of: &'p Promised<'a>,
    bytes: u64,
}

impl Drop for Share<'_, '_> {
    fn drop(&mut self) {
        let mut now = self.of.now.lock().unwrap_or_else(PoisonError::into_inner);
        *now = (now.0.saturating_sub(1), now.1.saturating_sub(self.bytes));
        self.of.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_take_what_stays_and_the_largest_steps_at_once() {
        let room = |peak, kept| Room { peak, kept };
        let rooms = [room(30, 10), room(9, 3), room(100, 50)];
        assert_eq!(Room::of_all(rooms, 1), 63 + 50);
        assert_eq!(Room::of_all(rooms, 2), 63 + 50 + 20);
        assert_eq!(Room::of_all(rooms, 9), 63 + 50 + 20 + 6);
        assert_eq!(Room::of_all([], 2), 0);
        assert_eq!(Room::of_all([room(u64::MAX, u64::MAX); 2], 2), u64::MAX);
    }
}
