//! The arena as a savegame, and taken up from one.
//!
//! What is saved is what the protocol saves: every object that is not as the level has it. The sun and
//! the planets are taken up as the objects they were, with the same numbers. Ships are left to the
//! arena, which has them come back when their pilots do; shots end with their run. Scores are no
//! states of objects, and are not saved.

use tickwire_dialects::opendrakan::message::Lifecycle;
use tickwire_dialects::opendrakan::savegame::{Fate, SavedObject, SavedStates, Savegame};
use tickwire_dialects::opendrakan::{BasicState, ObjectId, Quat, Server, Value, Vec3};

use super::server::{Gateway, Thing};
use super::words::PilotNumber;
use super::{HEALTH, OWNER, kind_of, registry};
use crate::gateway::LoadError;
use crate::{Arena, Berth, Heading, Kind, OwnerId, Vec2};

impl Gateway {
    /// Takes up a savegame: before the first step and the first client.
    pub(super) fn take_up(&mut self, save: &[u8], arena: &mut Arena) -> Result<(), LoadError> {
        let save = Savegame::decode(save, &registry()).map_err(LoadError::Unreadable)?;
        self.server.restore(&save).map_err(LoadError::Unfit)?;
        let mut bodies: Vec<_> = arena
            .entities()
            .map(|(id, entity)| (id, entity.kind()))
            .filter(|(_, kind)| matches!(kind, Kind::Planet | Kind::Sun))
            .collect();
        for saved in &save.objects {
            let Some((kind, states)) = thing(saved) else {
                continue;
            };
            // The first of its kind that is left: both lists have them in the order of their making.
            let body = bodies.iter().position(|(_, other)| *other == kind);
            if let Some(body) = body {
                let (entity, _) = bodies.remove(body);
                let id = Some(saved.object);
                self.things.insert(entity, Thing { id, kind });
                arena.place_planet(entity, place(states));
                continue;
            }
            if kind == Kind::Ship
                && let Some((pilot, berth)) = berth(states)
            {
                arena.keep_ship(pilot, berth);
            }
            end(&mut self.server, saved.object);
        }
        Ok(())
    }
}

/// Takes out of the world what does not go on.
fn end(server: &mut Server, object: ObjectId) {
    let ended = server.set_lifecycle(object, Lifecycle::Destroyed);
    debug_assert!(ended.is_ok(), "it was restored a moment ago");
}

/// What a saved object is, if it is something in the arena.
fn thing(saved: &SavedObject) -> Option<(Kind, &SavedStates)> {
    match &saved.fate {
        Fate::Created { prototype, states } => Some((kind_of(*prototype)?, states)),
        Fate::Changed(_) | Fate::Destroyed => None,
    }
}

fn basic(states: &SavedStates, state: BasicState) -> Option<Value> {
    let mut changes = states.basic.iter();
    let change = changes.find(|change| change.index == state as usize)?;
    Some(change.value)
}

fn extra(states: &SavedStates, index: usize) -> Option<Value> {
    let mut changes = states.extra.iter();
    Some(changes.find(|change| change.index == index)?.value)
}

fn place(states: &SavedStates) -> Vec2 {
    match basic(states, BasicState::Translation) {
        Some(Value::Vec3(Vec3 { x, y, .. })) => Vec2::new(x.into(), y.into()),
        _ => Vec2::ZERO,
    }
}

fn heading(states: &SavedStates) -> Heading {
    match basic(states, BasicState::Rotation) {
        Some(Value::Quat(Quat { z, w, .. })) => {
            Heading::from_radians(2.0 * libm::atan2(z.into(), w.into()))
        }
        _ => Heading::EAST,
    }
}

fn health(states: &SavedStates) -> u8 {
    match extra(states, HEALTH) {
        Some(Value::U8(percent)) => percent,
        _ => 0,
    }
}

fn owner(states: &SavedStates) -> Option<PilotNumber> {
    match extra(states, OWNER) {
        Some(Value::U32(number)) => PilotNumber(number).somebody(),
        _ => None,
    }
}

/// A ship that was flown when the arena was saved.
fn berth(states: &SavedStates) -> Option<(OwnerId, Berth)> {
    let health = health(states);
    let berth = Berth {
        position: place(states),
        heading: heading(states),
        health,
    };
    let PilotNumber(number) = owner(states)?;
    (health > 0).then_some((OwnerId(number - 1), berth))
}

/// What a savegame of the arena holds, a line each.
pub(in crate::gateway) fn describe(save: &[u8]) -> Result<Vec<String>, LoadError> {
    let save = Savegame::decode(save, &registry()).map_err(LoadError::Unreadable)?;
    let mut lines = vec![format!(
        "{} at tick {} ({:.1} s), {} objects, next number {}",
        save.level,
        save.tick.0,
        save.tick.0 as f64 / f64::from(crate::rules::STEPS_PER_SECOND),
        save.objects.len(),
        save.next_object,
    )];
    for saved in &save.objects {
        let object = saved.object;
        lines.push(match &saved.fate {
            Fate::Destroyed => format!("{object} destroyed"),
            Fate::Changed(states) => format!("{object} changed {}", numbers(states)),
            Fate::Created { prototype, states } => {
                let kind = kind_of(*prototype).map_or_else(
                    || format!("clone of {prototype}"),
                    |kind| format!("{kind:?}").to_lowercase(),
                );
                format!("{object} {kind} {}", numbers(states))
            }
        });
    }
    Ok(lines)
}

fn numbers(states: &SavedStates) -> String {
    let Vec2 { x, y } = place(states);
    let mut text = format!("at {x:.1}, {y:.1}, health {}", health(states));
    if let Some(PilotNumber(number)) = owner(states) {
        text += &format!(", pilot {number}");
    }
    text
}

#[cfg(test)]
mod tests {
    use tickwire_session::Instant;

    use super::*;
    use crate::Host;
    use crate::gateway::{Protocol, ServerGateway, Settings};

    fn open(seed: u64, bots: usize) -> Host {
        let mut host = Host::new(seed, bots);
        let protocol = Protocol::named("opendrakan").unwrap();
        host.serve(protocol, Instant::ZERO, [1; 32], &Settings::default());
        host
    }

    fn step(host: &mut Host, steps: usize) {
        let mut notices = Vec::new();
        for _ in 0..steps {
            host.step(Instant::ZERO, &mut notices);
        }
    }

    fn find(host: &Host, kind: Kind) -> Vec<(Option<OwnerId>, Vec2)> {
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
            let is_body = |saved: &&SavedObject| {
                thing(saved).is_some_and(|(kind, _)| matches!(kind, Kind::Planet | Kind::Sun))
            };
            let bodies = save.objects.iter().filter(is_body);
            bodies.map(|saved| saved.object).collect()
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
