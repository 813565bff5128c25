//! The training labels that a run keeps: what its scaffold asks for, made from the competition's training table, once,
//! in the run folder, which no execution sees.
//!
//! The split is the run's seed's, so a resume that finds it lost makes the same one again; one that is there is used
//! whatever became of the table since. Of the labels nothing leaves this layer but scores of predictions.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use podium_competition::holdout::{self, Counts, FOLDS, HELD_OUT, Plan};
use podium_competition::{Competition, Holdout};
use podium_sandbox::SandboxKind;
use podium_scaffold::spec::ValidationSpec;
use podium_scaffold::{Effect, FoldFile, HeldOut, Validation};
use podium_types::evaluation::Labels;
use podium_types::key::EffectKey;

use crate::run::error::RunError;
use crate::run::journal::{Entry, Record};

/// Where an execution finds what it is shown, beside `./input`.
pub const FOLDER: &str = "validation";
/// Where predictions for held-out rows are looked for.
pub const HELD_OUT_PREDICTIONS: &str = "submission/holdout.csv";
/// Where out-of-fold predictions are looked for.
pub const OUT_OF_FOLD: &str = "submission/oof.csv";

/// What `spec` and the run's seed come to; `None`: nothing is kept.
pub fn plan(spec: &ValidationSpec, seed: u64) -> Option<Plan> {
    spec.is_on().then(|| Plan {
        search: spec.holdout.search,
        last: spec.holdout.last,
        folds: spec.folds,
        seed: EffectKey::run("validation").seed(seed),
    })
}

/// What a strategy is told of `plan`. Nothing is written.
///
/// # Errors
/// When the competition has no such labels, or the sandbox would show them.
pub fn told(
    competition: &Competition,
    public: &Path,
    plan: &Plan,
    sandbox: SandboxKind,
) -> Result<Validation, RunError> {
    let counts = holdout::count(competition, public, plan)?;
    if sandbox == SandboxKind::Process {
        return Err(RunError::UnhiddenLabels);
    }
    let table = competition.training.as_ref().map(|training| training.file.clone()).unwrap_or_default();
    Ok(of_counts(&counts, table))
}

fn of_counts(counts: &Counts, training_table: String) -> Validation {
    let Counts { training_rows, held_out_rows, search, last, folds } = counts;
    Validation {
        training_table,
        training_rows: *training_rows,
        holdout: (*held_out_rows > 0).then(|| HeldOut {
            path: format!("{FOLDER}/{HELD_OUT}"),
            rows: *held_out_rows,
            predictions: HELD_OUT_PREDICTIONS.to_owned(),
            search: *search > 0,
            last: *last > 0,
        }),
        folds: (!folds.is_empty()).then(|| FoldFile {
            path: format!("{FOLDER}/{FOLDS}"),
            folds: u32::try_from(folds.len()).unwrap_or(u32::MAX),
            predictions: OUT_OF_FOLD.to_owned(),
        }),
    }
}

/// Makes the files, unless they are there.
///
/// # Errors
/// When they cannot be made.
pub fn lay(holdout: &Holdout, competition: &Competition, public: &Path, plan: &Plan) -> Result<(), RunError> {
    holdout.lay(competition, public, plan)?;
    // A container runs as another user.
    let open = |path: &Path, mode: u32| std::fs::set_permissions(path, PermissionsExt::from_mode(mode));
    let shown = holdout.shown();
    let files = std::fs::read_dir(&shown).into_iter().flatten().flatten().map(|entry| entry.path());
    for (path, mode) in
        files.map(|path| (path, 0o644)).chain([(shown.clone(), 0o755), (holdout.training_table(), 0o644)])
    {
        open(&path, mode)
            .map_err(|source| podium_competition::HoldoutError::Write { path: path.clone(), source })?;
    }
    Ok(())
}

/// Scores by training labels that a strategy may have told an agent of.
pub fn scores_told(entries: &[Entry]) -> u64 {
    let told = |entry: &&Entry| match &entry.record {
        Record::Result { effect, .. } => {
            matches!(**effect, Effect::Evaluate { labels: Labels::HoldoutSearch | Labels::OutOfFold, .. })
        }
        _ => false,
    };
    entries.iter().filter(told).count() as u64
}

#[cfg(test)]
mod tests {
    use podium_scaffold::spec::{HoldoutSpec, ValidationSpec};

    use super::plan;

    #[test]
    fn each_number_of_a_scaffold_is_in_the_plan() {
        let spec = |search, last, folds| ValidationSpec { holdout: HoldoutSpec { search, last }, folds };
        let told = |spec: &ValidationSpec, seed| plan(spec, seed).map(|plan| format!("{plan:?}"));
        assert_eq!(told(&spec(0.0, 0.0, 0), 1), None);
        let base = told(&spec(0.1, 0.1, 5), 1);
        assert!(base.is_some());
        for other in [spec(0.2, 0.1, 5), spec(0.1, 0.2, 5), spec(0.1, 0.1, 4)] {
            assert_ne!(told(&other, 1), base, "{other:?}");
        }
        assert_ne!(told(&spec(0.1, 0.1, 5), 2), base);
    }
}
