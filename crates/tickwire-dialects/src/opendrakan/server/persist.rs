//! Saving the world, and loading it into a new server.

use tickwire_state::Tick;
use tickwire_wire::display_enum;

use super::world::{Entry, Wanted};
use super::{LevelError, Server, StateError};
use crate::opendrakan::bundle::Change;
use crate::opendrakan::message::Lifecycle;
use crate::opendrakan::savegame::{Fate, SavedObject, SavedStates, Savegame};
use crate::opendrakan::snapshot::Object;
use crate::opendrakan::{BASIC, ObjectId};

display_enum! {
    /// Why a savegame cannot be loaded.
    #[derive(Clone, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum RestoreError: Error {
        /// The server has begun: a savegame is loaded before its first tick and its first client.
        Begun => "the server runs already: load before its first tick",
        /// It is of another level.
        OtherLevel => "the savegame is of another level",
        /// What it holds does not fit the level.
        Unfit(why: LevelError) => "{why}",
    }
}

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
                    .map_err(|why| RestoreError::Unfit(LevelError::Object { object, why }))?;
            }
            self.restore_states(object, fate)
                .map_err(|why| RestoreError::Unfit(LevelError::State { object, why }))?;
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
        let basic = states.basic.iter().map(|change| (change.index, change));
        let extra = states.extra.iter();
        let extra = extra.map(|change| (BASIC.len() + change.index, change));
        for (number, change) in basic.chain(extra) {
            self.world.set(object, (number, change.value), false)?;
        }
        Ok(())
    }
}

fn build_fate(entry: &Entry) -> Fate {
    let Object {
        class,
        prototype,
        lifecycle,
        ..
    } = entry.object;
    let is_new = prototype.is_some();
    // A jump is over by the time that the savegame is loaded.
    let plain = |change: Change| Change {
        jump: false,
        ..change
    };
    let wanted = if is_new { Wanted::All } else { Wanted::Changed };
    let states = SavedStates {
        class: class.unwrap_or_default(),
        lifecycle: (is_new || entry.lifecycle_changed > Tick::NONE).then_some(lifecycle),
        basic: entry.basic_changes(Tick::NONE, wanted).map(plain).collect(),
        extra: entry.extra_changes(Tick::NONE, wanted).map(plain).collect(),
    };
    match prototype {
        Some(prototype) => Fate::Created { prototype, states },
        None => Fate::Changed(states),
    }
}
