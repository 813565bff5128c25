//! What can keep an experiment from being planned or from going on.

use std::path::PathBuf;

use crate::run::error::RunError;
use crate::run::folder::FolderError;

/// An error of an experiment.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A TOML file that does not read.
    #[error("{} is no experiment: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A value that cannot be.
    #[error("`{name}` of the experiment cannot be {value}: {message}")]
    Setting {
        /// Its name.
        name: String,
        /// What was given.
        value: String,
        /// What is wrong.
        message: String,
    },
    /// An axis without values.
    #[error("the experiment names no {0}")]
    Empty(&'static str),
    /// A name that cannot be a folder's.
    #[error("`{0}` cannot be the name of an experiment: letters, digits, `.`, `_` and `-`")]
    Name(String),
    /// No experiment where one was looked for.
    #[error("there is no experiment in {}", .0.display())]
    Absent(PathBuf),
    /// Its file does not read back.
    #[error("experiment.json of {} does not read back", folder.display())]
    Corrupt {
        /// The experiment.
        folder: PathBuf,
        /// The parser's words.
        #[source]
        source: serde_json::Error,
    },
    /// One run of the matrix cannot be resolved.
    #[error("{run} cannot be run")]
    Run {
        /// Which.
        run: String,
        /// Why.
        #[source]
        source: RunError,
    },
    /// A cap that nothing can hold.
    #[error("a {cap} cap needs a {limit} limit for each run")]
    Unbounded {
        /// `dollar` or `token`.
        cap: &'static str,
        /// The same for a run.
        limit: &'static str,
    },
    /// A run that broke off in the middle: a bug of ours.
    #[error("the run broke off: a bug of Podium")]
    Broke,
    /// Files of the experiment.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Anything of a run, or of the machine.
    #[error(transparent)]
    Other(#[from] RunError),
}

impl ExperimentError {
    /// With its causes, none told twice.
    pub fn in_words(&self) -> String {
        let mut words = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let more = error.to_string();
            if !words.contains(&more) {
                words = format!("{words}: {more}");
            }
            cause = error.source();
        }
        words
    }

    /// The next step, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Empty(what) => Some(format!("give --{what}, or `{what} = [...]` in the file")),
            Self::Absent(_) => Some("name one below --runs-dir, or its folder".to_owned()),
            Self::Unbounded { cap: "dollar", .. } => {
                Some("add --max-cost USD, the limit of one run".to_owned())
            }
            Self::Unbounded { .. } => Some("add --max-tokens N, the limit of one run".to_owned()),
            Self::Run { source, .. } | Self::Other(source) => source.hint(),
            Self::File { .. } | Self::Setting { .. } => {
                Some("podium experiment run --help names the settings".to_owned())
            }
            _ => None,
        }
    }
}
