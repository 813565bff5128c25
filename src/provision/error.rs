//! Why competitions cannot be prepared. What the service refuses is one error for all of them, with a next step for each.

use std::path::PathBuf;

use podium_competition::prepare::PrepareError;
use podium_download::DownloadError;

/// Why not.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProvisionError {
    /// The service refuses some of them; nothing was fetched.
    #[error("{}", refusals(.0))]
    Refused(Vec<(String, DownloadError)>),
    /// There is too little room.
    #[error("about {} are needed and {} are free in {}", gigabytes(*needed), gigabytes(*free), folder.display())]
    NoRoom {
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that may be taken.
        free: u64,
        /// Where.
        folder: PathBuf,
    },
    /// An archive of the user's own is another one.
    #[error("{archive} is not the recorded version: MD5 {found}, not {expected}")]
    OtherArchive {
        /// The archive.
        archive: PathBuf,
        /// Its sum.
        found: String,
        /// The recorded one.
        expected: String,
    },
    /// An archive did not come.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// The data cannot be prepared.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// A bug of ours.
    #[error("a bug of this program ended the work on it")]
    Bug,
}

/// As disks are sold.
fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

fn refusals(refused: &[(String, DownloadError)]) -> String {
    let of_rules: Vec<&str> =
        refused.iter().filter(|(_, why)| is_of_rules(why)).map(|(id, _)| id.as_str()).collect();
    let mut parts = Vec::new();
    if !of_rules.is_empty() {
        parts.push(format!("Kaggle does not let this account have {} yet", of_rules.join(", ")));
    }
    parts.extend(refused.iter().filter(|(_, why)| !is_of_rules(why)).map(|(id, why)| format!("{id}: {why}")));
    parts.join("; ")
}

const fn is_of_rules(why: &DownloadError) -> bool {
    matches!(why, DownloadError::Forbidden { .. })
}

impl ProvisionError {
    /// A next step, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(refused) => {
                let pages: Vec<String> = refused
                    .iter()
                    .filter(|(_, why)| is_of_rules(why))
                    .map(|(id, _)| format!("\n  {}", podium_download::service::rules_page(id)))
                    .collect();
                if pages.is_empty() {
                    return refused.first().and_then(|(_, why)| why.hint());
                }
                Some(format!("accept the rules, signed in, at{}\nthen try again", pages.concat()))
            }
            Self::NoRoom { .. } => Some(
                "free some space, choose another folder with --data-dir, or prepare fewer at a time with --jobs 1".to_owned(),
            ),
            Self::OtherArchive { .. } => Some(
                "fetch it again, or give --skip-verification: scores may then not be comparable".to_owned(),
            ),
            Self::Download(error) => error.hint(),
            Self::Prepare(error) => error.hint(),
            Self::Bug => None,
        }
    }
}
