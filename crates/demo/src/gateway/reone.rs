//! The arena over reone.
//!
//! Ships are creatures, one for all lives of a pilot; the sun and the planets are other objects. Shots
//! are ballistics, which clients fly on by themselves; shockwaves and explosions are effects. A player's
//! controls are events, one for every step, and the own ship is predicted by the arena's own rule. All
//! codes are listed here and in the protocol's `WIRE.md`.

mod announcer;
mod answers;
mod client;
mod flashes;
mod inputs;
mod module;
mod picture;
mod scoreboard;
mod server;
mod sights;
mod steering;
mod words;

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use tickwire_dialects::reone::server_limits::{LERP, TICK_RATE};
use tickwire_dialects::reone::{self, ObjectId, Server, ServerConfig, Text};

use super::{Connect, Inspect, Paths, Protocol, Side};
use crate::rules::{self, STEPS_PER_SECOND};
use crate::{Arena, Kind, PilotId, Weapon};

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
    inspect: Inspect {
        datagram: Some(|from, bytes, trace| {
            reone::inspect(from == Side::Client, false, bytes, trace)
        }),
        stream: Some(|from| {
            let from_client = from == Side::Client;
            Box::new(move |bytes, trace| reone::inspect_next(from_client, bytes, trace))
        }),
        words: 1,
        snapshots: &["Last"],
        counts: &[(Side::Client, "packet")],
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
    /// Snapshots a second, of which a step makes one at the most: a divisor of 60. 20, unless told.
    pub tick_rate: Option<NonZeroU16>,
    /// How long clients blend from one snapshot to the next; 100 ms, unless told.
    pub lerp: Option<Duration>,
    /// What the module is called, before the number of its round; `arena`, unless told.
    pub module: Option<String>,
    /// What clients load besides what they need, by name.
    pub resources: Resources,
}

impl Settings {
    /// Whether a server can be made of these: otherwise a sentence for whoever chose them.
    pub fn check(&self) -> Result<(), String> {
        if !STEPS_PER_SECOND.is_multiple_of(self.tick_rate().get().into()) {
            return Err(format!(
                "the arena makes {STEPS_PER_SECOND} steps a second, of which {} snapshots are no even share: \
                 choose a divisor, such as 10, 15, 20, 30 or 60",
                self.tick_rate()
            ));
        }
        let taken = self
            .resources
            .keys()
            .find(|name| name.starts_with(module::OWN));
        if let Some(name) = taken {
            return Err(format!(
                "the resource {name} would hide one of the arena's own: give its folder another name"
            ));
        }
        let module = module::module(1, &Arena::new(1), self);
        let config = ServerConfig {
            module,
            ..ServerConfig::default()
        };
        Server::new(config, [0; 32])
            .map(drop)
            .map_err(|why| why.to_string())
    }

    fn tick_rate(&self) -> NonZeroU16 {
        self.tick_rate.unwrap_or(TICK_RATE)
    }

    fn lerp(&self) -> Duration {
        self.lerp.unwrap_or(LERP)
    }

    /// Steps of the arena from one snapshot to the next.
    fn snapshot_steps(&self) -> u32 {
        steps_at(self.tick_rate())
    }
}

/// Steps of the arena from one snapshot to the next, at so many a second.
fn steps_at(tick_rate: NonZeroU16) -> u32 {
    (STEPS_PER_SECOND / u32::from(tick_rate.get())).max(1)
}

/// What clients load, by name.
type Resources = BTreeMap<String, Arc<[u8]>>;

/// The event that is an input, for one step: `u16` buttons, `f32` aim x, y.
const INPUT: u8 = 1;
/// The event that chooses weapons, which brings the first ship and arms later ones: four `u8`, codes of
/// [`WEAPONS`].
const LOADOUT: u8 = 2;

/// The event that mocks everybody in sight: sent once, without a number, and nobody minds if it is lost.
const TAUNT: u8 = 3;

/// The arena's weapons by their code, which is the model in a creature's equipment, with what inventories
/// call them.
const WEAPONS: [(Option<Weapon>, &str); 5] = [
    (None, "nothing"),
    (Some(Weapon::Gun), "gun"),
    (Some(Weapon::Phaser), "phaser"),
    (Some(Weapon::Rocket), "rockets"),
    (Some(Weapon::Shockwave), "shockwave"),
];

/// Kinds of shots that are ballistics. How fast each flies, and how long a ray is, belongs to its kind; a
/// rocket that gets going is of another kind than one at full speed.
const SHOTS: [Shot; 4] = [
    Shot::new(1, Kind::Bullet, rules::BULLET_SPEED),
    Shot::new(2, Kind::Rocket, rules::ROCKET_MAX_SPEED),
    Shot::new(3, Kind::Ray, 0.0),
    Shot::new(4, Kind::Rocket, rules::ROCKET_LAUNCH_SPEED),
];

/// A kind of shot.
#[derive(Clone, Copy, Debug)]
struct Shot {
    code: u8,
    kind: Kind,
    /// Units a second.
    speed: f64,
}

impl Shot {
    const fn new(code: u8, kind: Kind, speed: f64) -> Self {
        Self { code, kind, speed }
    }
}

/// Snapshots for which one announcement of a rocket counts; of a ray, it is one.
const ROCKET_SNAPSHOTS: u32 = 2;

/// The variables of the game: which round it is, the seconds that are left of it (0 if it has no end), and how
/// many play.
const ROUND: &str = "round";
const TIME_LEFT: &str = "time_left";
const PLAYERS: &str = "players";
/// The variables of a pilot's creature.
const KILLS: &str = "kills";
const DEATHS: &str = "deaths";
/// The variable of somebody who looks on, which no snapshot tells: its place among those who wait for a ship.
const WAITING: &str = "waiting";

/// The effect of a shockwave, which grows from where its ship is.
const SHOCKWAVE: &str = "shockwave";
/// The effect of a ship that ends.
const EXPLOSION: &str = "explosion";
/// The animation of a ship that launches a rocket.
const LAUNCH: &str = "launch";
/// The animation of a ship that ends; its flags are the creature of whose merit it was, or 0.
const DESTROYED: &str = "destroyed";

/// The animation of a ship whose pilot mocks everybody.
const TAUNTING: &str = "taunt";

/// The arena's own call: no argument; the answer is the scoreboard.
const SCORES: &str = "scores";

/// How the variable begins that is a pilot's round trip in milliseconds; its name follows.
const PING: &str = "ping ";

/// How the resref of a ship begins; its pilot's name follows.
const SHIP: &str = "ship ";

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
