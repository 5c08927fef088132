//! Why a world cannot be opened or stored.

use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::snapshot::FORMAT;

/// Why a world cannot be opened or stored. Each says to a person what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has the folder open, or this one does.
    InUse {
        /// Where the world is.
        folder: PathBuf,
    },
    /// The folder holds a world that was made with another seed.
    OtherSeed {
        /// Where the world is.
        folder: PathBuf,
        /// Its seed.
        stored: u64,
        /// The seed that was asked for.
        asked: u64,
    },
    /// The folder holds a world that another version of this program wrote.
    OtherFormat {
        /// Where the world is.
        folder: PathBuf,
        /// What it is written in.
        stored: u64,
    },
    /// What the folder holds is not, or no longer, a whole world.
    Damaged {
        /// Where the world is.
        folder: PathBuf,
        /// What was found.
        what: String,
    },
    /// The system does not let us read or write.
    Io {
        /// Where the world is.
        folder: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// The writing thread panicked.
    WriterDied,
}

impl StoreError {
    pub(super) fn io(folder: &Path, error: io::Error) -> Self {
        Self::Io {
            folder: folder.to_owned(),
            error,
        }
    }

    pub(super) fn damaged(folder: &Path, what: impl Into<String>) -> Self {
        Self::Damaged {
            folder: folder.to_owned(),
            what: what.into(),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { folder } => write!(
                f,
                "the world in {} is open in another process: stop that one, or choose another folder",
                folder.display()
            ),
            Self::OtherSeed {
                folder,
                stored,
                asked,
            } => write!(
                f,
                "the world in {} was made with seed {stored}, not {asked}: give seed {stored}, \
                 or choose another folder",
                folder.display()
            ),
            Self::OtherFormat { folder, stored } => write!(
                f,
                "the world in {} is written in format {stored}, and this version reads only \
                 {FORMAT}: use the version that wrote it, or choose another folder",
                folder.display()
            ),
            Self::Damaged { folder, what } => write!(
                f,
                "the world in {} is damaged ({what}): restore the folder from a copy, or move it \
                 away to begin a new world",
                folder.display()
            ),
            Self::Io { folder, error } => write!(
                f,
                "the world in {} cannot be read or written: {error}",
                folder.display()
            ),
            Self::WriterDied => f.write_str(
                "the thread that stores the world has died: nothing more is stored until the server is \
                 started again",
            ),
        }
    }
}

impl core::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
