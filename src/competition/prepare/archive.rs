//! Archives of the download and of the prepared data: zip, 7z and tar, told apart by their names. Files are streamed
//! one by one. An entry that would leave its folder is refused; links and devices are left out.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

use flate2::read::MultiGzDecoder;
use sevenz_rust2::{
    ArchiveEntry, ArchiveReader, ArchiveWriter, EncoderConfiguration, EncoderMethod, Password,
};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::prepare::error::PrepareError;
use crate::prepare::python_text::has_end;
use crate::prepare::unzip::unzip;

/// How the entries of an archive are packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// Compressed.
    #[default]
    Compressed,
    /// As they are.
    Stored,
}

/// Calls `each` with every file of an archive: its path and its bytes. What `each` leaves unread is skipped.
pub(crate) fn each_file(
    archive: &Path,
    mut each: impl FnMut(&Path, &mut dyn Read) -> Result<(), PrepareError>,
) -> Result<(), PrepareError> {
    let bad = |error: &dyn std::fmt::Display| PrepareError::archive(archive, error);
    let name = archive.to_string_lossy().to_lowercase();
    let file = BufReader::new(File::open(archive).map_err(PrepareError::io("open", archive))?);
    if has_end(&name, ".zip") {
        let mut reader = ZipArchive::new(file).map_err(|error| bad(&error))?;
        for place in 0..reader.len() {
            let mut entry = reader.by_index(place).map_err(|error| bad(&error))?;
            if entry.is_file() {
                let path =
                    plain(archive, Path::new(&entry.name().map_err(|error| bad(&error))?.into_owned()))?;
                each(&path, &mut entry)?;
            }
        }
        return Ok(());
    }
    if has_end(&name, ".7z") {
        let mut reader = ArchiveReader::new(file, Password::empty()).map_err(|error| bad(&error))?;
        let mut end = Ok(());
        let read = reader.for_each_entries(|entry, content| {
            if entry.is_directory() {
                return Ok(true);
            }
            end = plain(archive, Path::new(entry.name())).and_then(|path| each(&path, content));
            if end.is_ok() { Ok(true) } else { Err(io::Error::other("stopped").into()) }
        });
        end?;
        return read.map_err(|error| bad(&error));
    }
    let content: Box<dyn Read> =
        if name.ends_with("gz") { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut reader = tar::Archive::new(content);
    for entry in reader.entries().map_err(PrepareError::io("read", archive))? {
        let mut entry = entry.map_err(PrepareError::io("read", archive))?;
        if entry.header().entry_type().is_file() {
            let path = entry.path().map_err(PrepareError::io("read", archive))?.into_owned();
            each(&plain(archive, &path)?, &mut entry)?;
        }
    }
    Ok(())
}

/// Unpacks an archive into a folder.
pub fn unpack(archive: &Path, folder: &Path) -> Result<(), PrepareError> {
    fs::create_dir_all(folder).map_err(PrepareError::io("create", folder))?;
    if has_end(&archive.to_string_lossy().to_lowercase(), ".zip") {
        return unzip(archive, folder);
    }
    each_file(archive, |path, content| {
        let target = folder.join(path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(PrepareError::io("create", parent))?;
        }
        let mut file = File::create(&target).map_err(PrepareError::io("create", &target))?;
        io::copy(content, &mut file).map_err(PrepareError::io("unpack", &target))?;
        Ok(())
    })
}

/// The path without `.`; refused where it leaves the folder.
pub(super) fn plain(archive: &Path, path: &Path) -> Result<PathBuf, PrepareError> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => plain.push(part),
            Component::CurDir => {}
            _ => {
                let problem = format!("the entry `{}` leaves its folder", path.display());
                return Err(PrepareError::archive(archive, problem));
            }
        }
    }
    Ok(plain)
}

/// Writes a zip anew, with those of its files that `wanted` accepts; they stay packed as they are.
pub(crate) fn thin_out(
    from: &mut (impl Read + io::Seek),
    to: &Path,
    wanted: impl Fn(&str) -> bool,
) -> Result<(), PrepareError> {
    let bad = |error: zip::result::ZipError| PrepareError::archive(to, error);
    let mut reader = ZipArchive::new(from).map_err(bad)?;
    let file = File::create(to).map_err(PrepareError::io("create", to))?;
    let mut writer = ZipWriter::new(BufWriter::new(file));
    for place in 0..reader.len() {
        let entry = reader.by_index_raw(place).map_err(bad)?;
        if wanted(&entry.name().map_err(bad)?) {
            writer.raw_copy_file(entry).map_err(bad)?;
        }
    }
    let mut file = writer.finish().map_err(bad)?;
    file.flush().map_err(PrepareError::io("write", to))
}

fn zip_options(packing: Packing) -> SimpleFileOptions {
    let method = match packing {
        Packing::Compressed => CompressionMethod::Deflated,
        Packing::Stored => CompressionMethod::Stored,
    };
    SimpleFileOptions::default().compression_method(method).unix_permissions(0o644)
}

/// An archive that is written file by file.
pub(crate) struct Packer {
    path: PathBuf,
    kind: Writer,
    packing: Packing,
}

enum Writer {
    Zip(Box<ZipWriter<BufWriter<File>>>),
    SevenZip(Box<ArchiveWriter<File>>),
    Tar(Box<tar::Builder<BufWriter<File>>>),
}

impl Packer {
    /// Begins an archive of the kind that its name says; `.tar.gz` is written as a tar without compression, which is
    /// what the official preparation leaves under that name.
    pub(crate) fn create(path: &Path, packing: Packing) -> Result<Self, PrepareError> {
        let name = path.to_string_lossy();
        let file = File::create(path).map_err(PrepareError::io("create", path))?;
        let kind = if has_end(&name, ".zip") {
            Writer::Zip(Box::new(ZipWriter::new(BufWriter::new(file)).set_auto_large_file()))
        } else if has_end(&name, ".7z") {
            let mut writer = ArchiveWriter::new(file).map_err(|error| PrepareError::archive(path, error))?;
            if packing == Packing::Stored {
                writer.set_content_methods(vec![EncoderConfiguration::new(EncoderMethod::COPY)]);
            }
            Writer::SevenZip(Box::new(writer))
        } else {
            Writer::Tar(Box::new(tar::Builder::new(BufWriter::new(file))))
        };
        Ok(Self { path: path.to_owned(), kind, packing })
    }

    /// Adds a folder entry; only a zip has them.
    pub(crate) fn folder(&mut self, name: &str) -> Result<(), PrepareError> {
        if let Writer::Zip(writer) = &mut self.kind {
            let added = writer.add_directory(name, SimpleFileOptions::default());
            added.map_err(|error| PrepareError::archive(&self.path, error))?;
        }
        Ok(())
    }

    /// Adds a file under a name.
    pub(crate) fn file(&mut self, name: &str, from: &Path) -> Result<(), PrepareError> {
        let content = File::open(from).map_err(PrepareError::io("open", from))?;
        let size = content.metadata().map_err(PrepareError::io("read", from))?.len();
        self.content(name, size, content)
    }

    /// Adds a file of so many bytes that are read as they are asked for.
    pub(crate) fn content(
        &mut self,
        name: &str,
        size: u64,
        mut content: impl Read,
    ) -> Result<(), PrepareError> {
        let bad = |error: &dyn std::fmt::Display| PrepareError::archive(&self.path, error);
        match &mut self.kind {
            Writer::Zip(writer) => {
                let options = zip_options(self.packing).large_file(size >= zip::ZIP64_BYTES_THR);
                writer.start_file(name, options).map_err(|error| bad(&error))?;
                io::copy(&mut content, writer).map_err(PrepareError::io("pack", Path::new(name)))?;
            }
            Writer::SevenZip(writer) => {
                let entry = ArchiveEntry::new_file(name);
                writer.push_archive_entry(entry, Some(content)).map_err(|error| bad(&error))?;
            }
            Writer::Tar(writer) => {
                let mut header = tar::Header::new_gnu();
                header.set_size(size);
                header.set_mode(0o644);
                writer
                    .append_data(&mut header, name, content)
                    .map_err(PrepareError::io("pack", Path::new(name)))?;
            }
        }
        Ok(())
    }

    /// Adds a file that is written by pieces; only a zip can have it without knowing its size.
    pub(crate) fn stream(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), PrepareError> {
        let Writer::Zip(writer) = &mut self.kind else {
            return Err(PrepareError::archive(&self.path, "it must know the size of what it holds"));
        };
        let options = zip_options(self.packing).large_file(true);
        writer.start_file(name, options).map_err(|error| PrepareError::archive(&self.path, error))?;
        fill(writer).map_err(PrepareError::io("write", &self.path))
    }

    /// Ends the archive.
    pub(crate) fn finish(self) -> Result<(), PrepareError> {
        let path = self.path;
        match self.kind {
            Writer::Zip(writer) => {
                let mut file = writer.finish().map_err(|error| PrepareError::archive(&path, error))?;
                file.flush().map_err(PrepareError::io("write", &path))
            }
            Writer::SevenZip(writer) => writer.finish().map(drop).map_err(PrepareError::io("write", &path)),
            Writer::Tar(writer) => {
                let mut file = writer.into_inner().map_err(PrepareError::io("write", &path))?;
                file.flush().map_err(PrepareError::io("write", &path))
            }
        }
    }
}
