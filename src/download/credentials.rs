//! Whose account it is: looked for where Kaggle's own command-line tool looks. An access token that is named goes before a
//! sign-in, and both before a user's name and key; what the environment says goes before files of its kind.
//!
//! Credentials are never written, printed or put into an error.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;

use crate::error::DownloadError;

/// An account.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// An access token.
    Token(String),
    /// A sign-in with a browser (`kaggle auth login`).
    SignIn(SignIn),
    /// A name with its key, the older kind.
    Key {
        /// The user's name.
        username: String,
        /// The key.
        key: String,
    },
}

/// What a sign-in leaves: a token that lasts, for which the service gives tokens that do not.
#[derive(Clone, PartialEq, Eq)]
pub struct SignIn {
    /// The one that lasts.
    pub refresh_token: String,
    /// The last one that it was exchanged for.
    pub access_token: Option<String>,
    /// Until when that is of use.
    pub expires: Option<Timestamp>,
}

impl fmt::Debug for SignIn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SignIn(..)")
    }
}

impl SignIn {
    /// The access token that is still of use at this time.
    pub(crate) fn valid(&self, now: Timestamp) -> Option<&str> {
        let soon = self.expires.is_none_or(|expires| expires.as_second() <= now.as_second() + 60);
        self.access_token.as_deref().filter(|_| !soon)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Token(_) => "Token(..)",
            Self::SignIn(_) => "SignIn(..)",
            Self::Key { .. } => "Key(..)",
        })
    }
}

/// What stands in `kaggle.json`.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    username: String,
    #[serde(default)]
    key: String,
}

impl Credentials {
    /// The account that Kaggle's tool would use, by these variables and this home folder; none where there is none.
    pub fn find(variables: &BTreeMap<String, String>, home: &Path) -> Result<Option<Self>, DownloadError> {
        let variable =
            |name: &str| variables.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
        if let Some(token) = variable("KAGGLE_API_TOKEN") {
            // It may name a file that holds the token.
            let read = Path::new(token).is_file().then(|| token_in(Path::new(token))).flatten();
            return Ok(Some(Self::Token(read.unwrap_or_else(|| token.to_owned()))));
        }
        let usual = home.join(".kaggle");
        if let Some(token) =
            ["access_token", "access_token.txt"].iter().find_map(|name| token_in(&usual.join(name)))
        {
            return Ok(Some(Self::Token(token)));
        }
        if let Some(sign_in) = sign_in_in(&usual.join("credentials.json")) {
            return Ok(Some(Self::SignIn(sign_in)));
        }
        if let (Some(username), Some(key)) = (variable("KAGGLE_USERNAME"), variable("KAGGLE_KEY")) {
            return Ok(Some(Self::Key { username: username.to_owned(), key: key.to_owned() }));
        }
        let folder = match variable("KAGGLE_CONFIG_DIR") {
            Some(folder) => PathBuf::from(folder),
            None if usual.exists() => usual,
            None => {
                let config = variable("XDG_CONFIG_HOME").map(PathBuf::from);
                config.unwrap_or_else(|| home.join(".config")).join("kaggle")
            }
        };
        key_in(&folder.join("kaggle.json"))
    }
}

fn token_in(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The sign-in of a file; none where it has none, as for Kaggle's tool.
fn sign_in_in(path: &Path) -> Option<SignIn> {
    #[derive(Deserialize)]
    struct File {
        refresh_token: String,
        #[serde(default)]
        access_token: Option<String>,
        #[serde(default)]
        access_token_expiration: Option<String>,
    }
    let file: File = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    Some(SignIn {
        refresh_token: some(file.refresh_token)?,
        access_token: file.access_token.and_then(some),
        expires: file.access_token_expiration.and_then(|text| text.parse().ok()),
    })
}

fn key_in(path: &Path) -> Result<Option<Credentials>, DownloadError> {
    let bad = |problem: String| DownloadError::Credentials { file: path.to_owned(), problem };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(bad(error.to_string())),
    };
    // What serde says of a document may quote it; where it stopped is enough.
    let file: File = serde_json::from_str(&text)
        .map_err(|error| bad(format!("no document of a name and a key (line {})", error.line())))?;
    if file.username.is_empty() || file.key.is_empty() {
        return Err(bad("it has no `username` or no `key`".to_owned()));
    }
    Ok(Some(Credentials::Key { username: file.username, key: file.key }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_where_kaggles_tool_finds_it() {
        let home = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = home.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let find = |variables: &[(&str, &str)]| {
            let variables =
                variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
            Credentials::find(&variables, home.path())
        };
        let token = |text: &str| Some(Credentials::Token(text.to_owned()));
        let key = |username: &str, key: &str| {
            Some(Credentials::Key { username: username.to_owned(), key: key.to_owned() })
        };
        assert_eq!(find(&[]).unwrap(), None);
        write(".config/kaggle/kaggle.json", r#"{"username": "ada", "key": "config"}"#);
        assert_eq!(find(&[]).unwrap(), key("ada", "config"));
        let elsewhere = write("elsewhere/kaggle.json", r#"{"username": "bob", "key": "elsewhere"}"#);
        let elsewhere = elsewhere.trim_end_matches("/kaggle.json");
        assert_eq!(find(&[("KAGGLE_CONFIG_DIR", elsewhere)]).unwrap(), key("bob", "elsewhere"));
        // A folder of that name goes before the newer place, though it is empty.
        std::fs::create_dir(home.path().join(".kaggle")).unwrap();
        assert_eq!(find(&[]).unwrap(), None);
        write(".kaggle/kaggle.json", r#"{"username": "eve", "key": "usual"}"#);
        assert_eq!(find(&[]).unwrap(), key("eve", "usual"));
        let named = [("KAGGLE_USERNAME", "ann"), ("KAGGLE_KEY", "variable")];
        assert_eq!(find(&named).unwrap(), key("ann", "variable"));
        assert_eq!(find(&named[..1]).unwrap(), key("eve", "usual"));
        write(".kaggle/credentials.json", r#"{"refresh_token": ""}"#);
        assert_eq!(find(&named).unwrap(), key("ann", "variable"));
        let sign_in = r#"{"refresh_token": "lasts", "access_token": "secret", "username": "ida", "scopes": [],
            "access_token_expiration": "2026-01-30T15:19:08.123456+00:00"}"#;
        write(".kaggle/credentials.json", sign_in);
        let Some(Credentials::SignIn(sign_in)) = find(&named).unwrap() else { panic!("no sign-in") };
        assert_eq!(sign_in.refresh_token, "lasts");
        let at = |time: &str| sign_in.valid(time.parse().unwrap());
        assert_eq!(at("2026-01-30T15:18:00Z"), Some("secret"));
        assert_eq!(at("2026-01-30T15:18:30Z"), None);
        assert!(!format!("{sign_in:?}").contains("secret"));
        write(".kaggle/access_token", "KGAT_file\n");
        assert_eq!(find(&named).unwrap(), token("KGAT_file"));
        assert_eq!(find(&[("KAGGLE_API_TOKEN", "KGAT_variable")]).unwrap(), token("KGAT_variable"));
        let file = write("token", "KGAT_named");
        assert_eq!(find(&[("KAGGLE_API_TOKEN", &file)]).unwrap(), token("KGAT_named"));
        for broken in ["", "{", r#"{"username": "ada"}"#, "[1]", r#"{"username": 1, "key": "secret"}"#] {
            write("elsewhere/kaggle.json", broken);
            let error = find(&[("KAGGLE_CONFIG_DIR", elsewhere), ("HOME", "/")]);
            // The token file still goes first.
            assert_eq!(error.unwrap(), token("KGAT_file"));
            let error = key_in(Path::new(elsewhere).join("kaggle.json").as_path()).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(!format!("{:?}", key("ann", "secret")).contains("secret"));
    }
}
