//! Saving the world, and loading it into a new server.

use core::fmt;

use tickwire_state::Tick;

use super::level::State;
use super::world::{Entry, Wanted};
use super::{CreateError, Server, StateError};
use crate::opendrakan::ObjectId;
use crate::opendrakan::bundle::Change;
use crate::opendrakan::message::Lifecycle;
use crate::opendrakan::savegame::{Fate, SavedObject, SavedStates, Savegame};

/// Why a savegame cannot be loaded.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RestoreError {
    /// The server has begun: a savegame is loaded before its first tick and its first client.
    Begun,
    /// It is of another level.
    OtherLevel,
    /// An object cannot be created.
    Object {
        /// Which.
        object: ObjectId,
        /// Why.
        why: CreateError,
    },
    /// A state cannot be set.
    State {
        /// Whose.
        object: ObjectId,
        /// Why.
        why: StateError,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun => f.write_str("the server runs already: load before its first tick"),
            Self::OtherLevel => f.write_str("the savegame is of another level"),
            Self::Object { object, why } => write!(f, "{object}: {why}"),
            Self::State { object, why } => write!(f, "{object}: {why}"),
        }
    }
}

impl core::error::Error for RestoreError {}

impl Server {
    /// What changed since the level was loaded.
    pub fn save(&self) -> Savegame {
        let changed = self
            .world
            .changed_after(Tick::NONE)
            .map(|entry| SavedObject {
                object: entry.id,
                fate: build_fate(entry),
            });
        let destroyed = self.world.level_destroyed().map(|object| SavedObject {
            object,
            fate: Fate::Destroyed,
        });
        let mut objects: alloc::vec::Vec<_> = changed.chain(destroyed).collect();
        objects.sort_by_key(|saved| saved.object);
        Savegame {
            tick: self.world.tick(),
            level: self.level_path.clone(),
            next_object: self.world.next_id(),
            objects,
        }
    }

    /// Loads what was saved, into a server that was just made for the same level. It goes on from the
    /// tick of the saving.
    ///
    /// After an error the server is to be dropped: part of the savegame may be in it.
    pub fn restore(&mut self, savegame: &Savegame) -> Result<(), RestoreError> {
        if self.world.tick() != Tick::NONE || !self.peers.is_empty() {
            return Err(RestoreError::Begun);
        }
        if savegame.level != self.level_path {
            return Err(RestoreError::OtherLevel);
        }
        self.world.resume(savegame.tick);
        for SavedObject { object, fate } in &savegame.objects {
            let object = *object;
            if let Fate::Created { prototype, .. } = fate {
                self.world
                    .create_as(object, *prototype)
                    .map_err(|why| RestoreError::Object { object, why })?;
            }
            self.restore_states(object, fate)
                .map_err(|why| RestoreError::State { object, why })?;
        }
        self.world.skip_ids(savegame.next_object);
        Ok(())
    }

    fn restore_states(&mut self, object: ObjectId, fate: &Fate) -> Result<(), StateError> {
        let states = match fate {
            Fate::Destroyed => return self.world.set_lifecycle(object, Lifecycle::Destroyed),
            Fate::Changed(states) | Fate::Created { states, .. } => states,
        };
        if let Some(lifecycle) = states.lifecycle {
            self.world.set_lifecycle(object, lifecycle)?;
        }
        // Reading the bundle made sure that each state holds its kind of value.
        let basic = states
            .basic
            .iter()
            .filter_map(|change| State::basic(change.index, change.value));
        let extra = states
            .extra
            .iter()
            .map(|change| State::Extra(change.index, change.value));
        for state in basic.chain(extra) {
            self.world.set(object, state, false)?;
        }
        Ok(())
    }
}

fn build_fate(entry: &Entry) -> Fate {
    let is_new = entry.prototype.is_some();
    // Whether something once jumped is no matter to whoever loads it.
    let plain = |change: Change| Change {
        jump: false,
        ..change
    };
    let wanted = if is_new { Wanted::All } else { Wanted::Changed };
    let states = SavedStates {
        class: entry.class,
        lifecycle: (is_new || entry.lifecycle_changed > Tick::NONE).then_some(entry.lifecycle),
        basic: entry.basic_changes(Tick::NONE, wanted).map(plain).collect(),
        extra: entry.extra_changes(Tick::NONE, wanted).map(plain).collect(),
    };
    match entry.prototype {
        Some(prototype) => Fate::Created { prototype, states },
        None => Fate::Changed(states),
    }
}
