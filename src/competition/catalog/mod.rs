//! The catalog: which competitions there are.
//!
//! It is built from texts that the caller hands in by their path (`offline/segment/competition.toml`,
//! `offline/segment/board.csv`, `offline/segment/description.md`), so it does not know whether they were compiled in,
//! overridden or made up by a test. Answers are never among them.

mod competition;
mod error;
mod metric;
mod parse;

use podium_types::nearest::nearest;
use std::collections::{BTreeMap, BTreeSet};

pub use competition::{Answers, Competition, Data, Kind, SubmissionFormat, Texts, ValueRule};
pub use error::CatalogError;
pub(crate) use metric::direction as serialize_direction;
pub use metric::{Metric, MetricName, MetricOptions};

/// All competitions, by id.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    competitions: BTreeMap<String, Competition>,
}

impl Catalog {
    /// Reads every `competition.toml` among `texts`, with the `board.csv` and `description.md` beside it. Other
    /// texts are ignored.
    pub fn from_texts(mut texts: Texts) -> Result<Self, CatalogError> {
        let mut competitions = BTreeMap::new();
        let mut origins: BTreeMap<String, String> = BTreeMap::new();
        let is_entry = |path: &str| path == "competition.toml" || path.ends_with("/competition.toml");
        let entries: Vec<String> = texts.keys().filter(|path| is_entry(path)).cloned().collect();
        for path in entries {
            let folder = path.strip_suffix("competition.toml").unwrap_or_default();
            let mut competition = parse::competition(&path, &texts.remove(&path).unwrap_or_default())?;
            let id = competition.id.clone();
            if let Some(first) = origins.insert(id.clone(), path.clone()) {
                return Err(CatalogError::Duplicate { id, first, second: path });
            }
            competition.description = texts.remove(&format!("{folder}description.md"));
            let board_path = format!("{folder}board.csv");
            if let Some(board) = texts.remove(&board_path) {
                let direction = competition.direction();
                competition
                    .board
                    .read_lines(&board, direction)
                    .map_err(|problem| CatalogError::Board { path: board_path, problem })?;
            }
            competitions.insert(id, competition);
        }
        Ok(Self { competitions })
    }

    /// All competitions in the order of their ids.
    pub fn list(&self) -> impl ExactSizeIterator<Item = &Competition> {
        self.competitions.values()
    }

    /// The competition with this id.
    pub fn get(&self, id: &str) -> Result<&Competition, CatalogError> {
        self.competitions.get(id).ok_or_else(|| CatalogError::UnknownCompetition {
            id: id.to_owned(),
            nearest: nearest(id, self.competitions.keys().map(String::as_str)),
        })
    }

    /// Names of all splits, `all` included.
    pub fn splits(&self) -> BTreeSet<&str> {
        self.list().flat_map(|competition| &competition.splits).map(String::as_str).chain(["all"]).collect()
    }

    /// The competitions of a split; `all` is every one.
    pub fn split(&self, name: &str) -> Result<Vec<&Competition>, CatalogError> {
        let members: Vec<&Competition> = self
            .list()
            .filter(|competition| name == "all" || competition.splits.iter().any(|split| split == name))
            .collect();
        if members.is_empty() && name != "all" {
            let known = self.splits().into_iter().map(str::to_owned).collect();
            return Err(CatalogError::UnknownSplit { name: name.to_owned(), known });
        }
        Ok(members)
    }
}
