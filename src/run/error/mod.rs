//! Everything that can keep a run from starting, going on or being read, with the class that decides the exit code;
//! `hint` has the next step, where there is one.

mod hint;

pub use hint::CAUSES;

use podium_competition::{CatalogError, DataError, GradeError};
use podium_sandbox::{SandboxError, SandboxKind};
use podium_scaffold::SpecError;

use crate::assets::AssetError;
use crate::run::driver::DriveError;
use crate::run::folder::FolderError;
use crate::run::folder::content::ContentError;
use crate::run::folder::lock::LockError;
use crate::run::journal::JournalError;
use crate::run::limits::LowersLimit;

/// Who can do something about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The command line, a file the user wrote.
    Usage,
    /// The machine: sandbox, data, Python.
    Environment,
    /// Stopped, resumable.
    Resumable,
    /// A bug of ours.
    Internal,
}

/// An error of a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Assets.
    #[error(transparent)]
    Assets(#[from] AssetError),
    /// The catalog of competitions.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The data of a competition.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Data that are not there.
    #[error("the data of `{competition}` are not prepared in {}", data_dir.display())]
    NotPrepared {
        /// The competition.
        competition: String,
        /// Where the competition comes from: it decides who can prepare its data.
        kind: podium_competition::Kind,
        /// Where they were looked for.
        data_dir: std::path::PathBuf,
    },
    /// A competition that has nothing to grade with.
    #[error("`{0}` has no answers")]
    NoAnswers(String),
    /// A run that has no solution to run.
    #[error("{} has no best solution", .0.display())]
    NoSolution(std::path::PathBuf),
    /// A solution that does not predict new rows.
    #[error("the best solution does not predict these rows: {0}")]
    Predict(String),
    /// The user's own data make no competition.
    #[error(transparent)]
    Own(#[from] podium_competition::own::OwnError),
    /// Answers that are only a Git LFS pointer.
    #[error("{} is a Git LFS pointer, not the file itself", path.display())]
    Pointer {
        /// The file.
        path: std::path::PathBuf,
    },
    /// A file of a description that is not there or cannot be read.
    #[error("could not read the description {}", path.display())]
    Description {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A competition whose data came without a description.
    #[error("there is no description of `{competition}`: {} is missing", path.display())]
    NoDescription {
        /// The competition.
        competition: String,
        /// Where it was looked for.
        path: std::path::PathBuf,
    },
    /// An obfuscated description without the checkout that holds it.
    #[error("an obfuscated description is part of MLE-bench's checkout, and none was named")]
    NoCheckout,
    /// An obfuscated description beside the original one in plain sight.
    #[error("the sandbox `process` shows the data folder as it is, the original description included")]
    Unhidden,
    /// Held-out labels in plain sight.
    #[error("the sandbox `process` shows the training table as it is, the held-out labels included")]
    UnhiddenLabels,
    /// Training labels that cannot be held out.
    #[error(transparent)]
    Holdout(#[from] podium_competition::HoldoutError),
    /// A scaffold that is unknown.
    #[error("scaffold `{name}` is unknown{}", nearest.as_ref().map(|near| format!("; nearest: {near}")).unwrap_or_default())]
    UnknownScaffold {
        /// What was asked for.
        name: String,
        /// The nearest id.
        nearest: Option<String>,
    },
    /// A scaffold that is wrong.
    #[error("scaffold `{name}` cannot be used: {source}")]
    Scaffold {
        /// Its id.
        name: String,
        /// What is wrong.
        source: SpecError,
    },
    /// The files of a strategy's own program.
    #[error(transparent)]
    ProgramFiles(#[from] crate::run::external::FilesError),
    /// The scaffold of a stored run, which names what this program does not have.
    #[error("the scaffold `{name}` of the run does not read here: {what}")]
    StoredScaffold {
        /// Its id.
        name: String,
        /// What is unknown, and where it is named.
        what: String,
        /// Version of the program that made the run.
        program: String,
    },
    /// A prompt that does not render.
    #[error(transparent)]
    Strategy(#[from] podium_scaffold::StrategyError),
    /// A role without a model, or a model for no role.
    #[error("{0}")]
    Models(String),
    /// The catalog of models.
    #[error(transparent)]
    ModelCatalog(#[from] podium_llm::CatalogError),
    /// The user's own file of models.
    #[error("could not read the file of models {}", path.display())]
    OwnModels {
        /// Which.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A model's name.
    #[error(transparent)]
    ModelName(#[from] podium_llm::ModelNameError),
    /// A model that cannot be called.
    #[error(transparent)]
    Model(#[from] podium_llm::Error),
    /// The stand-in model's library.
    #[error("the stand-in model's library cannot be used: {0}")]
    Playbook(#[from] podium_llm::playbook::LibraryError),
    /// The stand-in model without its library.
    #[error("the stand-in model has no library for `{0}`")]
    NoPlaybook(String),
    /// A recorded run that cannot answer.
    #[error("the recording {} cannot be used", folder.display())]
    Recording {
        /// Where it was looked for.
        folder: std::path::PathBuf,
        /// Why.
        #[source]
        source: Box<RunError>,
    },
    /// A recorded run without answers.
    #[error("the run {} holds no answer of a model", .0.display())]
    EmptyRecording(std::path::PathBuf),
    /// A recording that is not what it was when the run began.
    #[error("the recording {} has other answers than when this run began", .0.display())]
    RecordingChanged(std::path::PathBuf),
    /// A dollar limit with a model of unknown price.
    #[error("--max-cost needs prices, and the price of `{0}` is unknown")]
    UnknownPrice(String),
    /// Grants that the machine cannot give to all executions that may run at the same time.
    #[error("{workers} executions at a time with {each} each need {needed}, and this machine has {machine}")]
    Overcommitted {
        /// How many may run at the same time.
        workers: usize,
        /// What each is granted.
        each: String,
        /// What all of them need.
        needed: String,
        /// What there is.
        machine: String,
    },
    /// A machine that is unknown.
    #[error("machine `{name}` is unknown{}", nearest.as_ref().map(|near| format!("; nearest: {near}")).unwrap_or_default())]
    UnknownMachine {
        /// What was asked for.
        name: String,
        /// All there are.
        known: Vec<String>,
        /// The nearest of them.
        nearest: Option<String>,
    },
    /// A profile of a Python environment that is unknown.
    #[error("environment `{name}` is unknown{}", nearest.as_ref().map(|near| format!("; nearest: {near}")).unwrap_or_default())]
    UnknownEnvironment {
        /// What was asked for.
        name: String,
        /// All there are.
        known: Vec<String>,
        /// The nearest of them.
        nearest: Option<String>,
    },
    /// Something that only containers have was asked of another kind of sandbox.
    #[error("--{option} is for containers, and this sandbox is a {kind}")]
    NoContainer {
        /// The option.
        option: &'static str,
        /// The kind in force.
        kind: SandboxKind,
    },
    /// A machine whose file is wrong.
    #[error("machine `{name}` cannot be used: {message}")]
    Machine {
        /// Its name.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// The sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The run folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The content store.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The driver.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// Files for the program of a strategy that is none.
    #[error("the strategy of `{0}` is no program with files of its own")]
    NoProgram(String),
    /// A strategy's own program that does not do again what the journal says it did.
    #[error(transparent)]
    OwnProgram(DriveError),
    /// Limits.
    #[error(transparent)]
    Limits(#[from] LowersLimit),
    /// Grading.
    #[error(transparent)]
    Grade(#[from] GradeError),
    /// A file of the run folder that does not read back.
    #[error("{file} of the run folder does not read back")]
    Corrupt {
        /// Which file.
        file: &'static str,
        /// The parser's words.
        #[source]
        source: serde_json::Error,
    },
    /// A run that cannot be told as a page.
    #[error("the run cannot be told as a page")]
    Story(#[source] serde_json::Error),
    /// The disk was full in the middle of a run; what is committed stays.
    #[error("the disk is full: {0}")]
    DiskFull(#[source] Box<RunError>),
    /// A run that has files of nodes or a report, and no journal.
    #[error("the journal of {} is gone, and with it what the run did and paid for", .0.display())]
    JournalLost(std::path::PathBuf),
    /// A configuration that is not what the run began with.
    #[error("{} was changed since the run began", .0.display())]
    ConfigChanged(std::path::PathBuf),
    /// A run all of whose nodes have been graded: whoever goes on with it could know their scores.
    #[error("{} is closed: all its nodes have been graded", .0.display())]
    Closed(std::path::PathBuf),
    /// Grading all nodes of a run that can still go on.
    #[error("the nodes of {} are graded after its end only, and {why}", run.display())]
    NotEnded {
        /// The run.
        run: std::path::PathBuf,
        /// Why it has not ended.
        why: &'static str,
    },
    /// A run's prompts would go to another service than before.
    #[error("{model} was at {before}, and now its prompts would go to {now}")]
    Moved {
        /// The model.
        model: String,
        /// Where it was.
        before: String,
        /// Where it would be.
        now: String,
    },
    /// A run of another format.
    #[error("the run was written in format {0}, which this program does not read")]
    Format(u32),
}

impl RunError {
    /// Who can do something about it.
    pub fn class(&self) -> Class {
        match self {
            Self::Model(error) if !matches!(error, podium_llm::Error::Configuration { .. }) => {
                Class::Resumable
            }
            Self::Folder(error)
                if error.act.starts_with("open the run") || error.act.starts_with("start a run") =>
            {
                Class::Usage
            }
            // What was asked for cannot be granted anywhere.
            Self::Sandbox(SandboxError::Job { .. }) => Class::Usage,
            Self::DiskFull(_) | Self::Sandbox(SandboxError::Cancelled) => Class::Resumable,
            Self::Recording { source, .. } => source.class(),
            // Only a run that is there already is locked.
            Self::Lock(_) if self.is_disk_full() => Class::Resumable,
            Self::Lock(LockError::Io { .. })
            | Self::Pointer { .. }
            | Self::JournalLost(_)
            | Self::ConfigChanged(_)
            | Self::Data(_)
            | Self::Playbook(_)
            | Self::NoPlaybook(_)
            | Self::Sandbox(_)
            | Self::Grade(_)
            | Self::Folder(_)
            | Self::Content(_)
            | Self::Journal(_)
            | Self::Corrupt { .. }
            | Self::Drive(DriveError::Journal(_)) => Class::Environment,
            Self::Story(_) | Self::Drive(DriveError::Hash { .. }) => Class::Internal,
            Self::Assets(_)
            | Self::Catalog(_)
            | Self::UnknownScaffold { .. }
            | Self::Scaffold { .. }
            | Self::StoredScaffold { .. }
            | Self::OwnProgram(_)
            | Self::NoProgram(_)
            | Self::ProgramFiles(_)
            | Self::Strategy(_)
            | Self::Models(_)
            | Self::ModelCatalog(_)
            | Self::OwnModels { .. }
            | Self::ModelName(_)
            | Self::Model(_)
            | Self::UnknownPrice(_)
            | Self::EmptyRecording(_)
            | Self::RecordingChanged(_)
            | Self::Overcommitted { .. }
            | Self::UnknownMachine { .. }
            | Self::UnknownEnvironment { .. }
            | Self::NoContainer { .. }
            | Self::Machine { .. }
            | Self::Limits(_)
            | Self::NotPrepared { .. }
            | Self::NoAnswers(_)
            | Self::NoSolution(_)
            | Self::Predict(_)
            | Self::Own(_)
            | Self::Description { .. }
            | Self::NoDescription { .. }
            | Self::NoCheckout
            | Self::Unhidden
            | Self::UnhiddenLabels
            | Self::Holdout(_)
            | Self::Lock(LockError::Held { .. })
            | Self::Drive(DriveError::Diverged { .. })
            | Self::Closed(_)
            | Self::NotEnded { .. }
            | Self::Moved { .. }
            | Self::Format(_) => Class::Usage,
        }
    }

    /// The error with its causes and its hint, on one line.
    pub fn in_full(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let words = error.to_string();
            if !text.contains(words.trim_end()) {
                text.push_str(": ");
                text.push_str(words.trim_end());
            }
            cause = error.source();
        }
        if let Some(hint) = self.hint() {
            text.push_str(" (");
            text.push_str(&hint);
            text.push(')');
        }
        text
    }

    /// Whether a strategy does something else than its journal says: going on cannot help.
    pub fn is_divergence(&self) -> bool {
        matches!(self, Self::OwnProgram(_) | Self::Drive(DriveError::Diverged { .. }))
    }

    /// Whether a file of the run folder is damaged, so that trying again changes nothing.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Corrupt { file, .. } => *file != "run.json",
            Self::Journal(error) | Self::Drive(DriveError::Journal(error)) => error.is_damage(),
            _ => false,
        }
    }

    /// Whether a full disk or an exhausted quota is the cause.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Folder(error) => error.is_disk_full(),
            Self::Content(error) => error.is_disk_full(),
            Self::Journal(error) | Self::Drive(DriveError::Journal(error)) => error.is_disk_full(),
            Self::Lock(LockError::Io { source, .. }) => crate::run::folder::is_disk_full(source),
            Self::DiskFull(_) => true,
            _ => false,
        }
    }
}
