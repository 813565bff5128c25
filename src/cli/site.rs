//! Arguments that say where things are on this machine, the same for every command.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::assets::Assets;
use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{values, variables};
use crate::run::config::Place;
use crate::run::error::RunError;
use crate::run::models::OwnModels;
use crate::run::site::Site;

/// Overriding files that are named; with `-v` all are.
const NAMED: usize = 4;

/// Where things are.
#[derive(Clone, Debug, Args)]
pub(crate) struct SiteArguments {
    /// Folder of competitions' data, in MLE-bench's layout [default: MLE-bench's own cache folder]
    #[arg(
        long,
        global = true,
        env = "PODIUM_DATA_DIR",
        value_name = "DIR",
        help_heading = "Where things are"
    )]
    data_dir: Option<PathBuf>,
    /// Folder whose benchmark/, scaffolds/ and prompts/ override the built-in ones
    #[arg(long, global = true, env = "PODIUM_ASSETS", value_name = "DIR", help_heading = "Where things are")]
    assets: Option<PathBuf>,
    /// Your own Python (a venv or conda) for agents' code, instead of the pinned environment; with --image the image's
    /// own, as it is named inside
    #[arg(long, global = true, value_name = "PATH", help_heading = "Where things are")]
    python: Option<PathBuf>,
    /// Give a model's try up after so long without a byte of its answer, such as 90s [default: 5m]
    #[arg(
        long,
        global = true,
        env = "PODIUM_STALL_TIMEOUT",
        value_name = "D",
        value_parser = values::duration,
        help_heading = "Model services"
    )]
    stall_timeout: Option<u64>,
    /// Your own models and providers, a file of the form of benchmark/models.toml [default: podium/models.toml in
    /// the configuration folder, where there is one]
    #[arg(long, global = true, env = "PODIUM_MODELS", value_name = "FILE", help_heading = "Model services")]
    models: Option<PathBuf>,
    /// More diagnostics on standard error; twice for still more
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Where things are")]
    pub(crate) verbose: u8,
}

impl SiteArguments {
    /// Reads the environment, `.env` and the assets.
    pub(crate) fn open(&self, terminal: &Terminal) -> Result<Site, Failure> {
        self.open_for(None, terminal)
    }

    /// As [`Self::open`], with the place of a stored run where the command line names none.
    pub(crate) fn open_for(&self, place: Option<&Place>, terminal: &Terminal) -> Result<Site, Failure> {
        let stored = place.and_then(|place| place.assets.clone()).filter(|folder| folder.is_dir());
        let assets = Assets::load(self.assets.as_deref().or(stored.as_deref())).map_err(RunError::from)?;
        let folder = assets.folder().map(|folder| folder.display().to_string()).unwrap_or_default();
        let note = |text: &str| {
            let text = escape(&format!("from {folder} {text}"));
            terminal.error_line(&format!("{} {text}", terminal.yellow("note:")));
        };
        if !assets.replaced().is_empty() {
            note(&format!("instead of the built-in: {}", self.named(assets.replaced())));
        }
        match assets.overridden().len() - assets.replaced().len() {
            0 => {}
            1 => note("beside the built-in: 1 file"),
            count => note(&format!("beside the built-in: {count} files")),
        }
        let home = std::env::home_dir().ok_or_else(|| {
            Failure::environment("there is no home folder").hint("set HOME, or give --data-dir")
        })?;
        let cache = std::env::var_os("XDG_CACHE_HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| home.join(".cache"));
        let data_dir = self.data_dir.clone().or_else(|| place.map(|place| place.data_dir.clone()));
        Ok(Site {
            assets,
            data_dir: absolute(data_dir.unwrap_or_else(|| home.join(".cache/mle-bench/data"))),
            cache_dir: cache.join("podium"),
            variables: variables::read(terminal),
            own_models: self
                .models
                .clone()
                .map(absolute)
                .or_else(|| place.and_then(|place| place.models.clone()))
                .or_else(|| usual_models(&home)),
            pacing: podium_llm::Pacing::default(),
            stall_timeout: self.stall_timeout.map(Duration::from_millis),
            max_tries: None,
            python: self
                .python
                .clone()
                .map(interpreter)
                .or_else(|| place.and_then(|place| place.python.clone())),
            mounts: place.map(|place| place.mounts.clone()).unwrap_or_default(),
            recordings: place.map(|place| place.recordings.clone()).unwrap_or_default(),
        })
    }

    /// The first names and how many follow: a whole benchmark would be a screen of them.
    fn named(&self, files: &[String]) -> String {
        let few = if self.verbose > 0 { files.len() } else { NAMED };
        let told = files.iter().take(few).cloned().collect::<Vec<_>>().join(", ");
        match files.len().checked_sub(few).filter(|more| *more > 0) {
            Some(more) => format!("{told} and {more} more (-v names all; each run stores their list)"),
            None => told,
        }
    }
}

/// The file of models in the configuration folder, where it is there. One that cannot be looked at counts as there:
/// reading it says why.
fn usual_models(home: &Path) -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let usual = config.unwrap_or_else(|| home.join(".config")).join("podium/models.toml");
    usual.try_exists().unwrap_or(true).then_some(usual)
}

/// Names the user's own file of models, where a command uses one.
pub(crate) fn tell_models(own: Option<&OwnModels>, terminal: &Terminal) {
    if let Some(own) = own {
        let file = escape(&own.file);
        terminal.error_line(&format!(
            "{} models and providers of {file} over the built-in",
            terminal.yellow("note:")
        ));
    }
}

/// A plain name is looked up on `PATH`, wherever that is.
fn interpreter(python: PathBuf) -> PathBuf {
    if python.components().count() == 1 { python } else { absolute(python) }
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}
