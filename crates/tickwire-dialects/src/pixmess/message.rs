//! The messages: bytes to meaning and back.
//!
//! The two directions have different sets of messages, and some types have other fields in one
//! direction than in the other: [`FromClient`] and [`FromServer`]. Each is one packet. Decoding takes a
//! packet whole or leaves everything as it was, the [`Masks`] included; since a
//! stream has no other boundaries than those of its packets, nothing can be read after one that is
//! wrong.
//!
//! Strings are bytes here: what they may hold is for whoever receives them to judge. `T` is how they
//! are kept, borrowed from a buffer or [`Shared`] by the queues of many clients.

mod from_client;
mod from_server;
mod packet;

use alloc::sync::Arc;

use tickwire_wire::{DecodeError, LittleEndian, fields, number_fields};

use super::mask::{Head, MaskedType, Masks, Values, Wanted};
use super::place::{Cell, ChunkXy, EntityId, Low, PlayerId, SetId, Sublayer};
use super::{Block, Reader, Writer};

pub use from_client::FromClient;
pub use from_server::FromServer;
pub use packet::{Packet, Run};

/// How somebody looks, as 16 bits each that only games understand.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Look {
    /// Character.
    pub chr: u16,
    /// Colour.
    pub col: u16,
}

/// Of the protocol.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Version {
    /// As it was published.
    #[default]
    One,
    /// With movable layer sets and spectators.
    Two,
}

/// What a server says to a client whose version it does not speak: draft 1 knows no other word for it.
pub(super) const VERSION_MISMATCH: &str = "Version mismatch!";

impl Version {
    /// The version of this number, if it is spoken here.
    pub const fn of_code(code: u16) -> Option<Self> {
        match code {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            _ => None,
        }
    }

    /// Its number.
    pub const fn code(self) -> u16 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

/// `block_set_solid` or `block_set_walkable`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BlockSet {
    /// Which of the two.
    pub sublayer: Sublayer,
    /// The cell, as far as 16 bits tell.
    pub cell: Low,
    /// What is there from now on.
    pub block: Block,
}

impl BlockSet {
    const fn masked_type(sublayer: Sublayer) -> MaskedType {
        match sublayer {
            Sublayer::Solid => MaskedType::BlockSetSolid,
            Sublayer::Walkable => MaskedType::BlockSetWalkable,
        }
    }

    fn masked(&self) -> (MaskedType, Wanted) {
        (Self::masked_type(self.sublayer), all(self.values()))
    }

    /// Whether it takes a solid block away, so that colour and character mean nothing.
    pub(super) fn is_clearing(&self) -> bool {
        self.sublayer == Sublayer::Solid && self.block.typ == 0
    }

    fn decode(
        r: &mut Reader<'_>,
        masks: &mut Masks,
        head: Head,
        sublayer: Sublayer,
    ) -> Result<Self, DecodeError> {
        let of = Self::masked_type(sublayer);
        let mut kept = *masks.kept(of);
        let values = kept.read(r, of, head.form)?;
        masks.set(of, kept);
        Ok(Self::of_values(sublayer, &values))
    }

    const fn kind(&self) -> u8 {
        match self.sublayer {
            Sublayer::Solid => kind::BLOCK_SET_SOLID,
            Sublayer::Walkable => kind::BLOCK_SET_WALKABLE,
        }
    }

    fn values(&self) -> Values {
        let Self { cell, block, .. } = *self;
        let bits = |value: i8| u32::from(value.cast_unsigned());
        [
            cell.x.into(),
            cell.y.into(),
            bits(block.typ),
            bits(block.col),
            bits(block.ch),
        ]
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the values came from fields of these widths"
    )]
    const fn of_values(sublayer: Sublayer, values: &Values) -> Self {
        let [x, y, typ, col, ch] = *values;
        Self {
            sublayer,
            cell: Low {
                x: x as u16,
                y: y as u16,
            },
            block: Block {
                typ: (typ as u8).cast_signed(),
                col: (col as u8).cast_signed(),
                ch: (ch as u8).cast_signed(),
            },
        }
    }
}

/// Bytes that several queues hold, or a part of them.
#[derive(Clone, Debug)]
pub struct Shared {
    whole: Arc<[u8]>,
    from: usize,
    to: usize,
}

impl Shared {
    /// The part of `whole` from `from` on, at most `length` bytes.
    pub(super) fn part(whole: &Arc<[u8]>, from: usize, length: usize) -> Self {
        let from = from.min(whole.len());
        Self {
            whole: Arc::clone(whole),
            from,
            to: from.saturating_add(length).min(whole.len()),
        }
    }
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.whole.get(self.from..self.to).unwrap_or_default()
    }
}

impl From<&[u8]> for Shared {
    fn from(bytes: &[u8]) -> Self {
        Self::part(&bytes.into(), 0, usize::MAX)
    }
}

impl From<&str> for Shared {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

/// The types, by name.
pub(super) mod kind {
    /// A constant of each type, and what traces call it.
    macro_rules! kinds {
        ($($code:literal $constant:ident $name:literal)+) => {
            $(pub(in crate::pixmess) const $constant: u8 = $code;)+

            /// What a type is called.
            pub(in crate::pixmess) const fn name(kind: u8) -> Option<&'static str> {
                match kind {
                    $($code => Some($name),)+
                    _ => None,
                }
            }
        };
    }

    kinds! {
        0x02 BLOCK_SET_SOLID "block_set_solid"
        0x03 BLOCK_SET_WALKABLE "block_set_walkable"
        0x10 ENTITY_MOVEMENT "entity_movement"
        0x11 ENTITY_CREATION "entity_creation"
        0x40 LAYER_REQUEST "layer_request"
        0x41 LAYER_START "layer_start"
        0x42 LAYER_DATA "layer_data"
        0x43 LAYER_END "layer_end"
        0x44 LAYER_RELEASE "layer_release"
        0x45 LAYERSET_CREATE "layerset_create"
        0x46 LAYERSET_MOVE "layerset_move"
        0x47 LAYERSET_REMOVE "layerset_remove"
        0x48 LAYERSET_SELECT "layerset_select"
        0x50 ENTITY_POSITION "entity_position"
        0x51 ENTITY_DESTRUCTION "entity_destruction"
        0x58 CHAT "chat"
        0x7b LOGIN "login"
        0x7c PING "ping"
        0x7d PONG "pong"
        0x7e PLAYER_ID "player_id"
        0x7f KICK "kick"
    }

    /// Whether servers send packets of this type, and clients do not.
    pub(in crate::pixmess) const fn is_server_only(kind: u8) -> bool {
        matches!(
            kind,
            ENTITY_CREATION | LAYER_START..=LAYER_END | LAYERSET_CREATE..=LAYERSET_REMOVE
        )
    }
}

number_fields!(EntityId(u16), PlayerId(u16), SetId(u16));
fields!(Cell in LittleEndian { x: "x", y: "y" });
fields!(ChunkXy in LittleEndian { x: "x", y: "y" });
fields!(Look in LittleEndian { chr: "chr", col: "col" });

/// Reads a string with a length byte.
fn read_text<'a>(r: &mut Reader<'a>, field: &'static str) -> Result<&'a [u8], DecodeError> {
    let length = usize::from(r.u8("len")?);
    // A trace shows text as text if it is any.
    if core::str::from_utf8(r.peek(length)).is_ok() {
        r.text(field, length).map(str::as_bytes)
    } else {
        r.bytes(field, length)
    }
}

/// Writes a string with a length byte; one above 255 bytes is cut, at a character border if it is
/// text.
fn write_text(w: &mut Writer<'_>, text: &[u8]) {
    let text = cut_text(text);
    #[expect(clippy::cast_possible_truncation, reason = "cut to what fits")]
    w.u8(text.len() as u8);
    w.bytes(text);
}

fn cut_text(text: &[u8]) -> &[u8] {
    let most = usize::from(u8::MAX);
    let end = match core::str::from_utf8(text) {
        Ok(text) => text.floor_char_boundary(most),
        Err(_) => most,
    };
    text.get(..end).unwrap_or(text)
}

/// All fields matter.
fn all(values: Values) -> Wanted {
    values.map(Some)
}
