//! The thread that waits for the disk.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::snapshot::Folder;
use super::{Patches, Storage, StoreError, Version};

/// Something to do, and which version of the world is safe then.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) version: Version,
    pub(super) task: Task,
}

#[derive(Debug)]
pub(super) enum Task {
    /// The disk is to have this file of the journal.
    Sync(PathBuf),
    /// The disk is to have these patches, which replace the journal up to this file.
    Snapshot { patches: Patches, replaces: u64 },
}

/// Takes jobs until nobody can send any more.
#[derive(Debug)]
pub(super) struct Writer {
    folder: Folder,
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
    pub(super) const fn new(folder: Folder, progress: Arc<Progress>) -> Self {
        Self { folder, progress }
    }

    /// How the last job went.
    pub(super) fn run(self, jobs: &Receiver<Job>) -> Result<(), StoreError> {
        let mut outcome = Ok(());
        for Job { version, task } in jobs {
            match (&outcome, &task) {
                (Ok(()), _) => {}
                // What the disk refused may be lost: only a snapshot has it all.
                (Err(_), Task::Sync(_)) => continue,
                // Whoever closes the world ends the pause.
                (Err(_), Task::Snapshot { .. }) => thread::park_timeout(RETRY),
            }
            let done = match task {
                Task::Sync(journal) => self.folder.sync(&journal),
                Task::Snapshot { patches, replaces } => self.folder.write(&patches, replaces),
            };
            let trouble = done.as_ref().err().map(ToString::to_string);
            self.progress.set(version, trouble);
            outcome = done;
        }
        outcome
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

    /// A failure that the next snapshot repairs.
    pub(super) fn note_trouble(&self, error: &StoreError) {
        self.set(Version::STORED, Some(error.to_string()));
    }

    fn set(&self, version: Version, trouble: Option<String>) {
        let mut report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if trouble.is_none() {
            report.saved = version;
        }
        report.trouble = trouble;
    }
}

/// After a failure, the time to the next attempt.
const RETRY: Duration = Duration::from_secs(1);
