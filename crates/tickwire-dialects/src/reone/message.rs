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

use tickwire_wire::DecodeError;

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
    type Element<'a>;
    /// What is said on the stream.
    type Frame<'a>;

    /// Reads a header.
    fn decode_header(r: &mut Reader<'_>) -> Result<Self::Header, DecodeError>;
    /// Writes a header.
    fn encode_header(header: &Self::Header, w: &mut Writer<'_>);

    /// What is known of a list type; `None` if none of this direction has this number.
    fn list(number: u8) -> Option<ListType>;
    /// The number of the list that an element stands in.
    fn list_number(element: &Self::Element<'_>) -> u8;
    /// Reads an element of a list.
    fn decode_element<'a>(number: u8, r: &mut Reader<'a>)
    -> Result<Self::Element<'a>, DecodeError>;
    /// Writes an element.
    fn encode_element(element: &Self::Element<'_>, w: &mut Writer<'_>);
    /// Whether a packet with this header may hold such a list.
    fn allows(header: &Self::Header, number: u8) -> bool;

    /// The name of a kind of frame and the most bytes its body may have; `None` if none of this
    /// direction has this number.
    fn frame(kind: u8) -> Option<FrameKind>;
    /// The number of a frame's kind.
    fn frame_kind(frame: &Self::Frame<'_>) -> u8;
    /// Reads the body of a frame, which ends at `end`. What is read beyond is the caller's to refuse.
    fn decode_frame<'a>(
        kind: u8,
        r: &mut Reader<'a>,
        end: usize,
    ) -> Result<Self::Frame<'a>, DecodeError>;
    /// Writes the body of a frame.
    fn encode_frame(frame: &Self::Frame<'_>, w: &mut Writer<'_>);
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
