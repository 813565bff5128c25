//! The second reading of a table: training rows as they come, test rows without their labels in an order of their own, the
//! labels of those where no agent sees them.
//!
//! Test rows are shuffled (unless they are parted by time), because a table that is sorted by its target would tell the
//! answers by their order. They wait in a file of their own meanwhile; of each only its place and length is held.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use podium_types::rng::Rng;

use crate::csv::{Row, cell, float64};
use crate::own::error::OwnError;
use crate::own::key::Key;
use crate::own::rows;
use crate::own::split::{Parted, Split, has_labels};
use crate::own::target::{Sample, Target};

/// Names of what is laid down.
pub(super) const TRAIN: &str = "train.csv";
pub(super) const TEST: &str = "test.csv";
pub(super) const SAMPLE: &str = "sample_submission.csv";
pub(super) const ANSWERS: &str = "answers.csv";
/// Made-up labels, by which the format of a submission is checked where there are no answers.
pub(super) const FORMAT: &str = "format.csv";

/// Rows on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) train: u64,
    pub(super) test: u64,
}

/// The two folders below `place`, the answers' for the user alone.
pub(super) fn folders(place: &Path) -> Result<[PathBuf; 2], OwnError> {
    let folders = ["public", "private"].map(|part| place.join("prepared").join(part));
    for folder in &folders {
        std::fs::create_dir_all(folder).map_err(OwnError::io("create", folder))?;
    }
    let [public, private] = &folders;
    for (folder, mode) in [(place, 0o755), (public, 0o755), (private, 0o700)] {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder, mode).map_err(OwnError::io("set the mode of", folder))?;
    }
    Ok(folders)
}

/// A file that is being written.
pub(super) struct Out {
    path: PathBuf,
    file: BufWriter<File>,
    line: Vec<u8>,
    /// Bytes written.
    written: u64,
}

impl Out {
    pub(super) fn create(path: PathBuf) -> Result<Self, OwnError> {
        let file = File::create(&path).map_err(OwnError::io("write", &path))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 18, file), path, line: Vec::new(), written: 0 })
    }

    /// Writes cells as one line, and tells its length.
    pub(super) fn line<C: AsRef<str>>(&mut self, cells: impl Iterator<Item = C>) -> Result<u32, OwnError> {
        self.line.clear();
        for text in cells {
            if !self.line.is_empty() {
                self.line.push(b',');
            }
            let before = self.line.len();
            self.line.extend(cell(text.as_ref().as_bytes()));
            // A line that begins with an empty cell would seem to have none before it.
            if before == 0 && self.line.is_empty() {
                self.line.extend(b"\"\"");
            }
        }
        self.line.push(b'\n');
        let line = std::mem::take(&mut self.line);
        let length = self.bytes(&line);
        self.line = line;
        length
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<u32, OwnError> {
        self.file.write_all(bytes).map_err(OwnError::io("write", &self.path))?;
        self.written += bytes.len() as u64;
        Ok(u32::try_from(bytes.len()).unwrap_or(u32::MAX))
    }

    pub(super) fn finish(mut self) -> Result<(), OwnError> {
        let path = &self.path;
        self.file.flush().map_err(OwnError::io("write", path))?;
        self.file.get_ref().sync_all().map_err(OwnError::io("write", path))
    }
}

/// Where a test row waits.
struct Waiting {
    at: u64,
    features: u32,
    answers: u32,
}

/// What one reading fills.
struct Laying<'a> {
    parted: Parted<'a>,
    key: &'a Key,
    train: Out,
    waiting: Out,
    tests: Vec<Waiting>,
    /// Sum of numeric training labels.
    sum: f64,
    rows: u64,
}

/// Parts the rows and writes both folders below `place`.
pub(super) fn lay(parted: Parted<'_>, key: &Key, mut split: Split, place: &Path) -> Result<Sizes, OwnError> {
    let [public, private] = folders(place)?;
    let hold = place.join(".waiting");
    let mut laying = Laying {
        parted,
        key,
        train: Out::create(public.join(TRAIN))?,
        waiting: Out::create(hold.clone())?,
        tests: Vec::new(),
        sum: 0.0,
        rows: 0,
    };
    let names = parted.dialect.names.iter().map(String::as_str);
    let header: Vec<&str> = key.shown(names.skip(usize::from(parted.dialect.unnamed))).collect();
    laying.train.line(header.iter())?;
    rows::each(parted.path, parted.dialect, |number, row| {
        if number == 0 || !has_labels(parted.target, row) { Ok(()) } else { laying.row(row, &mut split) }
    })?;
    let sizes = Sizes { train: laying.rows, test: laying.tests.len() as u64 };
    if sizes.test > 0 {
        laying.finish(&header, split.keeps_order(), &hold, &public, &private)?;
    } else {
        laying.train.finish()?;
    }
    std::fs::remove_file(&hold).map_err(OwnError::io("remove", &hold))?;
    Ok(sizes)
}

impl Laying<'_> {
    fn row(&mut self, row: &Row<'_>, split: &mut Split) -> Result<(), OwnError> {
        let Parted { dialect, target, seed, .. } = self.parted;
        let label = target.places.first().map_or("", |place| row.cell(*place).trim());
        let shown = usize::from(dialect.unnamed)..dialect.names.len();
        if split.is_test(row, label, seed) {
            let at = self.waiting.written;
            let own = self.key.place.map(|place| row.cell(place));
            let features = shown.filter(|place| !target.places.contains(place));
            let features = self.waiting.line(features.map(|place| dialect.cell(place, row.cell(place))))?;
            let labels = labels(self.parted, row);
            let answers = self.waiting.line(own.map(str::to_owned).into_iter().chain(labels))?;
            self.tests.push(Waiting { at, features, answers });
            return Ok(());
        }
        if let Some(number) = target
            .places
            .first()
            .and_then(|place| float64(target.label(&dialect.cell(*place, row.cell(*place))).as_bytes()))
        {
            self.sum += number;
        }
        let number = self.key.place.is_none().then(|| self.rows.to_string().into());
        let cells = shown.map(|place| {
            let cell = dialect.cell(place, row.cell(place));
            if target.places.contains(&place) { target.label(&cell).to_owned().into() } else { cell }
        });
        self.rows += 1;
        self.train.line(number.into_iter().chain(cells))?;
        Ok(())
    }

    /// The test rows in their own order: their features, their labels, and a sample submission of them.
    fn finish(
        mut self,
        header: &[&str],
        in_order: bool,
        hold: &Path,
        public: &Path,
        private: &Path,
    ) -> Result<(), OwnError> {
        self.train.finish()?;
        self.waiting.file.flush().map_err(OwnError::io("write", hold))?;
        if !in_order {
            let mut rng = Rng::new(self.parted.seed ^ 0x5EED);
            for last in (1..self.tests.len()).rev() {
                self.tests.swap(last, rng.below(last + 1));
            }
        }
        let target = self.parted.target;
        let constant = constant(target, self.sum / self.rows.max(1) as f64);
        let features = header.iter().filter(|name| !target.names.iter().any(|target| target == **name));
        let key = self.key.name.as_str();
        let mut test = Out::create(public.join(TEST))?;
        test.line(features)?;
        let mut answers = Out::create(private.join(ANSWERS))?;
        answers.line(std::iter::once(key).chain(target.names.iter().map(String::as_str)))?;
        let mut sample = Out::create(public.join(SAMPLE))?;
        sample.line(std::iter::once(key).chain(target.columns.iter().map(String::as_str)))?;
        let waiting = File::open(hold).map_err(OwnError::io("read", hold))?;
        let mut line = Vec::new();
        for (number, row) in (self.rows..).zip(&self.tests) {
            line.resize(row.features as usize + row.answers as usize, 0);
            waiting.read_exact_at(&mut line, row.at).map_err(OwnError::io("read", hold))?;
            let (shown, kept) = line.split_at_checked(row.features as usize).unwrap_or_default();
            let own = if self.key.place.is_none() { format!("{number},") } else { String::new() };
            for (out, rest) in [(&mut test, shown), (&mut answers, kept)] {
                out.bytes(own.as_bytes())?;
                out.bytes(rest)?;
            }
            let name = match self.key.place {
                None => own.trim_end_matches(',').as_bytes(),
                Some(_) => first_cell(kept),
            };
            sample.bytes(name)?;
            for _ in &target.columns {
                sample.bytes(b",")?;
                sample.bytes(&cell(constant.as_bytes()))?;
            }
            sample.bytes(b"\n")?;
        }
        [test, answers, sample].into_iter().try_for_each(Out::finish)
    }
}

/// The labels of a row as they are written down.
fn labels(parted: Parted<'_>, row: &Row<'_>) -> Vec<String> {
    let places = parted.target.places.iter();
    places
        .map(|place| parted.target.label(&parted.dialect.cell(*place, row.cell(*place))).to_owned())
        .collect()
}

/// What the sample submission says of every row.
pub(super) fn constant(target: &Target, mean: f64) -> String {
    match &target.sample {
        Sample::Constant(text) => text.clone(),
        Sample::Mean => format!("{mean:?}"),
    }
}

/// The first cell of a line, as it is written.
fn first_cell(line: &[u8]) -> &[u8] {
    let mut quoted = false;
    let end = line.iter().position(|byte| {
        quoted ^= *byte == b'"';
        *byte == b',' && !quoted
    });
    line.get(..end.unwrap_or(line.len())).unwrap_or_default()
}
