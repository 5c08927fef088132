//! What a game can do wrong with a world.

use core::fmt;

use crate::{EntityId, FieldError};

/// Why a world is as it was.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum WorldError {
    /// There is no such entity.
    Absent {
        /// Its id.
        entity: EntityId,
    },
    /// The entity is of another archetype than the value.
    OtherArchetype {
        /// Its id.
        entity: EntityId,
        /// What it is.
        is: &'static str,
        /// What it was to be set to.
        given: &'static str,
    },
    /// A field does not take its value.
    Unfit {
        /// The entity; of one that was to be spawned, the id that it would have had.
        entity: EntityId,
        /// The field, and what is wrong.
        error: FieldError,
    },
    /// The world has as many entities as it may.
    EntityLimit {
        /// How many.
        limit: u32,
    },
    /// As many audiences live as may.
    AudienceLimit {
        /// The entity that would have needed one more.
        entity: EntityId,
    },
    /// The entity's place has as many blocks as it may.
    PlaceLimit {
        /// The entity that would have needed one more.
        entity: EntityId,
    },
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { entity } => write!(f, "there is no entity {entity}"),
            Self::OtherArchetype { entity, is, given } => {
                write!(f, "entity {entity} is a {is}, not a {given}")
            }
            Self::Unfit { entity, error } => write!(f, "entity {entity}: {error}"),
            Self::EntityLimit { limit } => write!(f, "the world has {limit} entities already"),
            Self::AudienceLimit { entity } => {
                write!(f, "entity {entity} needs an audience too many")
            }
            Self::PlaceLimit { entity } => {
                write!(f, "the place of entity {entity} has too many blocks")
            }
        }
    }
}

impl core::error::Error for WorldError {}

/// Why there can be no such world.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A setting is beyond what it may be.
    Setting {
        /// Its name.
        name: &'static str,
    },
    /// The schema has too many archetypes.
    TooManyArchetypes {
        /// How many it has.
        count: usize,
    },
    /// Not even one entity of an archetype fits a record.
    TooLarge {
        /// The archetype.
        archetype: &'static str,
        /// The most bytes that one entity takes.
        bytes: usize,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { name } => write!(f, "{name} is out of its range"),
            Self::TooManyArchetypes { count } => {
                write!(f, "{count} archetypes are more than a record can name")
            }
            Self::TooLarge { archetype, bytes } => write!(
                f,
                "a {archetype} takes up to {bytes} bytes, more than a record has"
            ),
        }
    }
}

impl core::error::Error for ConfigError {}
