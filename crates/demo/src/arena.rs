//! The game: one world, true at every tick.
//!
//! In: who joins and leaves, what they fly, what they want. Out: the entities as they are after each
//! step, and the events of that step. The arena has no clock and no randomness but its seed: the same
//! calls in the same order give the same world to the bit, on every machine. Who the pilots are and
//! how their wishes arrive is left to the gateways.
//!
//! A step runs its phases in one fixed order (see [`Arena::step`]), each over the entities in the
//! order of their ids. The parts: `life` brings ships in and buries them, `sky` and `motion` move,
//! `weapon` fires, `collision` decides who was hit, with `sweep` to find who is near and `past` to
//! know where everybody was, and `memory` takes up an earlier run.

mod collision;
mod event;
mod life;
mod memory;
mod motion;
mod past;
mod pilot;
mod sky;
mod sweep;
mod weapon;

use core::fmt;
use core::time::Duration;

use crate::slots::Slots;
use crate::view::{Score, Seen};
use crate::{Entity, EntityId, Intent, Loadout, Random, STEP, View, limits, rules};
use event::EventLog;
use memory::Berths;
use past::Past;
use sky::Celestial;
use sweep::Sweep;

pub use event::Event;
pub use memory::{Berth, Remembered};
pub use pilot::{Pilot, PilotId};

/// A moment of the game: how many steps it has taken.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Tick(pub u64);

impl Tick {
    /// The moment this many steps later.
    #[must_use]
    pub fn after(self, steps: u32) -> Self {
        Self(self.0 + u64::from(steps))
    }

    /// The time that has passed since an earlier moment; none, if it is later.
    pub fn time_since(self, earlier: Self) -> Duration {
        let steps = self.0.saturating_sub(earlier.0);
        STEP * u32::try_from(steps).unwrap_or(u32::MAX)
    }
}

/// There is no place for another pilot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ArenaFull;

impl fmt::Display for ArenaFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the arena already has {} pilots", limits::PILOTS)
    }
}

impl core::error::Error for ArenaFull {}

/// The world and everybody in it.
///
/// A call for a pilot who has left does nothing: whoever holds an id may learn of the leaving later.
#[derive(Clone, Debug)]
pub struct Arena {
    tick: Tick,
    random: Random,
    entities: Slots<Entity>,
    /// How many of the entities are shots.
    shots: u16,
    pilots: Slots<Pilot>,
    sky: Vec<Celestial>,
    sweep: Sweep,
    past: Past,
    events: EventLog,
    /// Ships of an earlier run that wait for their pilots.
    berths: Berths,
}

impl Arena {
    /// A world with a sun, its planets and nobody in it. The seed decides where the planets start
    /// and where ships appear.
    pub fn new(seed: u64) -> Self {
        let mut arena = Self {
            tick: Tick(0),
            random: Random::new(seed),
            entities: Slots::new(limits::ENTITIES),
            shots: 0,
            pilots: Slots::new(limits::PILOTS),
            sky: Vec::new(),
            sweep: Sweep::default(),
            past: Past::default(),
            events: EventLog::default(),
            berths: Berths::default(),
        };
        arena.make_sky();
        arena
    }

    /// Lets somebody in, as a spectator until [`select`](Self::select). The name is cut to
    /// [`limits::NAME_BYTES`]; control characters are left out.
    pub fn join(&mut self, name: &str) -> Result<PilotId, ArenaFull> {
        let slot = self.pilots.insert(Pilot::new(name)).ok_or(ArenaFull)?;
        Ok(PilotId(slot))
    }

    /// Chooses the weapons. The first choice brings the pilot's ship into the arena with the next
    /// step; a later one arms the ship after this one.
    pub fn select(&mut self, pilot: PilotId, loadout: Loadout) {
        let now = self.tick;
        if let Some(pilot) = self.pilots.get_mut(pilot.0) {
            if pilot.loadout.is_none() {
                pilot.enters = now;
            }
            pilot.loadout = Some(loadout);
        }
    }

    /// Replaces what the pilot wants; it holds until the next call.
    pub fn set_intent(&mut self, pilot: PilotId, intent: Intent) {
        if let Some(pilot) = self.pilots.get_mut(pilot.0) {
            pilot.intent = intent;
        }
    }

    /// Says how long ago what the pilot's player sees was true. Rays are judged by that, up to
    /// [`REWIND_MAX`](tickwire_state::REWIND_MAX); everything that flies has to be led.
    pub fn set_rewind(&mut self, pilot: PilotId, rewind: Duration) {
        if let Some(pilot) = self.pilots.get_mut(pilot.0) {
            pilot.rewind = rewind;
        }
    }

    /// Replaces the pilot's name, cut as in [`join`](Self::join).
    pub fn rename(&mut self, pilot: PilotId, name: &str) {
        if let Some(pilot) = self.pilots.get_mut(pilot.0) {
            pilot.set_name(name);
        }
    }

    /// Notes the round trip that the pilot's gateway measured. The game does nothing with it but
    /// show it to everybody.
    pub fn set_ping(&mut self, pilot: PilotId, ping: Option<Duration>) {
        if let Some(pilot) = self.pilots.get_mut(pilot.0) {
            pilot.ping = ping;
        }
    }

    /// Takes the pilot out, with its ship and its shots.
    pub fn leave(&mut self, pilot: PilotId) {
        if self.pilots.remove(pilot.0).is_none() {
            return;
        }
        for id in self.ids(|entity| entity.owner == Some(pilot)) {
            self.remove(id);
        }
    }

    /// Advances the world by 1/60 s.
    ///
    /// Everything moves before anything fires, and everything has fired before hits are decided, so
    /// that no pilot gains from an early place in the order.
    pub fn step(&mut self) {
        self.events.begin_step();
        self.tick = self.tick.after(1);
        self.bring_ships_in();
        self.move_planets();
        self.steer_rockets();
        self.move_all();
        self.fire_weapons();
        self.resupply();
        self.collide();
        self.end_old_shots();
        self.bury_the_dead();
        self.remember();
        self.events.end_step();
    }

    /// How many steps the world has taken.
    pub const fn tick(&self) -> Tick {
        self.tick
    }

    /// What happened in the last step, and between it and the one before, in order.
    pub fn events(&self) -> &[Event] {
        self.events.of_last_step()
    }

    /// Everything in the arena, in an order that does not change while things last.
    pub fn entities(&self) -> impl Iterator<Item = (EntityId, &Entity)> {
        self.entities
            .iter()
            .map(|(slot, entity)| (EntityId(slot), entity))
    }

    /// One thing, while it is there.
    pub fn entity(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(id.0)
    }

    /// Everybody in the arena, in an order that does not change while they stay.
    pub fn pilots(&self) -> impl Iterator<Item = (PilotId, &Pilot)> {
        self.pilots
            .iter()
            .map(|(slot, pilot)| (PilotId(slot), pilot))
    }

    /// One pilot, until it leaves.
    pub fn pilot(&self, id: PilotId) -> Option<&Pilot> {
        self.pilots.get(id.0)
    }

    /// The whole world as a spectator sees it; [`View::set_viewer`] makes it a pilot's.
    pub fn view(&self) -> View {
        let seen = self.entities().map(|(id, entity)| Seen {
            id: id.into(),
            kind: entity.kind(),
            position: entity.position,
            heading: entity.heading,
            health: entity.health_percent(),
            owner: entity.owner.map(Into::into),
            own: false,
            reach: entity.reach(),
        });
        View {
            time: Duration::from_secs(self.tick.0) / rules::STEPS_PER_SECOND,
            seen: seen.collect(),
            own_ship: None,
        }
    }

    /// The scoreboard.
    pub fn scores(&self) -> Vec<Score> {
        let scores = self.pilots().map(|(id, pilot)| Score {
            owner: id.into(),
            name: pilot.name().to_owned(),
            kills: pilot.kills(),
            deaths: pilot.deaths(),
            ping: pilot.ping(),
        });
        scores.collect()
    }

    /// A fingerprint of everything that can be seen, to compare two runs of the same game.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        digest.add(self.tick.0);
        digest.add(self.random.clone().bits());
        for (id, entity) in self.entities() {
            digest.add(u64::from(id.0.to_bits()));
            digest.add(entity.kind() as u64);
            let (at, going) = (entity.position, entity.velocity);
            for number in [at.x, at.y, going.x, going.y, entity.reach()] {
                digest.add(number.to_bits());
            }
            digest.add(entity.heading.radians().to_bits());
            digest.add(u64::from(entity.health_percent()));
        }
        for (id, pilot) in self.pilots() {
            digest.add(u64::from(id.0.to_bits()));
            digest.add(u64::from(pilot.kills()) << 16 | u64::from(pilot.deaths()));
        }
        digest.0
    }

    /// Puts something into the world; `None` if it is a shot too many.
    fn add(&mut self, entity: Entity) -> Option<EntityId> {
        let shot = entity.is_shot();
        if shot && self.shots == limits::SHOTS {
            return None;
        }
        let id = EntityId(self.entities.insert(entity)?);
        self.shots += u16::from(shot);
        self.events.push(Event::Added { entity: id });
        Some(id)
    }

    fn remove(&mut self, id: EntityId) {
        if let Some(entity) = self.entities.remove(id.0) {
            self.shots -= u16::from(entity.is_shot());
            self.events.push(Event::Removed { entity: id });
        }
    }

    /// The ids of some entities, to change the world while going through them.
    fn ids(&self, wanted: impl Fn(&Entity) -> bool) -> Vec<EntityId> {
        self.entities()
            .filter(|(_, entity)| wanted(entity))
            .map(|(id, _)| id)
            .collect()
    }
}

/// FNV-1a, but for whole words: not for secrets, good enough to tell two worlds apart.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    const fn add(&mut self, word: u64) {
        // Rotating brings high bits down, which the multiplication alone never does.
        self.0 = (self.0 ^ word)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(29);
    }
}

#[cfg(test)]
pub(crate) mod tests;
