//! Recorded runs as models: `--model replay/RUN_FOLDER` answers from the journal of that run.
//!
//! A run's configuration names a recording by what it answers (`replay/HASH`), so the run's identity does not hang on
//! where the recording lies; its folder stands beside, in the run's place. A resume reads it there again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use podium_llm::{ModelName, REPLAY, Recording};
use podium_scaffold::{Effect, EffectResult};
use serde::{Deserialize, Serialize};

use crate::run::error::RunError;
use crate::run::journal::Record;
use crate::run::order::Order;
use crate::run::site::Site;
use crate::run::sitting::StoredRun;

/// Digits of a recording's hash that name it.
const NAME: usize = 16;

/// Where a recording is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingPlace {
    /// The folder of the recorded run.
    pub folder: PathBuf,
    /// Whether a stand-in model had answered there.
    #[serde(default)]
    pub stand_in: bool,
}

/// A recorded run that was read.
struct Recorded {
    place: RecordingPlace,
    answers: Recording,
}

impl Recorded {
    fn name(&self) -> &str {
        let hash = self.answers.hash();
        hash.get(..NAME).unwrap_or(hash)
    }
}

/// Reads the run in `folder`, which may be going on.
fn read(folder: &Path) -> Result<Recorded, RunError> {
    let unusable = |source| RunError::Recording { folder: folder.to_owned(), source: Box::new(source) };
    let run = StoredRun::open(folder).map_err(unusable)?;
    let entries = run.entries_so_far().map_err(unusable)?;
    let calls = entries.into_iter().filter_map(|entry| match entry.record {
        Record::Result { effect, result, .. } => match (*effect, *result) {
            (Effect::Chat { request, .. }, EffectResult::Chat(answer)) => Some((*request, answer)),
            _ => None,
        },
        _ => None,
    });
    let answers = Recording::new(run.folder.path().display().to_string(), calls);
    if answers.is_empty() {
        return Err(RunError::EmptyRecording(folder.to_owned()));
    }
    let place = RecordingPlace { folder: run.folder.path().to_owned(), stand_in: run.has_stand_in() };
    Ok(Recorded { place, answers })
}

impl Order {
    /// Puts recordings in the place of the folders that the order names, and tells `site` where they are.
    ///
    /// # Errors
    /// When a folder holds no run, or none that answers.
    pub fn name_recordings(&mut self, site: &mut Site) -> Result<(), RunError> {
        for name in self.model.iter_mut().chain(self.roles.values_mut()) {
            let Some(folder) = name.strip_prefix(REPLAY).and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            let recorded = read(Path::new(folder))?;
            *name = format!("{REPLAY}/{}", recorded.name());
            site.recordings.insert(recorded.name().to_owned(), recorded.place);
        }
        Ok(())
    }
}

impl Site {
    /// The recordings among `models`. One that this site does not know is the folder of a run.
    pub(super) fn read_recordings<'a>(
        &self,
        models: impl Iterator<Item = &'a ModelName>,
    ) -> Result<BTreeMap<String, Recording>, RunError> {
        let mut recordings = BTreeMap::new();
        for model in models.filter(|model| model.provider == REPLAY) {
            let name = model.model.clone();
            if recordings.contains_key(&name) {
                continue;
            }
            let known = self.recordings.get(&name);
            let recorded = read(known.map_or(Path::new(&name), |place| &place.folder))?;
            if known.is_some() && recorded.name() != name {
                return Err(RunError::RecordingChanged(recorded.place.folder));
            }
            recordings.insert(name, recorded.answers);
        }
        Ok(recordings)
    }
}
