//! What a server says.

use tickwire_wire::{DecodeError, Field as _};

use super::{BlockSet, Look, Packet, all, cut_text, kind, read_text, write_text};
use crate::pixmess::limits::PIECE_MAX;
use crate::pixmess::mask::{Head, MaskedType, Masks, Values, Wanted};
use crate::pixmess::place::{Cell, ChunkXy, Direction, EntityId, PlayerId, SetId, Sublayer};
use crate::pixmess::{Reader, Writer};

/// A message of a server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FromServer<T> {
    /// A block is another.
    BlockSet(BlockSet),
    /// An entity takes a step.
    Movement {
        /// Which one.
        entity: EntityId,
        /// A direction's code.
        direction: u8,
    },
    /// An entity is there.
    EntityCreation {
        /// Its number.
        entity: EntityId,
        /// Where it stands.
        at: Cell,
        /// What it looks like.
        look: Look,
        /// Its name.
        name: T,
    },
    /// The pieces of a chunk follow.
    LayerStart(ChunkXy),
    /// A piece.
    LayerData {
        /// Part of a gzip stream.
        data: T,
    },
    /// That was the last piece.
    LayerEnd,
    /// The client hears no more of a chunk.
    LayerRelease(ChunkXy),
    /// Version 2: a movable layer set is there.
    LayersetCreate {
        /// Its number.
        set: SetId,
        /// Where its corner is in the root.
        at: Cell,
    },
    /// Version 2: it is elsewhere.
    LayersetMove {
        /// Which one.
        set: SetId,
        /// Where its corner is in the root.
        at: Cell,
    },
    /// Version 2: it is gone, and its chunks with it.
    LayersetRemove {
        /// Which one.
        set: SetId,
    },
    /// Version 2: which layer set the following block and layer packets mean.
    LayersetSelect {
        /// The set.
        set: SetId,
    },
    /// An entity is here, wherever it was.
    EntityPosition {
        /// Which one.
        entity: EntityId,
        /// Where.
        at: Cell,
    },
    /// An entity is gone, or out of sight.
    EntityDestruction {
        /// Which one.
        entity: EntityId,
    },
    /// A line for the chat.
    Chat {
        /// What it says.
        text: T,
    },
    /// Wants an answer.
    Ping,
    /// The answer.
    Pong,
    /// The client's number.
    PlayerId {
        /// It.
        player: PlayerId,
    },
    /// The client has to go.
    Kick {
        /// Why.
        reason: T,
    },
}

/// What a type is called, if servers send it.
const fn name_of(kind: u8) -> Option<&'static str> {
    match kind {
        kind::LAYER_REQUEST | kind::LOGIN => None,
        _ => kind::name(kind),
    }
}

impl<'a> FromServer<&'a [u8]> {
    /// Reads one packet. A failure leaves `masks` as they were.
    pub fn decode(r: &mut Reader<'a>, masks: &mut Masks) -> Result<Self, DecodeError> {
        let head = Head::decode(r, name_of)?;
        Ok(match head.kind {
            kind::BLOCK_SET_SOLID => {
                Self::BlockSet(BlockSet::decode(r, masks, head, Sublayer::Solid)?)
            }
            kind::BLOCK_SET_WALKABLE => {
                Self::BlockSet(BlockSet::decode(r, masks, head, Sublayer::Walkable)?)
            }
            kind::ENTITY_MOVEMENT => decode_movement(r, masks, head)?,
            kind::ENTITY_CREATION => decode_creation(r, masks, head)?,
            kind::LAYER_START => Self::LayerStart(ChunkXy::read(r, "chunk")?),
            kind::LAYER_DATA => Self::LayerData {
                data: read_piece(r)?,
            },
            kind::LAYER_END => Self::LayerEnd,
            kind::LAYER_RELEASE => Self::LayerRelease(ChunkXy::read(r, "chunk")?),
            kind::LAYERSET_CREATE => Self::LayersetCreate {
                set: SetId::read(r, "set")?,
                at: Cell::read(r, "cell")?,
            },
            kind::LAYERSET_MOVE => Self::LayersetMove {
                set: SetId::read(r, "set")?,
                at: Cell::read(r, "cell")?,
            },
            kind::LAYERSET_REMOVE => Self::LayersetRemove {
                set: SetId::read(r, "set")?,
            },
            kind::LAYERSET_SELECT => Self::LayersetSelect {
                set: SetId::read(r, "set")?,
            },
            kind::ENTITY_POSITION => Self::EntityPosition {
                entity: EntityId::read(r, "id")?,
                at: Cell::read(r, "cell")?,
            },
            kind::ENTITY_DESTRUCTION => Self::EntityDestruction {
                entity: EntityId::read(r, "id")?,
            },
            kind::CHAT => Self::Chat {
                text: read_text(r, "message")?,
            },
            kind::PING => Self::Ping,
            kind::PONG => Self::Pong,
            kind::PLAYER_ID => Self::PlayerId {
                player: PlayerId::read(r, "id")?,
            },
            kind::KICK => Self::Kick {
                reason: read_text(r, "reason")?,
            },
            other => return Err(r.refuse("type", other.into())),
        })
    }
}

type Decoded<'a> = Result<FromServer<&'a [u8]>, DecodeError>;

#[expect(
    clippy::cast_possible_truncation,
    reason = "the values came from fields of these widths"
)]
fn decode_movement<'a>(r: &mut Reader<'a>, masks: &mut Masks, head: Head) -> Decoded<'a> {
    let of = MaskedType::EntityMovement;
    let mut kept = *masks.kept(of);
    let [entity, direction, ..] = kept.read(r, of, head.form)?;
    masks.set(of, kept);
    let direction = direction as u8;
    if let Some(direction) = Direction::of_code(direction) {
        r.means(direction.name());
    }
    Ok(FromServer::Movement {
        entity: EntityId(entity as u16),
        direction,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the values came from fields of these widths"
)]
fn decode_creation<'a>(r: &mut Reader<'a>, masks: &mut Masks, head: Head) -> Decoded<'a> {
    let of = MaskedType::EntityCreation;
    let entity = EntityId::read(r, "id")?;
    let mut kept = *masks.kept(of);
    let [x, y, col, ch, _] = kept.read(r, of, head.form)?;
    let name = read_text(r, "name")?;
    masks.set(of, kept);
    Ok(FromServer::EntityCreation {
        entity,
        at: Cell {
            x: x.cast_signed(),
            y: y.cast_signed(),
        },
        look: Look {
            chr: ch as u16,
            col: col as u16,
        },
        name,
    })
}

/// The bound is checked before anything is kept for it.
fn read_piece<'a>(r: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    let length = r.u16("len")?;
    r.limit("data", length.into(), PIECE_MAX.into())?;
    r.bytes("data", length.into())
}

fn cut_piece(data: &[u8]) -> &[u8] {
    data.get(..PIECE_MAX.into()).unwrap_or(data)
}

impl<T: AsRef<[u8]>> Packet for FromServer<T> {
    fn kind(&self) -> u8 {
        match self {
            Self::BlockSet(block_set) => block_set.kind(),
            Self::Movement { .. } => kind::ENTITY_MOVEMENT,
            Self::EntityCreation { .. } => kind::ENTITY_CREATION,
            Self::LayerStart(_) => kind::LAYER_START,
            Self::LayerData { .. } => kind::LAYER_DATA,
            Self::LayerEnd => kind::LAYER_END,
            Self::LayerRelease(_) => kind::LAYER_RELEASE,
            Self::LayersetCreate { .. } => kind::LAYERSET_CREATE,
            Self::LayersetMove { .. } => kind::LAYERSET_MOVE,
            Self::LayersetRemove { .. } => kind::LAYERSET_REMOVE,
            Self::LayersetSelect { .. } => kind::LAYERSET_SELECT,
            Self::EntityPosition { .. } => kind::ENTITY_POSITION,
            Self::EntityDestruction { .. } => kind::ENTITY_DESTRUCTION,
            Self::Chat { .. } => kind::CHAT,
            Self::Ping => kind::PING,
            Self::Pong => kind::PONG,
            Self::PlayerId { .. } => kind::PLAYER_ID,
            Self::Kick { .. } => kind::KICK,
        }
    }

    fn masked(&self) -> Option<(MaskedType, Wanted)> {
        let (of, values): (_, Values) = match self {
            Self::BlockSet(block_set) => return Some(block_set.masked()),
            Self::Movement { entity, direction } => (
                MaskedType::EntityMovement,
                [entity.0.into(), (*direction).into(), 0, 0, 0],
            ),
            Self::EntityCreation { at, look, .. } => (
                MaskedType::EntityCreation,
                [
                    at.x.cast_unsigned(),
                    at.y.cast_unsigned(),
                    look.col.into(),
                    look.chr.into(),
                    0,
                ],
            ),
            _ => return None,
        };
        Some((of, all(values)))
    }

    fn unmasked_size(&self) -> usize {
        match self {
            Self::EntityCreation { name, .. } => 3 + cut_text(name.as_ref()).len(),
            Self::LayerStart(_) | Self::LayerRelease(_) => 8,
            Self::LayerData { data } => 2 + cut_piece(data.as_ref()).len(),
            Self::LayersetCreate { .. }
            | Self::LayersetMove { .. }
            | Self::EntityPosition { .. } => 10,
            Self::LayersetRemove { .. }
            | Self::LayersetSelect { .. }
            | Self::EntityDestruction { .. }
            | Self::PlayerId { .. } => 2,
            Self::Chat { text } | Self::Kick { reason: text } => 1 + cut_text(text.as_ref()).len(),
            Self::BlockSet(_)
            | Self::Movement { .. }
            | Self::LayerEnd
            | Self::Ping
            | Self::Pong => 0,
        }
    }

    fn write_front(&self, w: &mut Writer<'_>) {
        if let Self::EntityCreation { entity, .. } = self {
            entity.write(w);
        }
    }

    fn write_back(&self, w: &mut Writer<'_>) {
        match self {
            Self::EntityCreation { name, .. } => write_text(w, name.as_ref()),
            Self::LayerStart(chunk) | Self::LayerRelease(chunk) => chunk.write(w),
            Self::LayerData { data } => {
                let data = cut_piece(data.as_ref());
                #[expect(clippy::cast_possible_truncation, reason = "cut to what fits")]
                w.u16(data.len() as u16);
                w.bytes(data);
            }
            Self::LayersetCreate { set, at } | Self::LayersetMove { set, at } => {
                set.write(w);
                at.write(w);
            }
            Self::LayersetRemove { set } | Self::LayersetSelect { set } => set.write(w),
            Self::EntityPosition { entity, at } => {
                entity.write(w);
                at.write(w);
            }
            Self::EntityDestruction { entity } => entity.write(w),
            Self::Chat { text } | Self::Kick { reason: text } => write_text(w, text.as_ref()),
            Self::PlayerId { player } => player.write(w),
            Self::BlockSet(_)
            | Self::Movement { .. }
            | Self::LayerEnd
            | Self::Ping
            | Self::Pong => {}
        }
    }
}
