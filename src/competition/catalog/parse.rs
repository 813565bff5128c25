//! Reads competition.toml. serde finds the fault; this module adds where it is and, for an unknown name, the nearest
//! one that exists, and refuses what is well-formed but does not fit together.

use podium_metric::Direction;
use podium_types::nearest::nearest;
use serde::Deserialize;

use crate::board::{Board, BoardKind};
use crate::catalog::competition::{Answers, Competition, Data, Kind, SubmissionFormat};
use crate::catalog::error::CatalogError;
use crate::catalog::metric::{Metric, MetricName, MetricOptions};

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
    metric: MetricTable,
    submission: SubmissionFormat,
    answers: Answers,
    data: Data,
    board: BoardTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricTable {
    name: MetricName,
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
struct BoardTable {
    kind: BoardKind,
    sample_submission: Option<f64>,
    best: Option<f64>,
    median: Option<f64>,
}

/// Reads one competition.toml; `path` names it in errors.
pub(crate) fn competition(path: &str, text: &str) -> Result<Competition, CatalogError> {
    let document: Document = toml::from_str(text).map_err(|error| syntax(path, text, &error))?;
    let direction = match document.metric.direction {
        DirectionWord::Lower => Direction::Lower,
        DirectionWord::Higher => Direction::Higher,
    };
    let MetricTable { name, k, eps, .. } = document.metric;
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
        metric: Metric { name, direction, options: MetricOptions { k, eps } },
        submission: document.submission,
        answers: document.answers,
        data: document.data,
        board: Board {
            kind: document.board.kind,
            sample_submission: document.board.sample_submission,
            best: document.board.best,
            median: document.board.median,
            entries: Vec::new(),
            thresholds: None,
        },
        description: None,
    };
    match misfit(&competition) {
        None => Ok(competition),
        Some(problem) => Err(CatalogError::Misfit { path: path.to_owned(), problem }),
    }
}

/// What does not fit together, if anything.
fn misfit(competition: &Competition) -> Option<String> {
    let Metric { name, direction, options } = &competition.metric;
    let format = &competition.submission;
    let metric = name.as_str();
    if !is_id(&competition.id) {
        let id = &competition.id;
        return Some(format!("id `{id}` may hold only letters, digits, `-`, `_` and `.`, not first"));
    }
    if *direction != name.direction() {
        return Some(format!("metric `{metric}` improves when {}, not {direction}", name.direction()));
    }
    if options.k.is_some() != (*name == MetricName::MapAtK) || options.k == Some(0) {
        return Some("option `k` belongs to metric `map_at_k`, which needs it to be at least 1".to_owned());
    }
    if options.eps.is_some_and(|eps| *name != MetricName::LogLoss || !(0.0..0.5).contains(&eps)) {
        return Some("option `eps` belongs to metric `log_loss` and lies from 0 to 0.5".to_owned());
    }
    if !name.rules().contains(&format.value) {
        let rules: Vec<&str> = name.rules().iter().map(|rule| rule.as_str()).collect();
        let value = format.value.as_str();
        return Some(format!("metric `{metric}` scores value {}, not `{value}`", rules.join(" or ")));
    }
    misfit_columns(competition)
}

fn misfit_columns(competition: &Competition) -> Option<String> {
    let name = competition.metric.name;
    let format = &competition.submission;
    if format.id.is_empty() || format.columns.is_empty() {
        return Some("`submission.id` and `submission.columns` name at least one column each".to_owned());
    }
    let mut seen = std::collections::BTreeSet::new();
    if let Some(twice) = format.id.iter().chain(&format.columns).find(|column| !seen.insert(*column)) {
        return Some(format!("column `{twice}` is named twice"));
    }
    if format.columns.len() > 1 && !name.takes_columns() {
        return Some(format!("metric `{}` scores one column", name.as_str()));
    }
    let truth = competition.answer_columns().len();
    let class_names = name == MetricName::LogLoss && truth == 1;
    if truth != format.columns.len() && !class_names {
        return Some(format!("{truth} answer columns for {} predicted ones", format.columns.len()));
    }
    for file in [&competition.answers.file, &competition.data.sample_submission] {
        if file.is_empty() || file.starts_with('/') || file.split('/').any(|part| part == "..") {
            return Some(format!("`{file}` is not a path inside the data folder"));
        }
    }
    None
}

fn is_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    id.chars().next().is_some_and(|first| first.is_ascii_alphanumeric()) && id.chars().all(allowed)
}

fn syntax(path: &str, text: &str, error: &toml::de::Error) -> CatalogError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let message = error.message().trim().to_owned();
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
