//! Unpacks a bundle that may be hostile: into a folder of its own, only what its manifest names, nothing but plain files
//! with plain names, never more bytes than were announced and allowed.

use std::collections::BTreeSet;
use std::fs::File as Opened;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::path::{Component, Path};

use podium_types::sha256::Sha256;

use super::{
    BundleError, FORMAT, File, LARGEST_MANIFEST, MANIFEST, MOST_FILES, Manifest, append, compressor, io,
    json, parsed,
};
use crate::run::folder::content::hash_of;
use crate::run::resources::room;

/// Bytes that a canonical archive has after its last file: two blocks of zeros.
const END: usize = 1024;

/// A file, or a place in the archive, that is not as it was packed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Which.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
}

impl Problem {
    pub(super) fn new(file: &str, problem: impl Into<String>) -> Self {
        Self { file: file.to_owned(), problem: problem.into() }
    }
}

/// What was unpacked.
pub(super) struct Unpacked {
    /// Files of the manifest.
    pub(super) files: BTreeSet<String>,
    /// What is not as it was packed.
    pub(super) problems: Vec<Problem>,
}

/// Hashes all that is read.
struct Hashing<R> {
    inner: R,
    hasher: sha2::Sha256,
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.inner.read(buffer)?;
        sha2::Digest::update(&mut self.hasher, buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// Unpacks `bundle` into the empty folder `into`, at most `most` bytes.
///
/// # Errors
/// What no bundle is; what does not read on. A file that differs from its manifest is a problem, no error.
pub(super) fn unpack(bundle: &Path, into: &Path, most: u64) -> Result<Unpacked, BundleError> {
    let mut file = BufReader::new(Opened::open(bundle).map_err(io("read", bundle))?);
    let canonical = compressor(Vec::new()).finish().map_err(io("read", bundle))?;
    let start = file.fill_buf().map_err(io("read", bundle))?;
    if !start.starts_with(&[0x1f, 0x8b]) {
        return Err(BundleError::Refused("it is no compressed archive".to_owned()));
    }
    let mut problems = Vec::new();
    if start.get(..10) != canonical.get(..10) {
        problems.push(Problem::new("the archive", "its first bytes are not those of a bundle"));
    }
    let decompressed = flate2::bufread::GzDecoder::new(file);
    // Headers and padding are at most 1 KiB a file; the manifest says how many files there are before any is written.
    let bounded =
        decompressed.take(most.saturating_add(LARGEST_MANIFEST).saturating_add((MOST_FILES as u64) << 10));
    let mut archive = tar::Archive::new(Hashing { inner: bounded, hasher: sha2::Digest::new() });
    let manifest = {
        let mut entries = archive.entries().map_err(damaged(MANIFEST))?.raw(true);
        let manifest = first(&mut entries)?;
        check(&manifest, into, most)?;
        for expected in &manifest.files {
            let entry = entries
                .next()
                .ok_or_else(|| BundleError::Refused(format!("{} is not in it", expected.path)))?;
            problems.extend(take(entry, expected, into)?);
        }
        if let Some(entry) = entries.next() {
            entry.map_err(damaged("its end"))?;
            return Err(BundleError::Refused("it holds more than its manifest names".to_owned()));
        }
        manifest
    };
    let mut read = archive.into_inner();
    drain(&mut read)?;
    let mut rest = read.inner.into_inner().into_inner();
    if !rest.fill_buf().map_err(io("read", bundle))?.is_empty() {
        problems.push(Problem::new("the archive", "something stands after its end"));
    }
    let found = Sha256::from_digest(&sha2::Digest::finalize(read.hasher).into());
    if problems.is_empty() && found != repacked(&manifest, into)? {
        problems.push(Problem::new("the archive", "bytes between its files are not as they were packed"));
    }
    Ok(Unpacked { files: manifest.files.into_iter().map(|file| file.path).collect(), problems })
}

fn damaged(at: &str) -> impl FnOnce(std::io::Error) -> BundleError {
    let at = at.to_owned();
    move |source| BundleError::Damaged { at, source }
}

/// The manifest, which is the first entry.
fn first<'a, R: Read + 'a>(entries: &mut tar::Entries<'a, R>) -> Result<Manifest, BundleError> {
    let none = || BundleError::Refused("it is empty".to_owned());
    let mut entry = entries.next().ok_or_else(none)?.map_err(damaged(MANIFEST))?;
    plain(&entry, MANIFEST)?;
    if entry.size() > LARGEST_MANIFEST {
        return Err(BundleError::Refused(format!("its manifest has {} bytes", entry.size())));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(damaged(MANIFEST))?;
    let manifest: Manifest = parsed(MANIFEST, &bytes)?;
    if json(MANIFEST, &manifest)? != bytes {
        return Err(BundleError::Refused(format!("{MANIFEST} was changed")));
    }
    if manifest.format != FORMAT {
        return Err(BundleError::Refused(format!("its format is {}, and {FORMAT} is read", manifest.format)));
    }
    Ok(manifest)
}

/// Refuses what a manifest must not announce, before anything is written.
fn check(manifest: &Manifest, into: &Path, most: u64) -> Result<(), BundleError> {
    if manifest.files.len() > MOST_FILES {
        return Err(BundleError::Refused(format!("it has {} files", manifest.files.len())));
    }
    let mut names = BTreeSet::new();
    let mut total: u64 = 0;
    for file in &manifest.files {
        if !is_plain(&file.path) {
            return Err(BundleError::Refused(format!("`{}` is no name of a file in it", file.path)));
        }
        if !names.insert(&file.path) {
            return Err(BundleError::Refused(format!("{} stands in it twice", file.path)));
        }
        total = total.saturating_add(file.bytes);
    }
    if total > most {
        return Err(BundleError::Refused(format!(
            "its files have {total} bytes, and at most {most} are taken"
        )));
    }
    let free = room(into);
    if total > free {
        return Err(BundleError::Refused(format!("its files have {total} bytes, and {free} are free")));
    }
    Ok(())
}

/// A relative path of few and plain parts.
fn is_plain(path: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    let plain = |part: &Component<'_>| match part {
        Component::Normal(name) => name.to_str().is_some_and(|name| name.chars().all(letters)),
        _ => false,
    };
    (1..=4).contains(&parts.len()) && parts.iter().all(plain) && path.split('/').count() == parts.len()
}

/// Whether an entry is a plain file of this name.
fn plain<R: Read>(entry: &tar::Entry<'_, R>, name: &str) -> Result<(), BundleError> {
    let found = entry.path_bytes();
    if found.as_ref() != name.as_bytes() {
        let found = String::from_utf8_lossy(&found).into_owned();
        return Err(BundleError::Refused(format!("`{found}` stands where {name} should")));
    }
    match entry.header().entry_type() {
        tar::EntryType::Regular => Ok(()),
        other => Err(BundleError::Refused(format!("{name} is no plain file but {other:?}"))),
    }
}

fn take<R: Read>(
    entry: std::io::Result<tar::Entry<'_, R>>,
    expected: &File,
    into: &Path,
) -> Result<Option<Problem>, BundleError> {
    let mut entry = entry.map_err(damaged(&expected.path))?;
    plain(&entry, &expected.path)?;
    if entry.size() != expected.bytes {
        let words =
            format!("{} has {} bytes, and {} were announced", expected.path, entry.size(), expected.bytes);
        return Err(BundleError::Refused(words));
    }
    let path = into.join(&expected.path);
    let folder = path.parent().unwrap_or(into);
    std::fs::create_dir_all(folder).map_err(io("create", folder))?;
    let mut file = Opened::create_new(&path).map_err(io("write", &path))?;
    let sha256 = hash_of(&mut entry, &mut file).map_err(damaged(&expected.path))?;
    file.flush().map_err(io("write", &path))?;
    let written = file.metadata().map_err(io("write", &path))?.len();
    Ok(if written != expected.bytes {
        Some(Problem::new(&expected.path, format!("{} of {} bytes are there", written, expected.bytes)))
    } else if sha256 != expected.sha256 {
        Some(Problem::new(
            &expected.path,
            format!("changed: SHA-256 {sha256} instead of {}", expected.sha256),
        ))
    } else {
        None
    })
}

/// Reads what stands after the last file, which is little.
fn drain(read: &mut impl Read) -> Result<(), BundleError> {
    let mut rest = Vec::new();
    let count = read.take(2 * END as u64 + 1).read_to_end(&mut rest).map_err(damaged("its end"))?;
    if count > 2 * END {
        return Err(BundleError::Refused("it goes on after its end".to_owned()));
    }
    Ok(())
}

/// Discards and hashes.
struct Sink(sha2::Sha256);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        sha2::Digest::update(&mut self.0, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// SHA-256 of the archive that the files make.
fn repacked(manifest: &Manifest, folder: &Path) -> Result<Sha256, BundleError> {
    let mut archive = tar::Builder::new(Sink(sha2::Digest::new()));
    let listed = json(MANIFEST, manifest)?;
    append(&mut archive, MANIFEST, listed.len() as u64, listed.as_slice()).map_err(damaged(MANIFEST))?;
    for file in &manifest.files {
        let path = folder.join(&file.path);
        let opened = Opened::open(&path).map_err(io("read", &path))?;
        append(&mut archive, &file.path, file.bytes, BufReader::new(opened)).map_err(damaged(&file.path))?;
    }
    let sink = archive.into_inner().map_err(damaged("its end"))?;
    Ok(Sha256::from_digest(&sha2::Digest::finalize(sink.0).into()))
}
