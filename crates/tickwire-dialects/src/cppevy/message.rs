//! The payloads, and the objects in them: bytes to meaning and back.
//!
//! A payload is good or bad as a whole: an object that does not decode takes those before it along.
//! So [`Payload::decode`] looks at all of them, and what it returns can be walked without errors.
//! What a game or the protocol itself puts into an object's [`Data`] is looked at later, by whoever
//! wants to act on it: data that is wrong is a wrong action, not a bad payload.

mod content;
mod object;
mod payload;

pub use content::{AssetRequest, Join, Joined, Offer, Piece, Summon};
pub(crate) use content::{EntityEvent, decode_actor, decode_token, encode};
pub use object::{Data, Object, Sender};
pub(crate) use payload::Assembler;
pub use payload::{Header, Objects, Payload, PayloadWriter, inspect, inspect_next};
