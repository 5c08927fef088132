//! The arena over OpenDrakan.
//!
//! The level has one hidden object of each kind of thing; whatever is in the arena is a clone of its
//! kind's. A pilot has one ship object for all its lives: it is hidden in between, spawned but not running, and
//! jumps to where the next begins. Controls are actions, each judged by the moment that its player saw. Who is
//! who, the scores and the kills are global messages, a hit is one from ship to ship, and every shot is an
//! animation and a sound. All codes are listed here and in the protocol's `WIRE.md`.

mod client;
pub(super) mod save;
mod server;
mod words;

use tickwire_dialects::opendrakan::{
    self, AssetRef, ClassId, DatabaseId, Field, ObjectId, Registry, Schema,
};

use super::{Connect, Inspect, Paths, Protocol, Side};
use crate::{Intent, Kind, Weapon};

/// The entry of [`PROTOCOLS`](super::PROTOCOLS).
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "opendrakan",
    about: "an engine's snapshots over UDP, with actions and messages over TCP",
    port: opendrakan::PORT,
    paths: Paths::Both,
    places: None,
    serve: |opening| Box::new(server::Gateway::new(opening.now, opening.secret)),
    // The protocol has no place for a name.
    connect: Connect::Arena(|now, server, _, loadout| {
        Box::new(client::Gateway::new(now, server, loadout))
    }),
    inspect: Inspect {
        datagram: Some(|from, bytes, trace| {
            opendrakan::inspect(from == Side::Client, false, bytes, trace)
        }),
        stream: Some(|from| {
            let from_client = from == Side::Client;
            Box::new(move |bytes, trace| opendrakan::inspect_next(from_client, bytes, trace))
        }),
        words: 1,
        snapshots: &["ObjectStates"],
        counts: &[],
    },
};

/// The level's file.
const LEVEL: &str = "arena/arena.lvl";

/// The databases' files; their places are the server's numbers.
const DATABASES: [&str; 2] = ["arena/ships.db", "arena/sounds.db"];
/// Where animations come from.
const SHIPS: DatabaseId = DatabaseId(0);
/// Where sounds come from.
const SOUNDS: DatabaseId = DatabaseId(1);

/// What sounds of which number.
const SOUND_NAMES: [(u16, &str); 5] = [
    (1, "gun"),
    (2, "phaser"),
    (3, "rocket"),
    (4, "shockwave"),
    (5, "explosion"),
];

/// What an exploding ship sounds like.
const EXPLOSION: AssetRef = AssetRef {
    database: SOUNDS,
    asset: 5,
};

/// The class of every object.
const CLASS: ClassId = ClassId(1);

/// Places of the extra states: `u8` percent, `u32` pilot or 0, bool.
const HEALTH: usize = 0;
const OWNER: usize = 1;
const ARMED: usize = 2;

/// The level's objects, each the prototype of its kind.
const PROTOTYPES: [(Kind, ObjectId); 7] = [
    (Kind::Ship, ObjectId(1)),
    (Kind::Planet, ObjectId(2)),
    (Kind::Sun, ObjectId(3)),
    (Kind::Bullet, ObjectId(4)),
    (Kind::Rocket, ObjectId(5)),
    (Kind::Ray, ObjectId(6)),
    (Kind::Shockwave, ObjectId(7)),
];

/// The action that only brings the ship.
const ENTER: u32 = 0;
/// The first of the actions that are held, in the order of [`Intent::buttons`].
const BUTTONS: u32 = 1;
/// The first of those that fire.
const TRIGGERS: u32 = 7;
/// The analog action that says which point of the world the weapons point at.
const AIM: u32 = 11;
/// The first of the actions that put a weapon into a slot: five for each slot, in the order of
/// [`WEAPONS`].
const CHOICES: u32 = 16;

/// The arena's weapons by their code.
const WEAPONS: [Option<Weapon>; 5] = [
    None,
    Some(Weapon::Gun),
    Some(Weapon::Phaser),
    Some(Weapon::Rocket),
    Some(Weapon::Shockwave),
];

/// To a client whose ship enters: `u32` its pilot.
const YOU: u32 = 1;
/// A line of the scoreboard: `u32` pilot, `u16` kills, `u16` deaths, UTF-8 name to the end.
const SCORE: u32 = 2;
/// A pilot is gone: `u32` pilot.
const GONE: u32 = 3;
/// A ship was destroyed: `u32` victim, `u32` by whom or 0.
const KILLED: u32 = 4;
/// From one ship to another, whose client alone is told: the first has hit it. `u8` percent of health left.
const HIT: u32 = 1;
/// The server ends, and its stream with it: nothing more. The protocol itself has no word for it.
const FAREWELL: u32 = 5;

/// What both sides hold.
fn registry() -> Registry {
    let field = |name, kind| Field { name, kind };
    let schema = Schema::new(&[
        field("health", opendrakan::Kind::U8),
        field("owner", opendrakan::Kind::U32),
        field("armed", opendrakan::Kind::Bool),
    ]);
    let mut registry = Registry::new();
    // Six bytes fit a bundle.
    registry.register(CLASS, schema.unwrap_or_default());
    registry
}

fn kind_of(prototype: ObjectId) -> Option<Kind> {
    let found = PROTOTYPES.iter().find(|(_, object)| *object == prototype);
    found.map(|(kind, _)| *kind)
}

/// The asset number, in either database, of what fires a kind of shot.
const fn shot_asset(kind: Kind) -> Option<u16> {
    match kind {
        Kind::Bullet => Some(1),
        Kind::Ray => Some(2),
        Kind::Rocket => Some(3),
        Kind::Shockwave => Some(4),
        Kind::Ship | Kind::Planet | Kind::Sun => None,
    }
}

/// The place of a button among [`Intent::buttons`].
fn button(code: u32) -> Option<usize> {
    let place = usize::try_from(code.checked_sub(BUTTONS)?).ok()?;
    (place < Intent::default().buttons().len()).then_some(place)
}

/// The slot, and the weapon that a code puts there.
fn choice(code: u32) -> Option<(usize, Option<Weapon>)> {
    let number = usize::try_from(code.checked_sub(CHOICES)?).ok()?;
    let slot = number / WEAPONS.len();
    (slot < crate::limits::WEAPON_SLOTS).then(|| (slot, WEAPONS[number % WEAPONS.len()]))
}

/// The codes of all choices that make up a loadout.
fn choice_codes(loadout: crate::Loadout) -> impl Iterator<Item = u32> {
    let slots = (CHOICES..).step_by(WEAPONS.len()).zip(loadout.0);
    slots.map(|(none, weapon)| {
        let codes = (none..).zip(WEAPONS);
        let mut found = codes.filter(|(_, other)| *other == weapon);
        found.next().map_or(none, |(code, _)| code)
    })
}

#[cfg(test)]
mod tests;
