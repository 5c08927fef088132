//! The arena over lwar.
//!
//! lwar has 7 players: its own clients. Everybody else's ship belongs to the server. Ships, bullets,
//! rockets, planets and the sun are bodies, since the original client reads nothing else for them, and
//! the names of kinds are those of the original game.

mod client;
mod server;

use tickwire_dialects::lwar::message::Selection;
use tickwire_dialects::lwar::{self, Id};

use super::{Connect, Inspect, Paths, Protocol};
use crate::{Kind, Loadout, Weapon};

/// The entry of [`PROTOCOLS`](super::PROTOCOLS).
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "lwar",
    about: "a space shooter's protocol: UDP with reliable messages of its own, 7 players",
    port: lwar::PORT,
    paths: Paths::Datagrams,
    places: Some(lwar::limits::PLAYERS_MAX as usize),
    serve: |opening| Box::new(server::Gateway::new(opening.now, opening.secret)),
    connect: Connect::Arena(|now, server, name, loadout| {
        Box::new(client::Gateway::new(now, server, name, loadout))
    }),
    // Both sides' packets have the same form.
    inspect: Inspect {
        datagram: Some(|_, bytes, trace| lwar::inspect(bytes, trace)),
        stream: None,
        words: 1,
        snapshots: &["Update", "UpdatePos", "UpdateRay", "UpdateCircle"],
        counts: &[],
    },
};

/// The arena's kinds and lwar's, in pairs.
const KINDS: [(Kind, lwar::Kind); 7] = [
    (Kind::Ship, lwar::Kind::SHIP),
    (Kind::Bullet, lwar::Kind::BULLET),
    (Kind::Rocket, lwar::Kind::ROCKET),
    (Kind::Planet, lwar::Kind::PLANET),
    (Kind::Sun, lwar::Kind::SUN),
    (Kind::Ray, lwar::Kind::RAY),
    (Kind::Shockwave, lwar::Kind::SHOCKWAVE),
];

/// The arena's weapons and lwar's, in pairs.
const WEAPONS: [(Option<Weapon>, lwar::Kind); 5] = [
    (None, lwar::Kind::NONE),
    (Some(Weapon::Gun), lwar::Kind::GUN),
    (Some(Weapon::Phaser), lwar::Kind::PHASER),
    (Some(Weapon::Rocket), lwar::Kind::ROCKET),
    (Some(Weapon::Shockwave), lwar::Kind::SHOCKWAVE),
];

fn kind_to_lwar(kind: Kind) -> lwar::Kind {
    KINDS
        .iter()
        .find(|(ours, _)| *ours == kind)
        .map_or(lwar::Kind::NONE, |(_, theirs)| *theirs)
}

fn kind_from_lwar(kind: lwar::Kind) -> Option<Kind> {
    KINDS
        .iter()
        .find(|(_, theirs)| *theirs == kind)
        .map(|(ours, _)| *ours)
}

fn selection(loadout: Loadout) -> Selection {
    let weapons = loadout.0.map(|weapon| {
        let pair = WEAPONS.iter().find(|(ours, _)| *ours == weapon);
        pair.map_or(lwar::Kind::NONE, |(_, theirs)| *theirs)
    });
    Selection {
        ship: lwar::Kind::SHIP,
        weapons,
    }
}

fn loadout(selection: Selection) -> Loadout {
    Loadout(selection.weapons.map(|weapon| {
        let pair = WEAPONS.iter().find(|(_, theirs)| *theirs == weapon);
        pair.and_then(|(ours, _)| *ours)
    }))
}

/// The number by which a [`View`](crate::View) names an id.
fn seen_number(id: Id) -> u32 {
    u32::from(id.generation) << 16 | u32::from(id.index)
}

/// A coordinate as lwar carries it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "clamped; the arena is smaller"
)]
fn whole(coordinate: f64) -> i16 {
    coordinate.round().clamp(i16::MIN.into(), i16::MAX.into()) as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_weapon_has_a_name_on_both_sides() {
        for kind in Kind::ALL {
            assert_eq!(kind_from_lwar(kind_to_lwar(kind)), Some(kind));
        }
        assert_eq!(loadout(selection(Loadout::STANDARD)), Loadout::STANDARD);
        assert_eq!(loadout(selection(Loadout::UNARMED)), Loadout::UNARMED);
    }
}
