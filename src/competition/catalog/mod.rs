//! The catalog: which competitions there are.
//!
//! It is built from texts that the caller hands in by their path: `offline/segment/competition.toml` with the
//! `board.csv` and `description.md` beside it, or `competitions/ID.toml` with `boards/ID.csv`. So it does not know
//! whether they were compiled in, overridden or made up by a test. Answers are never among them.

mod competition;
mod error;
mod grading;
mod metric;
mod misfit;
mod parse;
mod training;

use podium_types::nearest::nearest;
use std::collections::{BTreeMap, BTreeSet};

pub use competition::{
    Answers, AnswersFormat, Checksums, Competition, Data, Kind, Resources, SubmissionFormat, Texts, ValueRule,
};
pub use error::CatalogError;
pub use grading::{Cells, Declared, Grading, Rounding, RowSum, Step};
pub(crate) use metric::direction as serialize_direction;
pub use metric::{Metric, MetricName, MetricOptions};
pub use training::{Group, RowFilter, Training};

use crate::prepare::variant;

/// All competitions, by id.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    competitions: BTreeMap<String, Competition>,
    /// Fixed variants of some of them, which are in no list and no split.
    variants: BTreeMap<String, Competition>,
}

impl Catalog {
    /// Reads every entry among `texts` with its board and description. Other texts are ignored.
    pub fn from_texts(mut texts: Texts) -> Result<Self, CatalogError> {
        let mut competitions = BTreeMap::new();
        let mut origins: BTreeMap<String, String> = BTreeMap::new();
        let entries: Vec<Entry> = texts.keys().filter_map(|path| Entry::of(path)).collect();
        for entry in entries {
            let path = entry.path;
            let mut competition = parse::competition(&path, &texts.remove(&path).unwrap_or_default())?;
            let id = competition.id.clone();
            if let Some(problem) = entry.id.filter(|name| *name != id).map(|name| misnamed(&id, &name)) {
                return Err(CatalogError::Misfit { path, problem });
            }
            if let Some(first) = origins.insert(id.clone(), path.clone()) {
                return Err(CatalogError::Duplicate { id, first, second: path });
            }
            competition.description = texts.remove(&entry.description);
            if let Some(board) = texts.remove(&entry.board) {
                let direction = competition.direction();
                competition
                    .board
                    .read_lines(board, direction)
                    .map_err(|problem| CatalogError::Board { path: entry.board, problem })?;
            }
            competitions.insert(id, competition);
        }
        let variants = competitions.values().filter_map(variant);
        let variants = variants.map(|variant| (variant.id.clone(), variant)).collect();
        Ok(Self { competitions, variants })
    }

    /// All competitions in the order of their ids.
    pub fn list(&self) -> impl ExactSizeIterator<Item = &Competition> {
        self.competitions.values()
    }

    /// The competition with this id.
    pub fn get(&self, id: &str) -> Result<&Competition, CatalogError> {
        self.competitions.get(id).or_else(|| self.variants.get(id)).ok_or_else(|| {
            CatalogError::UnknownCompetition {
                id: id.to_owned(),
                nearest: nearest(id, self.competitions.keys().map(String::as_str)),
            }
        })
    }

    /// The fixed variant of a competition, where it has one.
    pub fn fixed(&self, id: &str) -> Option<&Competition> {
        self.variants.values().find(|variant| variant.variant_of.as_deref() == Some(id))
    }

    /// Names of all splits.
    pub fn splits(&self) -> BTreeSet<&str> {
        self.list().flat_map(|competition| &competition.splits).map(String::as_str).collect()
    }

    /// The competitions of a split. `lite` is the benchmark's other name of `low`.
    pub fn split(&self, name: &str) -> Result<Vec<&Competition>, CatalogError> {
        let wanted = if name == "lite" { "low" } else { name };
        let members: Vec<&Competition> = self
            .list()
            .filter(|competition| competition.splits.iter().any(|split| split == wanted))
            .collect();
        if members.is_empty() {
            let known = self.splits().into_iter().map(str::to_owned).collect();
            return Err(CatalogError::UnknownSplit { name: name.to_owned(), known });
        }
        Ok(members)
    }
}

/// Where an entry and what belongs to it stand among the texts.
struct Entry {
    path: String,
    board: String,
    description: String,
    /// The id that the file's name promises.
    id: Option<String>,
}

impl Entry {
    fn of(path: &str) -> Option<Self> {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let beside = |name: &str| format!("{}{name}", path.strip_suffix(file).unwrap_or_default());
        if file == "competition.toml" {
            let (board, description) = (beside("board.csv"), beside("description.md"));
            // One of the user's own is found by the name of its folder.
            let id = folder.strip_prefix("own/").map(str::to_owned);
            return Some(Self { path: path.to_owned(), board, description, id });
        }
        let root =
            folder.strip_suffix("competitions").filter(|root| root.is_empty() || root.ends_with('/'))?;
        let id = file.strip_suffix(".toml")?;
        Some(Self {
            path: path.to_owned(),
            board: format!("{root}boards/{id}.csv"),
            description: format!("{root}competitions/{id}.md"),
            id: Some(id.to_owned()),
        })
    }
}

fn misnamed(id: &str, name: &str) -> String {
    format!("the file of competition `{id}` is named `{name}`")
}
