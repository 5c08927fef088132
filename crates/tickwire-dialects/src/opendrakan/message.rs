//! The messages: bytes to meaning and back.
//!
//! Each is a type, the length of what follows, and its fields. The same framing serves streams and
//! datagrams; which types may appear depends on who sends and on which path ([`Way`]), and any other
//! type does not decode. Lengths are checked against what is there and against the type before a field
//! is read.

mod body;
mod snapshot;

use tickwire_session::Token;
use tickwire_state::Tick;
use tickwire_wire::{DecodeError, Full};

use super::limits::{HEADER, PAYLOAD_MAX};
use super::{AssetRef, DatabaseId, ObjectId, Reader, Writer};

pub use snapshot::{BasicChanges, Confirm, Lifecycle};

/// Who sends, and on which path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Way {
    ClientDatagram,
    ClientStream,
    ServerDatagram,
    ServerStream,
}

/// A message. Times are seconds of the server's clock, which is tick / 60.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message<'a> {
    /// One database of the server, by the number that asset references use.
    DatabaseEntry {
        /// Its number.
        database: DatabaseId,
        /// Its file, relative to the engine's root.
        path: &'a str,
    },
    /// What to load.
    LoadLevel {
        /// How many databases the table has.
        databases: u32,
        /// The level's file.
        path: &'a str,
    },
    /// Basic states of an object.
    ObjectStates {
        /// The snapshot.
        tick: Tick,
        /// Whose.
        object: ObjectId,
        /// Which, and what they are.
        states: BasicChanges,
    },
    /// Extra states of an object. How to read them depends on its class, which only the receiver
    /// knows: see [`bundle::decode`](super::bundle::decode).
    ObjectExtraStates {
        /// The snapshot.
        tick: Tick,
        /// Whose.
        object: ObjectId,
        /// The bundle's bytes.
        bundle: &'a [u8],
    },
    /// What makes a snapshot complete.
    ConfirmSnapshot(Confirm),
    /// From the game to all of a client.
    GlobalMessage {
        /// What it is about.
        channel: u32,
        /// When it was sent.
        real_time: f64,
        /// Whatever the game says.
        body: &'a [u8],
    },
    /// From one object to another.
    ObjectMessage {
        /// What it is about.
        channel: u32,
        /// Who says it.
        sender: ObjectId,
        /// To whom.
        receiver: ObjectId,
        /// When it was sent.
        real_time: f64,
        /// Whatever the game says.
        body: &'a [u8],
    },
    /// An object begins an animation.
    ObjectAnimation {
        /// When.
        real_time: f64,
        /// Which object.
        object: ObjectId,
        /// Which animation.
        animation: AssetRef,
        /// On which of the object's channels.
        channel: i32,
        /// 1 for the animation's own speed.
        speed: f32,
    },
    /// A client has a snapshot whole.
    AcknowledgeSnapshot {
        /// Which.
        tick: Tick,
    },
    /// A player pressed, holds or released something.
    Action(Action),
    /// A player moved a stick.
    AnalogAction(AnalogAction),
    /// A sound begins.
    Sound {
        /// When.
        real_time: f64,
        /// Which.
        sound: AssetRef,
    },
    /// An object was created.
    ObjectCreated {
        /// The snapshot.
        tick: Tick,
        /// Its number.
        object: ObjectId,
        /// What it is a clone of.
        prototype: ObjectId,
    },
    /// An object entered another state of its life.
    LifecycleChanged {
        /// The snapshot.
        tick: Tick,
        /// Which.
        object: ObjectId,
        /// What it is now.
        lifecycle: Lifecycle,
    },
    /// Which datagrams belong to this stream.
    Attach {
        /// The server's secret for this client.
        token: Token,
    },
}

/// A player pressed, holds or released something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// When, in seconds of the server's clock.
    pub real_time: f64,
    /// What; the game's number.
    pub code: u32,
    /// How.
    pub state: ActionState,
}

/// A player moved a stick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnalogAction {
    /// When, in seconds of the server's clock.
    pub real_time: f64,
    /// Which; the game's number.
    pub code: u32,
    /// Where it is now.
    pub x: f32,
    /// Where it is now.
    pub y: f32,
}

/// What happened to a button.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ActionState {
    /// It was pressed.
    Begin,
    /// It was released.
    End,
    /// It is still held.
    Repeat,
}

/// How long payloads of a type are.
#[derive(Clone, Copy)]
enum Length {
    Exactly(u16),
    AtLeast(u16),
}

/// What is known of a type: its name, the length of its payload, and who sends it on which path.
struct Type {
    name: &'static str,
    length: Length,
    ways: &'static [Way],
}

/// The types, by their number.
const TYPES: [Type; 15] = {
    use Length::{AtLeast, Exactly};
    use Way::{ClientDatagram, ClientStream, ServerDatagram, ServerStream};
    const fn of(name: &'static str, length: Length, ways: &'static [Way]) -> Type {
        Type { name, length, ways }
    }
    [
        of("DatabaseEntry", AtLeast(4), &[ServerStream]),
        of("LoadLevel", AtLeast(4), &[ServerStream]),
        of("ObjectStates", AtLeast(14), &[ServerDatagram]),
        of("ObjectExtraStates", AtLeast(14), &[ServerDatagram]),
        of("ConfirmSnapshot", Exactly(28), &[ServerDatagram]),
        of("GlobalMessage", AtLeast(12), &[ServerStream]),
        of("ObjectMessage", AtLeast(20), &[ServerStream]),
        of("ObjectAnimation", Exactly(26), &[ServerStream]),
        of("AcknowledgeSnapshot", Exactly(8), &[ClientDatagram]),
        of("Action", Exactly(13), &[ClientStream]),
        of("AnalogAction", Exactly(20), &[ClientStream]),
        of("Sound", Exactly(14), &[ServerStream]),
        of("ObjectCreated", Exactly(16), &[ServerDatagram]),
        of("LifecycleChanged", Exactly(13), &[ServerDatagram]),
        of("Attach", Exactly(8), &[ServerStream, ClientDatagram]),
    ]
};

/// Bytes of every type's other fields are no more than this.
const FIXED_MAX: usize = 64;

/// A message's first bytes, found to be allowed.
#[derive(Clone, Copy, Debug)]
struct Header {
    id: u8,
    length: u16,
}

impl<'a> Message<'a> {
    /// The type's number on the wire.
    pub const fn id(&self) -> u8 {
        match self {
            Self::DatabaseEntry { .. } => 0,
            Self::LoadLevel { .. } => 1,
            Self::ObjectStates { .. } => 2,
            Self::ObjectExtraStates { .. } => 3,
            Self::ConfirmSnapshot(_) => 4,
            Self::GlobalMessage { .. } => 5,
            Self::ObjectMessage { .. } => 6,
            Self::ObjectAnimation { .. } => 7,
            Self::AcknowledgeSnapshot { .. } => 8,
            Self::Action(_) => 9,
            Self::AnalogAction(_) => 10,
            Self::Sound { .. } => 11,
            Self::ObjectCreated { .. } => 12,
            Self::LifecycleChanged { .. } => 13,
            Self::Attach { .. } => 14,
        }
    }

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
        let message = body::decode(header.id, r, end)?;
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
                [id] if type_of(*id, way).is_none() => Err(r.refuse("type", (*id).into())),
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
        encode_framed(w, self.id(), |w| body::encode(self, w))
    }

    /// Bytes that the sender chose the number of.
    const fn variable_part(&self) -> usize {
        match self {
            Self::DatabaseEntry { path, .. } | Self::LoadLevel { path, .. } => path.len(),
            Self::ObjectExtraStates { bundle, .. } => bundle.len(),
            Self::GlobalMessage { body, .. } | Self::ObjectMessage { body, .. } => body.len(),
            _ => 0,
        }
    }
}

/// Which of an object's states a message is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum StateKind {
    Basic,
    Extra,
}

/// Writes the ObjectStates or ObjectExtraStates of a bundle that is written already, or nothing if it
/// does not fit: what a server writes by the thousand.
pub(super) fn encode_bundle(
    w: &mut Writer<'_>,
    kind: StateKind,
    tick: Tick,
    object: ObjectId,
    bundle: &[u8],
) -> Result<(), Full> {
    let id = match kind {
        StateKind::Basic => 2,
        StateKind::Extra => 3,
    };
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

/// Writes type, length and a payload, or nothing if it does not fit.
fn encode_framed(
    w: &mut Writer<'_>,
    id: u8,
    payload: impl FnOnce(&mut Writer<'_>),
) -> Result<(), Full> {
    w.whole(|w| {
        w.u8(id);
        let at = w.written();
        w.u16(0);
        payload(w);
        let length = u16::try_from(w.written().saturating_sub(at + 2));
        let [low, high] = length.unwrap_or(PAYLOAD_MAX).to_le_bytes();
        w.patch_u8(at, low);
        w.patch_u8(at + 1, high);
    })
}

impl Header {
    fn decode(r: &mut Reader<'_>, way: Way) -> Result<Self, DecodeError> {
        let id = r.u8("type")?;
        let Some(known) = type_of(id, way) else {
            return Err(r.refuse("type", id.into()));
        };
        r.means(known.name);
        let length = r.u16("payload length")?;
        let fits = match known.length {
            Length::Exactly(exact) => length == exact,
            Length::AtLeast(least) => length >= least,
        };
        if fits {
            Ok(Self { id, length })
        } else {
            Err(r.refuse("payload length", length.into()))
        }
    }
}

impl Way {
    /// The way of something that a client or a server sent, on a stream or as a datagram.
    pub const fn new(from_client: bool, on_stream: bool) -> Self {
        match (from_client, on_stream) {
            (true, true) => Self::ClientStream,
            (true, false) => Self::ClientDatagram,
            (false, true) => Self::ServerStream,
            (false, false) => Self::ServerDatagram,
        }
    }
}

impl ActionState {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let state = r.u8("action state")?;
        let (state, word) = match state {
            0 => (Self::Begin, "begin"),
            1 => (Self::End, "end"),
            2 => (Self::Repeat, "repeat"),
            other => return Err(r.refuse("action state", other.into())),
        };
        r.means(word);
        Ok(state)
    }

    const fn number(self) -> u8 {
        match self {
            Self::Begin => 0,
            Self::End => 1,
            Self::Repeat => 2,
        }
    }
}

impl AssetRef {
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let asset = r.u16("asset")?;
        let database = DatabaseId(r.u32("database")?);
        Ok(Self { database, asset })
    }

    fn encode(self, w: &mut Writer<'_>) {
        w.u16(self.asset);
        w.u32(self.database.0);
    }
}

/// The type of this number, if it may come this way.
fn type_of(id: u8, way: Way) -> Option<&'static Type> {
    TYPES
        .get(usize::from(id))
        .filter(|known| known.ways.contains(&way))
}

/// The bit at which byte `at` begins.
fn bit(at: usize) -> u32 {
    u32::try_from(at.saturating_mul(8)).unwrap_or(u32::MAX)
}
