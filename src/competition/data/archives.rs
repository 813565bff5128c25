//! Which archives of the offline competitions are at hand.

use std::path::{Path, PathBuf};

use crate::data::error::DataError;

/// The archives of one offline competition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Archives {
    /// The competition.
    pub id: String,
    /// Folder with `public.tar.gz` and `private.tar.gz`.
    pub folder: PathBuf,
}

/// The offline competitions below `offline` (`<offline>/<id>/data/`) whose two archives exist, by id. A folder that
/// does not exist holds none.
pub fn archives(offline: &Path) -> Result<Vec<Archives>, DataError> {
    let entries = match std::fs::read_dir(offline) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(DataError::io("list", offline)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(DataError::io("list", offline))?;
        let folder = entry.path().join("data");
        let whole = ["public.tar.gz", "private.tar.gz"].iter().all(|name| folder.join(name).is_file());
        if let (true, Ok(id)) = (whole, entry.file_name().into_string()) {
            found.push(Archives { id, folder });
        }
    }
    found.sort();
    Ok(found)
}
