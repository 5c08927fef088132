//! What is around every message's fields: its type and the length of what follows.
//!
//! In: the bytes of a datagram, or of a stream as far as it came. Out: whole messages of types that may
//! come this way, with payloads of a length that the type may have; both are checked before a field is
//! read. The fields themselves are the [`body`]'s.

use tickwire_state::Tick;
use tickwire_wire::{DecodeError, Full};

use super::{Kind, Message, ObjectChange, Way, body};
use crate::opendrakan::limits::{HEADER, PAYLOAD_MAX};
use crate::opendrakan::{ObjectId, Reader, Writer};

/// A message's first bytes, found to be allowed.
#[derive(Clone, Copy, Debug)]
struct Header {
    kind: Kind,
    length: u16,
}

impl Header {
    fn decode(r: &mut Reader<'_>, way: Way) -> Result<Self, DecodeError> {
        let id = r.u8("type")?;
        let Some(kind) = way.kind(id) else {
            return Err(r.refuse("type", id.into()));
        };
        r.means(kind.name());
        let length = r.u16("payload length")?;
        if kind.may_have(length) {
            Ok(Self { kind, length })
        } else {
            Err(r.refuse("payload length", length.into()))
        }
    }
}

impl<'a> Message<'a> {
    /// Reads the next message.
    pub fn decode(r: &mut Reader<'a>, way: Way) -> Result<Self, DecodeError> {
        let header = Header::decode(r, way)?;
        let start = r.position();
        if r.remaining() < header.length.into() {
            return Err(DecodeError::Truncated {
                field: "payload",
                at_bit: bit(start),
            });
        }
        let end = start + usize::from(header.length);
        let message = body::decode(header.kind, r, end)?;
        match r.position() {
            at if at > end => Err(DecodeError::Truncated {
                field: "payload",
                at_bit: bit(start),
            }),
            at if at < end => Err(DecodeError::Trailing { at_bit: bit(at) }),
            _ => Ok(message),
        }
    }

    /// Reads the next message of a stream that may not have arrived whole; `None` until it has. What
    /// can be refused by its first bytes is refused before the rest comes.
    pub fn decode_arrived(r: &mut Reader<'a>, way: Way) -> Result<Option<Self>, DecodeError> {
        if r.remaining() < HEADER {
            // An unknown type need not wait for its length.
            return match r.peek(1) {
                [id] if way.kind(*id).is_none() => Err(r.refuse("type", (*id).into())),
                _ => Ok(None),
            };
        }
        let header = Header::decode(&mut Reader::new(r.peek(HEADER)), way)?;
        if r.remaining() < HEADER + usize::from(header.length) {
            return Ok(None);
        }
        Self::decode(r, way).map(Some)
    }

    /// Writes the message, or nothing if it does not fit.
    pub fn encode(&self, w: &mut Writer<'_>) -> Result<(), Full> {
        if self.variable_part() > PAYLOAD_MAX as usize - FIXED_MAX {
            return Err(Full);
        }
        w.whole(|w| {
            w.u8(self.kind().id());
            let at = w.written();
            w.u16(0);
            body::encode(self, w);
            let length = u16::try_from(w.written().saturating_sub(at + 2));
            let [low, high] = length.unwrap_or(PAYLOAD_MAX).to_le_bytes();
            w.patch_u8(at, low);
            w.patch_u8(at + 1, high);
        })
    }

    /// Bytes that the sender chose the number of.
    const fn variable_part(&self) -> usize {
        match self {
            Self::DatabaseEntry { path, .. } | Self::LoadLevel { path, .. } => path.len(),
            Self::ObjectChanged {
                change: ObjectChange::ExtraStates(bundle),
                ..
            } => bundle.len(),
            Self::GlobalMessage { body, .. } | Self::ObjectMessage { body, .. } => body.len(),
            _ => 0,
        }
    }
}

/// Bytes of every type's other fields are no more than this.
const FIXED_MAX: usize = 64;

/// Writes the ObjectStates or ObjectExtraStates of a bundle that is written already, or nothing if it
/// does not fit: what a server writes by the thousand.
pub(in crate::opendrakan) fn encode_bundle(
    w: &mut Writer<'_>,
    kind: Kind,
    tick: Tick,
    object: ObjectId,
    bundle: &[u8],
) -> Result<(), Full> {
    let id = kind.id();
    let Ok(length) = u16::try_from(PLACE + bundle.len()) else {
        return Err(Full);
    };
    if w.room() < HEADER + PLACE + bundle.len() {
        return Err(Full);
    }
    let [l0, l1] = length.to_le_bytes();
    let [t0, t1, t2, t3, t4, t5, t6, t7] = tick.0.to_le_bytes();
    let [o0, o1, o2, o3] = object.0.to_le_bytes();
    // All at once: a field at a time costs several times as much.
    w.bytes(&[id, l0, l1, t0, t1, t2, t3, t4, t5, t6, t7, o0, o1, o2, o3]);
    w.bytes(bundle);
    Ok(())
}

/// Bytes of the tick and the object that states are of.
const PLACE: usize = 8 + 4;

/// The bit at which byte `at` begins.
pub(super) fn bit(at: usize) -> u32 {
    u32::try_from(at.saturating_mul(8)).unwrap_or(u32::MAX)
}
