//! The bodies of global messages.

use tickwire_dialects::opendrakan::{Reader, Writer};

/// Names a pilot; 0 is nobody.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct PilotNumber(pub(super) u32);

impl PilotNumber {
    pub(super) const NOBODY: Self = Self(0);

    /// This, unless it is nobody.
    pub(super) fn somebody(self) -> Option<Self> {
        (self != Self::NOBODY).then_some(self)
    }

    pub(super) fn encode(self) -> Vec<u8> {
        write(|w| w.u32(self.0))
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let pilot = Reader::read_all(bytes, |r| r.u32("pilot")).ok()?;
        Self(pilot).somebody()
    }
}

/// A line of the scoreboard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ScoreLine {
    pub(super) pilot: PilotNumber,
    pub(super) kills: u16,
    pub(super) deaths: u16,
    pub(super) name: String,
}

impl ScoreLine {
    pub(super) fn encode(&self) -> Vec<u8> {
        write(|w| {
            w.u32(self.pilot.0);
            w.u16(self.kills);
            w.u16(self.deaths);
            w.bytes(self.name.as_bytes());
        })
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        Reader::read_all(bytes, |r| {
            Ok(Self {
                pilot: PilotNumber(r.u32("pilot")?),
                kills: r.u16("kills")?,
                deaths: r.u16("deaths")?,
                name: r.text("name", r.remaining())?.to_owned(),
            })
        })
        .ok()
    }
}

/// The end of a ship.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Kill {
    pub(super) victim: PilotNumber,
    /// Nobody, if the sun or a planet did it.
    pub(super) by: PilotNumber,
}

impl Kill {
    pub(super) fn encode(self) -> Vec<u8> {
        write(|w| {
            w.u32(self.victim.0);
            w.u32(self.by.0);
        })
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        Reader::read_all(bytes, |r| {
            Ok(Self {
                victim: PilotNumber(r.u32("victim")?),
                by: PilotNumber(r.u32("by")?),
            })
        })
        .ok()
    }
}

fn write(fields: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    fields(&mut Writer::new(&mut out, usize::MAX));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_and_every_shorter_one_is_refused() {
        let line = ScoreLine {
            pilot: PilotNumber(7),
            kills: 1,
            deaths: 2,
            name: "Väinö".into(),
        };
        let bytes = line.encode();
        assert_eq!(ScoreLine::decode(&bytes), Some(line));
        assert!((0..8).all(|cut| ScoreLine::decode(&bytes[..cut]).is_none()));

        let kill = Kill {
            victim: PilotNumber(3),
            by: PilotNumber::NOBODY,
        };
        let bytes = kill.encode();
        assert_eq!(Kill::decode(&bytes), Some(kill));
        assert!((0..8).all(|cut| Kill::decode(&bytes[..cut]).is_none()));
        assert_eq!(PilotNumber::decode(&bytes), None);
        assert_eq!(PilotNumber::decode(&PilotNumber::NOBODY.encode()), None);
    }
}
