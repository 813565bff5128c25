//! What runs would have handed in over time, graded after their end and kept in the experiment's folder, outside of all
//! run folders: `grades/RUN.json`. Oracle figures; a run is closed for good before the first of them is computed.

use std::path::PathBuf;

use podium_report::experiment::course::Course;
use serde::{Deserialize, Serialize};

use crate::experiment::plan::PlannedRun;
use crate::experiment::stored::Experiment;
use crate::run::error::RunError;
use crate::run::folder::write_whole;
use crate::run::site::Site;
use crate::run::sitting::StoredRun;

/// Version of a file.
const FORMAT: u32 = 1;

/// A file.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    format: u32,
    identity: String,
    course: Course,
}

/// Name of the file of a run, below the experiment's folder.
pub fn name(run: &PlannedRun) -> String {
    format!("grades/{}.json", run.folder)
}

fn path(experiment: &Experiment, run: &PlannedRun) -> PathBuf {
    experiment.folder.join(name(run))
}

/// What was graded before; none: nothing, or of another run.
pub fn read(experiment: &Experiment, run: &PlannedRun) -> Option<Course> {
    let bytes = std::fs::read(path(experiment, run)).ok()?;
    let stored: Stored = serde_json::from_slice(&bytes).ok()?;
    (stored.format == FORMAT && stored.identity == run.identity).then_some(stored.course)
}

/// Closes an ended run for good, grades what it would have handed in over time, and keeps it.
///
/// # Errors
/// When the run can still go on, or its answers are not there.
pub fn make(experiment: &Experiment, run: &PlannedRun, site: &Site) -> Result<(), RunError> {
    let stored = StoredRun::open(&experiment.path(run))?;
    let competition = stored.config.competition()?;
    // Before it is closed: a run that cannot be graded stays as it is.
    let answers = site.answers(&competition)?;
    stored.close(false)?;
    let course = stored.course(&competition, &answers)?;
    let file = Stored { format: FORMAT, identity: run.identity.clone(), course };
    let corrupt = |source| RunError::Corrupt { file: "grades", source };
    Ok(write_whole(&path(experiment, run), &serde_json::to_vec_pretty(&file).map_err(corrupt)?)?)
}
