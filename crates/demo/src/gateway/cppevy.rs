//! The arena over C++evy.
//!
//! Ships, planets and the sun are entities with states; whatever is fired is told by instant events,
//! since sync ids are few. Controls are an instant action; choosing weapons and chatting are assured
//! ones. All codes are listed here and in the protocol's `WIRE.md`.

mod client;
mod content;
mod helm;
mod server;
mod shots;
mod words;

use tickwire_dialects::cppevy::{
    self, ActionId, Archetype, Component, Delivery, EventId, Registry,
};
use tickwire_session::Belief;

use super::{Connect, Inspect, Paths, Protocol, Side};
use crate::{Kind, Loadout, Weapon};

/// The entry of [`PROTOCOLS`](super::PROTOCOLS).
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "cppevy",
    about: "states, events and answered actions, over UDP and TCP together",
    port: cppevy::PORT,
    paths: Paths::Both,
    places: None,
    serve: |opening| Box::new(server::Gateway::new(opening.now, opening.secret)),
    connect: Connect::Arena(|now, server, name, loadout| {
        Box::new(client::Gateway::new(now, server, name, loadout))
    }),
    inspect: Inspect {
        datagram: Some(|from, bytes, trace| {
            cppevy::inspect(from == Side::Client, false, bytes, trace)
        }),
        stream: Some(|from| {
            let from_client = from == Side::Client;
            Box::new(move |bytes, trace| cppevy::inspect_next(from_client, bytes, trace))
        }),
        words: 2,
        snapshots: &["State"],
        counts: &[],
    },
};

/// What the player holds: `u16` buttons, `f32` aim x, y. Unavailable while there is no ship.
const CONTROLS: ActionId = ActionId(1);
/// Weapons for four slots, `u8` each: 0 none, 1 gun, 2 phaser, 3 rocket, 4 shockwave. Delayed until
/// the next ship if there is one already.
const SELECT: ActionId = ActionId(2);
/// Says something to everybody: UTF-8 to the end. Waiting above the rate.
const CHAT: ActionId = ActionId(3);
/// Be somewhere else at once. Disabled.
const TELEPORT: ActionId = ActionId(4);

/// Something fired is there, or still there.
const SHOT: EventId = EventId(0x100);
/// Something fired is gone: `u16` number.
const SHOT_GONE: EventId = EventId(0x101);
/// Somebody said something: `u16` actor, UTF-8 to the end.
const SAID: EventId = EventId(0x102);
/// A line of the scoreboard: `u16` actor, `u16` kills, `u16` deaths, UTF-8 name to the end.
const SCORE: EventId = EventId(0x103);
/// To whoever's ship was destroyed: UTF-8 name of who did it to the end, empty if nobody did.
const DESTROYED: EventId = EventId(0x104);

/// Somebody has an emblem, which is the asset `emblems/` and the number: `u16` actor.
const EMBLEM: EventId = EventId(0x105);

/// `f32` x, y.
const POSITION: Component = component(0);
/// `f32` x, y, units a second.
const VELOCITY: Component = component(1);
/// `u8` percent; 0 while there is no ship.
const HEALTH: Component = component(2);
/// `f32` degrees.
const HEADING: Component = component(3);

/// Kinds that are entities, and their archetypes. A ship is a client's or a bot's; a client is one
/// also while it has no ship.
const ARCHETYPES: [(Kind, Archetype); 3] = [
    (Kind::Ship, Archetype(1)),
    (Kind::Planet, Archetype(2)),
    (Kind::Sun, Archetype(3)),
];

/// Kinds that are shots, and their codes.
const SHOTS: [(Kind, u8); 4] = [
    (Kind::Bullet, 1),
    (Kind::Rocket, 2),
    (Kind::Ray, 3),
    (Kind::Shockwave, 4),
];

const fn component(number: u8) -> Component {
    match Component::new(number) {
        Some(component) => component,
        None => panic!("components have 6 bits"),
    }
}

/// What both sides hold.
fn registry() -> Registry {
    Registry::new()
        .with_state(POSITION, 8)
        .with_state(VELOCITY, 8)
        .with_state(HEALTH, 1)
        .with_state(HEADING, 4)
        .with_action(CONTROLS, Delivery::Instant, Belief::Assumed)
        .with_action(SELECT, Delivery::Assured, Belief::Confirmed)
        .with_action(CHAT, Delivery::Assured, Belief::Assumed)
        .with_disabled_action(TELEPORT)
        .with_event(SHOT, Delivery::Instant)
        .with_event(SHOT_GONE, Delivery::Instant)
        .with_event(SAID, Delivery::Assured)
        .with_event(SCORE, Delivery::Assured)
        .with_event(DESTROYED, Delivery::Assured)
        .with_event(EMBLEM, Delivery::Assured)
}

/// The arena's weapons by their code.
const WEAPONS: [Option<Weapon>; 5] = [
    None,
    Some(Weapon::Gun),
    Some(Weapon::Phaser),
    Some(Weapon::Rocket),
    Some(Weapon::Shockwave),
];

fn loadout_codes(loadout: Loadout) -> [u8; 4] {
    loadout.0.map(|weapon| {
        let code = WEAPONS.iter().position(|other| *other == weapon);
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(0)
    })
}

fn loadout(codes: &[u8]) -> Option<Loadout> {
    let codes: [u8; 4] = codes.try_into().ok()?;
    let weapons = codes.map(|code| WEAPONS.get(usize::from(code)).copied());
    if weapons.iter().any(Option::is_none) {
        return None;
    }
    Some(Loadout(weapons.map(Option::flatten)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loadout_survives_its_codes() {
        for chosen in [Loadout::STANDARD, Loadout::UNARMED] {
            assert_eq!(loadout(&loadout_codes(chosen)), Some(chosen));
        }
        assert_eq!(loadout(&[0, 0, 0, 5]), None);
        assert_eq!(loadout(&[0, 0, 0]), None);
    }
}
