//! Which description of its competition an agent is shown: a setting of a run, and an axis of reports.
//!
//! Original is what the data folder holds. Obfuscated tells the same task without the competition's name or origin,
//! which shows how much of a score a model merely remembers; MLE-bench wrote one for each of its competitions, and it
//! is read from the user's checkout. Or any file. The text shown is stored with the run; where it came from is not part
//! of the run's identity.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use podium_competition::{Competition, Folders, Kind};
use serde::{Deserialize, Serialize};

use crate::run::error::RunError;

/// Name of the description in the data folder, which an agent finds as `./input/description.md`.
pub const FILE: &str = "description.md";

/// Which description.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wording {
    /// The competition's own.
    #[default]
    Original,
    /// The same task without names, and the common instructions without them.
    Obfuscated,
    /// A file of the user's own.
    File(PathBuf),
}

impl Wording {
    /// Whether it is the competition's own.
    pub fn is_original(&self) -> bool {
        *self == Self::Original
    }

    /// The text. `checkout` is MLE-bench's repository.
    ///
    /// # Errors
    /// When there is none.
    pub fn text(
        &self,
        competition: &Competition,
        data: &Folders,
        checkout: Option<&Path>,
    ) -> Result<String, RunError> {
        match self {
            Self::Original => original(competition, &data.public.join(FILE)),
            Self::Obfuscated => {
                let checkout = checkout.ok_or(RunError::NoCheckout)?;
                let folder = checkout.join("mlebench/competitions").join(competition.official_id());
                read(&folder.join("description_obfuscated.md"))
            }
            Self::File(path) => read(path),
        }
    }
}

fn original(competition: &Competition, path: &Path) -> Result<String, RunError> {
    if path.exists() {
        return read(path);
    }
    match &competition.description {
        Some(description) => Ok(description.clone()),
        None if competition.kind == Kind::Kaggle => {
            Err(RunError::NoDescription { competition: competition.id.clone(), path: path.to_owned() })
        }
        None => Ok(String::new()),
    }
}

fn read(path: &Path) -> Result<String, RunError> {
    if podium_competition::is_pointer(path) {
        return Err(RunError::Pointer { path: path.to_owned() });
    }
    std::fs::read_to_string(path).map_err(|source| RunError::Description { path: path.to_owned(), source })
}

impl fmt::Display for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Original => f.write_str("original"),
            Self::Obfuscated => f.write_str("obfuscated"),
            Self::File(path) => write!(f, "file {}", path.display()),
        }
    }
}

impl FromStr for Wording {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(match word {
            "original" => Self::Original,
            "obfuscated" => Self::Obfuscated,
            path => Self::File(PathBuf::from(path)),
        })
    }
}
