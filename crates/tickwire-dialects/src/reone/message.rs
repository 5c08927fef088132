//! The messages: bytes to meaning and back.
//!
//! By UDP go *packets*: a header and lists of elements, all of one type in a list. By TCP go *frames*.
//! What may come from whom is in the types: a [`Direction`] has its own header, elements and frames,
//! and anything else does not decode. A packet is good or bad as a whole: [`Packet::decode`] looks at
//! every element before the first is acted on.

mod call;
mod command;
mod control;
mod down;
mod frame;
pub(super) mod packet;
mod scope;
mod up;

use tickwire_wire::{DecodeError, LittleEndian, Messages};

use super::{Reader, Writer};

pub use call::{Answer, Call, CallError, Method, Status, Texts};
pub use command::{Ballistics, PlayAnimation, Speed, VisualEffect};
pub use control::{Compression, Invalid, Parameters, Role};
pub use down::{Down, DownElement, DownHeader};
pub use frame::{DownFrame, Refusal, UpFrame, VERSION, decode_arrived, decode_frame, encode_frame};
pub use packet::{Base, Elements, Packet, PacketWriter};
pub use scope::{InventoryDiff, VariableDiff, Velocity};
pub use up::{Event, Up, UpElement, UpHeader};

/// Who sends: what a packet and a frame can hold.
pub trait Direction: Copy + core::fmt::Debug {
    /// What a packet begins with.
    type Header: Copy + core::fmt::Debug;
    /// What a list of a packet consists of.
    type Element<'a>: Messages<'a, LittleEndian>;
    /// What is said on the stream.
    type Frame<'a>: Messages<'a, LittleEndian>;

    /// Reads a header.
    fn decode_header(r: &mut Reader<'_>) -> Result<Self::Header, DecodeError>;
    /// Writes a header.
    fn encode_header(header: &Self::Header, w: &mut Writer<'_>);

    /// Whether a list of this type has one element, always.
    fn is_single(number: u8) -> bool;
    /// Whether a packet with this header may hold such a list.
    fn allows(header: &Self::Header, number: u8) -> bool;

    /// What is known of a list type; `None` if none of this direction has this number.
    #[inline]
    fn list(number: u8) -> Option<ListType> {
        Some(ListType {
            name: Self::Element::name_of(number)?,
            is_single: Self::is_single(number),
            is_final: number == DownElement::LAST,
        })
    }

    /// Reads an element of a list.
    #[inline]
    fn decode_element<'a>(
        number: u8,
        r: &mut Reader<'a>,
    ) -> Result<Self::Element<'a>, DecodeError> {
        let element = Messages::read_fields(number, r, usize::MAX)?;
        element.ok_or_else(|| r.refuse("list type", number.into()))
    }

    /// The name of a kind of frame and the most bytes its body may have; `None` if none of this
    /// direction has this number.
    fn frame(kind: u8) -> Option<FrameKind> {
        let limit = frame::limit(kind);
        Self::Frame::name_of(kind).map(|name| FrameKind { name, limit })
    }

    /// Reads the body of a frame, which ends at `end`. What is read beyond is the caller's to refuse.
    fn decode_frame<'a>(
        kind: u8,
        r: &mut Reader<'a>,
        end: usize,
    ) -> Result<Self::Frame<'a>, DecodeError> {
        let frame = Messages::read_fields(kind, r, end)?;
        frame.ok_or_else(|| r.refuse("kind", kind.into()))
    }
}

/// What is known of a list by its type.
#[derive(Clone, Copy, Debug)]
pub struct ListType {
    /// Its name.
    pub name: &'static str,
    /// Its length is 1, always.
    pub is_single: bool,
    /// Nothing follows it.
    pub is_final: bool,
}

/// What is known of a frame by its kind.
#[derive(Clone, Copy, Debug)]
pub struct FrameKind {
    /// Its name.
    pub name: &'static str,
    /// The most bytes of its body.
    pub limit: usize,
}
