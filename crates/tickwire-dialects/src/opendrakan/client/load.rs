//! What the server asks a client to load, and what the application has loaded.

use alloc::collections::BTreeMap;
use alloc::string::String;

use tickwire_wire::display_enum;

use crate::opendrakan::{AssetRef, ClassId, DatabaseId, ObjectId};

/// What to load: complete once the table has as many entries as the level's message says.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    databases: BTreeMap<DatabaseId, String>,
    level: Option<(u32, String)>,
}

impl Wanted {
    pub(super) fn add_database(&mut self, database: DatabaseId, path: &str) {
        self.databases.insert(database, path.into());
    }

    pub(super) fn set_level(&mut self, databases: u32, path: &str) {
        self.level = Some((databases, path.into()));
    }

    pub(super) const fn has_level(&self) -> bool {
        self.level.is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.databases.len()
    }

    /// The level's path, once everything is known that belongs to it.
    pub(super) fn complete(&self) -> Option<&str> {
        let (databases, level) = self.level.as_ref()?;
        (self.databases.len() as u64 == u64::from(*databases)).then_some(level)
    }

    pub(super) const fn databases(&self) -> &BTreeMap<DatabaseId, String> {
        &self.databases
    }
}

/// What the application has loaded.
#[derive(Clone, Debug, Default)]
pub struct LoadedLevel {
    /// The application's own number of every database it has, by path.
    pub databases: BTreeMap<String, DatabaseId>,
    /// Which class each object of the level is of.
    pub classes: Classes,
}

/// The classes of a level's objects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Classes {
    /// All are of one class.
    Uniform(ClassId),
    /// Each has its own.
    PerObject(BTreeMap<ObjectId, ClassId>),
}

impl Default for Classes {
    /// No object is known.
    fn default() -> Self {
        Self::PerObject(BTreeMap::new())
    }
}

impl Classes {
    pub(super) fn class_of(&self, object: ObjectId) -> Option<ClassId> {
        match self {
            Self::Uniform(class) => Some(*class),
            Self::PerObject(classes) => classes.get(&object).copied(),
        }
    }
}

display_enum! {
    /// Why a client cannot play.
    #[derive(Clone, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum LoadError: Error {
        /// The server has not said what to load, or it is loaded already.
        NotAsked => "there is nothing to load",
        /// The application lacks a database that the server uses.
        MissingDatabase {
            /// The server's number.
            database: DatabaseId,
            /// Its file, relative to the engine's root.
            path: String,
        } => "the database {path:?} is missing",
    }
}

/// The server's numbers of databases, turned into the application's.
#[derive(Clone, Debug, Default)]
pub(super) struct DatabaseMap {
    local: BTreeMap<DatabaseId, DatabaseId>,
}

impl DatabaseMap {
    /// Finds every database of the server among those that the application has.
    pub(super) fn build(wanted: &Wanted, loaded: &LoadedLevel) -> Result<Self, LoadError> {
        let mut local = BTreeMap::new();
        for (&database, path) in &wanted.databases {
            let Some(&found) = loaded.databases.get(path) else {
                let path = path.clone();
                return Err(LoadError::MissingDatabase { database, path });
            };
            local.insert(database, found);
        }
        Ok(Self { local })
    }

    /// An asset of the server's, by the application's number of its database.
    pub(super) fn translate(&self, asset: AssetRef) -> Option<AssetRef> {
        let database = *self.local.get(&asset.database)?;
        Some(AssetRef { database, ..asset })
    }
}
