//! The thread that writes.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use redb::Database;

use super::database::Folder;
use super::{Batch, Saving, Storage, StoreError, Version};

/// Takes batches until nobody can send any more.
#[derive(Debug)]
pub(super) struct Writer {
    folder: Folder,
    /// None after a failure: the database wants to be opened anew then.
    database: Option<Database>,
    /// What is not on the disk yet; newer patches replace older ones, so it has a bound.
    pending: Batch,
    /// What the world will be on the disk with `pending` in it.
    version: Version,
    /// The last file of the journal that is superfluous then.
    journal: u64,
    /// Before this moment, a disk that failed is left alone.
    retry: Option<Instant>,
    progress: Arc<Progress>,
}

/// What the game can see of the writer.
#[derive(Debug)]
pub(super) struct Progress(Mutex<Report>);

#[derive(Debug)]
struct Report {
    saved: Version,
    trouble: Option<String>,
}

impl Writer {
    pub(super) fn new(folder: Folder, database: Database, progress: Arc<Progress>) -> Self {
        Self {
            folder,
            database: Some(database),
            pending: Batch::new(),
            version: Version::STORED,
            journal: 0,
            retry: None,
            progress,
        }
    }

    /// One whose database has just failed.
    #[cfg(test)]
    pub(super) fn broken(folder: Folder, progress: Arc<Progress>) -> Self {
        Self {
            folder,
            database: None,
            pending: Batch::new(),
            version: Version::STORED,
            journal: 0,
            retry: None,
            progress,
        }
    }

    /// Whether everything that was sent is on the disk in the end.
    pub(super) fn run(mut self, batches: &Receiver<Saving>) -> Result<(), StoreError> {
        loop {
            match self.next(batches) {
                Ok(Saving {
                    version,
                    batch,
                    journal,
                }) => {
                    self.pending.extend(batch);
                    self.version = version;
                    self.journal = journal;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.write(),
            }
            let now = Instant::now();
            if self.retry.is_none_or(|retry| retry <= now) {
                let outcome = self.write();
                self.retry = outcome.is_err().then(|| now + RETRY);
                self.progress.note(self.version, outcome);
            }
        }
    }

    /// The next batch; after a failure, only until it is time to try again.
    fn next(&self, batches: &Receiver<Saving>) -> Result<Saving, RecvTimeoutError> {
        match self.retry {
            Some(retry) => batches.recv_timeout(retry.saturating_duration_since(Instant::now())),
            None => batches.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn write(&mut self) -> Result<(), StoreError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let database = match self.database.take() {
            Some(database) => database,
            None => self.folder.open()?,
        };
        // If this fails the database is closed, since it takes nothing more after a failure.
        self.folder.write(&database, &self.pending)?;
        self.pending.clear();
        self.database = Some(database);
        self.folder.remove_journal(self.journal)
    }
}

impl Progress {
    /// Of a world that was just opened.
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Report {
            saved: Version::STORED,
            trouble: None,
        }))
    }

    pub(super) fn state(&self, latest: Version) -> Storage {
        let report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &report.trouble {
            Some(trouble) => Storage::Failing(trouble.clone()),
            None if report.saved >= latest => Storage::Saved,
            None => Storage::Saving,
        }
    }

    /// A failure that the next successful batch repairs.
    pub(super) fn note_trouble(&self, error: &StoreError) {
        let mut report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        report.trouble = Some(error.to_string());
    }

    pub(super) fn note(&self, version: Version, outcome: Result<(), StoreError>) {
        let mut report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Ok(()) => {
                report.saved = version;
                report.trouble = None;
            }
            Err(error) => report.trouble = Some(error.to_string()),
        }
    }
}

/// After a failure, the time to the next attempt.
const RETRY: Duration = Duration::from_secs(1);
