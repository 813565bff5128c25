//! Where a competition's data lie: MLE-bench's layout, `<data>/<id>/prepared/{public,private}`, so that a lab's
//! existing folder works unchanged. What may be shown to an agent is under `public`; nothing under `private` ever is.

mod archives;
mod checksum;
mod error;
mod listing;
mod pointer;
mod survey;
mod unpack;
mod verify;

use std::path::{Path, PathBuf};

pub use archives::{Archives, archives};
pub use checksum::of_file as md5_of_file;
pub use error::DataError;
pub use pointer::is_pointer;
pub use survey::{Checking, Found, Readiness, Survey, survey};
pub use unpack::{Prepared, prepare_offline};
pub use verify::{Verified, verify};

use crate::catalog::Competition;

/// The two folders of a prepared competition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// What the agent sees.
    pub public: PathBuf,
    /// The answers.
    pub private: PathBuf,
}

/// Where the data of competition `id` are, or would be, below `data_dir`.
pub fn folders(data_dir: &Path, id: &str) -> Folders {
    let prepared = data_dir.join(id).join("prepared");
    Folders { public: prepared.join("public"), private: prepared.join("private") }
}

impl Folders {
    /// The answers of `competition`.
    pub fn answers(&self, competition: &Competition) -> PathBuf {
        self.private.join(&competition.answers.file)
    }

    /// The sample submission of `competition`: in the public folder, or in the private one where the public one holds
    /// an archive of it only.
    pub fn sample_submission(&self, competition: &Competition) -> PathBuf {
        let folder = if competition.data.sample_is_private { &self.private } else { &self.public };
        folder.join(&competition.data.sample_submission)
    }
}

/// How far the data of a competition are prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// All files that grading and an agent need are there.
    Prepared,
    /// Nothing is there.
    NotPrepared,
    /// Some of it is there.
    Partly {
        /// What is missing.
        missing: Vec<PathBuf>,
    },
}

/// Looks whether `competition` is prepared below `data_dir`.
pub fn status(data_dir: &Path, competition: &Competition) -> Status {
    let folders = folders(data_dir, &competition.id);
    let mut wanted = vec![folders.answers(competition), folders.sample_submission(competition)];
    wanted.extend(
        [&competition.data.train, &competition.data.test]
            .into_iter()
            .flatten()
            .map(|file| folders.public.join(file)),
    );
    let missing: Vec<PathBuf> = wanted.into_iter().filter(|path| !path.exists()).collect();
    let prepared = folders.public.parent().is_some_and(Path::exists);
    match (missing.is_empty(), prepared) {
        (true, _) => Status::Prepared,
        (false, false) => Status::NotPrepared,
        (false, true) => Status::Partly { missing },
    }
}
