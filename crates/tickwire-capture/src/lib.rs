//! Captures: what sessions send and receive as a pcapng file, and captures of anybody back as conversations.
//!
//! ```text
//!   session ─▶ Tap ─▶ Wire ─▶ Packet ─▶ Capture ─▶ pcapng file            (above any encryption)
//!   pcap, pcapng ─▶ Frames ─▶ Sliced ─▶ Conversations ─▶ datagrams, stream bytes, gaps
//! ```
//!
//! [`Wire`] makes up the headers that a session never sees: IP, UDP, and TCP with handshakes and sequence numbers,
//! so that other programs put the streams together. [`Capture`] writes from a bounded queue on a thread of its own.
//! [`Frames`] reads files of any size with the same memory; [`Conversations`] follows both directions of whatever
//! goes by. What the bytes mean is for others.

#![forbid(unsafe_code)]

mod annotate;
mod capture;
mod conversations;
mod frames;
mod half;
pub mod limits;
mod packet;
mod sliced;
mod wire;

pub use annotate::Annotator;
pub use capture::{Capture, Finished};
pub use conversations::{Conversations, Ends, Event, Said};
pub use frames::{Frame, Frames, Next, is_capture};
pub use packet::{Flags, Packet, Transport};
pub use sliced::{Segment, Sliced};
pub use wire::{End, Role, Sink, Wire};
