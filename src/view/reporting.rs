//! An experiment's report, made from what its folder says now. A run folder that leads elsewhere is not read: its run
//! counts as one without a report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use podium_report::experiment::{Sheet, report, sheet};

use super::listing::open;
use super::root::{OF_A_RUN, Refusal, Root, below, plain_parts};
use crate::experiment::outcomes::{Known, axes, runs, told_apart};
use crate::run::config::Place;

/// A name that no run folder has.
const REFUSED: &str = ".refused";

/// More places than this are looked at anew.
const PLACES: usize = 16;

/// What is known beside an experiment's folder: what its report would know on the command line.
pub struct Beside {
    look: Box<dyn Fn(&Place) -> Known + Send + Sync>,
    known: Mutex<BTreeMap<Option<PathBuf>, Arc<Known>>>,
}

impl std::fmt::Debug for Beside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Beside").finish_non_exhaustive()
    }
}

impl Beside {
    /// Looked up by `look`, once for each folder of assets.
    pub fn new(look: impl Fn(&Place) -> Known + Send + Sync + 'static) -> Self {
        Self { look: Box::new(look), known: Mutex::default() }
    }

    fn of(&self, place: &Place) -> Arc<Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= PLACES {
            known.clear();
        }
        Arc::clone(known.entry(place.assets.clone()).or_insert_with(|| Arc::new((self.look)(place))))
    }
}

/// The report of the experiment in `at`.
///
/// # Errors
/// When there is no experiment, or none of its runs can be counted.
pub fn reported(root: &Root, at: &str, known: &Beside) -> Result<Sheet, Refusal> {
    let folder = root.folder(at)?;
    let mut experiment = open(&folder)?;
    let leads = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|facts| !facts.is_file());
    let grades = folder.join("grades");
    let grades_lead = std::fs::symlink_metadata(&grades).is_ok_and(|facts| !facts.is_dir());
    for run in &mut experiment.stored.plan.runs {
        let plain = root.folder(&below(at, &run.folder)).and_then(|folder| plain_parts(&folder, &OF_A_RUN));
        let graded = grades.join(format!("{}.json", run.folder));
        if plain.is_err() || grades_lead || leads(&graded) {
            REFUSED.clone_into(&mut run.folder);
        }
    }
    let arms = told_apart(&axes(&experiment), None);
    let known = known.of(&experiment.stored.place);
    let runs = runs(&experiment, &arms, &known);
    let made = report(&experiment.stored.spec.name, &runs, &known.terms());
    let made = made.map_err(|missing| Refusal::Damaged(missing.to_string()))?;
    Ok(sheet(&made, &runs))
}
