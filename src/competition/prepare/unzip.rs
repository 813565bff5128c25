//! Unpacks a zip by several threads at once: the entries are listed once, and each thread reads its own at their places in
//! the file. Which thread does what changes nothing of what comes of it.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use zip::ZipArchive;

use crate::prepare::archive::plain;
use crate::prepare::error::PrepareError;
use crate::prepare::window::Window;

/// Entries that a thread takes at once: neighbours lie beside each other in the file.
const RUN: usize = 64;

/// Unpacks a zip into a folder that is there.
pub(crate) fn unzip(archive: &Path, folder: &Path) -> Result<(), PrepareError> {
    let bad = |error: &dyn std::fmt::Display| PrepareError::archive(archive, error);
    let file = File::open(archive).map_err(PrepareError::io("open", archive))?;
    let size = file.metadata().map_err(PrepareError::io("read", archive))?.len();
    let window = Window::new(Arc::new(file), 0..size);
    let reader = ZipArchive::new(window).map_err(|error| bad(&error))?;
    let mut targets: Vec<Option<PathBuf>> = Vec::with_capacity(reader.len());
    for name in reader.file_names() {
        let name = name.map_err(|error| bad(&error))?;
        let path = plain(archive, Path::new(name.as_ref()))?;
        targets.push((!name.ends_with('/')).then(|| folder.join(path)));
    }
    let parents: BTreeSet<&Path> = targets.iter().flatten().filter_map(|target| target.parent()).collect();
    for parent in parents {
        fs::create_dir_all(parent).map_err(PrepareError::io("create", parent))?;
    }
    // Two names of one file would race.
    let mut known = HashSet::new();
    let alone = !targets.iter().flatten().all(|target| known.insert(target.as_path()));
    drop(known);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if alone { 1 } else { threads.min(targets.len() / RUN).max(1) };
    let next = AtomicUsize::new(0);
    let work = |mut reader: ZipArchive<Window>| -> Result<(), PrepareError> {
        loop {
            let first = next.fetch_add(RUN, Ordering::Relaxed);
            if first >= targets.len() {
                return Ok(());
            }
            for (place, target) in targets.iter().enumerate().skip(first).take(RUN) {
                let Some(target) = target else { continue };
                let written = one(archive, &mut reader, place, target);
                if written.is_err() {
                    // The others need not go on.
                    next.store(targets.len(), Ordering::Relaxed);
                    return written;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let reader = reader.clone();
                std::thread::Builder::new().spawn_scoped(scope, || work(reader))
            })
            .collect();
        let mine = work(reader.clone());
        let failed = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        // What a thread that cannot be had would have done, the others do.
        others.into_iter().flatten().map(failed).fold(mine, Result::and)
    })
}

fn one(
    archive: &Path,
    reader: &mut ZipArchive<Window>,
    place: usize,
    target: &Path,
) -> Result<(), PrepareError> {
    let mut entry = reader.by_index(place).map_err(|error| PrepareError::archive(archive, error))?;
    if !entry.is_file() {
        return Ok(());
    }
    let mut file = File::create(target).map_err(PrepareError::io("create", target))?;
    io::copy(&mut entry, &mut file).map_err(PrepareError::io("unpack", target))?;
    Ok(())
}

/// How many bytes the files of a zip have, by its own list; none where it does not say.
pub fn unpacked_bytes(archive: &Path) -> Option<u64> {
    let reader = ZipArchive::new(BufReader::new(File::open(archive).ok()?)).ok()?;
    u64::try_from(reader.decompressed_size()?).ok()
}
