//! A journal looked at: entry by entry with bodies as they stand, so that whoever needs little of a long run reads little
//! of it. Nothing of the folder is written, not even the files that SQLite keeps beside a journal that nobody has open.

use std::fmt::Write as _;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use podium_types::sha256::Sha256;
use podium_types::usage::Usage;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row as SqlRow};
use rustix::fs::OFlags;

use super::record::{Entry, Record, Stamp};
use super::store::JournalError;
use crate::run::folder::content::{ContentError, ContentStore};

/// How long a lock is waited for: a writer holds one for the length of a commit.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);
/// What a result says of its cost stands at the end of its body, behind all texts.
const TAIL: usize = 16 << 10;

/// Of an entry, all but its body, and the body unread.
#[derive(Debug)]
pub struct Glance<'a> {
    /// Its number.
    pub seq: u64,
    /// `result`, `charge`, ...
    pub kind: &'a str,
    /// Of a result: `chat`, `execution`, `node`, ...
    pub effect: Option<&'a str>,
    /// The effect key.
    pub key: Option<&'a str>,
    /// The run's clocks.
    pub stamp: Stamp,
    at: &'a str,
    inline: Option<&'a str>,
    content: Option<&'a str>,
    store: &'a ContentStore,
}

/// How far a run has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Run time.
    pub run_ms: u64,
    /// Finished nodes.
    pub nodes: u64,
    /// Granted steps.
    pub steps: u64,
    /// When the last entry was committed, RFC 3339.
    pub at: Option<String>,
}

/// A journal that is open for looking.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    connection: Connection,
    store: ContentStore,
}

impl Journal {
    /// Opens the journal at `path`.
    ///
    /// # Errors
    /// When it is no journal, or another process has it locked for good.
    pub fn open(path: &Path, store: ContentStore) -> Result<Self, JournalError> {
        let fail = |source| JournalError::Database { path: path.to_owned(), source };
        let connection = read_only(path).map_err(fail)?;
        connection.busy_timeout(PATIENCE).map_err(fail)?;
        // A journal may come from anywhere: nothing that its schema defines is run.
        connection.pragma_update(None, "trusted_schema", false).map_err(fail)?;
        let is_table = "SELECT count(*) FROM sqlite_schema WHERE name = 'entry' AND sql LIKE 'CREATE TABLE%'";
        let tables: u64 = connection.query_row(is_table, [], |row| row.get(0)).map_err(fail)?;
        if tables != 1 {
            return Err(fail(rusqlite::Error::InvalidQuery));
        }
        Ok(Self { path: path.to_owned(), connection, store })
    }

    fn fail(&self, source: rusqlite::Error) -> JournalError {
        JournalError::Database { path: self.path.clone(), source }
    }

    /// Number of the last entry; 0: there is none.
    ///
    /// # Errors
    /// When it does not read.
    pub fn last(&self) -> Result<u64, JournalError> {
        let last = self.connection.query_row("SELECT max(seq) FROM entry", [], |row| row.get(0)).optional();
        Ok(last.map_err(|source| self.fail(source))?.flatten().unwrap_or(0))
    }

    /// How far the run has come, without looking at any body.
    ///
    /// # Errors
    /// When it does not read.
    pub fn progress(&self) -> Result<Progress, JournalError> {
        let counted =
            "SELECT coalesce(max(run_ms), 0), sum(effect = 'node'), sum(effect = 'step'), max(at) FROM entry";
        let row = self.connection.query_row(counted, [], |row| {
            let count = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<u64>>(column)?.unwrap_or(0));
            Ok(Progress { run_ms: row.get(0)?, nodes: count(1)?, steps: count(2)?, at: row.get(3)? })
        });
        row.map_err(|source| self.fail(source))
    }

    /// Shows all entries after number `after`, until told to stop.
    ///
    /// # Errors
    /// When the database does not read. Bodies are not looked at.
    pub fn each(
        &self,
        after: u64,
        mut visit: impl FnMut(Glance<'_>) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT seq, kind, effect, key, run_ms, waiting_ms, at, body, content FROM entry \
                 WHERE seq > ? ORDER BY seq",
            )
            .map_err(|source| self.fail(source))?;
        let mut rows = statement.query([after]).map_err(|source| self.fail(source))?;
        while let Some(row) = rows.next().map_err(|source| self.fail(source))? {
            let glance = glance(row, &self.store).map_err(|source| self.fail(source))?;
            if visit(glance).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// One entry in full.
    ///
    /// # Errors
    /// When it is not there, or does not read back.
    pub fn entry(&self, seq: u64) -> Result<Entry, JournalError> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT seq, kind, effect, key, run_ms, waiting_ms, at, body, content FROM entry WHERE seq = ?",
            )
            .map_err(|source| self.fail(source))?;
        let mut rows = statement.query([seq]).map_err(|source| self.fail(source))?;
        let row = rows.next().map_err(|source| self.fail(source))?.ok_or(JournalError::Missing { seq })?;
        glance(row, &self.store).map_err(|source| self.fail(source))?.entry()
    }
}

/// Opens a journal for reading. One that nobody has open gets no files of SQLite's beside it: whoever may not write can
/// make them, and never takes them away.
pub(super) fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    match resting(path) {
        Some(uri) => Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI),
        None => Connection::open_with_flags(path, flags),
    }
}

/// The address of a journal that nobody has open: in WAL mode, and without its log. Reading it needs no lock then.
fn resting(path: &Path) -> Option<String> {
    let mut head = [0; 20];
    std::fs::File::open(path).ok()?.read_exact(&mut head).ok()?;
    // The write and read versions of SQLite's file format: 2 is WAL.
    let wal = head.get(18..).is_some_and(|versions| versions == [2, 2]);
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if !wal || Path::new(&log).exists() {
        return None;
    }
    let mut uri = "file:".to_owned();
    for byte in path.to_str()?.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => uri.push(char::from(byte)),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri.push_str("?immutable=1");
    Some(uri)
}

fn glance<'a>(row: &'a SqlRow<'_>, store: &'a ContentStore) -> rusqlite::Result<Glance<'a>> {
    let text = |column: usize| -> rusqlite::Result<Option<&str>> {
        row.get_ref(column)?.as_str_or_null().map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
        })
    };
    Ok(Glance {
        seq: row.get(0)?,
        kind: text(1)?.unwrap_or_default(),
        effect: text(2)?,
        key: text(3)?,
        stamp: Stamp { run_ms: row.get(4)?, waiting_ms: row.get(5)? },
        at: text(6)?.unwrap_or_default(),
        inline: text(7)?,
        content: text(8)?,
        store,
    })
}

impl Glance<'_> {
    /// Wall-clock time, RFC 3339.
    pub const fn at(&self) -> &str {
        self.at
    }

    /// The body, JSON as it stands; read from the content store where it is there.
    ///
    /// # Errors
    /// When the content store has lost it.
    pub fn body(&self) -> Result<std::borrow::Cow<'_, [u8]>, JournalError> {
        match (self.inline, self.content) {
            (Some(inline), _) => Ok(inline.as_bytes().into()),
            (None, Some(sha256)) => {
                let name = ContentStore::name(sha256)?;
                let lost = |what| ContentError::Damaged { sha256: sha256.to_owned(), what };
                let mut file = self.file(&name).ok_or_else(|| lost("missing"))?;
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).map_err(|_| lost("unreadable"))?;
                if Sha256::of(&bytes) == name { Ok(bytes.into()) } else { Err(lost("changed").into()) }
            }
            (None, None) => Ok([].as_slice().into()),
        }
    }

    /// The whole entry.
    ///
    /// # Errors
    /// When its body is lost or does not read back.
    pub fn entry(&self) -> Result<Entry, JournalError> {
        Ok(Entry { seq: self.seq, stamp: self.stamp, at: self.at.to_owned(), record: self.read::<Record>()? })
    }

    /// The body as anything that reads it.
    ///
    /// # Errors
    /// When it is lost or does not read back.
    pub fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, JournalError> {
        let seq = self.seq;
        serde_json::from_slice(&self.body()?).map_err(|source| JournalError::Corrupt { seq, source })
    }

    /// What a result or a charge used, from the end of its body where it can be found there.
    ///
    /// # Errors
    /// When its body is lost or does not read back.
    pub fn usage(&self) -> Result<Usage, JournalError> {
        #[derive(serde::Deserialize)]
        struct Used {
            usage: Usage,
        }
        let found = match (self.inline, self.content) {
            (Some(inline), _) => usage_at_the_end(inline.as_bytes()),
            (None, Some(sha256)) => self.tail(sha256).and_then(|tail| usage_at_the_end(&tail)),
            (None, None) => None,
        };
        match found {
            Some(usage) => Ok(usage),
            None => Ok(self.read::<Used>()?.usage),
        }
    }

    /// A plain file of the content store: a link could lead anywhere, and a pipe would be waited on for ever.
    fn file(&self, name: &Sha256) -> Option<std::fs::File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let path = self.store.folder().join(name.as_str());
        let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        file.metadata().ok()?.is_file().then_some(file)
    }

    fn tail(&self, sha256: &str) -> Option<Vec<u8>> {
        let name = ContentStore::name(sha256).ok()?;
        let file = self.file(&name)?;
        let size = file.metadata().ok()?.len();
        let mut tail = vec![0; TAIL.min(usize::try_from(size).ok()?)];
        let from = size - tail.len() as u64;
        file.read_exact_at(&mut tail, from).ok()?;
        Some(tail)
    }
}

/// In a record's JSON, `usage` is followed by `took_ms`, a number; in a string a quote would have a backslash before it,
/// so neither name can be an agent's.
fn usage_at_the_end(json: &[u8]) -> Option<Usage> {
    const AFTER: &[u8] = b"},\"took_ms\":";
    const BEFORE: &[u8] = b",\"usage\":{";
    let mut end = json.len();
    loop {
        let after = rfind(json.get(..end)?, AFTER)?;
        if json.get(after + AFTER.len()).is_some_and(u8::is_ascii_digit) {
            let begin = rfind(json.get(..after)?, BEFORE)? + BEFORE.len() - 1;
            return serde_json::from_slice(json.get(begin..=after)?).ok();
        }
        end = after;
    }
}

fn rfind(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).rposition(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_is_found_behind_all_that_others_wrote() {
        let used =
            Usage { input_tokens: 7, cost: Some(podium_types::money::Usd::from_nanos(3)), ..Usage::NOTHING };
        let hostile = r#"},"took_ms":1,"usage":{"input_tokens":9},"took_ms":9"#;
        let record = serde_json::json!({
            "kind": "result", "effect": { "text": hostile, "usage": { "input_tokens": 1 } }, "result": hostile,
        });
        let mut text = record.to_string();
        text.truncate(text.len() - 1);
        let usage = serde_json::to_string(&used).unwrap();
        let home = r#""home":{"kept":{"a":{"bytes":1},"took_ms":{"bytes":1}}}"#;
        for end in [String::from("}"), format!(",{home}}}"), format!(",\"call\":{{\"usage\":{usage}}}}}")] {
            let whole = format!("{text},\"usage\":{usage},\"took_ms\":12,\"waited_ms\":0{end}");
            assert_eq!(usage_at_the_end(whole.as_bytes()), Some(used), "{whole}");
        }
        for other in ["", "{}", "},\"took_ms\":", r#"},"took_ms":1"#] {
            assert_eq!(usage_at_the_end(other.as_bytes()), None);
        }
    }
}
