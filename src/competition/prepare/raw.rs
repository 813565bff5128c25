//! The raw download of one preparation: a folder, or the archive as it was fetched. What a preparation unpacks lies over
//! it and is found first; a zip is not unpacked for that but read where it lies.
//!
//! The download itself is never changed. A file that something else must open by its path is taken out of its archive,
//! once, into the work folder.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::prepare::archive::unpack;
use crate::prepare::error::PrepareError;
use crate::prepare::members::{Members, Scratch};
use crate::prepare::python_text::has_end;

/// Where files are that were taken out of archives.
const TAKEN: &str = ".taken";

/// A file of the download.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// On the disk.
    Path(PathBuf),
    /// In an archive.
    Member(Arc<Members>, usize),
}

/// The download.
#[derive(Debug)]
pub(super) struct Raw {
    /// The folder of the download; none where it is an archive.
    folder: Option<PathBuf>,
    archive: Option<Arc<Members>>,
    /// Folders beside the download, and beside what is prepared: some data belong to a competition and not to its download.
    beside: Vec<PathBuf>,
    /// What is unpacked, and what is made in between.
    work: PathBuf,
    /// Whether anything is in the work folder.
    has_work: AtomicBool,
    /// Zips that are read where they lie as if they were unpacked, in the order of unpacking.
    unpacked: Mutex<Vec<Arc<Members>>>,
}

impl Raw {
    /// The download at `path`.
    pub(super) fn open(path: &Path, work: &Path) -> Result<Self, PrepareError> {
        let mut raw = Self {
            folder: path.is_dir().then(|| path.to_owned()),
            archive: None,
            beside: path.parent().into_iter().chain(work.ancestors().nth(2)).map(Path::to_owned).collect(),
            work: work.to_owned(),
            has_work: AtomicBool::new(false),
            unpacked: Mutex::default(),
        };
        if raw.folder.is_none() {
            raw.archive = if is_zip(path) { Members::open(path, "")?.map(Arc::new) } else { None };
            if raw.archive.is_none() {
                let folder = work.join(TAKEN).join("download");
                unpack(path, &folder)?;
                raw.folder = Some(folder);
            }
        }
        Ok(raw)
    }

    /// From now on the work folder is looked at.
    pub(super) fn has_work(&self) {
        self.has_work.store(true, Ordering::Relaxed);
    }

    /// Unpacks an archive of the download to where its files are found, or reads it where it lies.
    pub(super) fn unpack(&self, file: &str, to: &str) -> Result<(), PrepareError> {
        let source = self.find(file)?;
        let mut members = match &source {
            Source::Member(members, place) if is_zip(Path::new(file)) => members.nested(*place, to)?,
            _ => None,
        };
        if members.is_none() {
            let path = self.path(file)?;
            members = if is_zip(&path) { Members::open(&path, to)? } else { None };
            if members.is_none() {
                self.has_work();
                return unpack(&path, &self.work.join(to));
            }
        }
        let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut members) = members {
            members.number = unpacked.len() + 1;
            unpacked.push(Arc::new(members));
        }
        Ok(())
    }

    /// Zips that lie over the download, the latest first.
    fn over(&self) -> Vec<Arc<Members>> {
        let unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        unpacked.iter().rev().map(Arc::clone).collect()
    }

    fn work_folder(&self) -> Option<&Path> {
        self.has_work.load(Ordering::Relaxed).then_some(self.work.as_path())
    }

    /// A file.
    pub(super) fn find(&self, file: &str) -> Result<Source, PrepareError> {
        self.found(file).ok_or_else(|| PrepareError::NoRaw { file: file.to_owned() })
    }

    fn found(&self, file: &str) -> Option<Source> {
        if let Some(file) = file.strip_prefix("../") {
            let places = self.beside.iter().map(|folder| folder.join(file));
            return places.filter(|path| path.is_file()).map(Source::Path).next();
        }
        let on_disk = |folder: Option<&Path>| {
            folder.map(|folder| folder.join(file)).filter(|path| path.is_file()).map(Source::Path)
        };
        let in_zip = |members: &Arc<Members>| {
            members.find(file).map(|place| Source::Member(Arc::clone(members), place))
        };
        on_disk(self.work_folder())
            .or_else(|| self.over().iter().find_map(in_zip))
            .or_else(|| on_disk(self.folder.as_deref()))
            .or_else(|| self.archive.as_ref().and_then(in_zip))
    }

    /// Whether a file or folder is there.
    pub(super) fn has(&self, file: &str) -> bool {
        self.found(file).is_some() || self.is_folder(file)
    }

    /// Whether a folder is there.
    pub(super) fn is_folder(&self, name: &str) -> bool {
        !self.layers(name).is_empty()
    }

    /// Names in a folder, sorted by code point.
    pub(super) fn names(&self, folder: &str) -> Result<Vec<String>, PrepareError> {
        let layers = self.layers(folder);
        if layers.is_empty() {
            return Err(PrepareError::NoRaw { file: folder.to_owned() });
        }
        listed(&layers, folder)
    }

    /// Names at the top of the download itself, sorted by code point.
    pub(super) fn top(&self) -> Result<Vec<String>, PrepareError> {
        listed(&self.below(), "")
    }

    fn below(&self) -> Vec<Layer> {
        let folder = self.folder.clone().map(Layer::Folder);
        folder.into_iter().chain(self.archive.clone().map(Layer::Zip)).collect()
    }

    /// Where a folder is: everywhere where something was unpacked to it, else in the download.
    fn layers(&self, folder: &str) -> Vec<Layer> {
        let has = |layer: &Layer| match layer {
            Layer::Folder(root) => root.join(folder).is_dir(),
            Layer::Zip(members) => members.is_folder(folder),
        };
        let work = self.work_folder().map(|work| Layer::Folder(work.to_owned()));
        let over: Vec<Layer> =
            work.into_iter().chain(self.over().into_iter().map(Layer::Zip)).filter(has).collect();
        if over.is_empty() { self.below().into_iter().filter(has).collect() } else { over }
    }

    /// The files of a file or folder with their targets; folders are made at once, empty ones too.
    pub(super) fn gather(
        &self,
        from: &str,
        to: &Path,
        pairs: &mut Vec<(Source, PathBuf)>,
    ) -> Result<(), PrepareError> {
        if let Some(source) = self.found(from) {
            pairs.push((source, to.to_owned()));
            return Ok(());
        }
        let layers = self.layers(from);
        if layers.is_empty() {
            return Err(PrepareError::NoRaw { file: from.to_owned() });
        }
        make(to)?;
        let several = layers.len() > 1;
        let mut known: HashMap<PathBuf, usize> = HashMap::new();
        let mut found = Vec::new();
        // What was unpacked later is in the place of what was there.
        for layer in layers.iter().rev() {
            match layer {
                Layer::Folder(root) => tree(&root.join(from), to, &mut found)?,
                Layer::Zip(members) => taken(members, from, to, &mut found)?,
            }
            for (source, target) in found.drain(..) {
                match known.get(&target).and_then(|place| pairs.get_mut(*place)) {
                    Some(pair) => pair.0 = source,
                    None => {
                        if several {
                            known.insert(target.clone(), pairs.len());
                        }
                        pairs.push((source, target));
                    }
                }
            }
        }
        Ok(())
    }

    /// The content of a file.
    pub(super) fn read(&self, file: &str) -> Result<Box<dyn Read + Send>, PrepareError> {
        match self.find(file)? {
            Source::Path(path) => Ok(Box::new(File::open(&path).map_err(PrepareError::io("open", &path))?)),
            Source::Member(members, place) => members.reader(place),
        }
    }

    /// A path at which a file can be opened.
    pub(super) fn path(&self, file: &str) -> Result<PathBuf, PrepareError> {
        let (members, place) = match self.find(file)? {
            Source::Path(path) => return Ok(path),
            Source::Member(members, place) => (members, place),
        };
        // Two archives may have a file of one name.
        let folder = self.work.join(TAKEN).join(members.number.to_string());
        let path = folder.join(file);
        if !path.exists() {
            path.parent().map_or(Ok(()), make)?;
            members.write(place, &path, &mut Scratch::default())?;
        }
        Ok(path)
    }
}

/// Something that has files.
enum Layer {
    Folder(PathBuf),
    Zip(Arc<Members>),
}

fn listed(layers: &[Layer], folder: &str) -> Result<Vec<String>, PrepareError> {
    let mut found = BTreeSet::new();
    for layer in layers {
        match layer {
            Layer::Folder(root) => found.extend(names(&root.join(folder))?),
            Layer::Zip(members) => found.extend(members.names(folder)),
        }
    }
    found.remove(TAKEN);
    Ok(found.into_iter().collect())
}

fn is_zip(path: &Path) -> bool {
    has_end(&path.to_string_lossy().to_lowercase(), ".zip")
}

/// The files of a folder of a zip.
fn taken(
    members: &Arc<Members>,
    from: &str,
    to: &Path,
    found: &mut Vec<(Source, PathBuf)>,
) -> Result<(), PrepareError> {
    let skipped = if from.is_empty() { 0 } else { from.len() + 1 };
    let mut last = None;
    for place in members.below(from) {
        let name = members.name(place);
        let target = to.join(name.get(skipped..).unwrap_or_default());
        if members.is_folder_entry(place) {
            make(&target)?;
            continue;
        }
        let folder = name.rsplit_once('/').map(|(folder, _)| folder);
        if last != Some(folder) {
            target.parent().map_or(Ok(()), make)?;
            last = Some(folder);
        }
        found.push((Source::Member(Arc::clone(members), place), target));
    }
    Ok(())
}

/// The files of a folder.
fn tree(from: &Path, to: &Path, found: &mut Vec<(Source, PathBuf)>) -> Result<(), PrepareError> {
    make(to)?;
    for name in names(from)?.into_iter().filter(|name| name != TAKEN) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() {
            tree(&from, &to, found)?;
        } else {
            found.push((Source::Path(from), to));
        }
    }
    Ok(())
}

/// Names in a folder, sorted by code point.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, PrepareError> {
    let entries = fs::read_dir(folder).map_err(PrepareError::io("list", folder))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(PrepareError::io("list", folder))?;
        names.extend(entry.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// Makes a folder.
pub(super) fn make(folder: &Path) -> Result<(), PrepareError> {
    fs::create_dir_all(folder).map_err(PrepareError::io("create", folder))
}
