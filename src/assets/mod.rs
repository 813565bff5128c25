//! The project's data: `benchmark/`, `scaffolds/` and `prompts/`.
//!
//! They are compiled in, except answers, raw data and playbook solutions, which never are: hostile code could read
//! them out of the program. A folder in which a `podium.toml` stands (the working directory or a parent of it, or a
//! parent of the program itself, as in a clone), or one named by `--assets`, overrides them file by file. Overrides
//! that differ are named to the user and stored with the run. What is never compiled in is looked for there, and then in
//! the clone that the program stands in or was built from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(rust_embed::RustEmbed)]
#[folder = "benchmark/"]
#[include = "*.toml"]
#[include = "*.csv"]
#[include = "*.md"]
#[include = "environments/*.txt"]
#[exclude = "*/playbook/*"]
#[exclude = "*/data/*"]
#[exclude = "*.py"]
#[exclude = "README.md"]
#[exclude = "*/README.md"]
struct Benchmark;

#[derive(rust_embed::RustEmbed)]
#[folder = "scaffolds/"]
#[include = "*.toml"]
struct Scaffolds;

#[derive(rust_embed::RustEmbed)]
#[folder = "prompts/"]
#[include = "*.tera"]
struct Prompts;

/// The file that marks a folder of assets.
pub const MARK: &str = "podium.toml";

/// An asset that should be there and is not.
#[derive(Debug, thiserror::Error)]
pub enum AssetError {
    /// `--assets` names no folder.
    #[error("{} is no folder of Podium's assets: it has no podium.toml", .0.display())]
    NoFolder(PathBuf),
    /// A file could not be read.
    #[error("could not read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
}

/// The assets in force.
#[derive(Clone, Debug)]
pub struct Assets {
    folder: Option<PathBuf>,
    /// The clone that the program stands in or was built from, where it is not the folder.
    clone: Option<PathBuf>,
    /// Whether the folder was named, or found from the working directory.
    own: bool,
    /// What is compiled in stays where it is, and is not looked at before it is asked for: nobody needs all of it.
    texts: BTreeMap<String, Cow<'static, [u8]>>,
    overridden: Vec<String>,
    /// Of these, those that stand in the place of one of their name.
    replaced: Vec<String>,
}

impl Assets {
    /// Loads the compiled-in assets and the overrides of `named`, or of the folder that is found.
    ///
    /// # Errors
    /// When `named` is no assets folder, or an override cannot be read.
    pub fn load(named: Option<&Path>) -> Result<Self, AssetError> {
        let folder = match named {
            Some(folder) if folder.join(MARK).is_file() => Some(folder.to_owned()),
            Some(folder) => return Err(AssetError::NoFolder(folder.to_owned())),
            None => find_folder(std::env::current_dir().ok()),
        };
        let own = folder.is_some();
        let around = find_folder(std::env::current_exe().ok());
        let folder = folder.or_else(|| around.clone());
        // Its texts are those of another day perhaps: only what is never compiled in is taken from it.
        let clone = around.or_else(built_from).filter(|clone| folder.as_ref() != Some(clone));
        let mut texts = BTreeMap::new();
        embed::<Benchmark>("benchmark", &mut texts);
        embed::<Scaffolds>("scaffolds", &mut texts);
        embed::<Prompts>("prompts", &mut texts);
        let mut assets =
            Self { folder: folder.clone(), clone, own, texts, overridden: Vec::new(), replaced: Vec::new() };
        if let Some(folder) = folder {
            for part in ["benchmark", "scaffolds", "prompts"] {
                assets.lay(&folder.join(part), part)?;
            }
        }
        Ok(assets)
    }

    /// Lays the assets of `folder` over those in force; their names begin with `under`.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn lay(&mut self, folder: &Path, under: &str) -> Result<(), AssetError> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let Some(file) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            let name = format!("{under}/{file}");
            if path.is_dir() {
                if file != "playbook" && file != "data" {
                    self.lay(&path, &name)?;
                }
            } else if is_asset(&name) {
                self.put(&name, read(&path)?);
            }
        }
        Ok(())
    }

    /// Puts one text in force.
    pub fn put(&mut self, name: &str, text: String) {
        if self.texts.get(name).is_none_or(|now| **now != *text.as_bytes()) {
            self.overridden.push(name.to_owned());
            let before = self.texts.insert(name.to_owned(), text.into_bytes().into());
            self.replaced.extend(before.map(|_| name.to_owned()));
        }
    }

    /// The text of one asset, for example `scaffolds/aide.toml`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(|bytes| text_of(bytes))
    }

    /// All assets whose names begin with `prefix` and end with `suffix`, by name.
    pub fn under(&self, prefix: &str, suffix: &str) -> BTreeMap<String, String> {
        self.texts
            .iter()
            .filter(|(name, _)| name.starts_with(prefix) && name.ends_with(suffix))
            .map(|(name, bytes)| (name.clone(), text_of(bytes).to_owned()))
            .collect()
    }

    /// The folder that overrides, where there is one.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The folder that overrides, where it is the user's: named, or found from the working directory.
    pub fn own_folder(&self) -> Option<&Path> {
        self.folder().filter(|_| self.own)
    }

    /// All folders in which answers, playbooks and archives may stand, the overriding one first.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folder.iter().chain(&self.clone).map(PathBuf::as_path)
    }

    /// Of [`Self::overridden`], those that replace one of their name; the others stand beside the compiled-in ones.
    pub fn replaced(&self) -> &[String] {
        &self.replaced
    }

    /// Names of assets that differ from the compiled-in ones.
    pub fn overridden(&self) -> &[String] {
        &self.overridden
    }

    /// The stand-in model's library for one competition: `<id>/...` and `common/...`, read from the folder.
    /// Empty without a folder.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn playbook(&self, competition: &str) -> Result<BTreeMap<String, String>, AssetError> {
        let mut files = BTreeMap::new();
        for part in [competition, "common"] {
            let library = format!("benchmark/offline/{part}/playbook");
            let Some(entries) =
                self.folders().find_map(|folder| std::fs::read_dir(folder.join(&library)).ok())
            else {
                continue;
            };
            for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
                if let Some(name) = path.file_name() {
                    files.insert(format!("{part}/{}", name.to_string_lossy()), read(&path)?);
                }
            }
        }
        Ok(files)
    }

    /// The stand-in model's library for competitions of the user's own, as that of `competition`: each of its scripts with
    /// `before` in front, and `common/...`. Empty without a folder.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn own_playbook(
        &self,
        competition: &str,
        before: &str,
    ) -> Result<BTreeMap<String, String>, AssetError> {
        let mut files = self.playbook(competition)?;
        let mut libraries = self.folders().map(|folder| folder.join("benchmark/own/playbook"));
        let Some(entries) = libraries.find_map(|library| std::fs::read_dir(library).ok()) else {
            return Ok(files);
        };
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            let text = read(&path)?;
            let script = path.extension().is_some_and(|end| end == "py");
            let text = if script { format!("{before}\n\n{text}") } else { text };
            files.insert(format!("{competition}/{name}"), text);
        }
        Ok(files)
    }

    /// Where the archives of an offline competition stand, when there is a folder.
    pub fn offline_data(&self, competition: &str) -> Option<PathBuf> {
        let data = format!("benchmark/offline/{competition}/data");
        self.folders().map(|folder| folder.join(&data)).find(|folder| folder.is_dir())
    }
}

fn embed<E: rust_embed::RustEmbed>(root: &str, texts: &mut BTreeMap<String, Cow<'static, [u8]>>) {
    for name in E::iter() {
        if let Some(file) = E::get(&name) {
            texts.insert(format!("{root}/{name}"), file.data);
        }
    }
}

/// An asset as text, which all of them are.
fn text_of(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

fn is_asset(name: &str) -> bool {
    let endings: &[&str] = if name.starts_with("benchmark/environments/") {
        &[".txt"]
    } else {
        &[".toml", ".csv", ".md", ".tera"]
    };
    // A README is for people who look at the folder.
    !name.ends_with("/README.md") && endings.iter().any(|end| name.ends_with(end))
}

fn read(path: &Path) -> Result<String, AssetError> {
    std::fs::read_to_string(path).map_err(|source| AssetError::Read { path: path.to_owned(), source })
}

/// The clone that the program was built from, where it is still there: a program of the user's own is built in another
/// folder, and any may be copied.
fn built_from() -> Option<PathBuf> {
    let clone = Path::new(env!("CARGO_MANIFEST_DIR"));
    clone.join(MARK).is_file().then(|| clone.to_owned())
}

/// The nearest folder of assets from here upwards.
fn find_folder(start: Option<PathBuf>) -> Option<PathBuf> {
    start?.ancestors().find(|folder| folder.join(MARK).is_file()).map(Path::to_owned)
}
