//! What the arena's events and actions carry: fields to bytes and back.
//!
//! Whatever does not decode gives `None`: an action is then answered with Error, an event ignored.

use tickwire_dialects::cppevy::{Reader, SyncId, Writer};
use tickwire_wire::DecodeError;

use super::SHOTS;
use crate::flight::narrow;
use crate::{Intent, Kind, Vec2};

/// Something fired, as [`SHOT`](super::SHOT) tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shot {
    /// Tells it from the others that are in the air.
    pub(super) number: u16,
    pub(super) kind: Kind,
    /// The ship it came from.
    pub(super) owner: Option<SyncId>,
    pub(super) position: Vec2,
    pub(super) velocity: Vec2,
    pub(super) degrees: f64,
    pub(super) reach: f64,
}

/// Stands for no owner: not a sync id, which has 10 bits.
const NOBODY: u16 = u16::MAX;

impl Shot {
    /// Bytes of one.
    pub(super) const LENGTH: usize = 29;

    /// The number of an encoded one.
    pub(super) const fn number(bytes: &[u8; Self::LENGTH]) -> u16 {
        u16::from_le_bytes([bytes[0], bytes[1]])
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        write(|w| {
            w.u16(self.number);
            w.u8(SHOTS
                .iter()
                .find(|(kind, _)| *kind == self.kind)
                .map_or(0, |(_, code)| *code));
            w.u16(self.owner.map_or(NOBODY, SyncId::number));
            write_vector(w, self.position);
            write_vector(w, self.velocity);
            w.f32(narrow(self.degrees));
            w.f32(narrow(self.reach));
        })
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let shot = Reader::read_all(bytes, |r| {
            Ok(Self {
                number: r.u16("number")?,
                kind: read_kind(r)?,
                owner: SyncId::new(r.u16("owner")?),
                position: read_vector(r)?,
                velocity: read_vector(r)?,
                degrees: r.f32("heading")?.into(),
                reach: r.f32("reach")?.into(),
            })
        })
        .ok()?;
        let are_finite = shot.position.is_finite() && shot.velocity.is_finite();
        (are_finite && shot.degrees.is_finite() && shot.reach.is_finite()).then_some(shot)
    }
}

pub(super) fn encode_intent(intent: &Intent) -> Vec<u8> {
    let mut intent = *intent;
    let aim = intent.aim;
    let bits = intent
        .buttons()
        .into_iter()
        .enumerate()
        .fold(0, |bits, (place, pressed)| {
            bits | u16::from(*pressed) << place
        });
    write(|w| {
        w.u16(bits);
        write_vector(w, aim);
    })
}

pub(super) fn decode_intent(bytes: &[u8]) -> Option<Intent> {
    let read = Reader::read_all(bytes, |r| Ok((r.u16("buttons")?, read_vector(r)?)));
    let (bits, aim) = read.ok()?;
    let mut intent = Intent {
        aim,
        ..Intent::default()
    };
    for (place, pressed) in intent.buttons().into_iter().enumerate() {
        *pressed = bits >> place & 1 == 1;
    }
    (aim.is_finite() && bits < 1 << 10).then_some(intent)
}

/// `u16` actor, then text to the end.
pub(super) fn encode_said(actor: SyncId, text: &str) -> Vec<u8> {
    write(|w| {
        w.u16(actor.number());
        w.bytes(text.as_bytes());
    })
}

pub(super) fn decode_said(bytes: &[u8]) -> Option<(SyncId, &str)> {
    let (actor, text) = bytes.split_first_chunk::<2>()?;
    Some((
        SyncId::new(u16::from_le_bytes(*actor))?,
        core::str::from_utf8(text).ok()?,
    ))
}

/// A line of the scoreboard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ScoreLine {
    pub(super) actor: SyncId,
    pub(super) kills: u16,
    pub(super) deaths: u16,
    pub(super) name: String,
}

impl ScoreLine {
    pub(super) fn encode(&self) -> Vec<u8> {
        write(|w| {
            w.u16(self.actor.number());
            w.u16(self.kills);
            w.u16(self.deaths);
            w.bytes(self.name.as_bytes());
        })
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut r = Reader::new(bytes);
        let actor = SyncId::new(r.u16("actor").ok()?)?;
        let (kills, deaths) = (r.u16("kills").ok()?, r.u16("deaths").ok()?);
        let name = r.text("name", r.remaining()).ok()?.to_owned();
        Some(Self {
            actor,
            kills,
            deaths,
            name,
        })
    }
}

pub(super) fn encode_vector(vector: Vec2) -> [u8; 8] {
    let [x, y] = [vector.x, vector.y].map(encode_number);
    [x[0], x[1], x[2], x[3], y[0], y[1], y[2], y[3]]
}

pub(super) fn decode_vector(bytes: &[u8]) -> Option<Vec2> {
    let vector = Reader::read_all(bytes, read_vector).ok()?;
    vector.is_finite().then_some(vector)
}

pub(super) const fn encode_number(number: f64) -> [u8; 4] {
    narrow(number).to_le_bytes()
}

pub(super) fn decode_number(bytes: &[u8]) -> Option<f64> {
    let number = Reader::read_all(bytes, |r| r.f32("number")).ok()?;
    number.is_finite().then(|| number.into())
}

/// What is left of a ship, of a hundred.
pub(super) fn decode_health(bytes: &[u8]) -> Option<u8> {
    let health = Reader::read_all(bytes, |r| r.u8("health")).ok()?;
    Some(health.min(100))
}

/// No less than most of what is written.
const LENGTH: usize = 32;

fn write(fields: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(LENGTH);
    fields(&mut Writer::new(&mut out, usize::MAX));
    out
}

fn read_kind(r: &mut Reader<'_>) -> Result<Kind, DecodeError> {
    let code = r.u8("kind")?;
    let known = SHOTS.iter().find(|(_, other)| *other == code);
    let (kind, _) = known.ok_or_else(|| r.refuse("kind", code.into()))?;
    Ok(*kind)
}

fn write_vector(w: &mut Writer<'_>, vector: Vec2) {
    w.f32(narrow(vector.x));
    w.f32(narrow(vector.y));
}

fn read_vector(r: &mut Reader<'_>) -> Result<Vec2, DecodeError> {
    Ok(Vec2::new(r.f32("x")?.into(), r.f32("y")?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_and_every_prefix_is_refused() {
        let shot = Shot {
            number: 7,
            kind: Kind::Rocket,
            owner: SyncId::new(3),
            position: Vec2::new(1.5, -2.0),
            velocity: Vec2::new(0.0, 600.0),
            degrees: 90.0,
            reach: 20.0,
        };
        let bytes = shot.encode();
        assert_eq!(Shot::decode(&bytes), Some(shot));
        assert!((0..bytes.len()).all(|cut| Shot::decode(&bytes[..cut]).is_none()));

        let intent = Intent {
            forward: true,
            fire: [false, false, false, true],
            aim: Vec2::new(10.0, 20.0),
            ..Intent::default()
        };
        let bytes = encode_intent(&intent);
        assert_eq!(decode_intent(&bytes), Some(intent));
        assert!((0..bytes.len()).all(|cut| decode_intent(&bytes[..cut]).is_none()));
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        assert_eq!(decode_number(&f32::NAN.to_le_bytes()), None);
        assert_eq!(decode_health(&[46]), Some(46));
        assert_eq!(decode_health(&[255]), Some(100));
        assert_eq!(decode_health(&[46, 46]), None);
        let mut aim = encode_intent(&Intent::default());
        aim[2..6].copy_from_slice(&f32::INFINITY.to_le_bytes());
        assert_eq!(decode_intent(&aim), None);
    }
}
