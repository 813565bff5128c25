//! A scaffold that is named by the path of its file instead of its id, and what lies beside a scaffold's file: the files
//! of its own program. Whatever is read here is stored with the run; a resume reads it from there.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use podium_scaffold::{Scaffold, SpecError};

use crate::run::config::RunConfig;
use crate::run::error::RunError;
use crate::run::external::{self, ExternalSpec, Stage};
use crate::run::folder::FolderError;
use crate::run::own_files::Files;
use crate::run::resources::Resources;
use crate::run::site::Site;
use crate::run::tally::Tally;

/// The file that `name` is the path of, where it is one: it ends in `.toml`, which no id does.
pub fn path(name: &str) -> Option<&Path> {
    let path = Path::new(name);
    path.extension().is_some_and(|end| end == "toml").then_some(path)
}

/// The id of the scaffold that is named so.
pub fn id(name: &str) -> String {
    let stem = path(name).and_then(Path::file_stem);
    stem.map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

impl Site {
    /// The text of the scaffold `name`, an id or the path of a file.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn scaffold_text(&self, name: &str) -> Result<Cow<'_, str>, RunError> {
        let Some(path) = path(name) else {
            let text = self.assets.text(&format!("scaffolds/{name}.toml"));
            return text.map(Cow::Borrowed).ok_or_else(|| self.unknown_scaffold(name));
        };
        let read = std::fs::read_to_string(path);
        let failed = |source| FolderError { act: "read the scaffold file", path: path.to_owned(), source };
        Ok(Cow::Owned(read.map_err(failed)?))
    }

    /// The prompts that the scaffold `name` may use: those in force, and over them those in `../prompts` beside a file
    /// that is named by its path.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn prompts_of(&self, name: &str) -> Result<BTreeMap<String, String>, RunError> {
        let beside = path(name).and_then(Path::parent).map(|folder| folder.join("../prompts"));
        let Some(beside) = beside.filter(|folder| folder.is_dir()) else { return Ok(self.prompts()) };
        let mut site = self.clone();
        site.assets.lay(&beside, "prompts")?;
        Ok(site.prompts())
    }

    /// The files of the scaffold's own program, which lie beside the file of the scaffold that is named `name`; empty
    /// where it has none.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn program_files(
        &self,
        name: &str,
        scaffold: &Scaffold,
    ) -> Result<BTreeMap<String, String>, RunError> {
        let Some(spec) = ExternalSpec::of(scaffold) else { return Ok(BTreeMap::new()) };
        let beside = path(name).map(|path| path.parent().unwrap_or(Path::new(".")).to_owned());
        let folder = beside.or_else(|| Some(self.assets.folder()?.join("scaffolds")));
        let folder = folder.unwrap_or_else(|| PathBuf::from("scaffolds"));
        Ok(external::files::read(&folder, &spec.external.files)?)
    }

    /// Where the program of a stored run's strategy can be started without anything else of the run; none where its
    /// strategy has no program.
    ///
    /// # Errors
    /// When the sandbox or the environment cannot work.
    pub fn stage(
        &self,
        config: &RunConfig,
        runs: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Stage>, RunError> {
        if ExternalSpec::of(&config.scaffold()?).is_none() {
            return Ok(None);
        }
        let data = podium_competition::folders(&self.data_dir, &config.task.competition);
        let (sandbox, environment) = self.sandbox_and_environment(&config.sandbox, progress)?;
        let resources = Resources::take(self, &config.sandbox, 1)?;
        let (hidden, cpus) = (self.hidden(&data, runs), resources.cpus().clone());
        Ok(Some(Stage { hidden, cpus, ..Stage::new(sandbox, environment) }))
    }
}

/// What a stored scaffold names that this program does not have. Its lines are those of no file that anybody wrote.
pub(super) fn unknown_here(toml: &str, error: &SpecError) -> String {
    let SpecError::Unknown { name, .. } = error else { return error.to_string() };
    let table: toml::Table = toml.parse().unwrap_or_default();
    match place_of(&table, name) {
        Some(path) => format!("`{path}` is `{name}`, which this program does not have"),
        None => format!("it has the key `{name}`, which this program does not know"),
    }
}

/// The path of the value that is this text, where one is; of several that which says what a table is.
fn place_of(table: &toml::Table, text: &str) -> Option<String> {
    let mut found = Vec::new();
    let mut left: Vec<(String, &toml::Value)> =
        table.iter().map(|(key, value)| (key.clone(), value)).collect();
    while let Some((path, value)) = left.pop() {
        match value {
            toml::Value::String(value) if value == text => found.push(path),
            toml::Value::Table(table) => {
                left.extend(table.iter().map(|(key, value)| (format!("{path}.{key}"), value)));
            }
            toml::Value::Array(values) => left.extend(values.iter().map(|value| (path.clone(), value))),
            _ => {}
        }
    }
    found.sort();
    let says = |path: &String| path == "strategy" || path.rsplit('.').next() == Some("kind");
    found.iter().find(|path| says(path)).or(found.first()).cloned()
}

impl RunConfig {
    /// The strategy's own program, where it is one, of these files.
    pub(super) fn agent(
        &self,
        scaffold: &Scaffold,
        stage: Option<Stage>,
        files: &Files,
    ) -> Option<external::Agent> {
        let budget = Tally::new(self.limits).budget();
        external::Agent::of(scaffold, files, budget, self.seed, stage)
    }
}
