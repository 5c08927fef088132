//! What the arena's events, calls and creatures carry: fields to bytes and back.
//!
//! Whatever does not decode gives `None`: an event is then passed over, an answer ignored.

use tickwire_dialects::reone::{self, CreatureStatus, ObjectId, Reader, Text, Vec3, Writer};
use tickwire_wire::DecodeError;

use super::WEAPONS;
use crate::entity::{Mount, Role};
use crate::flight::{Flight, narrow};
use crate::limits::WEAPON_SLOTS;
use crate::{Entity, Intent, Loadout, Tick, Vec2};

pub(super) fn encode_intent(intent: &Intent, out: &mut Vec<u8>) {
    let mut intent = *intent;
    let aim = intent.aim;
    let places = (0..).zip(intent.buttons());
    let bits = places.fold(0_u16, |bits, (place, held)| {
        bits | u16::from(*held) << place
    });
    let mut w = Writer::new(out, usize::MAX);
    w.u16(bits);
    w.f32(narrow(aim.x));
    w.f32(narrow(aim.y));
}

pub(super) fn decode_intent(bytes: &[u8]) -> Option<Intent> {
    let (bits, x, y) = read(bytes, |r| {
        Ok((r.u16("buttons")?, r.f32("aim x")?, r.f32("aim y")?))
    })?;
    let mut intent = Intent {
        aim: Vec2::new(x.into(), y.into()),
        ..Intent::default()
    };
    let buttons = intent.buttons();
    if bits >> buttons.len() != 0 {
        return None;
    }
    for (place, held) in buttons.into_iter().enumerate() {
        *held = bits >> place & 1 == 1;
    }
    intent.aim.is_finite().then_some(intent)
}

/// The weapons' codes, slot by slot.
pub(super) fn encode_loadout(loadout: Loadout) -> [u8; 4] {
    loadout.0.map(|weapon| {
        let mut codes = (0..).zip(WEAPONS);
        let found = codes.find(|(_, (other, _))| *other == weapon);
        found.map_or(0, |(code, _)| code)
    })
}

pub(super) fn decode_loadout(bytes: &[u8]) -> Option<Loadout> {
    let codes: [u8; 4] = bytes.try_into().ok()?;
    let is_known = codes.iter().all(|code| usize::from(*code) < WEAPONS.len());
    is_known.then(|| Loadout(codes.map(|code| WEAPONS[usize::from(code)].0)))
}

/// A ship as a creature.
pub(super) fn ship_status(ship: &Entity, intent: &Intent, now: Tick) -> CreatureStatus {
    let flight = ship.flight();
    let slots = mounts(ship).map(|mount| mount.map(|mount| mount.weapon));
    let models = encode_loadout(Loadout(slots));
    let [equipment1, equipment2, equipment3, equipment4] = models.map(u16::from);
    let anim = animation(intent);
    CreatureStatus {
        pos: Vec3 {
            x: flight.x,
            y: flight.y,
            z: 0.0,
        },
        heading: flight.heading,
        anim,
        // It runs with its animation, and begins anew with every rest.
        animframe: match anim {
            RESTING => 0,
            _ => now.0.to_le_bytes()[0],
        },
        faction: u8::from(models != [0; 4]),
        equipment1,
        equipment2,
        equipment3,
        equipment4,
        equipment5: 0,
        equipment6: ship.health_percent().into(),
    }
}

/// How a ship moves.
pub(super) fn ship_velocity(ship: &Entity) -> reone::Vec2 {
    let flight = ship.flight();
    reone::Vec2 {
        x: flight.speed_x,
        y: flight.speed_y,
    }
}

/// What lies in the slots of a ship: how many, and what it is called.
pub(super) fn ship_items(ship: &Entity) -> [Option<(u16, &'static str)>; WEAPON_SLOTS] {
    mounts(ship).map(|mount| {
        let mount = mount?;
        let (_, name) = WEAPONS.iter().find(|(it, _)| *it == Some(mount.weapon))?;
        Some((mount.left.unwrap_or(1), *name)).filter(|(count, _)| *count > 0)
    })
}

fn mounts(ship: &Entity) -> [Option<Mount>; WEAPON_SLOTS] {
    match &ship.role {
        Role::Ship(ship) => ship.mounts,
        _ => [None; WEAPON_SLOTS],
    }
}

/// The animation of a ship that rests, and those of one that does not.
const RESTING: u8 = 0;
const THRUSTING: u8 = 1;
const TURNING: u8 = 2;

const fn animation(intent: &Intent) -> u8 {
    match *intent {
        Intent { forward: true, .. }
        | Intent { backward: true, .. }
        | Intent {
            strafe_left: true, ..
        }
        | Intent {
            strafe_right: true, ..
        } => THRUSTING,
        Intent {
            turn_left: true, ..
        }
        | Intent {
            turn_right: true, ..
        } => TURNING,
        _ => RESTING,
    }
}

/// What the next step of a ship follows from; `None` if a number is none.
pub(super) fn ship_flight(status: &CreatureStatus, velocity: reone::Vec2) -> Option<Flight> {
    let flight = Flight {
        x: status.pos.x,
        y: status.pos.y,
        speed_x: velocity.x,
        speed_y: velocity.y,
        heading: status.heading,
    };
    let is_good = flight.position().is_finite()
        && flight.velocity().is_finite()
        && flight.heading.is_finite();
    is_good.then_some(flight)
}

/// What is left of a ship, in percent.
pub(super) fn ship_health(status: &CreatureStatus) -> u8 {
    u8::try_from(status.equipment6.min(100)).unwrap_or(100)
}

/// A line of the scoreboard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ScoreLine {
    pub(super) creature: ObjectId,
    pub(super) kills: u16,
    pub(super) deaths: u16,
    pub(super) name: String,
}

/// `u16` number of lines, then of each `u32` creature, `u16` kills, `u16` deaths, string name.
pub(super) fn encode_scores(lines: &[ScoreLine]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = Writer::new(&mut out, usize::MAX);
    w.u16(u16::try_from(lines.len()).unwrap_or(u16::MAX));
    for line in lines.iter().take(u16::MAX.into()) {
        w.u32(line.creature.0);
        w.u16(line.kills);
        w.u16(line.deaths);
        Text::new(&line.name).unwrap_or_default().encode(&mut w);
    }
    out
}

pub(super) fn decode_scores(bytes: &[u8]) -> Option<Vec<ScoreLine>> {
    read(bytes, |r| {
        let count = r.u16("lines")?;
        let line = |r: &mut Reader<'_>| {
            Ok(ScoreLine {
                creature: ObjectId(r.u32("creature")?),
                kills: r.u16("kills")?,
                deaths: r.u16("deaths")?,
                name: Text::decode(r, "name")?.as_str().to_owned(),
            })
        };
        (0..count).map(|_| line(r)).collect()
    })
}

/// Reads all of `bytes`.
fn read<'a, T>(
    bytes: &'a [u8],
    fields: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Option<T> {
    Reader::read_all(bytes, fields).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arena, Weapon, rules};

    #[test]
    fn an_intent_survives_and_every_other_length_is_refused() {
        let intent = Intent {
            forward: true,
            strafe_right: true,
            fire: [false, true, false, true],
            aim: Vec2::new(-3.5, 1_024.25),
            ..Intent::default()
        };
        let mut bytes = Vec::new();
        encode_intent(&intent, &mut bytes);
        assert_eq!(decode_intent(&bytes), Some(intent));
        assert!((0..bytes.len()).all(|cut| decode_intent(&bytes[..cut]).is_none()));
        let nowhere = [&bytes[..2], &f32::NAN.to_le_bytes(), &[0; 4]].concat();
        assert_eq!(decode_intent(&nowhere), None);
        bytes[1] |= 0x80;
        assert_eq!(decode_intent(&bytes), None, "there is no sixteenth button");
    }

    #[test]
    fn a_loadout_survives_and_unknown_weapons_are_refused() {
        let two_guns = Loadout([Some(Weapon::Gun), None, Some(Weapon::Gun), None]);
        for loadout in [Loadout::STANDARD, Loadout::UNARMED, two_guns] {
            assert_eq!(decode_loadout(&encode_loadout(loadout)), Some(loadout));
        }
        assert_eq!(decode_loadout(&[1, 2, 3, 5]), None);
        assert_eq!(decode_loadout(&[1, 2, 3]), None);
    }

    #[test]
    fn a_ship_that_was_told_flies_on_as_the_real_one() {
        let mut arena = Arena::new(1);
        let pilot = arena.join("Ada").unwrap();
        arena.select(pilot, Loadout::STANDARD);
        let forward = Intent {
            forward: true,
            turn_left: true,
            ..Intent::default()
        };
        arena.set_intent(pilot, forward);
        for _ in 0..100 {
            arena.step();
        }
        let ship = arena.pilot(pilot).unwrap().ship().unwrap();
        let ship = arena.entity(ship).unwrap();
        let status = ship_status(ship, &forward, arena.tick());
        let told = ship_flight(&status, ship_velocity(ship));
        assert_eq!(told, Some(ship.flight()));
        let worn = [status.equipment1, status.equipment2, status.equipment3];
        assert_eq!((worn, status.equipment4), ([1, 2, 3], 4));
        assert_eq!((ship_health(&status), status.equipment6), (100, 100));
        assert_eq!((status.anim, status.animframe, status.faction), (1, 100, 1));
        let resting = ship_status(ship, &Intent::default(), arena.tick());
        assert_eq!((resting.anim, resting.animframe), (0, 0));
        let turning = Intent {
            turn_left: true,
            ..Intent::default()
        };
        assert_eq!(ship_status(ship, &turning, arena.tick()).anim, 2);
        let rockets = Some((rules::ROCKETS_CARRIED, "rockets"));
        let all = [Some((1, "gun")), Some((1, "phaser")), rockets];
        assert_eq!(ship_items(ship)[..3], all);
    }

    #[test]
    fn scores_survive_and_every_other_length_is_refused() {
        let lines: Vec<_> = ["Ada", "Väinö"]
            .into_iter()
            .zip(1..)
            .map(|(name, number)| ScoreLine {
                creature: ObjectId(number),
                kills: 7,
                deaths: 9,
                name: name.into(),
            })
            .collect();
        let bytes = encode_scores(&lines);
        assert_eq!(decode_scores(&bytes), Some(lines));
        assert!((0..bytes.len()).all(|cut| decode_scores(&bytes[..cut]).is_none()));
    }
}
