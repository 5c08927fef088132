//! Two protocols of a page each: the smallest whole sessions, for reading and for testing drivers.
//!
//! [`DatagramEcho`] answers every datagram with its own bytes. [`StreamEcho`] answers every byte of
//! a stream, and holds back what the stream has no room for. Each is server and client in one: told
//! to [`send`](DatagramEcho::send), it sends first.
//!
//! A new protocol starts as a copy of the one whose path it uses. What both show: input is kept,
//! not acted upon; output is made in `poll_transmit`; every queue has a bound.

mod datagram;
mod stream;

pub use datagram::{DatagramEcho, Heard};
pub use stream::{StreamEcho, StreamHeard};

/// Bytes of a datagram that are echoed: what every carrier takes.
pub const LARGEST: usize = 1_200;

/// Datagrams that wait to be sent. One arriving on top is dropped, as a network would drop it.
pub const DATAGRAMS_WAITING: usize = 4_096;

/// Bytes of one stream that wait for room. A peer that sends without ever reading is cut off here.
pub const BYTES_WAITING: usize = 256 * 1_024;

/// Events that wait for the game; on top of that the oldest is lost.
pub const EVENTS_WAITING: usize = 8_192;
