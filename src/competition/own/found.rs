//! What a folder of data holds: the table with the labels, what goes along with it, and whether the whole has the usual
//! shape of Kaggle's sets. Only names and headers are looked at here.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::own::dialect::Dialect;
use crate::own::error::OwnError;

/// More files than these are not taken along.
const MOST_FILES: usize = 1_000_000;

/// A folder that was looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The table with the labels; none where there is only a goal.
    pub(super) table: Option<PathBuf>,
    /// The rows to predict, of a set in Kaggle's shape.
    pub(super) test: Option<PathBuf>,
    /// Its sample submission.
    pub(super) sample: Option<PathBuf>,
    /// Files and folders that the agent is shown as they are.
    pub(super) others: Vec<PathBuf>,
    /// What was noticed.
    pub(super) notes: Vec<String>,
}

impl Found {
    /// Looks at `from`, a folder or a table.
    pub(super) fn look(from: &Path, targets: &[String]) -> Result<Self, OwnError> {
        let facts = std::fs::metadata(from).map_err(OwnError::io("read", from))?;
        let mut found = Self { table: None, test: None, sample: None, others: Vec::new(), notes: Vec::new() };
        if !facts.is_dir() {
            found.table = Some(from.to_owned());
            return Ok(found);
        }
        let mut entries: Vec<PathBuf> = std::fs::read_dir(from)
            .map_err(OwnError::io("read", from))?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| !name(path).starts_with('.'))
            .collect();
        entries.sort();
        let (tables, others): (Vec<PathBuf>, Vec<PathBuf>) =
            entries.into_iter().partition(|path| path.is_file() && is_table(path));
        found.others = others;
        if tables.is_empty() {
            return Err(OwnError::NoTable { folder: from.to_owned(), found: contents(&found.others) });
        }
        found.choose(from, tables, targets)?;
        Ok(found)
    }

    /// Takes the table with the labels out of several.
    fn choose(&mut self, from: &Path, tables: Vec<PathBuf>, targets: &[String]) -> Result<(), OwnError> {
        let named = |start: &str| {
            let mut fits: Vec<&PathBuf> =
                tables.iter().filter(|path| stem(path).starts_with(start)).collect();
            fits.sort_by_key(|path| stem(path).len());
            fits.first().map(|path| (*path).clone())
        };
        let sample = tables.iter().find(|path| stem(path).contains("submission")).cloned();
        let test = named("test");
        let train = named("train").filter(|_| tables.len() > 1 || targets.is_empty());
        let table = match (train, tables.as_slice()) {
            (Some(train), _) => Some(train),
            (None, [only]) => Some(only.clone()),
            (None, _) => {
                let mut with = tables.iter().filter(|path| has_columns(path, targets));
                with.next().filter(|_| with.next().is_none() && !targets.is_empty()).cloned()
            }
        };
        let Some(table) = table else {
            if targets.is_empty() {
                // A goal alone: everything is shown.
                self.others.extend(tables);
                return Ok(());
            }
            let tables = tables.iter().map(|path| name(path)).collect();
            return Err(OwnError::WhichTable { folder: from.to_owned(), tables });
        };
        for other in tables {
            if other == table || Some(&other) == sample.as_ref() || Some(&other) == test.as_ref() {
                continue;
            }
            self.notes.push(format!(
                "{} is shown whole: see that it does not tell the answers of test rows",
                name(&other)
            ));
            self.others.push(other);
        }
        (self.table, self.test, self.sample) = (Some(table), test, sample);
        Ok(())
    }

    /// Copies what is shown as it is.
    pub(super) fn take_along(&self, public: &Path) -> Result<(), OwnError> {
        let mut files = 0;
        for other in &self.others {
            copy(other, &public.join(name(other)), &mut files)?;
        }
        Ok(())
    }

    /// Hashes all content.
    pub(super) fn hash(&self, hasher: &mut Sha256) -> Result<(), OwnError> {
        let parts = [&self.table, &self.test, &self.sample].into_iter().flatten().chain(&self.others);
        for path in parts {
            hash(path, hasher)?;
        }
        Ok(())
    }
}

pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn stem(path: &Path) -> String {
    name(path).split('.').next().unwrap_or_default().to_ascii_lowercase()
}

fn is_table(path: &Path) -> bool {
    let name = name(path).to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".csv", ".tsv"].iter().any(|end| name.ends_with(end))
}

fn has_columns(path: &Path, targets: &[String]) -> bool {
    Dialect::sniff(path).is_ok_and(|dialect| targets.iter().all(|target| dialect.names.contains(target)))
}

/// What is there, for a user who wonders.
fn contents(others: &[PathBuf]) -> String {
    if others.is_empty() {
        return "it is empty".to_owned();
    }
    let mut names: Vec<String> = others.iter().take(5).map(|path| name(path)).collect();
    if others.len() > names.len() {
        names.push(format!("{} more", others.len() - names.len()));
    }
    names.join(", ")
}

/// Copies a file or a folder; links are not followed out of it.
fn copy(from: &Path, to: &Path, files: &mut usize) -> Result<(), OwnError> {
    let facts = std::fs::symlink_metadata(from).map_err(OwnError::io("read", from))?;
    if facts.is_dir() {
        std::fs::create_dir_all(to).map_err(OwnError::io("create", to))?;
        for entry in std::fs::read_dir(from).map_err(OwnError::io("read", from))? {
            let path = entry.map_err(OwnError::io("read", from))?.path();
            copy(&path, &to.join(name(&path)), files)?;
        }
    } else if facts.is_file() {
        *files += 1;
        if *files > MOST_FILES {
            return Err(OwnError::asked(
                format!("there are more than {MOST_FILES} files beside the table"),
                "put them into archives",
            ));
        }
        std::fs::copy(from, to).map_err(OwnError::io("copy to", to))?;
    }
    Ok(())
}

fn hash(path: &Path, hasher: &mut Sha256) -> Result<(), OwnError> {
    let facts = std::fs::symlink_metadata(path).map_err(OwnError::io("read", path))?;
    hasher.update(format!("{:?} {} ", path.file_name(), facts.is_dir()));
    if facts.is_dir() {
        let entries = std::fs::read_dir(path).map_err(OwnError::io("read", path))?;
        let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        inside.sort();
        hasher.update(format!("{}\n", inside.len()));
        return inside.iter().try_for_each(|path| hash(path, hasher));
    }
    if !facts.is_file() {
        return Ok(());
    }
    hasher.update(format!("{}\n", facts.len()));
    let mut file = File::open(path).map_err(OwnError::io("read", path))?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => hasher.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(OwnError::Io { action: "read", path: path.to_owned(), source }),
        }
    }
}
