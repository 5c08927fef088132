//! The messages that are repeated until acknowledged.

use tickwire_wire::{BigEndian, DecodeError, Field, Messages, messages};

use super::Kind;
use crate::lwar::limits::{CHAT_MAX, NAME_MAX};
use crate::lwar::{EntityId, PlayerId, Reader, Writer};

/// A reliable message without its number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reliable<'a> {
    /// Client: wants to play.
    Connect {
        /// What it calls itself.
        name: &'a str,
    },
    /// Client: wants to go.
    Disconnect,
    /// Server: a player is there.
    Join {
        /// Its id.
        player: PlayerId,
        /// Its name.
        name: &'a str,
    },
    /// Server: a player is gone.
    Leave {
        /// Which one.
        player: PlayerId,
    },
    /// Both: somebody says something.
    Chat {
        /// Who.
        player: PlayerId,
        /// What.
        text: &'a str,
    },
    /// Server: an entity is there.
    Add {
        /// Its id.
        entity: EntityId,
        /// Whose it is.
        owner: PlayerId,
        /// What it is.
        kind: Kind,
    },
    /// Server: an entity is gone.
    Remove {
        /// Which one.
        entity: EntityId,
    },
    /// Both: a player chose ship and weapons.
    Selection {
        /// Who.
        player: PlayerId,
        /// What it chose.
        selection: Selection,
    },
    /// Both: a player has another name.
    Name {
        /// Who.
        player: PlayerId,
        /// The new name.
        name: &'a str,
    },
    /// Server: everything that was there at the beginning has been told.
    Synced,
}

/// A ship and its weapons.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// The type of ship.
    pub ship: Kind,
    /// The weapon in each slot.
    pub weapons: [Kind; 4],
}

impl Selection {
    /// The first of its parts that names no ship, or no weapon.
    pub(crate) fn fault(&self) -> Option<Kind> {
        if self.ship != Kind::SHIP {
            return Some(self.ship);
        }
        self.weapons.into_iter().find(|weapon| !weapon.is_weapon())
    }
}

/// A text that must not be said, inside a message whose end is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BadText {
    /// A name that is too long or not UTF-8.
    Name(DecodeError),
    /// A chat that is not UTF-8.
    Chat(DecodeError),
}

impl BadText {
    /// What is wrong with it, and where.
    pub const fn error(self) -> DecodeError {
        match self {
            Self::Name(error) | Self::Chat(error) => error,
        }
    }
}

messages!(Reliable in BigEndian {
    1 Connect { name: "name" by NameText },
    2 Disconnect,
    3 Join { player: "player", name: "name" by NameText },
    4 Leave { player: "player" },
    5 Chat { player: "player", text: "message" by ChatText },
    6 Add { entity: "entity", owner: "player", kind: "type" },
    7 Remove { entity: "entity" },
    8 Selection { player: "player", selection: "selection" },
    9 Name { player: "player", name: "name" by NameText },
    10 Synced,
});

impl<'a> Reliable<'a> {
    /// Reads what follows id and number; `None` if the id is unknown.
    pub(super) fn decode(
        id: u8,
        r: &mut Reader<'a>,
    ) -> Result<Option<Result<Self, BadText>>, DecodeError> {
        match Self::read_fields(id, r, usize::MAX) {
            // Both are of a text, which is the last field and was read to its end.
            Err(bad @ (DecodeError::TooLong { .. } | DecodeError::NotUtf8 { .. })) => {
                Ok(Some(Err(match id {
                    5 => BadText::Chat(bad),
                    _ => BadText::Name(bad),
                })))
            }
            read => Ok(read?.map(Ok)),
        }
    }

    /// Writes the message under number `seq`.
    pub fn encode(&self, seq: u32, w: &mut Writer<'_>) {
        w.u8(self.number());
        w.u32(seq);
        self.write_fields(w);
    }
}

/// A text of at most so many bytes, behind its length.
struct Text<const LIMIT: u8>;

type NameText = Text<NAME_MAX>;
type ChatText = Text<CHAT_MAX>;

impl<const LIMIT: u8> Text<LIMIT> {
    /// A text that must not be said is read to its end before it is refused.
    fn read<'a>(r: &mut Reader<'a>, field: &'static str) -> Result<&'a str, DecodeError> {
        let length = r.u8("len")?;
        let within = r.limit(field, length.into(), LIMIT.into());
        match r.text(field, length.into()) {
            Err(cut @ DecodeError::Truncated { .. }) => Err(cut),
            read => within.and(read),
        }
    }

    /// One above 255 bytes is cut at a character border.
    fn write(text: &str, w: &mut Writer<'_>) {
        let text = text
            .get(..text.floor_char_boundary(u8::MAX.into()))
            .unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, reason = "cut above")]
        w.u8(text.len() as u8);
        w.bytes(text.as_bytes());
    }
}

impl Field<'_, BigEndian> for Kind {
    fn read(r: &mut Reader<'_>, field: &'static str) -> Result<Self, DecodeError> {
        let kind = Self(r.u8(field)?);
        r.means(kind.name());
        Ok(kind)
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.u8(self.0);
    }
}

impl Field<'_, BigEndian> for Selection {
    fn read(r: &mut Reader<'_>, _field: &'static str) -> Result<Self, DecodeError> {
        let ship = Field::read(r, "ship")?;
        let mut weapons = [Kind::NONE; 4];
        for weapon in &mut weapons {
            *weapon = Field::read(r, "weapon")?;
        }
        Ok(Self { ship, weapons })
    }

    fn write(&self, w: &mut Writer<'_>) {
        self.ship.write(w);
        self.weapons.iter().for_each(|weapon| weapon.write(w));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn text_that_must_not_be_said_ends_where_its_length_says() {
        for (id, longest) in [(5, CHAT_MAX), (9, NAME_MAX)] {
            for (length, fill) in (0..=u8::MAX).flat_map(|length| [(length, b'x'), (length, 0xff)])
            {
                let mut bytes = vec![0, 0, 0, 1, length];
                bytes.extend(vec![fill; length.into()]);
                let mut r = Reader::new(&bytes);
                let content = Reliable::decode(id, &mut r).unwrap().unwrap();
                let is_text = fill == b'x' || length == 0;
                assert_eq!(content.is_ok(), is_text && length <= longest, "{length}");
                assert!(r.is_empty());
            }
        }
    }
}
