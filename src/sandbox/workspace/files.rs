//! Files of a workspace, read and written from outside on an agent's behalf.
//!
//! A tool that edits files for an agent acts with the harness's rights on a folder that hostile code has laid out, and
//! may be changing at this moment. So a path is relative and has plain names only, no symbolic link is followed on the
//! way or at its end, and what stands there must be a regular file: nothing outside is ever opened, whatever is planted
//! or swapped in between. A file is replaced whole, under its own name, so what a hard link shares is left alone.
//!
//! `./input` is the job's input folder, as it is inside: it can be read and not written, and so are the folders beside
//! it. Their own symbolic links are the user's, and are followed as long as they stay in them.

use std::{
    ffi::OsStr,
    fs::File,
    io::Read,
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags},
    io::Errno,
};

use super::{
    INPUT, ITSELF,
    fault::{FileError, Obstacle, failed, refuse_other_than_file},
    owner::Owner,
};
use crate::Job;

/// Larger files are neither read nor written, unless a caller says otherwise: no edit is as large.
const MOST_BYTES: u64 = 16 << 20;
/// Entries of a folder that are listed.
const MOST_ENTRIES: usize = 1000;

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name; text of a hostile program.
    pub name: String,
    /// A folder.
    pub is_folder: bool,
    /// Size of a file in bytes.
    pub bytes: u64,
}

/// The files of a job's workspace, and its input.
#[derive(Clone, Debug)]
pub struct Files {
    workspace: PathBuf,
    input: Option<PathBuf>,
    /// Files of the input that others stand in for, as inside.
    instead: Vec<(String, PathBuf)>,
    /// Folders that stand beside the input.
    beside: Vec<(String, PathBuf)>,
    max_bytes: u64,
}

/// Where a path leads.
enum Target<'a> {
    Workspace(&'a Path),
    /// Below a folder that can be read only.
    Mounted(&'a Path, PathBuf),
}

impl Files {
    /// Those of a job. Programs of the job may be running.
    pub fn of(job: &Job) -> Self {
        let max_bytes = MOST_BYTES.min(job.limits.file_bytes);
        let (workspace, input, instead) =
            (job.workspace.clone(), job.input.clone(), job.input_instead.clone());
        Self { workspace, input, instead, beside: job.beside.clone(), max_bytes }
    }

    /// The same with another limit on the size of a file, in bytes.
    #[must_use]
    pub fn with_limit(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// The content of a regular file.
    ///
    /// # Errors
    /// When there is none, or it may not be read.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let (content, bytes) = self.read_beginning(path, self.max_bytes)?;
        if bytes > content.len() as u64 {
            return Err(FileError::TooLarge { path: path.to_owned(), max_bytes: self.max_bytes });
        }
        Ok(content)
    }

    /// The first `max_bytes` of a regular file, and its size in bytes.
    ///
    /// # Errors
    /// As [`Self::read`], but for the size.
    pub fn read_beginning(&self, path: &str, max_bytes: u64) -> Result<(Vec<u8>, u64), FileError> {
        let (file, size) = self.open_file(path)?;
        let mut content = Vec::new();
        // It may be growing.
        file.take(max_bytes.saturating_add(1)).read_to_end(&mut content).map_err(|source| FileError::Io {
            action: "reading",
            path: path.to_owned(),
            source,
        })?;
        let bytes = size.max(content.len() as u64);
        content.truncate(usize::try_from(max_bytes).unwrap_or(usize::MAX));
        Ok((content, bytes))
    }

    /// The entries of a folder, by name, and at most a thousand of them; `.` is the workspace itself.
    ///
    /// # Errors
    /// When it is no folder that may be read.
    pub fn list(&self, path: &str) -> Result<Vec<Entry>, FileError> {
        self.list_some(path).map(|(entries, _)| entries)
    }

    /// The same, with whether there are more.
    ///
    /// # Errors
    /// As [`Self::list`].
    pub fn list_some(&self, path: &str) -> Result<(Vec<Entry>, bool), FileError> {
        let mut more = false;
        let folder = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)?;
        let failed = |errno| failed("listing", path, errno);
        let mut found = Vec::new();
        for entry in Dir::read_from(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if found.len() == MOST_ENTRIES {
                more = true;
                break;
            }
            // One that is gone by now is not listed.
            let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let kind = FileType::from_raw_mode(stat.st_mode);
            found.push(Entry {
                name: name.to_string_lossy().into_owned(),
                is_folder: kind == FileType::Directory,
                bytes: if kind == FileType::RegularFile { stat.st_size.unsigned_abs() } else { 0 },
            });
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((found, more))
    }

    /// Makes a file, or replaces one whole, with the folders it is in. It belongs to whom the workspace belongs, so that
    /// programs can change it.
    ///
    /// # Errors
    /// When something else stands there or on the way.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<(), FileError> {
        let place = self.place(path)?;
        if content.len() as u64 > self.max_bytes {
            return Err(FileError::TooLarge { path: path.to_owned(), max_bytes: self.max_bytes });
        }
        place.put(&mut &*content, None).map(drop)
    }

    /// Copies a regular file, which may be of the input, over another one, and returns its size in bytes.
    ///
    /// # Errors
    /// As [`Self::read`] and [`Self::write`].
    pub fn copy(&self, from: &str, to: &str) -> Result<u64, FileError> {
        let (file, size) = self.open_file(from)?;
        let too_large = || FileError::TooLarge { path: from.to_owned(), max_bytes: self.max_bytes };
        if size > self.max_bytes {
            return Err(too_large());
        }
        let mode = Mode::from_raw_mode(if self.is_mounted(from)? { 0o644 } else { mode_of(&file, from)? });
        // It may be growing.
        let copied = self.place(to)?.put(&mut file.take(self.max_bytes), Some(mode))?;
        Ok(copied)
    }

    /// Removes a file, or whatever else stands there and is no folder. Returns whether there was one.
    ///
    /// # Errors
    /// When it is a folder, or stands where nothing can be written.
    pub fn remove(&self, path: &str) -> Result<bool, FileError> {
        let place = match self.place_in(path, false) {
            Err(FileError::Missing { .. }) => return Ok(false),
            place => place?,
        };
        match rustix::fs::unlinkat(&place.folder, &place.name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(failed("removing", path, errno)),
        }
    }

    /// Where a file is written: the folder that it is in, which is made where it is missing, and its name.
    fn place<'a>(&self, path: &'a str) -> Result<Spot<'a>, FileError> {
        self.place_in(path, true)
    }

    fn place_in<'a>(&self, path: &'a str, make: bool) -> Result<Spot<'a>, FileError> {
        let refused = |found| FileError::Refused { path: path.to_owned(), found };
        if self.is_mounted(path)? {
            return Err(refused(Obstacle::ReadOnly));
        }
        let names: Vec<&OsStr> = plain_names(Path::new(path)).collect();
        let Some((name, folders)) = names.split_last() else { return Err(refused(Obstacle::Workspace)) };
        let failed = |errno| failed("writing", path, errno);
        let root = rustix::fs::open(&self.workspace, ITSELF, Mode::empty()).map_err(failed)?;
        let owner = Owner::of(&root).map_err(failed)?;
        let mut folder = root;
        for name in folders {
            let next = if make {
                owner.enter(&folder, name)
            } else {
                rustix::fs::openat(&folder, *name, ITSELF, Mode::empty())
            };
            folder = next.map_err(failed)?;
        }
        Ok(Spot { path, owner, folder, name: (*name).to_owned() })
    }

    /// Whether a path leads to what can be read only.
    fn is_mounted(&self, path: &str) -> Result<bool, FileError> {
        Ok(matches!(self.target(path)?, Target::Mounted(..)))
    }

    /// Opens a regular file, and tells its size.
    fn open_file(&self, path: &str) -> Result<(File, u64), FileError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = self.open(path, flags)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| failed("reading", path, errno))?;
        refuse_other_than_file(path, &stat)?;
        Ok((File::from(file), stat.st_size.unsigned_abs()))
    }

    /// Opens what a path leads to, without following what a program has laid out.
    fn open(&self, path: &str, flags: OFlags) -> Result<OwnedFd, FileError> {
        let (root, relative, resolve) = match self.target(path)? {
            Target::Workspace(relative) => {
                (self.workspace.as_path(), relative.to_owned(), ResolveFlags::NO_SYMLINKS)
            }
            Target::Mounted(folder, relative) => (folder, relative, ResolveFlags::NO_MAGICLINKS),
        };
        let failed = |errno| failed("opening", path, errno);
        let root = rustix::fs::open(root, ITSELF, Mode::empty()).map_err(failed)?;
        let resolve = resolve | ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        rustix::fs::openat2(&root, &relative, flags, Mode::empty(), resolve).map_err(failed)
    }

    /// Where a path leads; refused when it is not made of plain names.
    fn target<'a>(&'a self, path: &'a str) -> Result<Target<'a>, FileError> {
        let refused = |found| FileError::Refused { path: path.to_owned(), found };
        if path.is_empty() || path.contains('\0') {
            return Err(refused(Obstacle::NoPath));
        }
        let relative = Path::new(path);
        let mut normal = relative.components().filter(|part| *part != Component::CurDir);
        if normal.clone().any(|part| !matches!(part, Component::Normal(_))) {
            return Err(refused(Obstacle::Outside));
        }
        let Some(Component::Normal(first)) = normal.next() else { return Ok(Target::Workspace(relative)) };
        let rest: PathBuf = normal.collect();
        if let Some((_, folder)) = self.beside.iter().find(|(name, _)| first == OsStr::new(name)) {
            return Ok(Target::Mounted(folder, or_itself(rest)));
        }
        let Some(input) = self.input.as_ref().filter(|_| first == INPUT) else {
            return Ok(Target::Workspace(relative));
        };
        let other = self.instead.iter().find(|(name, _)| rest == Path::new(name));
        if let Some((Some(folder), Some(name))) = other.map(|(_, file)| (file.parent(), file.file_name())) {
            return Ok(Target::Mounted(folder, name.into()));
        }
        Ok(Target::Mounted(input, or_itself(rest)))
    }
}

/// A place for a file, whether there is one or not.
struct Spot<'a> {
    path: &'a str,
    owner: Owner,
    folder: OwnedFd,
    name: std::ffi::OsString,
}

impl Spot<'_> {
    /// Puts a file there, or in the place of the one that is, whose mode it keeps. A new one gets `mode`.
    fn put(&self, content: &mut dyn Read, mode: Option<Mode>) -> Result<u64, FileError> {
        let kept = match rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => {
                refuse_other_than_file(self.path, &stat)?;
                Mode::from_raw_mode(stat.st_mode & 0o777)
            }
            Err(Errno::NOENT) => mode.unwrap_or(Mode::from_raw_mode(0o644)),
            Err(errno) => return Err(failed("writing", self.path, errno)),
        };
        let replaced = self.owner.replace(&self.folder, &self.name, kept, content);
        replaced.map_err(|source| FileError::Io { action: "writing", path: self.path.to_owned(), source })
    }
}

fn mode_of(file: &File, path: &str) -> Result<u32, FileError> {
    let stat = rustix::fs::fstat(file).map_err(|errno| failed("reading", path, errno))?;
    Ok(stat.st_mode & 0o777)
}

fn or_itself(path: PathBuf) -> PathBuf {
    if path.as_os_str().is_empty() { ".".into() } else { path }
}

fn plain_names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    })
}
