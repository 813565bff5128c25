//! Progress of competitions that are fetched and prepared: a line for each step, and how much of all archives has come, at
//! which rate, for how long still. Where somebody looks the last line changes by itself; elsewhere it comes once a minute.

use std::collections::VecDeque;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cli::terminal::{Terminal, escape};
use crate::provision::Event;

/// The rate is that of the last so many seconds.
const RECENT: Duration = Duration::from_secs(20);

/// How often the line changes, where somebody looks.
const LIVE: Duration = Duration::from_millis(500);

/// How often it comes elsewhere.
const QUIET: Duration = Duration::from_mins(1);

/// The progress of one batch.
pub(crate) struct Progress<'a> {
    terminal: &'a Terminal,
    so_far: Mutex<SoFar>,
}

struct SoFar {
    /// Bytes that are there, those of former sittings included.
    there: u64,
    /// Bytes in all.
    expected: u64,
    ready: usize,
    all: usize,
    /// Bytes that came, and when.
    recent: VecDeque<(Instant, u64)>,
    /// A line that is to be overwritten stands there.
    is_open: bool,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(terminal: &'a Terminal) -> Self {
        let so_far =
            SoFar { there: 0, expected: 0, ready: 0, all: 0, recent: VecDeque::new(), is_open: false };
        Self { terminal, so_far: Mutex::new(so_far) }
    }

    /// So many competitions, so many bytes to fetch.
    pub(crate) fn expect(&self, all: usize, bytes: u64) {
        let mut so_far = self.so_far();
        (so_far.all, so_far.expected, so_far.there) = (all, bytes, 0);
    }

    fn so_far(&self) -> std::sync::MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note.
    pub(crate) fn tell(&self, event: Event<'_>) {
        match event {
            Event::Begun { id, there, bytes } => {
                let of = bytes.map(|bytes| format!(" of {}", size(bytes))).unwrap_or_default();
                let from = if there > 0 { format!(", {} are there", size(there)) } else { String::new() };
                self.line(&format!("{id}: fetching{of}{from}"));
            }
            Event::There(bytes) => {
                let mut so_far = self.so_far();
                so_far.there = so_far.there.saturating_add(bytes);
            }
            Event::Came(bytes) => self.so_far().came(bytes, Instant::now()),
            Event::Lost(bytes) => {
                let mut so_far = self.so_far();
                so_far.there = so_far.there.saturating_sub(bytes);
            }
            Event::Again { id, why, after } => {
                self.line(&format!("{id}: {why}; again in {:.1} s", after.as_secs_f64()));
            }
            Event::Stage { id, stage } => self.line(&format!("{id}: {}", stage.as_str())),
        }
    }

    /// Prints something of its own, and counts one competition more as done.
    pub(crate) fn around(&self, print: impl FnOnce()) {
        let mut so_far = self.so_far();
        so_far.ready += 1;
        so_far.close(self.terminal);
        print();
    }

    fn line(&self, text: &str) {
        let mut so_far = self.so_far();
        so_far.close(self.terminal);
        self.terminal.error_line(&escape(text));
    }

    /// Does `work`, and shows how far it is meanwhile.
    pub(crate) fn shown<T>(&self, work: impl FnOnce() -> T) -> T {
        let every = if self.terminal.is_live() { LIVE } else { QUIET };
        std::thread::scope(|scope| {
            let (done, ended) = mpsc::channel::<()>();
            let show = move || {
                while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(every) {
                    let mut so_far = self.so_far();
                    let line = so_far.summary(Instant::now());
                    if self.terminal.is_live() {
                        self.terminal.error_raw(&format!("\r\u{1b}[K{line}"));
                        so_far.is_open = true;
                    } else {
                        self.terminal.error_line(&line);
                    }
                }
                self.so_far().close(self.terminal);
            };
            // Without a thread there are only the lines of the steps.
            let shower = std::thread::Builder::new().spawn_scoped(scope, show);
            let made = work();
            drop(done);
            if let Ok(shower) = shower {
                let _ = shower.join();
            }
            made
        })
    }
}

impl SoFar {
    fn came(&mut self, bytes: u64, now: Instant) {
        self.there = self.there.saturating_add(bytes);
        match self.recent.back_mut() {
            // One entry for each tenth of a second.
            Some((at, sum)) if now.duration_since(*at) < Duration::from_millis(100) => *sum += bytes,
            _ => self.recent.push_back((now, bytes)),
        }
        while self.recent.front().is_some_and(|(at, _)| now.duration_since(*at) > RECENT) {
            self.recent.pop_front();
        }
    }

    fn close(&mut self, terminal: &Terminal) {
        if std::mem::take(&mut self.is_open) {
            terminal.error_raw("\r\u{1b}[K");
        }
    }

    /// `3 of 22 ready, 1.2 of 60.5 GB (2 %), 12.1 MB/s, about 1 h 22 min`.
    fn summary(&self, now: Instant) -> String {
        let mut line = format!("{} of {} ready", self.ready, self.all);
        if self.expected == 0 {
            return line;
        }
        let share = self.there as f64 / self.expected as f64 * 100.0;
        line = format!("{line}, {} of {} ({share:.0} %)", size(self.there), size(self.expected));
        let bytes: u64 = self.recent.iter().map(|(_, bytes)| bytes).sum();
        let since = self.recent.front().map(|(at, _)| now.duration_since(*at).as_secs_f64());
        let rate = bytes as f64 / since.filter(|since| *since > 0.0).unwrap_or(f64::INFINITY);
        if rate > 0.0 {
            line = format!("{line}, {:.1} MB/s", rate / 1e6);
            let left = self.expected.saturating_sub(self.there) as f64 / rate;
            if left > 0.0 {
                line = format!("{line}, about {}", time(left));
            }
        }
        line
    }
}

/// Bytes as disks are sold.
pub(crate) fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        1e9.. => format!("{:.1} GB", bytes / 1e9),
        1e6.. => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.1} kB", bytes / 1e3),
    }
}

fn time(seconds: f64) -> String {
    let minutes = (seconds / 60.0).ceil();
    match minutes {
        0.0..=1.0 => format!("{seconds:.0} s"),
        ..120.0 => format!("{minutes:.0} min"),
        _ => format!("{:.0} h {:.0} min", (minutes / 60.0).floor(), minutes % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_estimate_are_those_of_the_last_seconds() {
        let begun = Instant::now();
        let mut so_far =
            SoFar { there: 0, expected: 0, ready: 1, all: 3, recent: VecDeque::new(), is_open: false };
        assert_eq!(so_far.summary(begun), "1 of 3 ready");
        so_far.expected = 10_000_000_000;
        assert_eq!(so_far.summary(begun), "1 of 3 ready, 0.0 kB of 10.0 GB (0 %)");
        // A first part that came slowly is forgotten.
        so_far.came(1, begun);
        for second in 100..=110 {
            so_far.came(100_000_000, begun + Duration::from_secs(second));
        }
        let line = so_far.summary(begun + Duration::from_secs(110));
        assert_eq!(line, "1 of 3 ready, 1.1 GB of 10.0 GB (11 %), 110.0 MB/s, about 2 min");
        assert_eq!(time(4920.0), "82 min");
        assert_eq!(time(8000.0), "2 h 14 min");
    }
}
