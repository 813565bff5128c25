//! The workbench of one preparation: the raw download, which is only read, a work folder for what is unpacked, and the
//! two folders that come of it. Paths are given as texts: of the raw data by their place in the download (a file that
//! was unpacked is found first), of the results as `public/...` or `private/...`, of things in between as `work/...`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::catalog::Competition;
use crate::csv::{self, Column, ReadOptions, Texts};
use crate::prepare::Request;
use crate::prepare::archive::{self, Packer, Packing};
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::json::{Encoding, Json, parse_as};
use crate::prepare::python_text::has_end;
use crate::prepare::writer::{Style, write};

/// Threads that copy files.
const COPIERS: usize = 4;

/// Where a preparation reads and writes.
#[derive(Debug)]
pub(crate) struct Workbench<'a> {
    pub(crate) id: &'a str,
    raw: &'a Path,
    /// Raw files may become those of the result.
    raw_is_ours: bool,
    out: &'a Path,
    constants: &'a BTreeMap<String, i64>,
    /// The columns that a submission predicts, by the catalog.
    pub(crate) predicted: &'a [String],
    /// What tells the answers is left out.
    pub(crate) is_fixed: bool,
}

impl<'a> Workbench<'a> {
    pub(crate) fn new(
        competition: &'a Competition,
        request: &Request<'a>,
        out: &'a Path,
        constants: &'a BTreeMap<String, i64>,
    ) -> Self {
        Self {
            id: &competition.id,
            raw: request.raw,
            raw_is_ours: request.raw_is_ours,
            out,
            constants,
            predicted: &competition.submission.columns,
            is_fixed: competition.variant_of.is_some(),
        }
    }

    /// A number of the recipe.
    pub(crate) fn constant(&self, name: &str) -> Result<i64, PrepareError> {
        self.constants.get(name).copied().ok_or_else(|| PrepareError::NoConstant {
            id: self.id.to_owned(),
            name: name.to_owned(),
            known: self.constants.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        })
    }

    /// As [`constant`](Self::constant), a number of rows.
    pub(crate) fn count(&self, name: &str) -> Result<u32, PrepareError> {
        let value = self.constant(name)?;
        u32::try_from(value).map_err(|_| PrepareError::unfit(format!("`{name}` cannot be {value}")))
    }

    /// Where a raw file or folder is.
    pub(crate) fn find(&self, file: &str) -> Result<PathBuf, PrepareError> {
        let places = [self.out.join("work").join(file), self.raw.join(file)];
        let found = places.into_iter().find(|path| path.exists());
        found.ok_or_else(|| PrepareError::NoRaw { file: file.to_owned() })
    }

    /// Whether a raw file or folder is there.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.find(file).is_ok()
    }

    /// The raw folder itself.
    pub(crate) const fn raw(&self) -> &Path {
        self.raw
    }

    /// Where a result goes; its folder is made.
    pub(crate) fn place(&self, path: &str) -> Result<PathBuf, PrepareError> {
        let place = self.out.join(path);
        let inside = place.components().all(|part| part != std::path::Component::ParentDir);
        demand(inside && place.starts_with(self.out), || format!("`{path}` leaves the prepared data"))?;
        if let Some(parent) = place.parent() {
            make(parent)?;
        }
        // What is there may be a file of the download under another name, which stays as it is.
        if place.is_file() {
            fs::remove_file(&place).map_err(PrepareError::io("replace", &place))?;
        }
        Ok(place)
    }

    /// Makes a folder of the results.
    pub(crate) fn folder(&self, path: &str) -> Result<(), PrepareError> {
        make(&self.out.join(path))
    }

    /// Names in a raw folder, sorted by code point.
    pub(crate) fn names(&self, folder: &str) -> Result<Vec<String>, PrepareError> {
        names(&self.find(folder)?)
    }

    /// Reads a raw table with correctly rounded decimals.
    pub(crate) fn read(&self, file: &str) -> Result<Frame, PrepareError> {
        self.read_with(file, ReadOptions::default(), &[])
    }

    /// Reads a raw table; the columns `forced` are text, where words for "missing" are missing all the same.
    pub(crate) fn read_with(
        &self,
        file: &str,
        mut options: ReadOptions,
        forced: &[&str],
    ) -> Result<Frame, PrepareError> {
        let path = self.find(file)?;
        options.as_text.extend(forced.iter().map(|name| (*name).to_owned()));
        let input = File::open(&path).map_err(PrepareError::io("open", &path))?;
        let table = csv::read(input, &options)
            .map_err(|source| PrepareError::Csv { file: file.to_owned(), source })?;
        let mut frame = Frame::from(table);
        for name in forced {
            let mut texts = Texts::default();
            for cell in frame.column(name)?.cells() {
                let csv::Cell::Text(text) = cell else { continue };
                texts.push(Some(text).filter(|text| !csv::is_missing(text.as_bytes())));
            }
            frame = frame.with(name, Column::Text(texts));
        }
        Ok(frame)
    }

    /// Reads a raw document.
    pub(crate) fn json(&self, file: &str) -> Result<Json, PrepareError> {
        self.json_as(file, Encoding::Utf8)
    }

    /// Reads a raw document of an encoding.
    pub(crate) fn json_as(&self, file: &str, encoding: Encoding) -> Result<Json, PrepareError> {
        let bytes = self.bytes(file)?;
        parse_as(&bytes, encoding).map_err(|source| PrepareError::Json { file: file.to_owned(), source })
    }

    /// Reads a raw file whole.
    pub(crate) fn bytes(&self, file: &str) -> Result<Vec<u8>, PrepareError> {
        let path = self.find(file)?;
        fs::read(&path).map_err(PrepareError::io("read", &path))
    }

    /// Reads a raw text whole.
    pub(crate) fn text(&self, file: &str) -> Result<String, PrepareError> {
        String::from_utf8(self.bytes(file)?).map_err(|_| PrepareError::unfit(format!("{file} is not UTF-8")))
    }

    /// Writes a table.
    pub(crate) fn write(&self, path: &str, frame: &Frame) -> Result<(), PrepareError> {
        self.write_styled(path, frame, Style::default())
    }

    /// Writes a table in a style.
    pub(crate) fn write_styled(&self, path: &str, frame: &Frame, style: Style) -> Result<(), PrepareError> {
        self.stream(path, |output| write(frame, style, output))
    }

    /// Writes a text.
    pub(crate) fn write_text(&self, path: &str, text: &str) -> Result<(), PrepareError> {
        self.stream(path, |output| output.write_all(text.as_bytes()))
    }

    /// Writes a file by pieces.
    pub(crate) fn stream(
        &self,
        path: &str,
        fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), PrepareError> {
        let mut output = self.create(path)?;
        fill(&mut output)
            .and_then(|()| output.flush())
            .map_err(PrepareError::io("write", &self.out.join(path)))
    }

    /// Begins a file.
    pub(crate) fn create(&self, path: &str) -> Result<BufWriter<File>, PrepareError> {
        let place = self.place(path)?;
        File::create(&place).map(BufWriter::new).map_err(PrepareError::io("create", &place))
    }

    /// Unpacks a raw archive to where raw files are found.
    pub(crate) fn unpack(&self, file: &str, to: &str) -> Result<(), PrepareError> {
        archive::unpack(&self.find(file)?, &self.out.join("work").join(to))
    }

    /// Copies a raw file or folder.
    pub(crate) fn copy(&self, from: &str, to: &str) -> Result<(), PrepareError> {
        let source = self.find(from)?;
        let mut pairs = Vec::new();
        gather(&source, &self.place(to)?, &mut pairs)?;
        self.copy_all(&pairs)
    }

    /// Copies raw files, many at once.
    pub(crate) fn copy_each(
        &self,
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), PrepareError> {
        let mut found = Vec::new();
        let mut folders = BTreeSet::new();
        for (from, to) in pairs {
            let place = self.out.join(&to);
            if place.parent().is_some_and(|parent| folders.insert(parent.to_owned())) {
                self.place(&to)?;
            }
            gather(&self.find(&from)?, &place, &mut found)?;
        }
        self.copy_all(&found)
    }

    /// Copies files, many at once. What is going to be removed anyway is only given its new name.
    fn copy_all(&self, pairs: &[(PathBuf, PathBuf)]) -> Result<(), PrepareError> {
        let work = self.out.join("work");
        let one = |from: &Path, to: &Path| {
            let is_ours = from.starts_with(&work) || self.raw_is_ours && from.starts_with(self.raw);
            if is_ours && is_linked(from, to) { Ok(()) } else { copy_file(from, to) }
        };
        if let [(from, to)] = pairs {
            return one(from, to);
        }
        let next = AtomicUsize::new(0);
        let work = || -> Result<(), PrepareError> {
            while let Some((from, to)) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                one(from, to)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let copiers: Vec<_> = (1..COPIERS.min(pairs.len())).map(|_| scope.spawn(work)).collect();
            let mine = work();
            copiers.into_iter().try_fold((), |(), copier| copier.join().unwrap_or(Ok(()))).and(mine)
        })
    }

    /// Packs files, by the names they have in the archive.
    pub(crate) fn pack(
        &self,
        archive: &str,
        packing: Packing,
        files: impl IntoIterator<Item = (String, PathBuf)>,
    ) -> Result<(), PrepareError> {
        let mut packer = Packer::create(&self.place(archive)?, packing)?;
        for (name, from) in files {
            packer.file(&name, &from)?;
        }
        packer.finish()
    }

    /// Packs one table as the only member of an archive.
    pub(crate) fn pack_table(
        &self,
        archive: &str,
        packing: Packing,
        name: &str,
        frame: &Frame,
        style: Style,
    ) -> Result<(), PrepareError> {
        if has_end(archive, ".zip") {
            let mut packer = Packer::create(&self.place(archive)?, packing)?;
            packer.stream(name, |mut output| write(frame, style, &mut output))?;
            return packer.finish();
        }
        let between = format!("work/.packing/{name}");
        self.write_styled(&between, frame, style)?;
        self.pack(archive, packing, [(name.to_owned(), self.out.join(&between))])
    }

    /// Packs one text as the only member of an archive.
    pub(crate) fn pack_text(&self, archive: &str, name: &str, text: &str) -> Result<(), PrepareError> {
        let between = format!("work/.packing/{name}");
        self.write_text(&between, text)?;
        self.pack(archive, Packing::Compressed, [(name.to_owned(), self.out.join(&between))])
    }
}

/// Names in a folder, sorted by code point.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>, PrepareError> {
    let entries = fs::read_dir(folder).map_err(PrepareError::io("list", folder))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(PrepareError::io("list", folder))?;
        names.extend(entry.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

fn make(folder: &Path) -> Result<(), PrepareError> {
    fs::create_dir_all(folder).map_err(PrepareError::io("create", folder))
}

/// The files of a file or tree with their targets; folders are made at once, empty ones too.
fn gather(from: &Path, to: &Path, pairs: &mut Vec<(PathBuf, PathBuf)>) -> Result<(), PrepareError> {
    if !from.is_dir() {
        pairs.push((from.to_owned(), to.to_owned()));
        return Ok(());
    }
    make(to)?;
    for name in names(from)? {
        gather(&from.join(&name), &to.join(&name), pairs)?;
    }
    Ok(())
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
