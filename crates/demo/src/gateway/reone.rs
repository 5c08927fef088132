//! The arena over reone.
//!
//! Ships are creatures, one for all lives of a pilot; the sun and the planets are other objects. Shots
//! are ballistics, which clients fly on by themselves; shockwaves and explosions are effects. A player's
//! controls are events, one for every step, and the own ship is predicted by the arena's own rule. All
//! codes are listed here and in the protocol's `WIRE.md`.

mod announcer;
mod answers;
mod client;
mod inputs;
mod module;
mod picture;
mod scoreboard;
mod server;
mod sights;
mod steering;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tickwire_dialects::reone::{self, ObjectId, Text};

use super::{Carrier, Connect, Paths, Protocol, Side};
use crate::{Kind, PilotId, Weapon};

/// The entry of [`PROTOCOLS`](super::PROTOCOLS).
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "reone",
    about: "a role-playing engine's creatures, with prediction, over UDP and TCP together",
    port: reone::PORT,
    paths: Paths::Both,
    places: None,
    serve: |opening| Box::new(server::Gateway::new(opening)),
    connect: Connect::Arena(|now, server, name, loadout| {
        Box::new(client::Gateway::new(now, server, name, loadout))
    }),
    inspect: |from, on, bytes, trace| {
        reone::inspect(from == Side::Client, on == Carrier::Stream, bytes, trace)
    },
};

/// What whoever serves may choose.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether snapshots are Huffman-coded.
    pub huffman: bool,
    /// How long a round lasts, before clients load the next; for ever, unless told.
    pub round: Option<Duration>,
    /// Ships for clients, of whom the others look on; as many as the arena holds, unless told.
    pub ships: Option<usize>,
    /// What clients load besides what they need, by name.
    pub resources: Resources,
}

/// What clients load, by name.
type Resources = BTreeMap<String, Arc<[u8]>>;

/// The event that is an input, for one step: `u16` buttons, `f32` aim x, y.
const INPUT: u8 = 1;
/// The event that chooses weapons, which brings the first ship and arms later ones: four `u8`, codes of
/// [`WEAPONS`].
const LOADOUT: u8 = 2;

/// The arena's weapons by their code, with what inventories call them.
const WEAPONS: [(Option<Weapon>, &str); 5] = [
    (None, "nothing"),
    (Some(Weapon::Gun), "gun"),
    (Some(Weapon::Phaser), "phaser"),
    (Some(Weapon::Rocket), "rockets"),
    (Some(Weapon::Shockwave), "shockwave"),
];

/// Kinds of shots that are ballistics, by their code. The z of their origin, which the plane leaves
/// free, is the speed of a bullet or a rocket, and the length of a ray.
const SHOTS: [(Kind, u8); 3] = [(Kind::Bullet, 1), (Kind::Rocket, 2), (Kind::Ray, 3)];

/// Snapshots for which one announcement of a rocket counts; of a ray, it is one.
const ROCKET_SNAPSHOTS: u32 = 2;

/// The effect of a shockwave, which grows from where its ship is.
const SHOCKWAVE: &str = "shockwave";
/// The effect of a ship that ends.
const EXPLOSION: &str = "explosion";
/// The animation of a ship that launches a rocket.
const LAUNCH: &str = "launch";
/// The animation of a ship that ends; its flags are the creature of whose merit it was, or 0.
const DESTROYED: &str = "destroyed";

/// The arena's own call: no argument; the answer is the scoreboard.
const SCORES: &str = "scores";

/// How the variable begins that is a pilot's round trip in milliseconds; its name follows.
const PING: &str = "ping ";

/// How the resref of a ship begins; its pilot's name follows.
const SHIP: &str = "ship ";

/// Steps of the arena from one snapshot to the next: 20 a second.
const SNAPSHOT_STEPS: u32 = 3;

/// Marks the ids of the sun and the planets, which are numbered from the sun outwards.
const CELESTIAL: u32 = 1 << 30;

/// The creature of a pilot's ships. No two pilots have the same within days, and none has 0.
fn creature(pilot: PilotId) -> ObjectId {
    let generation = u32::from(pilot.generation()) & 0x3fff;
    ObjectId(generation << 16 | (u32::from(pilot.index()) + 1))
}

/// The sun, or a planet by its place among them.
fn celestial(place: u32) -> ObjectId {
    ObjectId(CELESTIAL | place)
}

/// A word of ours.
fn word(word: &'static str) -> Text<'static> {
    Text::new(word).unwrap_or_default()
}

#[cfg(test)]
mod tests;
