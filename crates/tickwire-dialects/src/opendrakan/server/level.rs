//! What a server serves: the level, and the words for changing it.

use alloc::string::String;
use alloc::vec::Vec;

use tickwire_state::{Quat, Vec3};
use tickwire_wire::display_enum;

use crate::opendrakan::limits::{DATABASES_MAX, OBJECTS_MAX};
use crate::opendrakan::message::Lifecycle;
use crate::opendrakan::path::BadPath;
use crate::opendrakan::schema::{BASIC, ROTATION, RUNNING, SCALE, TRANSLATION, VISIBILITY};
use crate::opendrakan::value::{Kind, Value};
use crate::opendrakan::{ClassId, ObjectId};

/// A level, as it is when it was loaded: what clients load too.
#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Its file, relative to the engine's root.
    pub path: String,
    /// The files of the databases that assets come from. Their places here are their numbers.
    pub databases: Vec<String>,
    /// Its objects.
    pub objects: Vec<LevelObject>,
}

/// An object of the level.
#[derive(Clone, Debug, Default)]
pub struct LevelObject {
    /// Its number, the same in every copy of the level.
    pub id: ObjectId,
    /// What decides its extra states.
    pub class: ClassId,
    /// How far its life has come when the level begins.
    pub lifecycle: Lifecycle,
    /// States that are not as in an object that nobody touched: at the origin, not turned, of its own
    /// size, visible, not running, extra states zero.
    pub states: Vec<State>,
}

/// A state and its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Where an object is.
    Translation(Vec3),
    /// How it is turned.
    Rotation(Quat),
    /// How large it is.
    Scale(Vec3),
    /// Whether it is to be seen.
    Visibility(bool),
    /// Whether it acts.
    Running(bool),
    /// An extra state of its class, by its number there.
    Extra(usize, Value),
}

impl State {
    /// Its number among the basic and then the extra states, and its value.
    pub(super) const fn parts(self) -> (usize, Value) {
        match self {
            Self::Translation(value) => (TRANSLATION, Value::Vec3(value)),
            Self::Rotation(value) => (ROTATION, Value::Quat(value)),
            Self::Scale(value) => (SCALE, Value::Vec3(value)),
            Self::Visibility(value) => (VISIBILITY, Value::Bool(value)),
            Self::Running(value) => (RUNNING, Value::Bool(value)),
            Self::Extra(number, value) => (number.saturating_add(BASIC.len()), value),
        }
    }
}

display_enum! {
    /// Why a server cannot serve a level, or a savegame of it.
    #[derive(Clone, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum LevelError: Error {
        /// A path that clients would refuse.
        Path {
            /// Which.
            path: String,
            /// Why.
            why: BadPath,
        } => "{path:?}: {why}",
        /// More than [`DATABASES_MAX`] databases.
        TooManyDatabases => "a level has at most {DATABASES_MAX} databases",
        /// An object that cannot be.
        Object {
            /// Which.
            object: ObjectId,
            /// Why.
            why: CreateError,
        } => "{object}: {why}",
        /// A state that an object cannot have.
        State {
            /// Whose.
            object: ObjectId,
            /// Why.
            why: StateError,
        } => "{object}: {why}",
    }
}

display_enum! {
    /// Why an object cannot be there.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum CreateError: Error {
        /// Nobody registered its class.
        UnknownClass {
            /// Which.
            class: ClassId,
        } => "class {} is not registered" (class.0),
        /// The prototype is neither there nor of the level.
        UnknownPrototype => "the prototype does not exist",
        /// Another object has or had the number.
        IdTaken {
            /// Which.
            object: ObjectId,
        } => "the number of {object} is taken",
        /// There are [`OBJECTS_MAX`] objects, or all numbers are used up.
        TooMany => "there are {OBJECTS_MAX} objects already",
    }
}

display_enum! {
    /// Why a state cannot be set.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum StateError: Error {
        /// No such object is there.
        UnknownObject {
            /// Which.
            object: ObjectId,
        } => "{object} is not there",
        /// Its class has no such extra state.
        UnknownState {
            /// Its number among the basic and then the extra states.
            number: usize,
        } => "the class has no state {number}",
        /// The state holds another kind of value.
        WrongKind {
            /// The kind it holds.
            expected: Kind,
        } => "the state holds {expected:?}",
        /// A basic state must be made of numbers.
        NotFinite => "a basic state must be finite",
    }
}
