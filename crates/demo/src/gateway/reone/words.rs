//! What the arena's events, calls and creatures carry: fields to bytes and back.
//!
//! Whatever does not decode gives `None`: an event is then passed over, an answer ignored.

use tickwire_dialects::reone::{CreatureStatus, ObjectId, Reader, Text, Vec3, Writer};
use tickwire_wire::DecodeError;

use super::WEAPONS;
use crate::entity::Role;
use crate::flight::{Flight, narrow};
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

/// A ship as a creature. The velocity is in the equipment, whole: from it and what stands beside it the
/// next step follows to the bit.
pub(super) fn ship_status(ship: &Entity, now: Tick) -> CreatureStatus {
    let flight = ship.flight();
    let (mut weapons, mut busy) = (0, 0);
    if let Role::Ship(ship) = &ship.role {
        let slots = ship.mounts.map(|mount| mount.map(|mount| mount.weapon));
        for (place, code) in encode_loadout(Loadout(slots)).into_iter().enumerate() {
            weapons |= u16::from(code) << (4 * place);
        }
        for (place, mount) in ship.mounts.iter().enumerate() {
            let is_busy = mount.is_some_and(|mount| mount.ready > now || mount.ray.is_some());
            busy |= u8::from(is_busy) << place;
        }
    }
    let [equipment1, equipment2] = halves(flight.speed_x);
    let [equipment3, equipment4] = halves(flight.speed_y);
    CreatureStatus {
        pos: Vec3 {
            x: flight.x,
            y: flight.y,
            z: 0.0,
        },
        heading: flight.heading,
        anim: busy,
        animframe: 0,
        faction: 0,
        equipment1,
        equipment2,
        equipment3,
        equipment4,
        equipment5: weapons,
        equipment6: ship.health_percent().into(),
    }
}

/// What the next step of a ship follows from; `None` if a number is none.
pub(super) fn ship_flight(status: &CreatureStatus) -> Option<Flight> {
    let flight = Flight {
        x: status.pos.x,
        y: status.pos.y,
        speed_x: whole([status.equipment1, status.equipment2]),
        speed_y: whole([status.equipment3, status.equipment4]),
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

/// The lower and the upper half of a number's bits.
#[expect(clippy::cast_possible_truncation, reason = "each is one half")]
const fn halves(number: f32) -> [u16; 2] {
    let bits = number.to_bits();
    [bits as u16, (bits >> 16) as u16]
}

fn whole([lower, upper]: [u16; 2]) -> f32 {
    f32::from_bits(u32::from(upper) << 16 | u32::from(lower))
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
    use crate::{Arena, Weapon};

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
        let status = ship_status(ship, arena.tick());
        assert_eq!(ship_flight(&status), Some(ship.flight()));
        assert_eq!((ship_health(&status), status.equipment5), (100, 0x4321));
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
