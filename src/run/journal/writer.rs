//! The journal's one writer: a thread that owns the database, so that a commit never blocks the executor and
//! commits keep the order in which they were asked for.
//!
//! On a full disk it frees the ballast file and tries once more, so that an answer already paid for still lands;
//! the caller is told, and stops the run.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use podium_types::key::EffectKey;
use tokio::sync::oneshot;

use super::place::FileSystem;
use super::record::{Due, Entry, Intent, Record, Stamp};
use super::store::{JournalError, Store};
use crate::run::failpoint;
use crate::run::folder::RunFolder;

/// What is due soon waits so long for a commit that takes it along to the disk.
const SOON: Duration = Duration::from_millis(50);

enum Command {
    Append(Box<(Stamp, String, Record)>, oneshot::Sender<Result<Entry, JournalError>>),
    Intend(Box<Intent>, oneshot::Sender<Result<(), JournalError>>),
    CloseIntent(EffectKey, u32),
    Close(oneshot::Sender<()>),
}

/// A handle to the writer; cheap to clone. The thread ends when the last handle is dropped.
#[derive(Clone, Debug)]
pub struct Journal {
    commands: mpsc::Sender<Command>,
    disk_full: Arc<AtomicBool>,
}

/// A journal that was opened, with what it holds.
#[derive(Debug)]
pub struct Opened {
    /// The writer.
    pub journal: Journal,
    /// All entries.
    pub entries: Vec<Entry>,
    /// Model tries that were sent and never accounted for.
    pub open_intents: Vec<Intent>,
    /// The kind of file system it is on.
    pub file_system: FileSystem,
}

impl Journal {
    /// Opens or creates the journal of a run and starts its writer.
    ///
    /// # Errors
    /// When the file cannot be opened, is of another version, or does not read back.
    pub fn open(folder: &RunFolder) -> Result<Opened, JournalError> {
        let file_system = FileSystem::probe(folder.path());
        let store = Store::open(&folder.journal_path(), file_system, folder.content())?;
        let (entries, open_intents) = (store.entries()?, store.open_intents()?);
        let next = store.last_seq()? + 1;
        let disk_full = Arc::new(AtomicBool::new(false));
        let (commands, inbox) = mpsc::channel();
        let (ballast, told) = (folder.ballast_path(), Arc::clone(&disk_full));
        let writer = Writer { store, next, owed: None, ballast, disk_full: told };
        std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run(&inbox))
            .map_err(|_| JournalError::WriterGone)?;
        Ok(Opened { journal: Self { commands, disk_full }, entries, open_intents, file_system })
    }

    /// Commits a record and returns it in its place.
    ///
    /// # Errors
    /// When it is not on disk.
    pub async fn append(&self, stamp: Stamp, record: Record) -> Result<Entry, JournalError> {
        let (reply, answer) = oneshot::channel();
        let at = jiff::Timestamp::now().to_string();
        let command = Command::Append(Box::new((stamp, at, record)), reply);
        self.commands.send(command).map_err(|_| JournalError::WriterGone)?;
        answer.await.map_err(|_| JournalError::WriterGone)?
    }

    /// Commits an intent: from then on a crash charges the try at its worst case.
    ///
    /// # Errors
    /// When it is not on disk.
    pub async fn intend(&self, intent: Intent) -> Result<(), JournalError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::Intend(Box::new(intent), reply)).map_err(|_| JournalError::WriterGone)?;
        answer.await.map_err(|_| JournalError::WriterGone)?
    }

    /// Notes that a try was not billed. Not waited for: should it be lost, the try is charged, never forgotten.
    pub fn close_intent(&self, key: EffectKey, attempt: u32) {
        let _ = self.commands.send(Command::CloseIntent(key, attempt));
    }

    /// Ends the writer, whoever still holds a handle: the file is free for others from then on.
    pub async fn close(self) {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(Command::Close(reply)).is_ok() {
            let _ = answer.await;
        }
    }

    /// Whether the disk was full at some commit.
    pub fn disk_was_full(&self) -> bool {
        self.disk_full.load(Ordering::Relaxed)
    }
}

struct Writer {
    store: Store,
    next: u64,
    /// When the disk gets what is due soon, at the latest.
    owed: Option<Instant>,
    ballast: std::path::PathBuf,
    disk_full: Arc<AtomicBool>,
}

impl Writer {
    fn run(mut self, inbox: &mpsc::Receiver<Command>) {
        while let Some(command) = self.next(inbox) {
            match command {
                Command::Append(parts, reply) => {
                    let (stamp, at, record) = *parts;
                    let entry = Entry { seq: self.next, stamp, at, record };
                    failpoint::reach("before_commit", entry.seq);
                    let committed = self.with_ballast(|store| store.append(&entry));
                    if committed.is_ok() {
                        self.next += 1;
                        match entry.record.due() {
                            Due::AtOnce => self.owed = None,
                            Due::Soon => {
                                self.owed.get_or_insert_with(|| Instant::now() + SOON);
                            }
                            Due::Later => {}
                        }
                        failpoint::reach("after_commit", entry.seq);
                    }
                    let _ = reply.send(committed.map(|()| entry));
                }
                Command::Intend(intent, reply) => {
                    let committed = self.with_ballast(|store| store.intend(&intent));
                    if committed.is_ok() {
                        self.owed = None;
                    }
                    failpoint::reach("after_intent", self.next);
                    let _ = reply.send(committed);
                }
                Command::Close(reply) => {
                    drop(self.store);
                    let _ = reply.send(());
                    return;
                }
                Command::CloseIntent(key, attempt) => {
                    if let Err(error) = self.with_ballast(|store| store.close_intent(&key, attempt)) {
                        tracing::warn!(%error, %key, attempt, "an unbilled try could not be marked; a resume would charge it");
                    }
                }
            }
        }
    }

    /// The next command; none once nobody is left to send one. What is owed to the disk is paid meanwhile.
    fn next(&mut self, inbox: &mpsc::Receiver<Command>) -> Option<Command> {
        if let Some(due) = self.owed {
            let left = due.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                match inbox.recv_timeout(left) {
                    Err(RecvTimeoutError::Timeout) => {}
                    received => return received.ok(),
                }
            }
            self.owed = None;
            if let Err(error) = self.store.sync() {
                tracing::warn!(%error, "the run journal could not be synced; its next commit tries again");
            }
        }
        inbox.recv().ok()
    }

    fn with_ballast<T>(
        &mut self,
        mut act: impl FnMut(&mut Store) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        match act(&mut self.store) {
            Err(error) if error.is_disk_full() => {
                self.disk_full.store(true, Ordering::Relaxed);
                if drop_ballast(&self.ballast) { act(&mut self.store) } else { Err(error) }
            }
            result => result,
        }
    }
}

fn drop_ballast(path: &Path) -> bool {
    std::fs::remove_file(path).is_ok()
}
