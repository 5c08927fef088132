//! Edits on a disk.
//!
//! In: every change as it is made, and batches of patches, each the difference between the world at the
//! end of one step and of an earlier one. Out, when the world is opened again: all patches as they were
//! after some action, never half of one. A change is written to a `journal` at once, without waiting for
//! the disk. A batch is one transaction of an embedded database, committed by a thread of its own
//! (`writer`), which then removes the journal up to there; the game hands batches over and goes on.
//!
//! The queue holds one batch. While it is full, changes stay with the game, which coalesces them by
//! chunk, so a slow disk makes transactions larger and rarer and never makes anybody wait. If the
//! disk fails, the world goes on in memory and the writer tries again every second.
//!
//! A folder holds the database, a file whose lock says that somebody has the world open, the journal,
//! and perhaps a database that was being made when the machine stopped, which is made again.

mod database;
mod error;
mod journal;
mod quiet;
mod record;
mod writer;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::Version;
use super::edits::{Batch, Patch};
use super::place::ChunkId;
use database::Folder;
use journal::Journal;
use writer::{Progress, Writer};

pub use error::StoreError;
pub(super) use journal::Entry;

/// How safe what was built is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Storage {
    /// It ends with the process: the world was opened without a folder.
    MemoryOnly,
    /// It is on the disk.
    Saved,
    /// The newest of it is on its way to the disk.
    Saving,
    /// The disk does not take it, for this reason. It is kept in memory and tried again.
    Failing(String),
}

/// An open folder.
#[derive(Debug)]
pub(super) struct Store {
    queue: SyncSender<Saving>,
    writer: JoinHandle<Result<(), StoreError>>,
    progress: Arc<Progress>,
    journal: Journal,
    /// Locked for as long as this exists.
    _lock: File,
}

/// A batch, which version of the world it leads to, and the last file of the journal that it makes
/// superfluous.
#[derive(Debug)]
struct Saving {
    version: Version,
    batch: Batch,
    journal: u64,
}

/// What the database holds.
type Patches = BTreeMap<ChunkId, Arc<Patch>>;

impl Store {
    /// Opens the folder, or makes it, and reads what is in it.
    pub(super) fn open(path: &Path, seed: u64) -> Result<(Self, Patches, Vec<Entry>), StoreError> {
        let lock = lock(path)?;
        let folder = Folder::new(path, seed);
        let database = folder.open()?;
        let patches = folder.read(&database)?;
        let (journal, entries) =
            Journal::open(path).map_err(|error| StoreError::io(path, error))?;
        let progress = Arc::new(Progress::new());
        let (queue, batches) = sync_channel(1);
        let writer = Writer::new(folder, database, Arc::clone(&progress));
        let writer = Builder::new()
            .name("tile store".to_owned())
            .spawn(move || writer.run(&batches))
            .map_err(|error| StoreError::io(path, error))?;
        let store = Self {
            queue,
            writer,
            progress,
            journal,
            _lock: lock,
        };
        Ok((store, patches, entries))
    }

    /// Writes the changes of one action to the journal. If that fails, they are as safe as the next
    /// batch makes them.
    pub(super) fn journal(&mut self, changes: &[Entry]) {
        if let Err(error) = self.journal.append(changes) {
            let error = StoreError::io(self.journal.folder(), error);
            self.progress.note_trouble(&error);
        }
    }

    /// Hands a batch over; gives it back if the writer is still busy.
    pub(super) fn offer(&mut self, version: Version, batch: Batch) -> Result<(), Batch> {
        let journal = self.journal.number();
        match self.queue.try_send(Saving {
            version,
            batch,
            journal,
        }) {
            Ok(()) => {
                self.journal.turn();
                Ok(())
            }
            Err(TrySendError::Full(saving)) => Err(saving.batch),
            Err(TrySendError::Disconnected(saving)) => {
                self.progress.note(version, Err(StoreError::WriterDied));
                Err(saving.batch)
            }
        }
    }

    /// How far the writer has come with a world that is at `latest`.
    pub(super) fn state(&self, latest: Version) -> Storage {
        self.progress.state(latest)
    }

    /// Writes the last batch, and everything before it, and waits for that.
    pub(super) fn close(self, version: Version, batch: Batch) -> Result<(), StoreError> {
        // The writer takes batches until the queue is gone, so this fails only if it died; then
        // joining tells.
        let journal = self.journal.number();
        drop(self.queue.send(Saving {
            version,
            batch,
            journal,
        }));
        drop(self.queue);
        self.writer.join().unwrap_or(Err(StoreError::WriterDied))
    }
}

/// Makes sure that nobody else has the folder open, until the file is dropped. The system takes the
/// lock back however the process ends.
fn lock(path: &Path) -> Result<File, StoreError> {
    let lock = fs::create_dir_all(path)
        .and_then(|()| {
            File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(path.join("lock"))
        })
        .map_err(|error| StoreError::io(path, error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse {
            folder: path.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(StoreError::io(path, error)),
    }
}

#[cfg(test)]
mod tests;
