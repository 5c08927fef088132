//! The messages that are repeated until acknowledged.

use tickwire_wire::DecodeError;

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

/// Content that may be forbidden for the reason `E`, inside a message whose end is known.
type Content<T, E = BadText> = Result<Result<T, E>, DecodeError>;

impl<'a> Reliable<'a> {
    /// The id on the wire.
    pub const fn id(&self) -> u8 {
        match self {
            Self::Connect { .. } => 1,
            Self::Disconnect => 2,
            Self::Join { .. } => 3,
            Self::Leave { .. } => 4,
            Self::Chat { .. } => 5,
            Self::Add { .. } => 6,
            Self::Remove { .. } => 7,
            Self::Selection { .. } => 8,
            Self::Name { .. } => 9,
            Self::Synced => 10,
        }
    }

    /// Reads what follows id and number; `None` if the id is unknown.
    pub(super) fn decode(
        id: u8,
        r: &mut Reader<'a>,
    ) -> Result<Option<Result<Self, BadText>>, DecodeError> {
        Ok(Some(match id {
            1 => name(r)?.map(|name| Self::Connect { name }),
            2 => Ok(Self::Disconnect),
            3 => {
                let player = PlayerId::decode(r)?;
                name(r)?.map(|name| Self::Join { player, name })
            }
            4 => Ok(Self::Leave {
                player: PlayerId::decode(r)?,
            }),
            5 => {
                let player = PlayerId::decode(r)?;
                chat(r)?.map(|text| Self::Chat { player, text })
            }
            6 => Ok(Self::Add {
                entity: EntityId::decode(r)?,
                owner: PlayerId::decode(r)?,
                kind: kind(r, "type")?,
            }),
            7 => Ok(Self::Remove {
                entity: EntityId::decode(r)?,
            }),
            8 => {
                let player = PlayerId::decode(r)?;
                let ship = kind(r, "ship")?;
                let mut weapons = [Kind::NONE; 4];
                for weapon in &mut weapons {
                    *weapon = kind(r, "weapon")?;
                }
                Ok(Self::Selection {
                    player,
                    selection: Selection { ship, weapons },
                })
            }
            9 => {
                let player = PlayerId::decode(r)?;
                name(r)?.map(|name| Self::Name { player, name })
            }
            10 => Ok(Self::Synced),
            _ => return Ok(None),
        }))
    }

    /// Writes the message under number `seq`.
    pub fn encode(&self, seq: u32, w: &mut Writer<'_>) {
        w.u8(self.id());
        w.u32(seq);
        match *self {
            Self::Connect { name } => write_text(w, name),
            Self::Disconnect | Self::Synced => {}
            Self::Join { player, name } | Self::Name { player, name } => {
                player.encode(w);
                write_text(w, name);
            }
            Self::Leave { player } => player.encode(w),
            Self::Chat { player, text } => {
                player.encode(w);
                write_text(w, text);
            }
            Self::Add {
                entity,
                owner,
                kind,
            } => {
                entity.encode(w);
                owner.encode(w);
                w.u8(kind.0);
            }
            Self::Remove { entity } => entity.encode(w),
            Self::Selection { player, selection } => {
                player.encode(w);
                w.u8(selection.ship.0);
                selection.weapons.iter().for_each(|weapon| w.u8(weapon.0));
            }
        }
    }
}

fn name<'a>(r: &mut Reader<'a>) -> Content<&'a str> {
    Ok(text(r, "name", NAME_MAX)?.map_err(BadText::Name))
}

fn chat<'a>(r: &mut Reader<'a>) -> Content<&'a str> {
    Ok(text(r, "message", CHAT_MAX)?.map_err(BadText::Chat))
}

fn text<'a>(r: &mut Reader<'a>, field: &'static str, limit: u8) -> Content<&'a str, DecodeError> {
    let length = r.u8("len")?;
    let within = r.limit(field, length.into(), limit.into());
    match r.text(field, length.into()) {
        Err(cut @ DecodeError::Truncated { .. }) => Err(cut),
        read => Ok(within.and(read)),
    }
}

fn kind(r: &mut Reader<'_>, field: &'static str) -> Result<Kind, DecodeError> {
    let kind = Kind(r.u8(field)?);
    r.means(kind.name());
    Ok(kind)
}

/// Writes length and bytes; a text above 255 bytes is cut at a character border.
fn write_text(w: &mut Writer<'_>, text: &str) {
    let text = text
        .get(..text.floor_char_boundary(u8::MAX.into()))
        .unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, reason = "cut above")]
    w.u8(text.len() as u8);
    w.bytes(text.as_bytes());
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
