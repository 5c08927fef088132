//! What clients ask, and what they are answered.

use std::time::Duration;

use tickwire_dialects::reone::message::{Answer, Status, Texts};
use tickwire_dialects::reone::{CallId, ClientId, ObjectId, Question, Reply, Server, Text};

use tickwire_session::Instant;

use super::words::{self, ScoreLine, encode_scores};
use super::{DEATHS, KILLS, PING, SCORES, SHIP, WAITING, creature, module, word};
use crate::limits::WEAPON_SLOTS;
use crate::{Arena, Kind, Pilot, PilotId};

/// A call that waits for its answer.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) client: ClientId,
    pub(super) call: CallId,
    pub(super) question: Question,
}

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asker {
    /// Somebody who flies.
    Pilot(PilotId),
    /// Somebody who looks on, with its place among those who wait for a ship; 0 if it waits for none.
    Spectator(usize),
}

/// Answers a call. Lines for the log are the caller's.
pub(super) fn answer(
    now: Instant,
    server: &mut Server,
    asked: &Asked,
    asker: Asker,
    arena: &Arena,
) {
    let (text, mut buffer);
    let reply = match &asked.question {
        Question::Resref(id) => match resref(arena, *id) {
            Some(resref) => {
                text = resref;
                Reply::Answer(Answer::Resref(Text::new(&text).unwrap_or_default()))
            }
            None => Reply::Failed(Status::BadArgument),
        },
        Question::Inventory(id) => match find(arena, *id) {
            Some((_, pilot)) => {
                buffer = Vec::new();
                match Texts::new(inventory(arena, pilot), &mut buffer) {
                    Ok(items) => Reply::Answer(Answer::Inventory(items)),
                    Err(_) => Reply::Failed(Status::Refused),
                }
            }
            None => Reply::Failed(Status::BadArgument),
        },
        Question::Global(name) => Reply::Answer(Answer::Global(global(arena, name))),
        Question::Local(name) => Reply::Answer(Answer::Local(match asker {
            Asker::Pilot(own) => arena.pilot(own).map_or(0, |own| local(arena, own, name)),
            Asker::Spectator(place) if name == WAITING => i32::try_from(place).unwrap_or(i32::MAX),
            Asker::Spectator(_) => 0,
        })),
        Question::Log(_) => Reply::Answer(Answer::Log),
        Question::Other { method, argument } if method == SCORES && argument.is_empty() => {
            buffer = encode_scores(&scores(arena));
            Reply::Bytes(&buffer)
        }
        Question::Other { .. } => Reply::Failed(Status::BadArgument),
    };
    // Who asked may have left meanwhile.
    server.answer(now, asked.client, asked.call, reply).ok();
}

/// What an object is: a ship with its pilot's name, the sun or a planet.
fn resref(arena: &Arena, id: ObjectId) -> Option<String> {
    if let Some((_, pilot)) = find(arena, id) {
        return Some(format!("{SHIP}{}", pilot.name()));
    }
    let mut sky = module::sky(arena);
    let (_, body) = sky.find(|(other, _)| *other == id)?;
    Some(match body.kind() {
        Kind::Sun => "sun".into(),
        _ => "planet".into(),
    })
}

fn find(arena: &Arena, id: ObjectId) -> Option<(PilotId, &Pilot)> {
    arena.pilots().find(|(pilot, _)| creature(*pilot) == id)
}

/// What a pilot's ship carries, each thing as often as there are of it.
fn inventory(arena: &Arena, pilot: &Pilot) -> impl Iterator<Item = Text<'static>> {
    let ship = pilot.ship().and_then(|ship| arena.entity(ship));
    let items = ship.map_or([None; WEAPON_SLOTS], words::ship_items);
    let items = items.into_iter().flatten();
    items.flat_map(|(count, name)| core::iter::repeat_n(word(name), count.into()))
}

/// `pilots`, `ships`, `kills NAME`, `deaths NAME`, `ping NAME` in milliseconds; 0 for everything else.
fn global(arena: &Arena, name: &str) -> i32 {
    let of = |name: &str| {
        let mut pilots = arena.pilots().map(|(_, pilot)| pilot);
        pilots.find(|pilot| pilot.name() == name)
    };
    if let Some(name) = name.strip_prefix("kills ") {
        return of(name).map_or(0, |pilot| pilot.kills().into());
    }
    if let Some(name) = name.strip_prefix("deaths ") {
        return of(name).map_or(0, |pilot| pilot.deaths().into());
    }
    if let Some(name) = name.strip_prefix(PING) {
        // 0 says that there is none.
        let millis =
            |ping: Duration| i32::try_from(ping.as_millis()).map_or(i32::MAX, |it| it.max(1));
        return of(name).and_then(Pilot::ping).map_or(0, millis);
    }
    let count = match name {
        "pilots" => arena.pilots().count(),
        "ships" => {
            let pilots = arena.pilots();
            pilots.filter(|(_, pilot)| pilot.ship().is_some()).count()
        }
        _ => 0,
    };
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// `kills`, `deaths`, `health` of the ship in percent; 0 for everything else.
fn local(arena: &Arena, own: &Pilot, name: &str) -> i32 {
    match name {
        KILLS => own.kills().into(),
        DEATHS => own.deaths().into(),
        "health" => {
            let ship = own.ship().and_then(|ship| arena.entity(ship));
            ship.map_or(0, |ship| ship.health_percent().into())
        }
        _ => 0,
    }
}

fn scores(arena: &Arena) -> Vec<ScoreLine> {
    let lines = arena.pilots().map(|(id, pilot)| ScoreLine {
        creature: creature(id),
        kills: pilot.kills(),
        deaths: pilot.deaths(),
        name: pilot.name().to_owned(),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::reone::celestial;
    use crate::{Loadout, rules};

    #[test]
    fn variables_are_the_scores_and_unknown_ones_are_zero() {
        let mut arena = Arena::new(1);
        let ada = arena.join("Ada").unwrap();
        arena.join("Bob").unwrap();
        arena.select(ada, Loadout::STANDARD);
        arena.step();
        assert_eq!((global(&arena, "pilots"), global(&arena, "ships")), (2, 1));
        for name in ["kills Ada", "deaths Bob", "kills Carla", "", "kills "] {
            assert_eq!(global(&arena, name), 0, "{name}");
        }
        arena.set_ping(ada, Some(Duration::from_micros(42_900)));
        assert_eq!(global(&arena, "ping Ada"), 42);
        assert_eq!(global(&arena, "ping Bob"), 0, "it has none");
        arena.set_ping(ada, Some(Duration::from_micros(300)));
        assert_eq!(global(&arena, "ping Ada"), 1);
        let ada = arena.pilot(ada).unwrap();
        assert_eq!(local(&arena, ada, "health"), 100);
        assert_eq!(local(&arena, ada, "deaths"), 0);
    }

    #[test]
    fn everything_is_something() {
        let mut arena = Arena::new(1);
        let ada = arena.join("Ada").unwrap();
        assert_eq!(resref(&arena, creature(ada)).unwrap(), "ship Ada");
        assert_eq!(resref(&arena, celestial(0)).unwrap(), "sun");
        assert_eq!(resref(&arena, celestial(4)).unwrap(), "planet");
        assert_eq!(resref(&arena, celestial(5)), None);
        assert_eq!(resref(&arena, ObjectId(0)), None);
        let items = |arena: &Arena| {
            let pilot = arena.pilot(ada).unwrap();
            inventory(arena, pilot)
                .map(Text::as_str)
                .collect::<Vec<_>>()
        };
        assert_eq!(items(&arena), [""; 0], "there is no ship");
        arena.select(ada, Loadout::STANDARD);
        arena.step();
        let mut all = vec!["rockets"; rules::ROCKETS_CARRIED.into()];
        all.splice(0..0, ["gun", "phaser"]);
        all.push("shockwave");
        assert_eq!(items(&arena), all);
    }
}
