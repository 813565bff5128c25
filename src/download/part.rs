//! An archive that is under way: `ID.zip.part` with what has come, and `ID.zip.part.from`, which says of which version of
//! which size it is a part. When it is whole its sum is written to `ID.zip.md5` and it takes the name `ID.zip`, so a file
//! of that name that has such a sum beside it is whole, whatever killed the process before.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};

use crate::error::DownloadError;

/// What a part is a part of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// Size of the whole archive.
    pub(crate) bytes: Option<u64>,
    /// Its version, as the service names it.
    pub(crate) version: Option<String>,
    /// Its MD5 sum, by the service.
    pub(crate) md5: Option<String>,
}

/// The part.
pub(crate) struct Part {
    target: PathBuf,
    path: PathBuf,
    file: File,
    sum: Md5,
    /// Bytes that are there.
    pub(crate) bytes: u64,
    /// What they are of.
    pub(crate) origin: Origin,
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// A finished hash as text.
pub(crate) fn hexadecimal(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The sum of a whole archive that was fetched here; none where the file is not there, or came otherwise.
pub fn recorded_sum(archive: &Path) -> Option<String> {
    let text = archive.is_file().then(|| fs::read_to_string(beside(archive, ".md5")).ok()).flatten()?;
    text.split_whitespace().next().map(str::to_owned)
}

/// Removes an archive that was fetched here, with what belongs to it.
pub(crate) fn remove(archive: &Path) -> io::Result<()> {
    for path in
        [archive.to_owned(), beside(archive, ".md5"), beside(archive, ".part"), beside(archive, ".part.from")]
    {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

impl Part {
    /// Goes on with the part of `target`, or begins one. What is there is read, for the sum is of the whole.
    pub(crate) fn open(target: &Path) -> Result<Self, DownloadError> {
        let path = beside(target, ".part");
        let file = OpenOptions::new().create(true).read(true).append(true).open(&path);
        let file = file.map_err(DownloadError::io("open", &path))?;
        let mut part = Self {
            origin: Origin::default(),
            sum: Md5::new(),
            bytes: 0,
            target: target.to_owned(),
            path: path.clone(),
            file,
        };
        match fs::read(beside(&path, ".from")).ok().and_then(|text| serde_json::from_slice(&text).ok()) {
            Some(origin) => part.origin = origin,
            None => part.restart()?,
        }
        let mut buffer = vec![0; 1 << 18];
        loop {
            match part.file.read(&mut buffer).map_err(DownloadError::io("read", &path))? {
                0 => break,
                count => {
                    part.sum.update(buffer.get(..count).unwrap_or_default());
                    part.bytes += count as u64;
                }
            }
        }
        if part.origin.bytes.is_some_and(|bytes| part.bytes > bytes) {
            part.restart()?;
        }
        Ok(part)
    }

    /// Whether all of it is there, where its size is known.
    pub(crate) fn is_whole(&self) -> bool {
        self.origin.bytes == Some(self.bytes)
    }

    /// Forgets what has come.
    pub(crate) fn restart(&mut self) -> Result<(), DownloadError> {
        self.file.set_len(0).map_err(DownloadError::io("empty", &self.path))?;
        self.sum = Md5::new();
        self.bytes = 0;
        self.origin = Origin::default();
        Ok(())
    }

    /// Says what it is a part of, before the first byte comes.
    pub(crate) fn is_of(&mut self, origin: Origin) -> Result<(), DownloadError> {
        let path = beside(&self.path, ".from");
        let text = serde_json::to_vec(&origin).unwrap_or_default();
        replace(&path, &text).map_err(DownloadError::io("write", &path))?;
        self.origin = origin;
        Ok(())
    }

    /// Adds what came.
    pub(crate) fn add(&mut self, piece: &[u8]) -> Result<(), DownloadError> {
        self.file.write_all(piece).map_err(DownloadError::io("write", &self.path))?;
        self.sum.update(piece);
        self.bytes += piece.len() as u64;
        Ok(())
    }

    /// MD5 of what is there.
    pub(crate) fn sum(&self) -> String {
        hexadecimal(&self.sum.clone().finalize())
    }

    /// Puts the whole archive in its place.
    pub(crate) fn finish(self) -> Result<(), DownloadError> {
        self.file.sync_all().map_err(DownloadError::io("write", &self.path))?;
        let name = self.target.file_name().unwrap_or_default().to_string_lossy();
        let (sums, line) = (beside(&self.target, ".md5"), format!("{}  {name}\n", self.sum()));
        replace(&sums, line.as_bytes()).map_err(DownloadError::io("write", &sums))?;
        fs::rename(&self.path, &self.target).map_err(DownloadError::io("create", &self.target))?;
        let _ = fs::remove_file(beside(&self.path, ".from"));
        if let Some(folder) = self.target.parent() {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

/// Writes a small file, whole at any instant.
fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let new = beside(path, ".new");
    let mut file = File::create(&new)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&new, path)
}
