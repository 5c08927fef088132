//! Edits on a disk.
//!
//! In: every change as it is made, and all patches whenever they are to be written anew. Out, when the
//! world is opened again: all patches as they were after some action, never half of one. A change is
//! appended to a [`journal`] at once, without waiting for the disk; a thread of its own ([`writer`]) sees to
//! it that the disk has it, and at times writes a [`snapshot`] of all patches, which replaces the journal up
//! to there. The game hands jobs over and goes on.
//!
//! The queue holds one job. While it is full nothing is handed over, so a slow disk makes jobs rarer and
//! never makes anybody wait. If the disk fails, the world goes on in memory, and a snapshot is tried again
//! every second.
//!
//! A folder holds the snapshot, a file whose lock says that somebody has the world open, the journal,
//! and perhaps a snapshot that was being written when the machine stopped, which counts for nothing.

mod error;
mod journal;
mod snapshot;
mod writer;

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::Version;
use super::edits::{Edits, Patches};
use journal::Journal;
use snapshot::Folder;
use writer::{Job, Progress, Task, Writer};

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
    queue: SyncSender<Job>,
    writer: JoinHandle<Result<(), StoreError>>,
    progress: Arc<Progress>,
    journal: Journal,
    /// The journal is not to be relied on, or was written before: the next job is a snapshot.
    wants_snapshot: bool,
    /// Locked for as long as this exists.
    _lock: File,
}

impl Store {
    /// Opens the folder, or makes it, and reads what is in it.
    pub(super) fn open(path: &Path, seed: u64) -> Result<(Self, Edits), StoreError> {
        let lock = lock(path)?;
        let folder = Folder::new(path, seed);
        let (patches, replaced) = folder.open()?;
        let (journal, entries) =
            Journal::open(path, replaced).map_err(|error| StoreError::io(path, error))?;
        let progress = Arc::new(Progress::new());
        let (queue, jobs) = sync_channel(1);
        let writer = Writer::new(folder, Arc::clone(&progress));
        let writer = Builder::new()
            .name("tile store".to_owned())
            .spawn(move || writer.run(&jobs))
            .map_err(|error| StoreError::io(path, error))?;
        let store = Self {
            queue,
            writer,
            progress,
            journal,
            wants_snapshot: !entries.is_empty(),
            _lock: lock,
        };
        Ok((store, Edits::of_stored(patches, entries)))
    }

    /// Writes the changes of one action to the journal. If that fails, they are as safe as the next
    /// snapshot makes them.
    pub(super) fn journal(&mut self, changes: &[Entry]) {
        if let Err(error) = self.journal.append(changes) {
            self.wants_snapshot = true;
            let error = StoreError::io(self.journal.folder(), error);
            self.progress.note_trouble(&error);
        }
    }

    /// Gives the writer something to do, if there is anything and it has time.
    pub(super) fn save(&mut self, edits: &Edits) {
        let version = edits.latest();
        let state = self.progress.state(version);
        if state == Storage::Saved {
            return;
        }
        self.wants_snapshot |=
            matches!(state, Storage::Failing(_)) || self.journal.is_long(edits.blocks());
        if !self.wants_snapshot && !self.journal.has_file() {
            // A snapshot of everything is under way.
            return;
        }
        let task = self.next_task(edits);
        match self.queue.try_send(Job { version, task }) {
            Ok(()) if self.wants_snapshot => {
                self.journal.turn();
                self.wants_snapshot = false;
            }
            Ok(()) | Err(TrySendError::Full(_)) => {}
            Err(TrySendError::Disconnected(_)) => {
                self.progress.note_trouble(&StoreError::WriterDied);
            }
        }
    }

    /// How far the writer has come with a world that is at `latest`.
    pub(super) fn state(&self, latest: Version) -> Storage {
        self.progress.state(latest)
    }

    /// Writes a last snapshot, unless there is nothing new, and waits for that.
    pub(super) fn close(mut self, edits: &Edits) -> Result<(), StoreError> {
        let version = edits.latest();
        if self.progress.state(version) != Storage::Saved || self.journal.has_file() {
            self.wants_snapshot = true;
            let task = self.next_task(edits);
            // A writer that waits after a failure is not waited for.
            self.writer.thread().unpark();
            // It takes jobs until the queue is gone, so this fails only if it died; then joining tells.
            drop(self.queue.send(Job { version, task }));
        }
        drop(self.queue);
        self.writer.thread().unpark();
        self.writer.join().unwrap_or(Err(StoreError::WriterDied))
    }

    fn next_task(&self, edits: &Edits) -> Task {
        match self.wants_snapshot {
            true => Task::Snapshot {
                patches: edits.patches().clone(),
                replaces: self.journal.number(),
            },
            false => Task::Sync(self.journal.path()),
        }
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
