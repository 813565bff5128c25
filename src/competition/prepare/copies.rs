//! Many files to their places, by several threads. A file in an archive is written straight to where it is wanted; one on
//! the disk that is going to be removed anyway is only given a second name.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::prepare::error::PrepareError;
use crate::prepare::members::Scratch;
use crate::prepare::raw::Source;

/// Files that a thread takes at once: neighbours lie beside each other in an archive.
const RUN: usize = 64;

/// More threads than this wait for the same folder.
const COPIERS: usize = 4;

/// Copies all of them. What lies in the folder `ours` is going to be removed.
pub(super) fn copy_all(mut pairs: Vec<(Source, PathBuf)>, ours: &Path) -> Result<(), PrepareError> {
    // An archive is read from its front to its end.
    pairs.sort_by_key(|(source, _)| match source {
        Source::Path(_) => (0, 0),
        Source::Member(members, place) => (members.number + 1, members.offset(*place)),
    });
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(COPIERS).min(pairs.len().div_ceil(RUN));
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), PrepareError> {
        let mut scratch = Scratch::default();
        loop {
            let first = next.fetch_add(RUN, Ordering::Relaxed);
            let run = pairs.iter().skip(first).take(RUN);
            if run.len() == 0 {
                return Ok(());
            }
            for (source, target) in run {
                if let Err(error) = one(source, target, ours, &mut scratch) {
                    // The others need not go on.
                    next.store(pairs.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| thread::Builder::new().spawn_scoped(scope, work)).collect();
        let mine = work();
        // What a thread that cannot be had would have done, the others do.
        let ends = others.into_iter().flatten().map(|thread| match thread.join() {
            Ok(end) => end,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ends.fold(mine, Result::and)
    })
}

fn one(source: &Source, target: &Path, ours: &Path, scratch: &mut Scratch) -> Result<(), PrepareError> {
    match source {
        Source::Member(members, place) => members.write(*place, target, scratch),
        Source::Path(from) if from.starts_with(ours) && is_linked(from, target) => Ok(()),
        Source::Path(from) => copy_file(from, target),
    }
}

/// Gives a file a second name; false where that cannot be, and it has to be copied.
fn is_linked(from: &Path, to: &Path) -> bool {
    match fs::hard_link(from, to) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(to).and_then(|()| fs::hard_link(from, to)).is_ok()
        }
        Err(_) => false,
    }
}

fn copy_file(from: &Path, to: &Path) -> Result<(), PrepareError> {
    let mut source = File::open(from).map_err(PrepareError::io("open", from))?;
    let mut target = File::create(to).map_err(PrepareError::io("create", to))?;
    io::copy(&mut source, &mut target).map_err(PrepareError::io("copy", from))?;
    Ok(())
}
