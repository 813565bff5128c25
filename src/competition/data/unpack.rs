//! Prepares an offline competition: unpacks its two archives beside the final place, makes them durable, then renames
//! once. So `prepared` is either absent or whole, whatever kills the process, and when two processes prepare at once
//! the second finds the first one's work and drops its own.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use tar::EntryType;
use tempfile::TempDir;

use crate::data::error::DataError;
use crate::data::{Folders, folders};
use crate::digest::hexadecimal;

/// An archive that unpacks to more is refused.
const MAX_UNPACKED: u64 = 4 << 30;

/// Name of the file beside `public` and `private` that says which archives they came from.
const ORIGIN: &str = "archives.sha256";

/// What [`prepare_offline`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Where the data are now.
    pub folders: Folders,
    /// True when this call put them there, false when they were there already.
    pub fresh: bool,
}

/// Unpacks `<archives>/public.tar.gz` and `<archives>/private.tar.gz` to `<data_dir>/<id>/prepared`, with
/// `description` as `public/description.md`. Does nothing where that was done before from the same archives.
pub fn prepare_offline(
    archives: &Path,
    data_dir: &Path,
    id: &str,
    description: &str,
) -> Result<Prepared, DataError> {
    let folders = folders(data_dir, id);
    let home = data_dir.join(id);
    let prepared = home.join("prepared");
    let origin = origin(archives)?;
    if prepared.exists() {
        return already(prepared, folders, &origin, description);
    }
    fs::create_dir_all(&home).map_err(DataError::io("create", &home))?;
    let temporary = tempfile::Builder::new()
        .prefix(".preparing-")
        .tempdir_in(&home)
        .map_err(DataError::io("create a folder in", &home))?;
    fill(temporary.path(), archives, description, &origin)?;
    let renamed = rename(temporary, &prepared);
    sync_folder(&home)?;
    match renamed {
        Ok(()) => Ok(Prepared { folders, fresh: true }),
        Err(_) if prepared.exists() => already(prepared, folders, &origin, description),
        Err(source) => Err(DataError::Io { action: "create", path: prepared, source }),
    }
}

fn already(
    prepared: PathBuf,
    folders: Folders,
    origin: &str,
    description: &str,
) -> Result<Prepared, DataError> {
    if !folders.public.is_dir() || !folders.private.is_dir() {
        return Err(DataError::Incomplete { folder: prepared });
    }
    match fs::read_to_string(prepared.join(ORIGIN)) {
        Ok(known) if known == origin => {
            refresh(&folders.public, description)?;
            Ok(Prepared { folders, fresh: false })
        }
        Ok(_) => Err(DataError::OtherVersion { folder: prepared }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(DataError::OtherVersion { folder: prepared })
        }
        Err(error) => Err(DataError::io("read", prepared.join(ORIGIN))(error)),
    }
}

/// Puts a newer description in the place of the old one, whole at any instant.
fn refresh(public: &Path, description: &str) -> Result<(), DataError> {
    let path = public.join("description.md");
    if fs::read(&path).is_ok_and(|old| old == description.as_bytes()) {
        return Ok(());
    }
    let write = || -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o644))
            .tempfile_in(public.parent().unwrap_or(public))?;
        io::Write::write_all(&mut file, description.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        Ok(())
    };
    write().map_err(DataError::io("write", &path))
}

fn rename(temporary: TempDir, prepared: &Path) -> io::Result<()> {
    fs::rename(temporary.path(), prepared)?;
    // It has moved away: there is nothing left to delete.
    let _ = temporary.keep();
    Ok(())
}

fn fill(folder: &Path, archives: &Path, description: &str, origin: &str) -> Result<(), DataError> {
    let (public, private) = (folder.join("public"), folder.join("private"));
    unpack(&archives.join("public.tar.gz"), &public)?;
    unpack(&archives.join("private.tar.gz"), &private)?;
    write(&public.join("description.md"), &mut description.as_bytes())?;
    write(&folder.join(ORIGIN), &mut origin.as_bytes())?;
    set_mode(&private, 0o700)?;
    // A temporary folder is for its owner only; the prepared one is for everybody who may see the public part.
    set_mode(folder, 0o755)?;
    sync_folder(folder)
}

fn set_mode(folder: &Path, mode: u32) -> Result<(), DataError> {
    fs::set_permissions(folder, fs::Permissions::from_mode(mode))
        .map_err(DataError::io("set the mode of", folder))
}

/// Digests of both archives, one a line.
fn origin(archives: &Path) -> Result<String, DataError> {
    let mut lines = String::new();
    for name in ["public.tar.gz", "private.tar.gz"] {
        let path = archives.join(name);
        let bytes = fs::read(&path).map_err(DataError::io("read", &path))?;
        lines.extend([&hexadecimal(&Sha256::digest(&bytes)), "  ", name, "\n"]);
    }
    Ok(lines)
}

fn unpack(archive: &Path, folder: &Path) -> Result<(), DataError> {
    fs::create_dir(folder).map_err(DataError::io("create", folder))?;
    let file = File::open(archive).map_err(DataError::io("open", archive))?;
    let mut left = MAX_UNPACKED;
    let mut reader = tar::Archive::new(GzDecoder::new(file));
    for entry in reader.entries().map_err(DataError::io("read", archive))? {
        let mut entry = entry.map_err(DataError::io("read", archive))?;
        let kind = entry.header().entry_type();
        let name = entry.path().map_err(DataError::io("read", archive))?.into_owned();
        let unsafe_entry = |problem| DataError::UnsafeEntry {
            archive: archive.to_owned(),
            entry: name.display().to_string(),
            problem,
        };
        let Some(relative) = plain(&name) else { return Err(unsafe_entry("not a path inside the folder")) };
        match kind {
            EntryType::Directory => continue,
            EntryType::Regular | EntryType::Continuous => {}
            _ => return Err(unsafe_entry("neither a file nor a folder")),
        }
        left = left
            .checked_sub(entry.size())
            .ok_or_else(|| DataError::TooLarge { archive: archive.to_owned(), limit: MAX_UNPACKED })?;
        if relative.as_os_str().is_empty() {
            return Err(unsafe_entry("a file without a name"));
        }
        let target = folder.join(relative);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(DataError::io("create", parent))?;
        }
        write(&target, &mut entry)?;
    }
    sync_folder(folder)
}

/// The path without `.`; `None` when it could leave the folder.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => plain.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(plain)
}

/// Writes a new file, readable by all, and waits until it is on the disk.
fn write(path: &Path, content: &mut impl Read) -> Result<(), DataError> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o644);
    let mut write = || -> io::Result<()> {
        let mut file = options.open(path)?;
        io::copy(content, &mut file)?;
        file.sync_all()
    };
    write().map_err(DataError::io("write", path))
}

fn sync_folder(folder: &Path) -> Result<(), DataError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(DataError::io("sync", folder))
}
