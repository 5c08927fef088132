//! The messages: bytes to meaning and back.
//!
//! A packet is read message by message. Two things can go wrong with one: its end cannot be found
//! (an unknown id, a cut field), and then nothing after it can be read; or its end is clear and its
//! content is forbidden (a name that is not UTF-8), and then reading goes on behind it. So decoding
//! gives a [`Framed`] message, whose content may still be a [`BadText`], or why it is [`Unframed`].

mod record;
mod reliable;
mod unreliable;

use tickwire_wire::{DecodeError, Messages};

use super::{Reader, Writer};

pub(crate) use record::encode_all;
pub use record::{Body, Circle, Kind, Place, PlayerScore, Ray, Record, Records};
pub use reliable::{BadText, Reliable, Selection};
pub use unreliable::{Collision, Input, Unreliable};

/// A message whose end is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Framed<'a> {
    /// Numbered, and repeated until acknowledged.
    Reliable {
        /// Its number; the first one is 1.
        seq: u32,
        /// What it says, or why it must not say that.
        content: Result<Reliable<'a>, BadText>,
    },
    /// Sent once.
    Unreliable(Unreliable<'a>),
}

/// A message whose end cannot be found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Unframed {
    /// What is wrong.
    pub error: DecodeError,
    /// The number of a reliable message with an unknown id: it can be told from a repetition, but
    /// not skipped.
    pub seq: Option<u32>,
}

impl From<DecodeError> for Unframed {
    fn from(error: DecodeError) -> Self {
        Self { error, seq: None }
    }
}

impl<'a> Framed<'a> {
    /// Reads the next message of a packet.
    pub fn decode(r: &mut Reader<'a>) -> Result<Self, Unframed> {
        let id = r.u8("id")?;
        let name = Reliable::name_of(id).or_else(|| Unreliable::name_of(id));
        r.means(name.unwrap_or("unknown"));
        // Made here, because it points at the field that was read last.
        let unknown = r.refuse("id", id.into());
        match id {
            1..=99 => {
                let seq = r.u32("seqno")?;
                match Reliable::decode(id, r) {
                    Ok(Some(content)) => Ok(Self::Reliable { seq, content }),
                    Ok(None) => Err(Unframed {
                        error: unknown,
                        seq: Some(seq),
                    }),
                    Err(error) => Err(error.into()),
                }
            }
            _ => match Unreliable::read_fields(id, r, usize::MAX)? {
                Some(message) => Ok(Self::Unreliable(message)),
                None => Err(unknown.into()),
            },
        }
    }

    /// Writes the message as it was read. Forbidden content cannot be written.
    pub fn encode(&self, w: &mut Writer<'_>) {
        match self {
            Self::Reliable {
                seq,
                content: Ok(message),
            } => message.encode(*seq, w),
            Self::Reliable {
                content: Err(_), ..
            } => {}
            Self::Unreliable(message) => message.encode(w),
        }
    }
}
