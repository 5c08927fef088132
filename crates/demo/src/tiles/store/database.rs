//! The database file: made, opened, checked, read and written.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{Database, ReadableDatabase, TableDefinition};

use super::quiet::catch_quietly;
use super::{StoreError, journal, record};
use crate::tiles::edits::{Batch, Patch};
use crate::tiles::place::{ChunkId, ChunkXy};
use crate::tiles::{SetId, limits};

/// What is written how, and onto which terrain: a change to either needs another number.
pub(super) const FORMAT: u64 = 1;

/// Where a world is, and which it should be.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    seed: u64,
}

impl Folder {
    pub(super) fn new(path: &Path, seed: u64) -> Self {
        Self {
            path: path.to_owned(),
            seed,
        }
    }

    /// Opens the database, or makes it.
    pub(super) fn open(&self) -> Result<Database, StoreError> {
        let file = self.path.join("tiles.redb");
        if !file.try_exists().map_err(|error| self.io(error))? {
            self.create(&file)?;
        }
        // A file that was closed properly is trusted by the database, which panics if it was damaged
        // since. Once everything has been compared with its checksums, it can indeed be trusted.
        let opened = catch_quietly(|| -> Result<_, redb::DatabaseError> {
            let mut database = builder().open(&file)?;
            let whole = database.check_integrity()?;
            Ok((database, whole))
        });
        let database = match opened {
            Ok(Ok((database, true))) => database,
            Ok(Ok((_, false))) => return Err(self.damaged(SET_BACK)),
            Ok(Err(error)) => return Err(self.database(error)),
            Err(_) => return Err(self.damaged("its structure makes no sense")),
        };
        self.check(&database)?;
        Ok(database)
    }

    /// All patches of the world.
    pub(super) fn read(
        &self,
        database: &Database,
    ) -> Result<BTreeMap<ChunkId, Arc<Patch>>, StoreError> {
        let rows = || -> Result<_, redb::Error> {
            let patches = database.begin_read()?.open_table(PATCHES)?;
            Ok(patches.range::<Key>(..)?)
        };
        let mut patches = BTreeMap::new();
        for row in rows().map_err(|error| self.database(error))? {
            let (key, value) = row.map_err(|error| self.database(error))?;
            let id = chunk_id(key.value());
            let patch = record::decode(value.value())
                .filter(|_| id.at.exists() && patches.len() < limits::EDITED_CHUNKS)
                .ok_or_else(|| {
                    self.damaged(format!("the edits of chunk {} are not whole", id.at))
                })?;
            patches.insert(id, Arc::new(patch));
        }
        Ok(patches)
    }

    /// Writes a batch, whole or not at all; it is on the disk when this returns.
    pub(super) fn write(&self, database: &Database, batch: &Batch) -> Result<(), StoreError> {
        self.try_write(database, batch)
            .map_err(|error| self.database(error))
    }

    /// Removes the journal up to this file: it is in the database.
    pub(super) fn remove_journal(&self, up_to: u64) -> Result<(), StoreError> {
        journal::remove(&self.path, up_to).map_err(|error| self.io(error))
    }

    fn try_write(&self, database: &Database, batch: &Batch) -> Result<(), redb::Error> {
        let transaction = database.begin_write()?;
        {
            let mut patches = transaction.open_table(PATCHES)?;
            for (id, patch) in batch {
                match patch {
                    Some(patch) => patches.insert(key(*id), &*record::encode(patch))?,
                    None => patches.remove(key(*id))?,
                };
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Makes a database under another name and renames it when it is whole, so that a machine that
    /// stops in between leaves nothing that looks like a damaged world.
    fn create(&self, file: &Path) -> Result<(), StoreError> {
        let unfinished = self.path.join("tiles.redb.new");
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.io(error)),
            _ => {}
        }
        let database = builder()
            .create(&unfinished)
            .map_err(|error| self.database(error))?;
        self.write_facts(&database)
            .map_err(|error| self.database(error))?;
        drop(database);
        fs::rename(&unfinished, file)
            // The name is in the folder, which must reach the disk as well.
            .and_then(|()| sync_folder(&self.path))
            .map_err(|error| self.io(error))
    }

    fn write_facts(&self, database: &Database) -> Result<(), redb::Error> {
        let transaction = database.begin_write()?;
        {
            let mut facts = transaction.open_table(FACTS)?;
            facts.insert("format", FORMAT)?;
            facts.insert("seed", self.seed)?;
            transaction.open_table(PATCHES)?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Whether it is the world that was asked for, in a form that we can read.
    fn check(&self, database: &Database) -> Result<(), StoreError> {
        let fact = |name| -> Result<Option<u64>, redb::Error> {
            let facts = database.begin_read()?.open_table(FACTS)?;
            Ok(facts.get(name)?.map(|fact| fact.value()))
        };
        let fact = |name| {
            fact(name)
                .map_err(|error| self.database(error))?
                .ok_or_else(|| self.damaged(format!("its {name} is missing")))
        };
        let folder = self.path.clone();
        // The format first: what else there is, and what it means, follows from it.
        match fact("format")? {
            FORMAT => {}
            stored => return Err(StoreError::OtherFormat { folder, stored }),
        }
        match fact("seed")? {
            stored if stored == self.seed => Ok(()),
            stored => Err(StoreError::OtherSeed {
                folder,
                stored,
                asked: self.seed,
            }),
        }
    }

    fn database(&self, error: impl Into<redb::Error>) -> StoreError {
        StoreError::of_database(&self.path, error.into())
    }

    fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::damaged(&self.path, what)
    }

    fn io(&self, error: io::Error) -> StoreError {
        StoreError::io(&self.path, error)
    }
}

fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

/// Other systems do not open folders as files, and keep names in a journal of their own.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

const fn key(id: ChunkId) -> Key {
    (id.set.0, id.at.x, id.at.y)
}

const fn chunk_id((set, x, y): Key) -> ChunkId {
    ChunkId {
        set: SetId(set),
        at: ChunkXy { x, y },
    }
}

/// A chunk: its set, x, y.
type Key = (u16, i32, i32);

const PATCHES: TableDefinition<'_, Key, &[u8]> = TableDefinition::new("patches");
/// What a world is, by name.
const FACTS: TableDefinition<'_, &str, u64> = TableDefinition::new("facts");

const SET_BACK: &str =
    "not all of it matched its checksums; it was set back to what does, and opens again like that";

/// Memory that the database may use. Everything is read once and written seldom, so little is enough.
const CACHE_BYTES: usize = 8 * 1_024 * 1_024;
