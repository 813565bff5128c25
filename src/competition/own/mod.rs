//! A competition of the user's own, made from a folder of data: split, answers, sample submission, description, entry.
//!
//! The table is read twice as a stream, never held: the first reading learns what the columns are, the second parts the
//! rows. What stays in memory is 8 bytes a row where a split by time or a column of ids needs it, 16 bytes a test row, and
//! what is bounded (up to [`profile::MOST_VALUES`] values a column). What is laid down is plain CSV (commas, UTF-8, points
//! in numbers) whatever the source was, because an agent's code should not have to guess.
//!
//! The whole stands under `<data>/<id>` in the layout of every other competition, with `competition.toml` and `board.csv`
//! beside `prepared`; it appears by one rename. The user edits `prepared/public/description.md` and `competition.toml`.
//! The module knows no sandbox and no model: the ladder that fills the board is run by the caller.

mod again;
pub(crate) mod dates;
mod description;
mod dialect;
mod entry;
mod error;
mod found;
mod key;
mod lay;
mod make;
mod metric;
mod profile;
pub(crate) mod rows;
mod split;
mod target;

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::catalog::{Catalog, Competition, MetricName, Texts};
use crate::data::{Folders, folders};
use crate::digest::hexadecimal;

pub use again::{NewRows, check_predictions, lay_new_rows};
pub use error::OwnError;
pub use metric::metric_of;
pub use split::SplitRule;

use found::Found;

/// Of the rows this share becomes the test set, where none is asked for.
pub const TEST_SHARE: f64 = 0.2;

/// What a competition is to be made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Its id; `None`: one that follows from the content of the data and from what is asked.
    pub id: Option<String>,
    /// A folder of data, or one table.
    pub from: PathBuf,
    /// Columns to predict; none: the sample submission says, or there is only a goal.
    pub targets: Vec<String>,
    /// What is measured.
    pub metric: MetricName,
    /// How the test rows are chosen; `None`: stratified for classes, else random.
    pub split: Option<SplitRule>,
    /// Seed of the split.
    pub seed: u64,
    /// Share of the rows that become the test set, above 0 and at most 0.9.
    pub test_share: f64,
    /// The column that names a row; `None`: a column `id` where its cells differ, or numbers of ours.
    pub id_column: Option<String>,
    /// What the user wants, in own words, for the description.
    pub goal: Option<String>,
    /// Whether the description is to hold names and types of columns only.
    pub schema_only: bool,
}

/// A competition that was made, or that was there already.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its entry, read back.
    pub competition: Competition,
    /// Where its data are.
    pub folders: Folders,
    /// What was noticed on the way, each in a sentence without its period.
    pub notes: Vec<String>,
    /// Whether this call made it.
    pub fresh: bool,
}

/// The folder of an own competition: its entry and board, and `prepared` below it.
pub fn home(data_dir: &Path, id: &str) -> PathBuf {
    data_dir.join(id)
}

/// The texts of the own competitions below `data_dir`, for [`Catalog::from_texts`]; of `only` one where it is named.
pub fn texts(data_dir: &Path, only: Option<&str>) -> Texts {
    let mut texts = Texts::new();
    let ids: Vec<String> = match only {
        Some(id) => vec![id.to_owned()],
        None => {
            let entries = std::fs::read_dir(data_dir).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        }
    };
    for id in ids.iter().filter(|id| !id.contains('/') && !id.starts_with('.')) {
        let home = home(data_dir, id);
        let Ok(toml) = std::fs::read_to_string(home.join("competition.toml")) else { continue };
        texts.insert(format!("own/{id}/competition.toml"), toml);
        for (name, path) in [("board.csv", "board.csv"), ("description.md", "prepared/public/description.md")]
        {
            if let Ok(text) = std::fs::read_to_string(home.join(path)) {
                texts.insert(format!("own/{id}/{name}"), text);
            }
        }
    }
    texts
}

/// Makes the competition that `request` asks for below `data_dir`. One without an id of its own that is there already is
/// used as it stands.
///
/// # Errors
/// In words for the user: what is wrong with the data, or does not fit together.
pub fn make(request: &Request, data_dir: &Path) -> Result<Made, OwnError> {
    if !(request.test_share > 0.0 && request.test_share <= 0.9) {
        return Err(OwnError::Share(request.test_share));
    }
    let found = Found::look(&request.from, &request.targets)?;
    let id = match &request.id {
        Some(id) => id.clone(),
        None => content_id(request, &found)?,
    };
    let place = home(data_dir, &id);
    if place.exists() {
        if request.id.is_some() {
            return Err(OwnError::Exists { folder: place });
        }
        let competition = read_back(data_dir, &id)?;
        let folders = folders(data_dir, &id);
        return Ok(Made { competition, folders, notes: Vec::new(), fresh: false });
    }
    let mut notes = found.notes.clone();
    std::fs::create_dir_all(data_dir).map_err(OwnError::io("create", data_dir))?;
    let temporary = tempfile::Builder::new()
        .prefix(".making-")
        .tempdir_in(data_dir)
        .map_err(OwnError::io("create a folder in", data_dir))?;
    fill(request, &found, &id, temporary.path(), &mut notes)?;
    match std::fs::rename(temporary.path(), &place) {
        Ok(()) => {
            // It has moved away: there is nothing left to delete.
            let _ = temporary.keep();
        }
        // Another process made the same one meanwhile.
        Err(_) if request.id.is_none() && place.exists() => {}
        Err(source) => return Err(OwnError::Io { action: "create", path: place, source }),
    }
    let competition = read_back(data_dir, &id)?;
    Ok(Made { competition, folders: folders(data_dir, &id), notes, fresh: true })
}

/// Writes the whole competition into `place`.
fn fill(
    request: &Request,
    found: &Found,
    id: &str,
    place: &Path,
    notes: &mut Vec<String>,
) -> Result<(), OwnError> {
    let laid = make::make(request, found, place, notes)?;
    let folders = Folders { public: place.join("prepared/public"), private: place.join("prepared/private") };
    found.take_along(&folders.public)?;
    let text = description::write(id, request, found, &laid);
    write(&folders.public.join("description.md"), text.as_bytes())?;
    let toml = entry::write(id, request, &laid);
    write(&place.join("competition.toml"), toml.as_bytes())?;
    self_grade(id, &toml, &folders, place)
}

/// The score of the sample submission, for the board; it also shows that the grader takes the answers.
fn self_grade(id: &str, toml: &str, folders: &Folders, place: &Path) -> Result<(), OwnError> {
    let path = format!("own/{id}/competition.toml");
    let catalog = Catalog::from_texts(std::iter::once((path, toml.to_owned())).collect())?;
    let competition = catalog.get(id)?;
    let sample = folders.sample_submission(competition);
    if competition.answers.absent || !sample.exists() {
        return Ok(());
    }
    let graded = crate::grade::grade(competition, &sample, &folders.answers(competition))?;
    match graded.outcome.rounded_score() {
        Some(score) if score.is_finite() => {
            let text = format!("{toml}sample_submission = {score:?}\n");
            write(&place.join("competition.toml"), text.as_bytes())
        }
        Some(_) => Ok(()),
        None => Err(OwnError::Sample(graded.outcome.reason().unwrap_or_default())),
    }
}

fn read_back(data_dir: &Path, id: &str) -> Result<Competition, OwnError> {
    Ok(Catalog::from_texts(texts(data_dir, Some(id)))?.get(id)?.clone())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), OwnError> {
    std::fs::write(path, bytes).map_err(OwnError::io("write", path))
}

/// A name that is the same for the same data and the same question, on every machine.
fn content_id(request: &Request, found: &Found) -> Result<String, OwnError> {
    let mut hasher = Sha256::new();
    let asked = (
        &request.targets,
        request.metric.as_str(),
        &request.split,
        request.seed,
        request.test_share,
        &request.id_column,
        &request.goal,
        request.schema_only,
    );
    hasher.update(format!("podium own data 1\n{asked:?}\n"));
    found.hash(&mut hasher)?;
    let digest = hexadecimal(&hasher.finalize());
    let name = request.from.canonicalize().ok();
    let stem = name.as_deref().unwrap_or(&request.from).file_stem().unwrap_or_default().to_string_lossy();
    let plain: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(32)
        .collect();
    let short = digest.get(..12).unwrap_or_default();
    let plain = plain.trim_matches('-');
    Ok(if plain.is_empty() { format!("data-{short}") } else { format!("{plain}-{short}") })
}
