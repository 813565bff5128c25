//! What can go wrong between an account and a whole archive. Whether it is of use to try again, and after how long, is
//! part of the error.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why an archive is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// A file of credentials says nothing.
    #[error("the credentials in {file} cannot be used: {problem}")]
    Credentials {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// There is no account.
    #[error("no Kaggle credentials were found")]
    NoCredentials,
    /// The client cannot be set up.
    #[error("the HTTP client cannot be set up: {0}")]
    Client(String),
    /// Kaggle does not know the account.
    #[error("Kaggle does not accept the credentials{}", told(.said))]
    Unauthorized {
        /// Its words.
        said: String,
    },
    /// The account may not have these data, mostly because their rules are not accepted.
    #[error("Kaggle does not let this account have `{competition}`{}", told(.said))]
    Forbidden {
        /// The competition.
        competition: String,
        /// Its words.
        said: String,
    },
    /// There is no such competition.
    #[error("Kaggle knows no data of `{competition}`")]
    NotFound {
        /// The competition.
        competition: String,
    },
    /// What came is no archive.
    #[error("what came for `{competition}` is a page, not an archive")]
    NoArchive {
        /// The competition.
        competition: String,
    },
    /// The service answered with an error.
    #[error("the service answered with status {status}{}", told(.said))]
    Status {
        /// The status.
        status: u16,
        /// Its words.
        said: String,
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// The connection ended too early.
    #[error("the connection ended after {received} of {expected} bytes")]
    Cut {
        /// Bytes that are there.
        received: u64,
        /// Bytes that were to come.
        expected: u64,
    },
    /// Nothing came for too long.
    #[error("nothing came for {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// Too little came for too long.
    #[error("{bytes} bytes came in {} s", .within.as_secs_f64())]
    Slow {
        /// What came.
        bytes: u64,
        /// In this time.
        within: Duration,
    },
    /// Another file is served now than when the transfer began.
    #[error("the archive changed while it was fetched")]
    Changed,
    /// What came is not what was sent.
    #[error("the transfer damaged the archive: its MD5 sum is {found}, not {expected}")]
    Damaged {
        /// The sum that it has.
        found: String,
        /// The sum that it should have.
        expected: String,
    },
    /// The archive is whole, and not the one whose sum is recorded.
    #[error(
        "Kaggle serves another version of `{competition}` than the recorded one: MD5 {found}, not {expected}"
    )]
    OtherVersion {
        /// The competition.
        competition: String,
        /// The sum that it has.
        found: String,
        /// The recorded one.
        expected: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {path}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// The service's own words behind ours.
fn told(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

impl DownloadError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// Whether the same may go better later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 408 | 416 | 425 | 429 | 500..),
            Self::Connection(_)
            | Self::Cut { .. }
            | Self::Silent(_)
            | Self::Slow { .. }
            | Self::Changed
            | Self::Damaged { .. } => true,
            _ => false,
        }
    }

    /// How long the service asks to wait.
    pub fn wait(&self) -> Option<Duration> {
        match self {
            Self::Status { wait, .. } => *wait,
            _ => None,
        }
    }

    /// A next step, where there is one.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoCredentials => "make an API token on your account's settings page at Kaggle, and put it in \
                 KAGGLE_API_TOKEN or ~/.kaggle/access_token (or KAGGLE_USERNAME and KAGGLE_KEY, or ~/.kaggle/kaggle.json); \
                 archives that you have already are taken with --archives DIR, unpacked ones with --raw DIR"
                .to_owned(),
            Self::Credentials { .. } => {
                "make a new API token on your account's settings page at Kaggle".to_owned()
            }
            Self::Unauthorized { .. } => {
                "the token may be expired or revoked: make a new one on your account's settings page at Kaggle, or \
                 sign in anew with `kaggle auth login`".to_owned()
            }
            Self::Forbidden { competition, .. } => {
                format!("accept the rules, signed in, at {}, then try again", crate::service::rules_page(competition))
            }
            Self::OtherVersion { .. } => "the archive is kept; --skip-verification prepares it as it is, and scores \
                 may then not be comparable"
                .to_owned(),
            Self::NoArchive { .. } => "a proxy or a sign-in page may stand in between; open the address in a browser".to_owned(),
            Self::Status { status: 429, .. } => "Kaggle limits how often it is asked: try again later".to_owned(),
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                "free some space, or choose another folder with --data-dir".to_owned()
            }
            error if error.is_passing() => "the same command goes on where it stopped".to_owned(),
            _ => return None,
        })
    }
}
