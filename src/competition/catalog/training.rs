//! Where the labels of the training rows are, as a competition's TOML declares it. From it the harness holds rows back
//! and writes their labels down in the form of the answers. A competition without this table has no holdout.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalog::competition::Competition;
use crate::catalog::grading::{Declared, Grading, Step};

/// The training table and how its rows become rows of answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// The table: a CSV file of the public folder.
    pub file: String,
    /// Its key columns, in the order of the submission's, where they have other names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Vec<String>>,
    /// Answer columns that have another name in the table, with that name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, String>,
    /// A column of class names, where the answers have a column of zeros and ones for each class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_hot: Option<String>,
    /// The rows that say what is true, where several rows share a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowFilter>,
    /// A table of the public folder whose columns a row without its label has; the test table where absent. With neither,
    /// only the keys of such rows are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// Rows that must not be parted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
    /// A column whose values keep their shares in every part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stratify: Option<String>,
}

/// Rows of one cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowFilter {
    /// The column.
    pub column: String,
    /// The cell, as the file spells it.
    pub equals: String,
}

/// What keeps rows together: equal cells of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The column.
    pub column: String,
    /// Only so many characters of a cell count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<usize>,
    /// So many values that follow one another in the file are one group: blocks of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<usize>,
}

impl Training {
    /// The column of the table that holds what the answers have in `column`.
    pub fn source<'a>(&'a self, column: &'a str) -> &'a str {
        self.columns.get(column).map_or(column, String::as_str)
    }
}

/// What does not fit together, if anything.
pub(crate) fn misfit(competition: &Competition) -> Option<String> {
    let training = competition.training.as_ref()?;
    let inside = |file: &String| {
        !file.is_empty() && !file.starts_with('/') && file.split('/').all(|part| part != ".." && part != ".")
    };
    if let Some(file) =
        [Some(&training.file), training.like.as_ref()].into_iter().flatten().find(|f| !inside(f))
    {
        return Some(format!("`training`: `{file}` is not a path inside the data folder"));
    }
    let keys = competition.submission.id.len();
    if keys == 0 {
        return Some("`training` needs key columns in `submission.id`".to_owned());
    }
    if training.id.as_ref().is_some_and(|id| id.len() != keys) {
        return Some(format!("`training.id` names as many columns as `submission.id`: {keys}"));
    }
    let answers = competition.answer_columns();
    if let Some(unknown) = training.columns.keys().find(|column| !answers.contains(column)) {
        return Some(format!("`training.columns` names `{unknown}`, which is no column of the answers"));
    }
    if training.one_hot.is_some() && (!training.columns.is_empty() || answers.len() < 2) {
        return Some(
            "`training.one_hot` stands for all answer columns, of which there are several".to_owned(),
        );
    }
    if let Some(Group { prefix, span, .. }) = &training.group
        && (*prefix == Some(0) || *span == Some(0) || (prefix.is_some() && span.is_some()))
    {
        return Some("`training.group` has `prefix` or `span`, at least 1".to_owned());
    }
    match &competition.grading {
        Grading::Declared(Declared { steps, .. })
            if steps.iter().any(|step| matches!(step, Step::ScoredWhere { .. })) =>
        {
            Some("`training` cannot make answers of which only some rows are scored".to_owned())
        }
        // Held-out rows have no order of their own.
        Grading::Declared(Declared { steps, .. })
            if !steps
                .iter()
                .any(|step| matches!(step, Step::SortByKey | Step::SortOnly | Step::JoinOnKey)) =>
        {
            Some("`training` needs a grading that finds rows by their keys".to_owned())
        }
        _ => None,
    }
}
