//! The second reading of a training table: the parts as files. Rows that stay keep their bytes; of those that are held
//! out the labels go where no agent sees them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use podium_types::rng::Rng;

use crate::catalog::{Competition, Training};
use crate::csv::{RawRow, cell, each_row};
use crate::holdout::columns::open;
use crate::holdout::error::HoldoutError;
use crate::holdout::parts::{Part, shuffle};
use crate::holdout::split::Split;
use crate::holdout::{Counts, Holdout, Plan};

/// Parts the training table of `competition` and writes the parts below `into`, the file that marks the whole last.
pub(super) fn lay(
    competition: &Competition,
    training: &Training,
    public: &Path,
    plan: &Plan,
    into: &Path,
) -> Result<Counts, HoldoutError> {
    let split = Split::make(competition, training, public, plan)?;
    let holdout = Holdout::at(into);
    for folder in [into.to_owned(), holdout.shown(), holdout.truth()] {
        std::fs::create_dir_all(&folder).map_err(HoldoutError::write(&folder))?;
    }
    let mut files = Files::create(competition, &split, plan, &holdout)?;
    let path = public.join(&training.file);
    each_row::<HoldoutError>(open(&path)?, |number, row| match number.checked_sub(1) {
        None => files.train.line(&row.bytes),
        Some(place) => {
            let part = split.part(usize::try_from(place).unwrap_or(usize::MAX));
            files.row(&split, part, row).map_err(|problem| match problem {
                Problem::Table(problem) => HoldoutError::Unsuitable { file: training.file.clone(), problem },
                Problem::File(error) => error,
            })
        }
    })
    .map_err(|error| match error {
        HoldoutError::Read { source, .. } => HoldoutError::Read { path: path.clone(), source },
        error => error,
    })?;
    files.finish(&holdout, plan)?;
    let facts = serde_json::to_vec_pretty(&split.counts).unwrap_or_default();
    write(&holdout.facts(), &facts)?;
    Ok(split.counts)
}

enum Problem {
    Table(String),
    File(HoldoutError),
}

impl From<HoldoutError> for Problem {
    fn from(error: HoldoutError) -> Self {
        Self::File(error)
    }
}

/// The files that are being written.
struct Files {
    train: Out,
    /// Rows of the holdout as they will be shown, in the order of the table.
    held: Vec<Vec<u8>>,
    shown_header: Vec<u8>,
    folds: Option<Out>,
    search: Option<Out>,
    last: Option<Out>,
    all_held: Option<Out>,
    all_folds: Option<Out>,
    each_fold: Vec<Out>,
}

impl Files {
    fn create(
        competition: &Competition,
        split: &Split,
        plan: &Plan,
        holdout: &Holdout,
    ) -> Result<Self, HoldoutError> {
        let keys: Vec<&[u8]> = competition.submission.id.iter().map(String::as_bytes).collect();
        let truth = keys.iter().copied().chain(competition.answer_columns().iter().map(String::as_bytes));
        let truth = line(truth);
        let fold_header = line(keys.iter().copied().chain([b"fold".as_slice()]));
        let open = |wanted: bool, path: PathBuf, header: &[u8]| {
            wanted
                .then(|| {
                    let mut out = Out::create(path)?;
                    out.line(header)?;
                    Ok::<_, HoldoutError>(out)
                })
                .transpose()
        };
        let held = plan.search > 0.0 || plan.last > 0.0;
        let folds = plan.folds > 0;
        let mut each_fold = Vec::new();
        for fold in 0..plan.folds {
            each_fold.extend(open(true, holdout.fold(fold as usize), &truth)?);
        }
        Ok(Self {
            train: Out::create(holdout.training_table())?,
            held: Vec::new(),
            shown_header: line(split.columns.shown.iter().map(|(name, _)| name.as_slice())),
            folds: open(folds, holdout.shown().join(super::FOLDS), &fold_header)?,
            search: open(plan.search > 0.0, holdout.search(), &truth)?,
            last: open(plan.last > 0.0, holdout.last(), &truth)?,
            all_held: open(held, holdout.all_held_out(), &truth)?,
            all_folds: open(folds, holdout.all_folds(), &truth)?,
            each_fold,
        })
    }

    fn row(&mut self, split: &Split, part: Part, row: &RawRow) -> Result<(), Problem> {
        let columns = &split.columns;
        if part.is_held_out() {
            self.held.push(line(columns.shown.iter().map(|(_, place)| row.cell(*place))));
        } else {
            self.train.line(&row.bytes)?;
        }
        if part == Part::Training || !columns.tells(row) {
            return Ok(());
        }
        let Some(answer) = columns.answer(row).map_err(Problem::Table)? else { return Ok(()) };
        let key = columns.key(row);
        let truth = line(key.iter().copied().chain(answer.iter().map(Vec::as_slice)));
        let (all, own) = match part {
            Part::Search => (&mut self.all_held, self.search.as_mut()),
            Part::Final => (&mut self.all_held, self.last.as_mut()),
            Part::Fold(fold) => {
                if let Some(folds) = &mut self.folds {
                    folds.line(&line(key.iter().copied().chain([fold.to_string().as_bytes()])))?;
                }
                (&mut self.all_folds, self.each_fold.get_mut(fold as usize))
            }
            Part::Training => return Ok(()),
        };
        for out in all.as_mut().into_iter().chain(own) {
            out.line(&truth)?;
        }
        Ok(())
    }

    /// Writes what had to be known whole, and syncs everything.
    fn finish(mut self, holdout: &Holdout, plan: &Plan) -> Result<(), HoldoutError> {
        if self.all_held.is_some() {
            // The order of the table would tell which rows stood beside which.
            shuffle(&mut self.held, &mut Rng::new(plan.seed ^ 0x5EED));
            let mut out = Out::create(holdout.shown().join(super::HELD_OUT))?;
            out.line(&self.shown_header)?;
            for row in &self.held {
                out.line(row)?;
            }
            out.finish()?;
        }
        let parts = [self.folds, self.search, self.last, self.all_held, self.all_folds];
        for out in parts.into_iter().flatten().chain(self.each_fold).chain([self.train]) {
            out.finish()?;
        }
        Ok(())
    }
}

/// A file that is being written.
struct Out {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Out {
    fn create(path: PathBuf) -> Result<Self, HoldoutError> {
        let file = File::create(&path).map_err(HoldoutError::write(&path))?;
        Ok(Self { path, file: BufWriter::new(file) })
    }

    fn line(&mut self, bytes: &[u8]) -> Result<(), HoldoutError> {
        self.file.write_all(bytes).map_err(HoldoutError::write(&self.path))
    }

    fn finish(self) -> Result<(), HoldoutError> {
        let Self { path, file } = self;
        let synced =
            file.into_inner().map_err(std::io::IntoInnerError::into_error).and_then(|file| file.sync_all());
        synced.map_err(HoldoutError::write(&path))
    }
}

/// Cells as one line.
fn line<'c>(cells: impl Iterator<Item = &'c [u8]>) -> Vec<u8> {
    let cells: Vec<Vec<u8>> = cells.map(cell).collect();
    let mut line = cells.join(&b',');
    line.push(b'\n');
    line
}

/// Writes the file that says that all others are whole.
fn write(path: &Path, bytes: &[u8]) -> Result<(), HoldoutError> {
    let fresh = path.with_extension("new");
    let mut out = Out::create(fresh.clone())?;
    out.line(bytes)?;
    out.finish()?;
    std::fs::rename(&fresh, path).map_err(HoldoutError::write(path))
}
