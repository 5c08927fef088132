//! What a player's client is made of, so that it can be made again.

use tickwire_session::tap::{About, Recorded};
use tickwire_session::{Addr, Instant};
use tickwire_wire::{DecodeError, LittleEndian, Reader, Writer};

use super::Player;
use crate::gateway::{Connect, Protocol};
use crate::tiles::Look;
use crate::{Loadout, Weapon};

/// Everything that a client is made of.
#[derive(Clone, Debug)]
pub struct Start {
    /// The protocol.
    pub protocol: &'static Protocol,
    /// The moment.
    pub now: Instant,
    /// The server, as the driver calls it.
    pub server: Addr,
    /// What the player is called.
    pub name: String,
    /// What else it has.
    pub kit: Kit,
}

/// What a player brings, in either game.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kit {
    /// In the arena.
    pub loadout: Loadout,
    /// In the tile world.
    pub look: Look,
}

const WEAPONS: [Option<Weapon>; 5] = [
    None,
    Some(Weapon::Gun),
    Some(Weapon::Phaser),
    Some(Weapon::Rocket),
    Some(Weapon::Shockwave),
];

impl Start {
    /// Makes the client. An error says what is wrong with its name.
    pub fn connect(&self) -> Result<Player, String> {
        let Self {
            now, server, kit, ..
        } = *self;
        Ok(match self.protocol.connect {
            Connect::Arena(connect) => Player::Arena(connect(now, server, &self.name, kit.loadout)),
            Connect::Tiles(connect) => Player::Tiles(connect(now, server, &self.name, kit.look)?),
        })
    }

    /// Calls `tell` with what a recording of this client begins with.
    pub(super) fn tell_about(&self, tell: impl FnOnce(&About<'_>)) {
        let mut words = Vec::new();
        let mut w = Writer::<LittleEndian>::new(&mut words, 64 + self.name.len());
        for weapon in self.kit.loadout.0 {
            w.u8(weapon_code(weapon));
        }
        w.u16(self.kit.look.chr);
        w.u16(self.kit.look.col);
        w.bytes(self.name.as_bytes());
        debug_assert!(w.finish().is_ok(), "there is room for the name");
        tell(&About {
            side: Recorded::Client,
            peer: self.server,
            protocol: self.protocol.name,
            words: &words,
        });
    }

    /// Reads what a recording begins with. Nothing, if it names a protocol that is not known.
    pub(super) fn read(now: Instant, about: &About<'_>) -> Result<Option<Self>, DecodeError> {
        let Some(protocol) = Protocol::named(about.protocol) else {
            return Ok(None);
        };
        let mut start = Self {
            protocol,
            now,
            server: about.peer,
            name: "replay".into(),
            kit: Kit::default(),
        };
        if about.side == Recorded::Server {
            return Ok(Some(start));
        }
        let mut r = Reader::<LittleEndian>::new(about.words);
        for slot in &mut start.kit.loadout.0 {
            *slot = read_weapon(&mut r)?;
        }
        start.kit.look = Look {
            chr: r.u16("chr")?,
            col: r.u16("col")?,
        };
        let name = r.bytes("name", r.remaining())?;
        start.name = String::from_utf8_lossy(name).into_owned();
        Ok(Some(start))
    }
}

/// How a recording names a weapon.
pub(super) fn weapon_code(weapon: Option<Weapon>) -> u8 {
    let code = WEAPONS.iter().position(|other| *other == weapon);
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(0)
}

pub(super) fn read_weapon(r: &mut Reader<'_, LittleEndian>) -> Result<Option<Weapon>, DecodeError> {
    let code = r.u8("weapon")?;
    let weapon = WEAPONS.get(usize::from(code)).copied();
    weapon.ok_or_else(|| r.refuse("weapon", code.into()))
}
