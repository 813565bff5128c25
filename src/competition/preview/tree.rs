//! The folder as a tree: a few files and folders of each level by name, the rest as a count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::preview::head::{Lines, lines};
use crate::preview::zip;

const FILES: usize = 8;
const FILES_OF_MANY: usize = 4;
const MANY: u64 = 30;
const FOLDERS: usize = 8;
const DEPTH: usize = 4;
const PREVIEWED: usize = 40;

/// Entries of folders that one preview looks at; a folder with more is said to have more.
const ENTRIES: u64 = 1 << 20;

/// A drawn tree.
pub(crate) struct Tree {
    /// Lines to show.
    pub(crate) text: String,
    /// The files that are named in it, with their path below the root, in order.
    pub(crate) files: Vec<(String, PathBuf)>,
}

/// What of one preview is read, and how much of it.
struct Reading<'a> {
    /// The folder itself, without links: what lies outside of it is not shown.
    root: PathBuf,
    /// Files of the root that others stand for.
    instead: &'a BTreeMap<String, PathBuf>,
    /// Bytes left for line counts.
    bytes: u64,
    /// Entries of folders that are left to be looked at.
    entries: u64,
}

/// Draws the tree below `root`, where others stand for some of its files. Links that lead out of it are named and not
/// followed: where code runs, they lead nowhere.
pub(crate) fn tree(root: &Path, instead: &BTreeMap<String, PathBuf>, bytes: u64) -> Tree {
    let mut tree = Tree { text: String::new(), files: Vec::new() };
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    tree.folder(root, "", 0, &mut Reading { root: real, instead, bytes, entries: ENTRIES });
    tree
}

impl Tree {
    fn folder(&mut self, path: &Path, prefix: &str, depth: usize, reading: &mut Reading<'_>) {
        let indent = "    ".repeat(depth);
        let Some(listing) = Listing::of(path, reading) else {
            let _ = writeln!(self.text, "{indent}(cannot be read)");
            return;
        };
        let shown = if listing.file_count > MANY { FILES_OF_MANY } else { FILES };
        for (_, name) in listing.files.iter().take(shown) {
            let instead = reading.instead.get(name).filter(|_| depth == 0).cloned();
            let file = match instead {
                Some(file) => file,
                None if reading.leads_out(&path.join(name)) => {
                    let _ = writeln!(self.text, "{indent}{} (a link out of this folder)", escape(name));
                    continue;
                }
                None => path.join(name),
            };
            let _ = writeln!(self.text, "{indent}{} ({})", escape(name), size(&file, &mut reading.bytes));
            if self.files.len() < PREVIEWED {
                self.files.push((format!("{prefix}{name}"), file));
            }
        }
        rest(&mut self.text, &indent, listing.file_count, shown, "file");
        for name in listing.folders.iter().take(FOLDERS) {
            let _ = writeln!(self.text, "{indent}{}/", escape(name));
            if depth + 1 < DEPTH {
                self.folder(&path.join(name), &format!("{prefix}{name}/"), depth + 1, reading);
            }
        }
        rest(&mut self.text, &indent, listing.folder_count, FOLDERS, "folder");
        if !listing.whole {
            let _ = writeln!(self.text, "{indent}... and more, not looked at");
        }
    }
}

impl Reading<'_> {
    /// Whether a path is a link, or behind one, that ends outside of the folder; one that ends nowhere does not count.
    fn leads_out(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| !real.starts_with(&self.root))
    }
}

fn rest(text: &mut String, indent: &str, count: u64, shown: usize, noun: &str) {
    let more = count.saturating_sub(shown as u64);
    if more > 0 {
        let _ = writeln!(text, "{indent}... and {more} more {noun}{}", if more == 1 { "" } else { "s" });
    }
}

/// The first names of a folder and how many there are; only the first are ever held.
struct Listing {
    /// Tables first: they say most.
    files: BTreeSet<(bool, String)>,
    folders: BTreeSet<String>,
    file_count: u64,
    folder_count: u64,
    whole: bool,
}

impl Listing {
    fn of(path: &Path, reading: &mut Reading<'_>) -> Option<Self> {
        let (files, folders) = (BTreeSet::new(), BTreeSet::new());
        let mut listing = Self { files, folders, file_count: 0, folder_count: 0, whole: true };
        for entry in std::fs::read_dir(path).ok()? {
            let Ok(entry) = entry else { break };
            let Some(entries) = reading.entries.checked_sub(1) else {
                listing.whole = false;
                break;
            };
            reading.entries = entries;
            let is_folder = is_folder(&entry, reading);
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_folder {
                listing.folder_count += 1;
                listing.folders.insert(name);
            } else {
                listing.file_count += 1;
                listing.files.insert((!is_table(Path::new(&name)), name));
            }
            if listing.folders.len() > FOLDERS {
                listing.folders.pop_last();
            }
            if listing.files.len() > FILES {
                listing.files.pop_last();
            }
        }
        Some(listing)
    }
}

/// A folder, or a link to one of this tree.
fn is_folder(entry: &std::fs::DirEntry, reading: &Reading<'_>) -> bool {
    let path = entry.path();
    match entry.file_type() {
        Ok(kind) if kind.is_symlink() => path.is_dir() && !reading.leads_out(&path),
        kind => kind.is_ok_and(|kind| kind.is_dir()),
    }
}

fn size(path: &Path, budget: &mut u64) -> String {
    let Ok(metadata) = std::fs::metadata(path) else { return "cannot be read".to_owned() };
    if !metadata.is_file() {
        return "a special file".to_owned();
    }
    let bytes = human(metadata.len());
    match kind(path) {
        Kind::Table { .. } | Kind::Json | Kind::JsonLines | Kind::Text => match lines(path, budget) {
            Some(Lines::Exactly(0)) => "empty".to_owned(),
            Some(lines) => format!("{lines}"),
            None => "cannot be read".to_owned(),
        },
        Kind::Zip => match zip::entries(path) {
            Some(entries) => {
                format!("{bytes}, holds {} entries: {}", entries.count, entries.first.join(", "))
            }
            None => bytes,
        },
        Kind::Other => bytes,
    }
}

/// What a file is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Table { delimiter: u8 },
    Json,
    JsonLines,
    Text,
    Zip,
    Other,
}

/// What a file is, by its name.
pub(crate) fn kind(path: &Path) -> Kind {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match extension.as_str() {
        "csv" => Kind::Table { delimiter: b',' },
        "tsv" => Kind::Table { delimiter: b'\t' },
        "json" => Kind::Json,
        "jsonl" | "ndjson" => Kind::JsonLines,
        "txt" | "md" | "rst" | "log" | "py" | "sh" | "yaml" | "yml" | "toml" | "xml" | "html" => Kind::Text,
        "zip" => Kind::Zip,
        _ => Kind::Other,
    }
}

fn is_table(path: &Path) -> bool {
    matches!(kind(path), Kind::Table { .. } | Kind::Json | Kind::JsonLines)
}

fn human(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// A file name without control characters.
pub(crate) fn escape(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
