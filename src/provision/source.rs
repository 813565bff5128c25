//! Where the raw data of a competition come from: it may be ready, its archive may be at hand, or it has to be fetched.

use std::path::{Path, PathBuf};

use podium_competition::{Competition, Status, status};

/// Where a competition comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is prepared.
    Ready,
    /// From an archive that is there: a user's own, which is left as it is, or one that was fetched here.
    Archive(PathBuf),
    /// From the service, to this file.
    Remote(PathBuf),
}

impl Source {
    /// Looks for it: in the folder of archives that the user names, then where archives are fetched to.
    pub(super) fn find(competition: &Competition, data_dir: &Path, archives: Option<&Path>) -> Self {
        if status(data_dir, competition) == Status::Prepared {
            return Self::Ready;
        }
        let official = competition.official_id();
        let file = format!("{official}.zip");
        let to = data_dir.join(&competition.id).join(&file);
        let places = archives.map(|folder| [folder.join(&file), folder.join(official).join(&file)]);
        // A variant may use the archive that was kept for its original.
        let kept = [to.clone(), data_dir.join(official).join(&file)];
        let found = places.into_iter().flatten().chain(kept).find(|path| path.is_file());
        found.map_or(Self::Remote(to), Self::Archive)
    }
}
