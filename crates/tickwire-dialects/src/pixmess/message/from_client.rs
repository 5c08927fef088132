//! What a client says.

use tickwire_wire::{DecodeError, Field as _};

use super::{BlockSet, Look, Packet, all, cut_text, kind, read_text, write_text};
use crate::pixmess::mask::{Head, MaskedType, Masks, Values, Wanted};
use crate::pixmess::place::{Cell, ChunkXy, Direction, EntityId, SetId, Sublayer};
use crate::pixmess::{Reader, Writer};

/// A message of a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FromClient<T> {
    /// Wants a block to be another.
    BlockSet(BlockSet),
    /// Takes a step.
    Movement {
        /// A direction's code, or a number that is none.
        direction: u8,
    },
    /// Wants a chunk, and to hear what happens in it.
    LayerRequest(ChunkXy),
    /// Wants to hear no more of a chunk.
    LayerRelease(ChunkXy),
    /// Version 2: which layer set the following block and layer packets mean.
    LayersetSelect {
        /// The set.
        set: SetId,
    },
    /// Thinks that it stands here.
    EntityPosition {
        /// Where.
        at: Cell,
    },
    /// Wants to hear no more of an entity.
    EntityDestruction {
        /// Which one.
        entity: EntityId,
    },
    /// Says something, or gives a command.
    Chat {
        /// What.
        text: T,
    },
    /// Wants to take part.
    Login {
        /// Of the protocol.
        version: u16,
        /// What the player looks like.
        look: Look,
        /// Its name.
        name: T,
    },
    /// Wants an answer.
    Ping,
    /// The answer.
    Pong,
    /// Wants to know its player's number.
    PlayerId,
    /// Goes.
    Kick {
        /// Why.
        reason: T,
    },
}

/// What a type is called, if clients send it.
const fn name_of(kind: u8) -> Option<&'static str> {
    match kind {
        _ if kind::is_server_only(kind) => None,
        _ => kind::name(kind),
    }
}

impl<'a> FromClient<&'a [u8]> {
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
            kind::ENTITY_MOVEMENT => {
                let of = MaskedType::OwnMovement;
                let mut kept = *masks.kept(of);
                let [direction, ..] = kept.read(r, of, head.form)?;
                masks.set(of, kept);
                // The field has 8 bits.
                let direction = u8::try_from(direction).unwrap_or(u8::MAX);
                if let Some(direction) = Direction::of_code(direction) {
                    r.means(direction.name());
                }
                Self::Movement { direction }
            }
            kind::LAYER_REQUEST => Self::LayerRequest(ChunkXy::read(r, "chunk")?),
            kind::LAYER_RELEASE => Self::LayerRelease(ChunkXy::read(r, "chunk")?),
            kind::LAYERSET_SELECT => Self::LayersetSelect {
                set: SetId::read(r, "set")?,
            },
            kind::ENTITY_POSITION => Self::EntityPosition {
                at: Cell::read(r, "cell")?,
            },
            kind::ENTITY_DESTRUCTION => Self::EntityDestruction {
                entity: EntityId::read(r, "id")?,
            },
            kind::CHAT => Self::Chat {
                text: read_text(r, "message")?,
            },
            kind::LOGIN => Self::Login {
                version: r.u16("version")?,
                look: Look::read(r, "look")?,
                name: read_text(r, "name")?,
            },
            kind::PING => Self::Ping,
            kind::PONG => Self::Pong,
            kind::PLAYER_ID => Self::PlayerId,
            kind::KICK => Self::Kick {
                reason: read_text(r, "reason")?,
            },
            other => return Err(r.refuse("type", other.into())),
        })
    }
}

impl<T: AsRef<[u8]>> Packet for FromClient<T> {
    fn kind(&self) -> u8 {
        match self {
            Self::BlockSet(block_set) => block_set.kind(),
            Self::Movement { .. } => kind::ENTITY_MOVEMENT,
            Self::LayerRequest(_) => kind::LAYER_REQUEST,
            Self::LayerRelease(_) => kind::LAYER_RELEASE,
            Self::LayersetSelect { .. } => kind::LAYERSET_SELECT,
            Self::EntityPosition { .. } => kind::ENTITY_POSITION,
            Self::EntityDestruction { .. } => kind::ENTITY_DESTRUCTION,
            Self::Chat { .. } => kind::CHAT,
            Self::Login { .. } => kind::LOGIN,
            Self::Ping => kind::PING,
            Self::Pong => kind::PONG,
            Self::PlayerId => kind::PLAYER_ID,
            Self::Kick { .. } => kind::KICK,
        }
    }

    fn masked(&self) -> Option<(MaskedType, Wanted)> {
        match self {
            Self::BlockSet(block_set) => {
                let (of, mut wanted) = block_set.masked();
                // Who clears a solid block has nothing to say about its colour and character.
                if block_set.is_clearing()
                    && let [.., col, ch] = &mut wanted
                {
                    (*col, *ch) = (None, None);
                }
                Some((of, wanted))
            }
            Self::Movement { direction } => {
                let mut values = Values::default();
                let [first, ..] = &mut values;
                *first = u32::from(*direction);
                Some((MaskedType::OwnMovement, all(values)))
            }
            _ => None,
        }
    }

    fn unmasked_size(&self) -> usize {
        match self {
            Self::LayerRequest(_) | Self::LayerRelease(_) | Self::EntityPosition { .. } => 8,
            Self::LayersetSelect { .. } | Self::EntityDestruction { .. } => 2,
            Self::Chat { text } | Self::Kick { reason: text } => 1 + cut_text(text.as_ref()).len(),
            Self::Login { name, .. } => 7 + cut_text(name.as_ref()).len(),
            _ => 0,
        }
    }

    fn write_front(&self, _: &mut Writer<'_>) {}

    fn write_back(&self, w: &mut Writer<'_>) {
        match self {
            Self::LayerRequest(chunk) | Self::LayerRelease(chunk) => chunk.write(w),
            Self::LayersetSelect { set } => set.write(w),
            Self::EntityPosition { at } => at.write(w),
            Self::EntityDestruction { entity } => entity.write(w),
            Self::Chat { text } | Self::Kick { reason: text } => write_text(w, text.as_ref()),
            Self::Login {
                version,
                look,
                name,
            } => {
                w.u16(*version);
                look.write(w);
                write_text(w, name.as_ref());
            }
            Self::BlockSet(_)
            | Self::Movement { .. }
            | Self::Ping
            | Self::Pong
            | Self::PlayerId => {}
        }
    }
}
