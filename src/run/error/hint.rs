//! The next step after an error, where there is one.

use podium_sandbox::{SandboxError, Strength};
use podium_scaffold::SpecError;

use crate::assets::AssetError;
use crate::run::driver::DriveError;
use crate::run::error::RunError;
use crate::run::folder::lock::LockError;

/// For a strategy that does something else than its journal says.
const DIVERGED: &str = "the journal is untouched, and the program that wrote it (see `program` in config.json) still fits it, unless its \
     strategy decides by more than it is told (docs/concepts.md)";
/// Why a program of its own, in any language, asks for something else when it is told the same.
pub const CAUSES: &str = "usual causes are the clock, random numbers that are not `rng`'s, the order of a set or of a dictionary made \
     from one, the order in which threads run, a file that it reads (docs/protocol.md)";
/// For files of a strategy's own program.
const BESIDE: &str = "they are texts that lie beside the scaffold's file, 4 MiB together at most";

/// What to do about a lost journal.
const PUT_BACK: &str = "put journal.db back from a copy; the best submission so far is still in best/. Going on would begin anew";

/// What to do about a changed configuration.
const CHANGED: &str = "put back what it was; `podium resume` raises limits (--steps, --time-limit, --max-cost), and a run with another configuration is a new one";

/// The next step where a model's service is elsewhere than before.
const MOVE_BACK: &str =
    "set the address as it was (OPENAI_BASE_URL, say); to move on purpose, change place.json";

impl RunError {
    /// The next step, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Catalog(error) => error.hint(),
            Self::Data(error) => {
                error.hint().or_else(|| Some("choose another data folder with --data-dir".to_owned()))
            }
            Self::NotPrepared { .. }
            | Self::Pointer { .. }
            | Self::Unhidden
            | Self::UnhiddenLabels
            | Self::Holdout(_)
            | Self::Description { .. }
            | Self::NoDescription { .. }
            | Self::NoCheckout => self.data_hint(),
            Self::ModelCatalog(error) => error.hint(),
            Self::OwnModels { .. } => Some(
                "name a file of the form of benchmark/models.toml with --models or PODIUM_MODELS".to_owned(),
            ),
            Self::ModelName(error) => Some(error.hint()),
            Self::Model(error) => error.hint(),
            Self::Assets(AssetError::NoFolder(_)) => Some(
                "--assets names the folder of a podium.toml: a clone of the repository, or one that podium scaffolds new made"
                    .to_owned(),
            ),
            Self::NoPlaybook(_) => Some(
                "playbooks are in a clone of the repository: run inside it, or name it with --assets; or name another model"
                    .to_owned(),
            ),
            Self::Recording { .. } => Some(
                "a recording is the folder of a run, `replay/runs/aide-segment-1`; put it back where it was, or name its \
                 new place (of a run that has begun: `recordings` in its place.json)"
                    .to_owned(),
            ),
            Self::EmptyRecording(_) => {
                Some("name a run whose model has answered: podium show RUN --calls lists its calls".to_owned())
            }
            Self::RecordingChanged(_) => {
                Some("put it back as it was, or begin a new run with the recording as it is now".to_owned())
            }
            Self::UnknownPrice(_) => {
                Some("give its prices in a file of models (`--models FILE`), or limit with --max-tokens instead".to_owned())
            }
            Self::Overcommitted { .. } => Some(
                "grant less with --memory, --cpus or --gpus, leave them out for an even share, or run fewer at a time with \
                 --set search.workers=N"
                    .to_owned(),
            ),
            Self::UnknownMachine { known, .. } => {
                Some(format!("machines are the files of benchmark/machines: {}", known.join(", ")))
            }
            Self::UnknownEnvironment { known, .. } => {
                Some(format!("profiles are the files of benchmark/environments: {}", known.join(", ")))
            }
            Self::NoContainer { .. } => Some("add --sandbox docker, or leave it out".to_owned()),
            Self::Machine { name, .. } => Some(format!("mend benchmark/machines/{name}.toml")),
            Self::Sandbox(SandboxError::TooWeak { found: Strength::Limits, .. }) => {
                Some("use the kind `jail`, which is the default, or require less".to_owned())
            }
            Self::Sandbox(error) => error.hint().map(str::to_owned),
            Self::Grade(error) => error.hint(),
            Self::Lock(LockError::Held { .. }) => {
                Some("wait for it, or stop it with Ctrl-C where it runs; both cannot write one journal".to_owned())
            }
            Self::Closed(_) => Some(
                "a run that goes on must not have been graded node by node; begin a new one (podium run, another --seed)"
                    .to_owned(),
            ),
            Self::NotEnded { .. } => Some(
                "go on with it (podium resume), or add --ended: it is then closed, and never resumed".to_owned(),
            ),
            Self::Moved { .. } => Some(MOVE_BACK.to_owned()),
            Self::JournalLost(_) => Some(PUT_BACK.to_owned()),
            Self::ConfigChanged(_) => Some(CHANGED.to_owned()),
            Self::DiskFull(_) => {
                Some("free some room, then go on; everything committed is kept".to_owned())
            }
            error if error.is_disk_full() => Some("free some room on that disk".to_owned()),
            Self::Folder(error) if error.act.starts_with("open the run") => {
                Some("give the folder of a run, for example runs/aide-segment-1".to_owned())
            }
            Self::Folder(error) if error.act.starts_with("start a run") => Some(
                "name an empty or absent folder, or leave --into out: each run gets a folder of its own".to_owned(),
            ),
            Self::Folder(error) if error.act == "create" => {
                Some("choose another place with --runs-dir or --into".to_owned())
            }
            Self::Corrupt { file: "run.json", .. } => {
                Some("podium resume writes it anew from the journal".to_owned())
            }
            Self::Format(_) => {
                Some("use the version of podium that wrote it: see `program` in config.json".to_owned())
            }
            error if error.is_damage() => {
                Some("put a copy of the run's folder back; without one this run cannot go on".to_owned())
            }
            _ => self.scaffold_hint().or_else(|| self.data_hint()),
        }
    }

    /// The next step where a scaffold, or the program behind it, is at fault.
    fn scaffold_hint(&self) -> Option<String> {
        match self {
            Self::UnknownScaffold { .. } => Some("podium scaffolds list shows all".to_owned()),
            Self::Scaffold { name, source: SpecError::UnknownPath { .. } | SpecError::Override { .. } } => {
                Some(format!("podium scaffolds show {name} prints its keys and values"))
            }
            Self::Scaffold { name, .. } => {
                Some(format!("podium scaffolds check {name} tells all that is wrong with it"))
            }
            Self::ProgramFiles(_) => Some(BESIDE.to_owned()),
            Self::NoProgram(_) => Some("leave out --scaffold-files".to_owned()),
            Self::Drive(DriveError::Diverged { .. }) => Some(DIVERGED.to_owned()),
            Self::OwnProgram(_) => Some(format!(
                "the journal is untouched; {CAUSES}; podium scaffolds check finds most of them beforehand"
            )),
            Self::StoredScaffold { program, .. } => Some(format!(
                "show, resume and replay it with the program that made it: one of your own that has this strategy, policy, \
                 operator, action or tool in it (docs/guide.md), or version {program} of podium"
            )),
            _ => None,
        }
    }

    /// The next step where data or a description are missing.
    fn data_hint(&self) -> Option<String> {
        match self {
            Self::NotPrepared { competition, kind: podium_competition::Kind::Kaggle, .. } => Some(format!(
                "podium competitions prepare {competition} fetches and prepares them with your Kaggle account, as mlebench \
                 prepare -c {competition} does; name the folder with --data-dir if the data are elsewhere"
            )),
            Self::NotPrepared { competition, kind: podium_competition::Kind::Own, .. } => Some(format!(
                "its folder is not whole: remove {competition} there and make it anew with podium competitions new"
            )),
            Self::NoAnswers(_) => Some("podium validate looks at the form of a submission".to_owned()),
            Self::NoSolution(_) => {
                Some("a run has one when a node of it was good; podium show RUN tells what became of them".to_owned())
            }
            Self::Predict(_) => Some(
                "the solution is best/solution.py in the run's folder: see whether it reads the test rows from ./input"
                    .to_owned(),
            ),
            Self::Own(error) => error.hint(),
            Self::NotPrepared { competition, .. } => Some(format!(
                "podium competitions prepare {competition}, or name the folder with --data-dir if they are elsewhere"
            )),
            Self::Pointer { .. } => {
                Some("git lfs pull in the checkout that it lies in brings the file".to_owned())
            }
            Self::UnhiddenLabels => {
                Some("use the sandbox `jail` or `docker` for a run with `[validation]`".to_owned())
            }
            Self::Holdout(error) => error.hint(),
            Self::Unhidden => {
                Some("use the sandbox `jail` or `docker` for a run with an obfuscated description".to_owned())
            }
            Self::Description { path, .. } if path.ends_with("description_obfuscated.md") => Some(
                "--mle-bench names a checkout of MLE-bench's repository, with mlebench/competitions in it"
                    .to_owned(),
            ),
            Self::Description { .. } => Some(
                "--description takes original, obfuscated or the path of a readable text file".to_owned(),
            ),
            Self::NoDescription { path, .. } => Some(format!(
                "put Kaggle's or MLE-bench's text at {}, or name a file of it with --description",
                path.display()
            )),
            Self::NoCheckout => Some(
                "name a checkout of MLE-bench's repository with --mle-bench DIR or PODIUM_MLE_BENCH"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
