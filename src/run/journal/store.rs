//! The SQLite side of the journal: schema, reading, writing. Large bodies live in the run's content store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use podium_types::key::EffectKey;
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::place::FileSystem;
use super::record::{Due, Entry, Intent, Stamp};
use crate::run::folder::content::{ContentError, ContentStore};

const SCHEMA_VERSION: i64 = 1;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS entry (
  seq INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  effect TEXT,            -- of a result: chat, execution, node, ...
  key TEXT,
  number INTEGER,         -- node or step in the key
  run_ms INTEGER NOT NULL,
  waiting_ms INTEGER NOT NULL,
  at TEXT NOT NULL,
  body TEXT,              -- the record as JSON, or
  content TEXT            -- the SHA-256 of a file in content/ that holds it
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS entry_result ON entry (key) WHERE kind = 'result';
CREATE TABLE IF NOT EXISTS intent (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL,    -- open: sent, not answered; closed: accounted for
  body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS intent_open ON intent (key) WHERE state = 'open';
";

/// How long a lock is waited for that is soon released.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// SQLite's cache of pages.
const CACHE_KIB: i64 = 256;

/// A journal body over this many bytes goes to a content-addressed file.
const INLINE_BYTES: usize = 64 * 1024;

/// A failure of the journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// SQLite.
    #[error("the run journal {} could not be used", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// SQLite's own words.
        #[source]
        source: rusqlite::Error,
    },
    /// A body that does not read back.
    #[error("entry {seq} of the run journal does not read back")]
    Corrupt {
        /// Its sequence number.
        seq: u64,
        /// The parser's words.
        #[source]
        source: serde_json::Error,
    },
    /// An entry that is not there: numbers run from 1 without gaps.
    #[error("entry {seq} of the run journal is missing")]
    Missing {
        /// Its sequence number.
        seq: u64,
    },
    /// A record that cannot be written as JSON.
    #[error("a journal record could not be written as JSON")]
    Encode(#[source] serde_json::Error),
    /// The content store.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// Written by another version.
    #[error("the run journal has format {found}, this program reads {SCHEMA_VERSION}")]
    Version {
        /// The format found.
        found: i64,
    },
    /// The writer thread is gone.
    #[error("the journal's writer has stopped")]
    WriterGone,
}

impl JournalError {
    /// Whether the file is no journal any more, so that trying again changes nothing.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Database { source: rusqlite::Error::SqliteFailure(error, _), .. } => {
                use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
                matches!(error.code, DatabaseCorrupt | NotADatabase)
            }
            Self::Corrupt { .. } | Self::Missing { .. } => true,
            Self::Content(error) => error.is_damage(),
            _ => false,
        }
    }

    /// Whether the disk was full.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Database { source: rusqlite::Error::SqliteFailure(error, _), .. } => {
                error.code == rusqlite::ErrorCode::DiskFull
                    // SQLITE_IOERR_WRITE, _FSYNC, _TRUNCATE, _SHMSIZE: what a full or quota-bound disk also gives
                    || [778, 1034, 1546, 4874].contains(&error.extended_code)
            }
            Self::Content(error) => error.is_disk_full(),
            _ => false,
        }
    }

    /// Whether another process holds the journal.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Database { source: rusqlite::Error::SqliteFailure(error, _), .. }
            if matches!(error.code, rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
    }
}

/// The open database.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    connection: Connection,
    content: ContentStore,
    /// Whether a commit is in force without being synced, as it is in a write-ahead log.
    log: bool,
    /// Whether commits are synced as the connection stands.
    synced: bool,
    /// The keys that have open intents, and perhaps some that have none any more.
    intended: BTreeSet<String>,
}

impl Store {
    /// Opens or creates the journal for writing.
    pub(super) fn open(
        path: &Path,
        file_system: FileSystem,
        content: ContentStore,
    ) -> Result<Self, JournalError> {
        let fail = |source| JournalError::Database { path: path.to_owned(), source };
        let connection = Connection::open(path).map_err(fail)?;
        connection.busy_timeout(PATIENCE).map_err(fail)?;
        match file_system {
            FileSystem::Local => connection.pragma_update(None, "journal_mode", "WAL"),
            FileSystem::Network => connection
                .pragma_update(None, "locking_mode", "EXCLUSIVE")
                .and_then(|()| connection.pragma_update(None, "journal_mode", "TRUNCATE")),
        }
        .map_err(fail)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(fail)?;
        // A journal is written from front to back and read once: a page is hardly ever asked for again.
        connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(fail)?;
        let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(fail)?;
        match found {
            0 => {
                // One commit: each waits for the disk.
                let made = format!("BEGIN; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;");
                connection.execute_batch(&made).map_err(fail)?;
            }
            SCHEMA_VERSION => {}
            found => return Err(JournalError::Version { found }),
        }
        let log = file_system == FileSystem::Local;
        let path = path.to_owned();
        let open = open_intents(&connection, &path)?;
        let intended = open.iter().map(|intent| intent.place().0.as_str().to_owned()).collect();
        Ok(Self { path, connection, content, log, synced: true, intended })
    }

    fn fail(&self, source: rusqlite::Error) -> JournalError {
        JournalError::Database { path: self.path.clone(), source }
    }

    /// Number of the last entry; 0 when there is none.
    pub(super) fn last_seq(&self) -> Result<u64, JournalError> {
        self.connection
            .query_row("SELECT max(seq) FROM entry", [], |row| row.get::<_, Option<u64>>(0))
            .optional()
            .map(|seq| seq.flatten().unwrap_or(0))
            .map_err(|source| self.fail(source))
    }

    /// Commits an entry; a result or a charge closes the call's open intents in the same transaction. What is due at once
    /// is on the disk then, and all that was committed before it.
    pub(super) fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let body = serde_json::to_string(&entry.record).map_err(JournalError::Encode)?;
        let (inline, content) = if body.len() > INLINE_BYTES {
            (None, Some(self.content.put(body.as_bytes())?.to_string()))
        } else {
            (Some(body), None)
        };
        self.sync_commits(entry.record.due() == Due::AtOnce)?;
        let key = entry.record.key().map(EffectKey::as_str);
        let settled = key.filter(|key| entry.record.settles() && self.intended.contains(*key));
        let insert = || {
            self.run(
                "INSERT INTO entry (seq, kind, effect, key, number, run_ms, waiting_ms, at, body, content) \
                 VALUES (?,?,?,?,?,?,?,?,?,?)",
                params![
                    entry.seq,
                    entry.record.kind(),
                    entry.record.effect(),
                    key,
                    entry.record.key().and_then(EffectKey::number),
                    entry.stamp.run_ms,
                    entry.stamp.waiting_ms,
                    entry.at,
                    inline,
                    content
                ],
            )
        };
        let Some(settled) = settled else { return insert() };
        let close = "UPDATE intent SET state = 'closed' WHERE key = ? AND state = 'open'";
        let both = || {
            self.run("BEGIN", [])?;
            insert()?;
            self.run(close, [settled])?;
            self.run("COMMIT", [])
        };
        let committed = both();
        if committed.is_err() && !self.connection.is_autocommit() {
            // It was never there: the next one begins anew.
            let _ = self.run("ROLLBACK", []);
        }
        committed?;
        self.intended.remove(settled);
        Ok(())
    }

    /// Runs a statement that is kept for the next time.
    fn run(&self, sql: &str, parameters: impl Params) -> Result<(), JournalError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|source| self.fail(source))?;
        statement.execute(parameters).map(|_| ()).map_err(|source| self.fail(source))
    }

    /// Whether commits from now on wait for the disk. Outside a log all do.
    fn sync_commits(&mut self, synced: bool) -> Result<(), JournalError> {
        let synced = synced || !self.log;
        if self.synced != synced {
            let level = if synced { "FULL" } else { "NORMAL" };
            let set = self.connection.pragma_update(None, "synchronous", level);
            set.map_err(|source| self.fail(source))?;
            self.synced = synced;
        }
        Ok(())
    }

    /// Puts on the disk what was committed without waiting for it.
    pub(super) fn sync(&self) -> std::io::Result<()> {
        // The name that SQLite gives the log; where it has none yet, or no more, there is nothing to be synced.
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        match std::fs::File::open(log) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            log => log?.sync_data(),
        }
    }

    /// Commits an intent.
    pub(super) fn intend(&mut self, intent: &Intent) -> Result<(), JournalError> {
        let body = serde_json::to_string(intent).map_err(JournalError::Encode)?;
        let (key, attempt) = intent.place();
        self.sync_commits(true)?;
        // Before it is tried: a key too many costs a look.
        self.intended.insert(key.as_str().to_owned());
        self.run(
            "INSERT INTO intent (key, attempt, state, body) VALUES (?, ?, 'open', ?)",
            params![key.as_str(), attempt, body],
        )
    }

    /// Marks a try as not billed.
    pub(super) fn close_intent(&mut self, key: &EffectKey, attempt: u32) -> Result<(), JournalError> {
        self.sync_commits(true)?;
        self.run(
            "UPDATE intent SET state = 'closed' WHERE key = ? AND attempt = ? AND state = 'open'",
            params![key.as_str(), attempt],
        )
    }

    pub(super) fn entries(&self) -> Result<Vec<Entry>, JournalError> {
        entries(&self.connection, &self.path, &self.content)
    }

    pub(super) fn open_intents(&self) -> Result<Vec<Intent>, JournalError> {
        open_intents(&self.connection, &self.path)
    }
}

fn entries(connection: &Connection, path: &Path, content: &ContentStore) -> Result<Vec<Entry>, JournalError> {
    let fail = |source| JournalError::Database { path: path.to_owned(), source };
    let mut statement = connection
        .prepare("SELECT seq, run_ms, waiting_ms, at, body, content FROM entry ORDER BY seq")
        .map_err(fail)?;
    let rows = statement
        .query_map([], |row| {
            let stamp = Stamp { run_ms: row.get(1)?, waiting_ms: row.get(2)? };
            let body = (row.get::<_, Option<String>>(4)?, row.get::<_, Option<String>>(5)?);
            Ok((row.get::<_, u64>(0)?, stamp, row.get::<_, String>(3)?, body))
        })
        .map_err(fail)?;
    let mut entries = Vec::new();
    for row in rows {
        let (seq, stamp, at, body) = row.map_err(fail)?;
        let next = entries.len() as u64 + 1;
        if seq != next {
            return Err(JournalError::Missing { seq: next });
        }
        let bytes = match body {
            (Some(inline), _) => inline.into_bytes(),
            (None, Some(sha256)) => content.get(&ContentStore::name(&sha256)?)?,
            (None, None) => Vec::new(),
        };
        let record =
            serde_json::from_slice(&bytes).map_err(|source| JournalError::Corrupt { seq, source })?;
        entries.push(Entry { seq, stamp, at, record });
    }
    Ok(entries)
}

fn open_intents(connection: &Connection, path: &Path) -> Result<Vec<Intent>, JournalError> {
    let fail = |source| JournalError::Database { path: path.to_owned(), source };
    let mut statement =
        connection.prepare("SELECT id, body FROM intent WHERE state = 'open' ORDER BY id").map_err(fail)?;
    let rows =
        statement.query_map([], |row| Ok((row.get::<_, u64>(0)?, row.get::<_, String>(1)?))).map_err(fail)?;
    let mut intents = Vec::new();
    for row in rows {
        let (seq, body) = row.map_err(fail)?;
        intents.push(serde_json::from_str(&body).map_err(|source| JournalError::Corrupt { seq, source })?);
    }
    Ok(intents)
}

/// Tries of the journal at `path` that were sent and have no account yet, read while another process may be writing it.
///
/// # Errors
/// As [`read_entries`].
pub fn read_open_intents(path: &Path, patience: Duration) -> Result<Vec<Intent>, JournalError> {
    open_intents(&read_only(path, patience)?, path)
}

/// All entries of the journal at `path`, read while another process may be writing it; waits for a lock as long as
/// `patience` says.
///
/// # Errors
/// When it cannot be opened, or an entry does not read back.
pub fn read_entries(
    path: &Path,
    content: &ContentStore,
    patience: Duration,
) -> Result<Vec<Entry>, JournalError> {
    entries(&read_only(path, patience)?, path, content)
}

fn read_only(path: &Path, patience: Duration) -> Result<Connection, JournalError> {
    let fail = |source| JournalError::Database { path: path.to_owned(), source };
    let connection = super::glance::read_only(path).map_err(fail)?;
    connection.busy_timeout(patience).map_err(fail)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use podium_scaffold::{Effect, EffectResult};
    use podium_types::usage::Usage;

    use super::*;
    use crate::run::journal::Record;

    fn result(seq: u64, key: &EffectKey) -> Entry {
        let record = Record::Result {
            key: key.clone(),
            hash: String::new(),
            effect: Box::new(Effect::BeginStep),
            result: Box::new(EffectResult::Granted),
            usage: Usage::NOTHING,
            took_ms: 0,
            waited_ms: 0,
            call: None,
            home: None,
        };
        Entry { seq, stamp: Stamp::default(), at: String::new(), record }
    }

    #[test]
    fn an_intent_is_closed_with_its_result_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("journal.db");
        let content = ContentStore::new(place.path().join("content"));
        let (first, second) = (EffectKey::node(1, "draft", 0), EffectKey::node(2, "draft", 0));
        let begun = |key: &EffectKey| Intent::Act { key: key.clone(), hash: String::new() };
        for file_system in [FileSystem::Local, FileSystem::Network] {
            let _ = std::fs::remove_file(&path);
            let mut store = Store::open(&path, file_system, content.clone()).unwrap();
            store.intend(&begun(&first)).unwrap();
            store.append(&result(1, &first)).unwrap();
            assert_eq!(store.open_intents().unwrap(), []);
            // A second result of one key is refused, in the midst of a transaction; what follows is committed.
            store.intend(&begun(&first)).unwrap();
            store.append(&result(2, &first)).unwrap_err();
            store.append(&result(2, &second)).unwrap();
            store.sync().unwrap();
            assert_eq!(store.open_intents().unwrap(), [begun(&first)]);
            drop(store);
            // The next sitting knows what the one before it left open.
            let mut store = Store::open(&path, file_system, content.clone()).unwrap();
            store.append(&Entry { record: charge(&first), ..result(3, &first) }).unwrap();
            assert_eq!((store.open_intents().unwrap(), store.entries().unwrap().len()), (Vec::new(), 3));
        }
    }

    fn charge(key: &EffectKey) -> Record {
        Record::Charge { key: key.clone(), usage: Usage::NOTHING, call: None }
    }
}
