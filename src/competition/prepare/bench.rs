//! The workbench of one preparation: the raw download, which is only read, a work folder for what is made in between, and
//! the two folders that come of it. Paths are given as texts: of the raw data by their place in the download (a file that
//! was unpacked is found first), of the results as `public/...` or `private/...`, of things in between as `work/...`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::catalog::Competition;
use crate::csv::{self, Column, ReadOptions, Texts};
use crate::prepare::Request;
use crate::prepare::archive::{Packer, Packing};
use crate::prepare::copies::copy_all;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::json::{Encoding, Json, parse_as};
use crate::prepare::python_text::has_end;
use crate::prepare::raw::{Raw, Source, make};
use crate::prepare::table::read_frame;
use crate::prepare::writer::{Style, write};

/// Where a preparation reads and writes.
#[derive(Debug)]
pub(crate) struct Workbench<'a> {
    pub(crate) id: &'a str,
    raw: Raw,
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
    ) -> Result<Self, PrepareError> {
        Ok(Self {
            id: &competition.id,
            raw: Raw::open(request.raw, &out.join("work"))?,
            out,
            constants,
            predicted: &competition.submission.columns,
            is_fixed: competition.variant_of.is_some(),
        })
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

    /// Where a raw file can be opened.
    pub(crate) fn find(&self, file: &str) -> Result<PathBuf, PrepareError> {
        self.raw.path(file)
    }

    /// Whether a raw file or folder is there.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.raw.has(file)
    }

    /// Whether a raw folder is there.
    pub(crate) fn is_folder(&self, name: &str) -> bool {
        self.raw.is_folder(name)
    }

    /// Names at the top of the download as it came, sorted by code point.
    pub(crate) fn top(&self) -> Result<Vec<String>, PrepareError> {
        self.raw.top()
    }

    /// Where a result goes; its folder is made.
    pub(crate) fn place(&self, path: &str) -> Result<PathBuf, PrepareError> {
        let place = self.out.join(path);
        let inside = place.components().all(|part| part != std::path::Component::ParentDir);
        demand(inside && place.starts_with(self.out), || format!("`{path}` leaves the prepared data"))?;
        if path.starts_with("work/") {
            self.raw.has_work();
        }
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
        self.raw.names(folder)
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
        options.as_text.extend(forced.iter().map(|name| (*name).to_owned()));
        let mut frame = read_frame(self.raw.read(file)?, &options)
            .map_err(|source| PrepareError::Csv { file: file.to_owned(), source })?;
        for name in forced {
            let mut texts = Texts::default();
            frame.column(name)?.each(|cell| {
                if let csv::Cell::Text(text) = cell {
                    texts.push(Some(text).filter(|text| !csv::is_missing(text.as_bytes())));
                }
            });
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
        let mut bytes = Vec::new();
        let read = self.raw.read(file)?.read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(PrepareError::io("read", Path::new(file)))
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
        self.raw.unpack(file, to)
    }

    /// Copies a raw file or folder.
    pub(crate) fn copy(&self, from: &str, to: &str) -> Result<(), PrepareError> {
        let mut pairs = Vec::new();
        self.raw.gather(from, &self.place(to)?, &mut pairs)?;
        self.copy_all(pairs)
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
            if place.parent().is_some_and(|parent| !folders.contains(parent)) {
                self.place(&to)?;
                folders.extend(place.parent().map(Path::to_owned));
            }
            self.raw.gather(&from, &place, &mut found)?;
        }
        self.copy_all(found)
    }

    fn copy_all(&self, pairs: Vec<(Source, PathBuf)>) -> Result<(), PrepareError> {
        copy_all(pairs, &self.out.join("work"))
    }

    /// Packs raw files, by the names they have in the archive.
    pub(crate) fn pack_raw(
        &self,
        archive: &str,
        packing: Packing,
        files: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), PrepareError> {
        let mut packer = Packer::create(&self.place(archive)?, packing)?;
        for (name, from) in files {
            self.pack_one(&mut packer, &name, &from)?;
        }
        packer.finish()
    }

    /// Packs one raw file.
    pub(crate) fn pack_one(&self, packer: &mut Packer, name: &str, from: &str) -> Result<(), PrepareError> {
        match self.raw.find(from)? {
            Source::Path(path) => packer.file(name, &path),
            Source::Member(members, place) => {
                packer.content(name, members.size(place), members.reader(place)?)
            }
        }
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
