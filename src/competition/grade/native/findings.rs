//! Probabilities against findings and votes of experts: probabilistic F1, a weighted logarithmic loss over the
//! vertebrae of a patient, and the divergence from shares of votes.

use std::collections::{BTreeMap, BTreeSet};

use podium_metric as metric;
use podium_metric::{ColumnWeight, EPS_KAGGLE};

use crate::catalog::Rounding;
use crate::csv::{Cell, Column, Table};
use crate::grade::align::{
    Pairing, column, same_key_set, same_row_count, sort_by_key, sort_only, truth_column,
};
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::single::{Single, misfit, row_name};
use crate::grade::reason::{count, quote};

/// Probabilistic F1 of clamped predictions: `rsna-breast-cancer-detection`.
///
/// Officially the result is a NumPy number only where a NumPy number took part: a clamped prediction and a cell of a
/// mixed column are plain Python numbers. It decides the rounding, and whether nothing by nothing is NaN or an error.
pub(crate) fn soft_f1(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.sorted()?;
    let plain_cells = matches!(sides.guess, Column::Mixed(_));
    let (mut truths, mut guesses) = (Vec::new(), Vec::new());
    let (mut all_plain, mut missing, mut outside) = (true, 0u64, 0usize);
    for (row, guess, truth) in sides.cells(&pairing) {
        let value = match guess {
            Cell::Text(_) => return Err(sides.misfit(row, "a number")),
            Cell::Missing => f64::NAN,
            cell => cell.number().unwrap_or(f64::NAN),
        };
        missing += u64::from(value.is_nan());
        let clamped = !value.is_nan() && !(0.0..=1.0).contains(&value);
        outside += usize::from(clamped);
        all_plain &= clamped || plain_cells;
        guesses.push(if clamped { value.clamp(0.0, 1.0) } else { value });
        // A missing truth is a NaN, and a NaN is true in Python.
        truths.push(truth.number().is_none_or(|truth| truth != 0.0));
    }
    if !truths.contains(&true) {
        return Err(Fault::answers("there is no positive row"));
    }
    if all_plain && guesses.iter().all(|guess| *guess == 0.0) {
        return Err(Fault::submission(
            "every prediction is below 0, which the official grader cannot score; expected numbers from 0 to 1",
        ));
    }
    let value =
        metric::probabilistic_f1(&truths, &guesses).map_err(|_| Fault::answers("there are no rows"))?;
    let rounding = match (value > 0.0, all_plain) {
        (false, _) => Rounding::Integer,
        (true, true) => Rounding::Python,
        (true, false) => Rounding::Numpy,
    };
    let mut score = Score { value, rounding, notes: Vec::new() }.noting(pairing.repeats);
    if outside > 0 {
        score = score.note(format!("predictions beyond 0 or 1 count as 0 or 1 ({})", count(outside, "cell")));
    }
    if missing > 0 {
        return Ok(
            score.note(format!("{missing} predictions are missing, and one is enough for a score of 0"))
        );
    }
    Ok(score)
}

/// Columns of [`weighted_findings`] with what they weigh where the truth is 1 and where it is 0.
const FINDINGS: [(&str, f64, f64); 8] = [
    ("patient_overall", 14.0, 7.0),
    ("C1", 2.0, 1.0),
    ("C2", 2.0, 1.0),
    ("C3", 2.0, 1.0),
    ("C4", 2.0, 1.0),
    ("C5", 2.0, 1.0),
    ("C6", 2.0, 1.0),
    ("C7", 2.0, 1.0),
];

/// Weighted logarithmic loss per patient, keys being `PATIENT_FINDING`:
/// `rsna-2022-cervical-spine-fracture-detection`.
pub(crate) fn weighted_findings(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    for (row, cell) in sides.guess.cells().enumerate() {
        if cell.number().is_none_or(|value| !(0.0..=1.0).contains(&value)) {
            return Err(sides.misfit(row, "a number from 0 to 1"));
        }
    }
    if sides.truth.cells().any(|cell| cell.number().is_none_or(|value| ![0.0, 1.0].contains(&value))) {
        return Err(Fault::answers("a finding is neither 0 nor 1"));
    }
    let pairing = sort_by_key(sides.submission, sides.answers, sides.key)?;
    if !matches!(sides.keys, Column::Text(_)) {
        return Err(Fault::answers("the keys are no text"));
    }
    // A patient without one of the findings has a NaN there.
    let mut patients: BTreeMap<&str, [(f64, f64); 8]> = BTreeMap::new();
    let (mut known, mut findings) = (BTreeSet::new(), BTreeSet::new());
    for (row, guess, truth) in sides.cells(&pairing) {
        let Cell::Text(key) = sides.keys.cell(row) else { continue };
        let (patient, finding) =
            key.split_once('_').map_or((key, None), |(patient, finding)| (patient, Some(finding)));
        findings.insert(finding);
        if !known.insert((patient, finding)) {
            return Err(Fault::answers("a key stands twice"));
        }
        let cells = patients.entry(patient).or_insert([(f64::NAN, f64::NAN); 8]);
        let place = FINDINGS.iter().position(|(name, _, _)| Some(*name) == finding);
        if let Some(cell) = place.and_then(|place| cells.get_mut(place)) {
            *cell = (truth.number().unwrap_or(f64::NAN), guess.number().unwrap_or(f64::NAN));
        }
    }
    if FINDINGS.iter().any(|(name, _, _)| !findings.contains(&Some(*name))) {
        return Err(Fault::answers("a finding is missing for all patients"));
    }
    let (truth, guess): (Vec<f64>, Vec<f64>) = patients.into_values().flatten().unzip();
    let weights = FINDINGS.map(|(_, positive, negative)| ColumnWeight { positive, negative });
    let loss = metric::weighted_log_loss(&truth, &guess, &weights, EPS_KAGGLE)
        .map_err(|_| Fault::answers("there are no rows"))?;
    Ok(Score::numpy(loss))
}

/// Kullback-Leibler divergence from shares of votes: `hms-harmful-brain-activity-classification`.
pub(crate) fn vote_divergence(input: &Input<'_>) -> Result<Score, Fault> {
    let (submission, answers) = (input.submission, input.truth()?);
    let format = &input.competition.submission;
    let [key] = format.id.as_slice() else { return Err(Fault::answers("the grader takes one key column")) };
    let guesses = Probabilities::of(submission, key, &format.columns)?;
    same_row_count(submission, answers)?;
    guesses.check_sums()?;
    same_key_set(submission, answers, key)?;
    let pairing = sort_only(submission, answers, key)?;
    guesses.check_all_columns()?;
    let (truth, truth_width) = shares(answers, &format.columns, &pairing)?;
    let predicted = guesses.clipped(&pairing);
    let value = metric::mean_kl_divergence(&truth, &predicted, truth_width)
        .map_err(|_| Fault::answers("there are no rows"))?;
    let mut score = Score::numpy(value).noting(pairing.repeats);
    if guesses.columns.iter().any(|column| !matches!(column, Column::Float(_))) {
        score =
            score.note("columns of whole numbers are not clipped, so that a 0 may make the score infinite");
    }
    if predicted.iter().any(|value| value.is_nan()) {
        score = score.note("missing probabilities cost nothing where the others of the row sum to 1");
    }
    Ok(score)
}

/// The probability columns of a submission.
struct Probabilities<'a> {
    table: &'a Table,
    key: &'a str,
    keys: &'a Column,
    /// Those that are scored.
    columns: Vec<&'a Column>,
}

impl<'a> Probabilities<'a> {
    fn of(table: &'a Table, key: &'a str, names: &[String]) -> Result<Self, Fault> {
        let keys = column(table, key)?;
        let columns = names.iter().map(|name| column(table, name)).collect::<Result<_, _>>()?;
        let probabilities = Self { table, key, keys, columns };
        for (name, column) in probabilities.others() {
            if !matches!(column, Column::Integer(_) | Column::Unsigned(_) | Column::Float(_)) {
                return Err(Fault::Submission(format!(
                    "column {} does not hold numbers alone; columns beyond the votes must be probabilities too",
                    quote(name)
                )));
            }
        }
        Ok(probabilities)
    }

    /// All columns but the key.
    fn others(&self) -> impl Iterator<Item = (&'a str, &'a Column)> {
        let key = self.key;
        self.table.columns().filter(move |(name, _)| *name != key)
    }

    fn row_sum<'c>(columns: impl Iterator<Item = &'c Column>, row: usize) -> f64 {
        columns.filter_map(|column| column.cell(row).number()).fold(0.0, |sum, value| sum + value)
    }

    /// The votes of each row sum to 1 when rounded to five decimals; missing ones count nothing.
    fn check_sums(&self) -> Result<(), Fault> {
        for row in 0..self.table.rows {
            let sum = Self::row_sum(self.columns.iter().copied(), row);
            // Formatting rounds the exact binary value, as Python's `round` does.
            if format!("{sum:.5}") != "1.00000" {
                let row_name = row_name(self.key, self.keys, row);
                return Err(Fault::Submission(format!("{row_name}: the votes sum to {sum}, expected 1")));
            }
        }
        Ok(())
    }

    /// Every column but the key takes part in the check for probabilities.
    fn check_all_columns(&self) -> Result<(), Fault> {
        for (name, column) in self.others() {
            let outside = |cell: Cell<'_>| cell.number().is_some_and(|value| !(0.0..=1.0).contains(&value));
            if let Some(row) = column.cells().position(outside) {
                let row_name = row_name(self.key, self.keys, row);
                return Err(Fault::Submission(misfit(name, column, &row_name, row, "a number from 0 to 1")));
            }
        }
        for row in 0..self.table.rows {
            let sum = Self::row_sum(self.others().map(|(_, column)| column), row);
            if (sum - 1.0).abs() > 1e-8 + 1e-5 {
                let row_name = row_name(self.key, self.keys, row);
                return Err(Fault::Submission(format!(
                    "{row_name}: all columns but the key sum to {sum}, expected 1; leave other columns out"
                )));
            }
        }
        Ok(())
    }

    /// The votes row after row in the order of a pairing. Only columns of decimal numbers are clipped: officially the
    /// others are cast back to whole numbers.
    fn clipped(&self, pairing: &Pairing) -> Vec<f64> {
        let cell = |row: usize, column: &&Column| {
            let value = column.cell(row).number().unwrap_or(f64::NAN);
            let float = matches!(column, Column::Float(_)) && !value.is_nan();
            if float { value.clamp(EPS_KAGGLE, 1.0 - EPS_KAGGLE) } else { value }
        };
        let rows = pairing.submission.iter();
        rows.flat_map(|row| self.columns.iter().map(move |column| cell(row, column))).collect()
    }
}

/// Votes as shares of their row's sum, row after row in the order of a pairing, with their number per row.
fn shares(answers: &Table, names: &[String], pairing: &Pairing) -> Result<(Vec<f64>, usize), Fault> {
    let columns: Vec<&Column> =
        names.iter().map(|name| truth_column(answers, name)).collect::<Result<_, _>>()?;
    if !columns.iter().all(|column| column.is_numeric()) {
        return Err(Fault::answers("a vote is no number"));
    }
    let mut shares = Vec::with_capacity(columns.len() * pairing.answers.len());
    for row in &pairing.answers {
        let sum = Probabilities::row_sum(columns.iter().copied(), row);
        if sum <= 0.0 || !sum.is_finite() {
            return Err(Fault::answers("the votes of a row are no shares"));
        }
        for column in &columns {
            // A missing vote stays missing and adds nothing.
            let share = column.cell(row).number().unwrap_or(f64::NAN) / sum;
            if !share.is_nan() && !(0.0..=1.0).contains(&share) {
                return Err(Fault::answers("the votes of a row are no shares"));
            }
            shares.push(share);
        }
    }
    Ok((shares, columns.len()))
}
