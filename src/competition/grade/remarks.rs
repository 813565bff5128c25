//! What a declared grading remarks in its report: the quirks of the official graders that took effect on this
//! submission. A remark counts and names columns; it quotes no cell of the answers.

use podium_metric as metric;
use podium_metric::literal::words;

use crate::catalog::{Cells, Declared, MetricName, Step};
use crate::csv::{Cell, Column};
use crate::grade::align::{Pairing, Repeats, same_order};
use crate::grade::input::Input;
use crate::grade::order::same_key;
use crate::grade::ratings::as_double;
use crate::grade::reason::{count, quote};
use crate::grade::rows::Rows;

/// The remarks on a scored submission.
pub(crate) fn on(declared: &Declared, input: &Input<'_>, pairing: &Pairing) -> Vec<String> {
    let mut notes: Vec<String> = on_pairing(declared, input, pairing).into_iter().collect();
    let competition = input.competition;
    for (name, truth) in competition.submission.columns.iter().zip(competition.answer_columns()) {
        let Some(guess) = input.submission.column(name) else { continue };
        let truth = input.truth().ok().and_then(|answers| answers.column(truth));
        let column = Predicted { name, guess, truth, pairing };
        notes.extend(column.on_cells(declared.cells));
        if declared.metric == MetricName::QuadraticWeightedKappa {
            notes.extend(column.on_ratings());
        }
    }
    notes.extend(on_clipping(declared, input, pairing));
    notes
}

/// Which rows were compared, where that is not what their keys say.
fn on_pairing(declared: &Declared, input: &Input<'_>, pairing: &Pairing) -> Option<String> {
    let answers = input.truth().ok()?;
    let key = input.competition.submission.id.first()?;
    let (guess, truth) = (input.submission.column(key), answers.column(key)?);
    let has = |step: &Step| declared.steps.contains(step);
    if has(&Step::JoinOnKey) {
        let repeat = pairing.answers.len() > answers.rows;
        return repeat.then(|| "keys repeat: each row of a repeated key counts".to_owned());
    }
    if has(&Step::SortByKey) {
        return pairing.repeats.note();
    }
    let Some(guess) = guess else {
        return Some(format!(
            "rows are paired by their place in the file: there is no column {}, and the official grader asks for none",
            quote(key)
        ));
    };
    if same_order(guess, truth) {
        return None;
    }
    let rows = pairing.submission.iter().zip(&pairing.answers);
    let other = rows.filter(|(row, answer)| !same_key(&guess.cell(*row), &truth.cell(*answer))).count();
    let place = if has(&Step::SortOnly) { "rank of the key" } else { "place in the file" };
    (other > 0).then(|| {
        format!(
            "rows are paired by {place}, and the official grader does not compare keys: {} another key than the row \
             of the answers",
            if other == 1 { "1 has".to_owned() } else { format!("{other} have") }
        )
    })
}

/// Probabilities so near 0 or 1 that the logarithm is not taken of them.
fn on_clipping(declared: &Declared, input: &Input<'_>, pairing: &Pairing) -> Option<String> {
    if declared.metric != MetricName::LogLoss {
        return None;
    }
    let eps = input.competition.metric.options.eps.unwrap_or(metric::EPS_SKLEARN);
    let clipped = |cell: Cell<'_>| cell.number().is_some_and(|value| !(eps..=1.0 - eps).contains(&value));
    let columns =
        input.competition.submission.columns.iter().filter_map(|name| input.submission.column(name));
    let clipped: usize = columns
        .map(|column| pairing.submission.iter().filter(|row| clipped(column.cell(*row))).count())
        .sum();
    (clipped > 0).then(|| {
        let cells = count(clipped, "cell");
        format!("probabilities of 0 or 1, or next to it, count as {eps:e} from it ({cells})")
    })
}

/// One predicted column with its true one.
struct Predicted<'a> {
    name: &'a str,
    guess: &'a Column,
    truth: Option<&'a Column>,
    pairing: &'a Pairing,
}

impl Predicted<'_> {
    /// Scored cells of the submission for which this holds.
    fn how_many(&self, holds: impl Fn(Cell<'_>) -> bool) -> usize {
        self.pairing.submission.iter().filter(|row| holds(self.guess.cell(*row))).count()
    }

    fn missing(&self) -> usize {
        match self.guess {
            Column::Text(cells) if !cells.any_missing() => 0,
            Column::Text(_) | Column::Mixed(_) | Column::Float(_) => {
                self.how_many(|cell| cell == Cell::Missing)
            }
            Column::Integer(_) | Column::Unsigned(_) | Column::Boolean(_) => 0,
        }
    }

    /// What was made of cells that are not what the metric takes.
    fn on_cells(&self, cells: Cells) -> Option<String> {
        let said =
            |cells: usize, what: &str| (cells > 0).then(|| format!("{what} ({})", count(cells, "cell")));
        let note = match cells {
            Cells::Integers => said(
                self.how_many(|cell| matches!(cell, Cell::Float(value) if value.fract() != 0.0)),
                "fractions are cut off, as the official grader does",
            ),
            Cells::FirstInteger => said(
                self.how_many(|cell| matches!(cell, Cell::Text(text) if words(text).nth(1).is_some())),
                "only the first word of a cell counts",
            ),
            Cells::LabelsOrEmpty => said(self.missing(), "missing labels are compared as the empty text"),
            Cells::LabelsOrNan => said(self.missing(), "missing labels are compared as the text `nan`"),
            Cells::Text if !matches!(self.guess, Column::Text(_) | Column::Mixed(_)) => {
                Some(format!("read as {}, and compared as Python spells that", self.guess.dtype()))
            }
            Cells::Text => said(self.missing(), "words for a missing value are compared as the text `nan`"),
            Cells::Labels | Cells::Numbers | Cells::AnyNumbers => self.on_numbers(),
        };
        note.map(|note| format!("column {}: {note}", quote(self.name)))
    }

    fn on_numbers(&self) -> Option<String> {
        let same_kind = self.truth.is_some_and(|truth| truth.dtype() == self.guess.dtype());
        match self.guess {
            Column::Boolean(_) if !same_kind => Some("True and False count as 1 and 0".to_owned()),
            Column::Text(_) | Column::Mixed(_) if !same_kind => Some(
                "not all cells of the file are numbers; those that are scored are read as Python does"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Kappa weighs ranks: where ratings are not evenly spaced, a gap counts as one step.
    fn on_ratings(&self) -> Option<String> {
        let side = |column: &Column, rows: &Rows| -> Vec<f64> {
            rows.iter().filter_map(|row| column.cell(row).number()).collect()
        };
        let whole = |cell: Cell<'_>| match cell {
            Cell::Integer(value) => Some(i128::from(value)),
            Cell::Unsigned(value) => Some(i128::from(value)),
            _ => None,
        };
        if self.how_many(|cell| whole(cell).is_some_and(|value| as_double(value).is_none())) > 0 {
            return Some("ratings that no double holds may be left out, as scikit-learn does".to_owned());
        }
        let mut ratings = side(self.guess, &self.pairing.submission);
        ratings.extend(side(self.truth?, &self.pairing.answers));
        ratings.sort_by(f64::total_cmp);
        ratings.dedup();
        let steps = |pair: &[f64]| if let [left, right] = pair { right - left } else { 0.0 };
        let mut steps = ratings.windows(2).map(steps);
        let first = steps.next()?;
        let uneven = steps.any(|step| step.total_cmp(&first).is_ne());
        uneven.then(|| {
            "ratings are weighed by their rank among those that occur on either side: a gap between them counts as \
             one step"
                .to_owned()
        })
    }
}

/// What makes a score no finite number, or a whole one.
pub(crate) fn on_score(exact: f64, value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("the score is not a number: the metric is undefined for these values")
    } else if value.is_infinite() {
        Some("the score is infinite: the errors are too large for a number, or the metric has no bound")
    } else if exact.total_cmp(&value).is_ne() {
        Some("the official grader rounds the score to a whole number")
    } else {
        None
    }
}

impl Repeats {
    /// The remark on rows that repeat a key.
    pub(crate) fn note(self) -> Option<String> {
        let order = match self {
            Self::No => return None,
            Self::Texts => "NumPy's sort leaves them, as in the official grader",
            Self::Numbers => {
                "they stand in the file; in the official grader it depends on the processor, so that the score may \
                 differ from it"
            }
        };
        Some(format!("keys repeat: rows of one key are paired in the order in which {order}"))
    }
}
