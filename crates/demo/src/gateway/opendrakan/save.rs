//! The arena as a savegame, and taken up from one.
//!
//! What is saved is what the protocol saves: every object that is not as the level has it. Here saved objects
//! are turned into things of the arena, which takes them up by its own rule
//! ([`Arena::take_up`]): the sun and the planets stay the objects they were, with the same numbers, and
//! what does not go on is destroyed. Scores are no states of objects, and are not saved.

use tickwire_dialects::opendrakan::bundle::Change;
use tickwire_dialects::opendrakan::message::Lifecycle;
use tickwire_dialects::opendrakan::savegame::{Fate, SavedObject, SavedStates, Savegame};
use tickwire_dialects::opendrakan::{ObjectId, Quat, ROTATION, TRANSLATION, Value, Vec3};

use super::server::{Gateway, Thing};
use super::words::PilotNumber;
use super::{HEALTH, OWNER, kind_of, registry};
use crate::gateway::LoadError;
use crate::rules::STEPS_PER_SECOND;
use crate::{Arena, Berth, Heading, OwnerId, Remembered, Vec2};

impl Gateway {
    /// Takes up a savegame: before the first step and the first client.
    pub(super) fn take_up(&mut self, save: &[u8], arena: &mut Arena) -> Result<(), LoadError> {
        let save = Savegame::decode(save, &registry()).map_err(LoadError::Unreadable)?;
        self.server.restore(&save).map_err(LoadError::Unfit)?;
        let (objects, things): (Vec<_>, Vec<_>) = save.objects.iter().filter_map(thing).unzip();
        let taken = arena.take_up(&things);
        for ((object, thing), entity) in objects.into_iter().zip(things).zip(taken) {
            if let Some(entity) = entity {
                let (id, kind) = (Some(object), thing.kind);
                let owner = None;
                self.things.insert(entity, Thing { id, kind, owner });
            } else {
                let ended = self.server.set_lifecycle(object, Lifecycle::Destroyed);
                debug_assert!(ended.is_ok(), "it was restored a moment ago");
            }
        }
        Ok(())
    }
}

/// What a saved object is, if it is something in the arena.
fn thing(saved: &SavedObject) -> Option<(ObjectId, Remembered)> {
    let Fate::Created { prototype, states } = &saved.fate else {
        return None;
    };
    let thing = Remembered {
        kind: kind_of(*prototype)?,
        berth: berth(states),
        // Pilots are numbered from 1 here, so that 0 is nobody.
        owner: owner(states).map(|PilotNumber(number)| OwnerId(number - 1)),
    };
    Some((saved.object, thing))
}

fn berth(states: &SavedStates) -> Berth {
    Berth {
        position: match value(&states.basic, TRANSLATION) {
            Some(Value::Vec3(Vec3 { x, y, .. })) => Vec2::new(x.into(), y.into()),
            _ => Vec2::ZERO,
        },
        heading: match value(&states.basic, ROTATION) {
            Some(Value::Quat(Quat { z, w, .. })) => {
                Heading::from_radians(2.0 * libm::atan2(z.into(), w.into()))
            }
            _ => Heading::EAST,
        },
        health: match value(&states.extra, HEALTH) {
            Some(Value::U8(percent)) => percent,
            _ => 0,
        },
    }
}

fn owner(states: &SavedStates) -> Option<PilotNumber> {
    match value(&states.extra, OWNER) {
        Some(Value::U32(number)) => PilotNumber(number).somebody(),
        _ => None,
    }
}

/// The value of a state, if it is among those that were saved.
fn value(saved: &[Change], number: usize) -> Option<Value> {
    let change = saved.iter().find(|change| change.index == number)?;
    Some(change.value)
}

/// What a savegame of the arena holds, a line each.
pub(in crate::gateway) fn describe(save: &[u8]) -> Result<Vec<String>, LoadError> {
    let save = Savegame::decode(save, &registry()).map_err(LoadError::Unreadable)?;
    let mut lines = vec![format!(
        "{} at tick {} ({:.1} s), {} objects, next number {}",
        save.level,
        save.tick.0,
        save.tick.0 as f64 / f64::from(STEPS_PER_SECOND),
        save.objects.len(),
        save.next_object,
    )];
    lines.extend(save.objects.iter().map(describe_object));
    Ok(lines)
}

fn describe_object(saved: &SavedObject) -> String {
    let (what, states) = match &saved.fate {
        Fate::Destroyed => return format!("{} destroyed", saved.object),
        Fate::Changed(states) => ("changed".to_owned(), states),
        Fate::Created { prototype, states } => match kind_of(*prototype) {
            Some(kind) => (format!("{kind:?}").to_lowercase(), states),
            None => (format!("clone of {prototype}"), states),
        },
    };
    let Berth {
        position: Vec2 { x, y },
        health,
        ..
    } = berth(states);
    let pilot = owner(states).map(|PilotNumber(number)| format!(", pilot {number}"));
    let pilot = pilot.unwrap_or_default();
    format!(
        "{} {what} at {x:.1}, {y:.1}, health {health}{pilot}",
        saved.object
    )
}

#[cfg(test)]
mod tests {
    use tickwire_session::Instant;

    use super::*;
    use crate::gateway::{Protocol, ServerGateway, Settings};
    use crate::{GameServer, Kind};

    fn open(seed: u64, bots: usize) -> GameServer {
        let mut host = GameServer::new(seed, bots);
        let protocol = Protocol::named("opendrakan").unwrap();
        host.serve(protocol, Instant::ZERO, [1; 32], &Settings::default());
        host
    }

    fn step(host: &mut GameServer, steps: usize) {
        let mut notices = Vec::new();
        for _ in 0..steps {
            host.step(Instant::ZERO, &mut notices);
        }
    }

    fn find(host: &GameServer, kind: Kind) -> Vec<(Option<OwnerId>, Vec2)> {
        let entities = host.arena().entities().filter(|(_, e)| e.kind() == kind);
        entities
            .map(|(_, e)| (e.owner.map(Into::into), e.position))
            .collect()
    }

    #[test]
    fn planets_and_ships_are_where_they_were() {
        let mut before = open(1, 4);
        step(&mut before, 900);
        let save = before.save().expect("the protocol has savegames");
        let mut after = open(2, 4);
        after.load(&save).unwrap();
        step(&mut before, 1);
        step(&mut after, 1);
        // A step, and the 24 bits of a coordinate, lie in between.
        let near = |a: Vec2, b: Vec2| a.distance(b) < 15.0;
        let planets = find(&before, Kind::Planet);
        for ((_, was), (_, is)) in planets.into_iter().zip(find(&after, Kind::Planet)) {
            assert!(near(was, is), "{was:?} {is:?}");
        }
        let ships = find(&before, Kind::Ship);
        assert!(!ships.is_empty());
        for (pilot, was) in ships {
            let again = find(&after, Kind::Ship);
            let found = again.iter().find(|(other, _)| *other == pilot);
            let (_, is) = found.expect("every bot has its ship again");
            assert!(near(was, *is), "{was:?} {is:?}");
        }
    }

    #[test]
    fn objects_that_go_on_keep_their_numbers_and_others_get_new_ones() {
        let mut before = open(1, 2);
        step(&mut before, 60);
        let save = before.save().unwrap();
        let mut gateway = Gateway::new(Instant::ZERO, [1; 32]);
        let mut worlds = crate::Worlds::new(3);
        gateway.take_up(&save, &mut worlds.arena).unwrap();
        worlds.arena.step();
        gateway.publish(Instant::ZERO, &worlds);
        let decode = |save: &[u8]| Savegame::decode(save, &registry()).unwrap();
        let (old, new) = (decode(&save), decode(&gateway.save().unwrap()));
        let bodies = |save: &Savegame| -> Vec<_> {
            let things = save.objects.iter().filter_map(thing);
            let bodies = things.filter(|(_, thing)| matches!(thing.kind, Kind::Planet | Kind::Sun));
            bodies.map(|(object, _)| object).collect()
        };
        assert_eq!(bodies(&old), bodies(&new));
        assert_eq!(bodies(&new).len(), 5);
        assert!(new.tick >= old.tick && new.next_object >= old.next_object);
    }

    #[test]
    fn a_save_that_is_none_is_refused_with_the_place() {
        let mut before = open(1, 1);
        step(&mut before, 60);
        let save = before.save().unwrap();
        for (cut, place) in [
            (3, "not a savegame"),
            (20, "the header"),
            (save.len() - 1, "record"),
        ] {
            let why = open(1, 1).load(&save[..cut]).unwrap_err().to_string();
            assert!(why.contains(place), "{why}");
        }
        let mut altered = save;
        let middle = altered.len() / 2;
        altered[middle] ^= 1;
        let why = describe(&altered).unwrap_err().to_string();
        assert!(why.contains("record") && why.contains("byte"), "{why}");
    }
}
