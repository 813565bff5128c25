//! Reads a catalog entry. serde finds the fault; this module adds where it is and, for an unknown name, the nearest
//! one that exists. What is well-formed but does not fit together is refused by `misfit`.

use podium_metric::Direction;
use podium_types::nearest::nearest;
use serde::Deserialize;
use toml::Spanned;

use crate::board::{Board, BoardKind, Thresholds};
use crate::catalog::competition::{Answers, Competition, Data, Kind, Resources, SubmissionFormat};
use crate::catalog::error::CatalogError;
use crate::catalog::grading::{Cells, Rounding, Step};
use crate::catalog::metric::{Metric, MetricName, MetricOptions};
use crate::catalog::misfit::{grading_of, misfit};
use crate::catalog::training::Training;
use crate::prepare::Preparation;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    id: String,
    name: String,
    summary: String,
    kind: Kind,
    splits: Vec<String>,
    category: String,
    licence: Option<String>,
    source: Option<String>,
    split: Option<String>,
    seed: Option<u64>,
    ended: Option<String>,
    #[serde(default)]
    known_issues: Vec<String>,
    metric: MetricTable,
    grading: Option<GradingTable>,
    submission: SubmissionFormat,
    answers: Answers,
    data: Data,
    training: Option<Training>,
    prepare: Option<Preparation>,
    #[serde(default)]
    resources: Resources,
    board: BoardTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricTable {
    name: Spanned<String>,
    direction: DirectionWord,
    k: Option<usize>,
    eps: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DirectionWord {
    Lower,
    Higher,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GradingTable {
    pub(crate) grader: Option<String>,
    pub(crate) steps: Option<Vec<Step>>,
    pub(crate) cells: Option<Cells>,
    pub(crate) rounding: Option<Rounding>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoardTable {
    kind: BoardKind,
    sample_submission: Option<f64>,
    best: Option<f64>,
    gold: Option<f64>,
    silver: Option<f64>,
    bronze: Option<f64>,
    median: Option<f64>,
    teams: Option<usize>,
}

impl BoardTable {
    fn board(&self, direction: Direction) -> Board {
        let medals = (self.gold, self.silver, self.bronze, self.median);
        let thresholds = match medals {
            (Some(gold), Some(silver), Some(bronze), Some(median)) => {
                Some(Thresholds { gold, silver, bronze, median, direction, teams: self.teams })
            }
            _ => None,
        };
        Board {
            kind: self.kind,
            sample_submission: self.sample_submission,
            best: self.best,
            median: self.median,
            entries: Vec::new(),
            listing: None,
            thresholds,
        }
    }
}

/// Reads one entry; `path` names it in errors.
pub(crate) fn competition(path: &str, text: &str) -> Result<Competition, CatalogError> {
    let document: Document = toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        syntax(path, text, start, error.message())
    })?;
    let unfit = |problem| CatalogError::Misfit { path: path.to_owned(), problem };
    let direction = match document.metric.direction {
        DirectionWord::Lower => Direction::Lower,
        DirectionWord::Higher => Direction::Higher,
    };
    let native = document.grading.as_ref().is_some_and(|grading| grading.grader.is_some());
    let name = document.metric.name.get_ref();
    let word = MetricName::from_word(name);
    if word.is_none() && !native {
        let start = document.metric.name.span().start;
        return Err(syntax(path, text, start, &unknown_metric(name)));
    }
    let grading = grading_of(document.grading, word, &document.submission).map_err(unfit)?;
    let competition = Competition {
        id: document.id,
        name: document.name,
        summary: document.summary,
        kind: document.kind,
        splits: document.splits,
        category: document.category,
        licence: document.licence,
        source: document.source,
        split: document.split,
        seed: document.seed,
        ended: document.ended,
        metric: Metric {
            name: name.clone(),
            direction,
            options: MetricOptions { k: document.metric.k, eps: document.metric.eps },
        },
        grading,
        submission: document.submission,
        answers: document.answers,
        data: document.data,
        training: document.training,
        prepare: document.prepare,
        board: document.board.board(direction),
        resources: document.resources,
        variant_of: None,
        known_issues: document.known_issues,
        description: None,
    };
    match misfit(&competition) {
        None => Ok(competition),
        Some(problem) => Err(unfit(problem)),
    }
}

fn unknown_metric(name: &str) -> String {
    let known: Vec<String> = MetricName::ALL.iter().map(|name| format!("`{}`", name.as_str())).collect();
    format!("unknown variant `{name}`, expected one of {}", known.join(", "))
}

fn syntax(path: &str, text: &str, start: usize, message: &str) -> CatalogError {
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let message = message.trim().to_owned();
    CatalogError::Syntax { path: path.to_owned(), line, column, nearest: nearest_of(&message), message }
}

/// The expected name nearest to the unknown one, from serde's "unknown field `x`, expected one of `a`, `b`".
fn nearest_of(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = quoted.next()?;
    nearest(unknown, quoted)
}
