//! What is well-formed in a catalog entry and still does not fit together. It is refused when the catalog is read, so
//! that a grader never meets it.

use std::collections::BTreeSet;

use crate::catalog::competition::{Competition, Kind, SubmissionFormat};
use crate::catalog::grading::{Declared, Grading, Step};
use crate::catalog::metric::{Metric, MetricName};
use crate::catalog::parse::GradingTable;
use crate::catalog::training;

/// The grading that an entry asks for, or what is missing in it.
pub(crate) fn grading_of(
    table: Option<GradingTable>,
    metric: Option<MetricName>,
    submission: &SubmissionFormat,
) -> Result<Grading, String> {
    match (table, metric) {
        (Some(GradingTable { grader: Some(grader), steps: None, cells: None, rounding: None }), _) => {
            Ok(Grading::Native { grader })
        }
        (Some(GradingTable { grader: Some(_), .. }), _) => {
            Err("a `grader` stands alone in `[grading]`: it decides on steps, cells and rounding".to_owned())
        }
        (Some(GradingTable { steps: Some(steps), cells: Some(cells), rounding, .. }), Some(metric)) => {
            let rounding = rounding.unwrap_or_default();
            Ok(Grading::Declared(Declared { metric, steps, cells, rounding }))
        }
        (Some(_), _) => Err("`[grading]` needs `steps` and `cells`, or a `grader`".to_owned()),
        (None, Some(metric)) => {
            let value = submission.value.ok_or("`submission.value` is missing")?;
            Ok(Grading::House { metric, value })
        }
        (None, None) => Err("the metric is unknown".to_owned()),
    }
}

/// What does not fit together, if anything.
pub(crate) fn misfit(competition: &Competition) -> Option<String> {
    let Metric { direction, options, .. } = &competition.metric;
    if !is_id(&competition.id) {
        let id = &competition.id;
        return Some(format!("id `{id}` may hold only letters, digits, `-`, `_` and `.`, not first"));
    }
    if competition.kind == Kind::Kaggle && matches!(competition.grading, Grading::House { .. }) {
        return Some("a competition of Kaggle's needs `[grading]`".to_owned());
    }
    if let Some(problem) = misfit_files(competition).or_else(|| training::misfit(competition)) {
        return Some(problem);
    }
    let name = match &competition.grading {
        Grading::House { metric, .. } | Grading::Declared(Declared { metric, .. }) => *metric,
        Grading::Native { .. } => return None,
    };
    let metric = name.as_str();
    if *direction != name.direction() {
        return Some(format!("metric `{metric}` improves when {}, not {direction}", name.direction()));
    }
    if options.k.is_some() != (name == MetricName::MapAtK) || options.k == Some(0) {
        return Some("option `k` belongs to metric `map_at_k`, which needs it to be at least 1".to_owned());
    }
    if options.eps.is_some_and(|eps| name != MetricName::LogLoss || !(0.0..0.5).contains(&eps)) {
        return Some("option `eps` belongs to metric `log_loss` and lies from 0 to 0.5".to_owned());
    }
    match &competition.grading {
        Grading::House { value, .. } if !name.rules().contains(value) => {
            let rules: Vec<&str> = name.rules().iter().map(|rule| rule.as_str()).collect();
            let value = value.as_str();
            Some(format!("metric `{metric}` scores value {}, not `{value}`", rules.join(" or ")))
        }
        Grading::House { .. } => misfit_columns(competition, name),
        Grading::Declared(declared) => misfit_steps(competition, declared),
        Grading::Native { .. } => None,
    }
}

fn misfit_columns(competition: &Competition, name: MetricName) -> Option<String> {
    let format = &competition.submission;
    if competition.answers.absent && format.id.is_empty() && format.columns.is_empty() {
        // Any table is a submission.
        return None;
    }
    if format.id.is_empty() || format.columns.is_empty() {
        return Some("`submission.id` and `submission.columns` name at least one column each".to_owned());
    }
    let mut seen = BTreeSet::new();
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
    None
}

fn misfit_steps(competition: &Competition, declared: &Declared) -> Option<String> {
    let format = &competition.submission;
    if !declared.metric.cells().contains(&declared.cells) {
        return Some(format!("metric `{}` does not score these `cells`", declared.metric.as_str()));
    }
    if format.columns.is_empty() || competition.answer_columns().len() != format.columns.len() {
        let (truth, guess) = (competition.answer_columns().len(), format.columns.len());
        return Some(format!("{truth} answer columns for {guess} predicted ones"));
    }
    let aligned = declared
        .steps
        .iter()
        .any(|step| matches!(step, Step::SortByKey | Step::SortOnly | Step::JoinOnKey | Step::SameKeySet));
    if aligned && format.id.len() != 1 {
        return Some("a declared grading aligns by one key column".to_owned());
    }
    None
}

fn misfit_files(competition: &Competition) -> Option<String> {
    [&competition.answers.file, &competition.data.sample_submission]
        .into_iter()
        .find(|file| file.is_empty() || file.starts_with('/') || file.split('/').any(|part| part == ".."))
        .map(|file| format!("`{file}` is not a path inside the data folder"))
}

fn is_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    id.chars().next().is_some_and(|first| first.is_ascii_alphanumeric()) && id.chars().all(allowed)
}
