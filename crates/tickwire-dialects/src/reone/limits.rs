//! Every bound of the dialect, each with its reason.

use tickwire_session::Room;

/// Bytes of a datagram sent: what crosses every network in use.
pub const DATAGRAM_MAX: usize = Room::DATAGRAMS.largest as usize;

/// Bytes of a datagram accepted: all that an Ethernet frame carries.
pub const RECEIVE_MAX: usize = 1_472;

/// Bytes of a packet's header: two sequences and a tick.
pub const HEADER: usize = 12;

/// Bytes before a list's elements: type and length.
pub const LIST_HEADER: usize = 2;

/// Bytes that stand between a packet's header and its lists where Huffman coding was agreed on, if the
/// lists are plain.
pub const ENVELOPE: usize = 1;

/// Bytes of lists that are coded into one datagram sent: as many as would fit it plain. Coding is decided
/// when the lists are written, so they never are longer.
pub const PLAIN_MAX: usize = DATAGRAM_MAX - HEADER - ENVELOPE;

/// Bytes that a coded datagram accepted may unfold to: what another sender, who fills a datagram with
/// coded bytes, gets into one.
pub const PLAIN_RECEIVE_MAX: usize = 4_096;

/// Elements of one list: all that its length can say. What is more continues in another list.
pub const LIST_MAX: u8 = u8::MAX;

/// Elements of a container: all that its size can say.
pub const CONTAINER_MAX: usize = u8::MAX as usize;

/// Bytes of a string, without its end. The longest that a person would read in one line, and short
/// enough that every element fits any datagram.
pub const STRING_MAX: usize = 255;

/// Variables of the game, or of one creature. A game has a few dozen that players need to know; a peer that
/// sends more of them is not believed.
pub const VARIABLES_MAX: usize = 256;

/// Bytes of a player's name: what fits beside a score.
pub const NAME_MAX: usize = 64;

/// Bytes of an event's content: all that its size can say.
pub const EVENT_MAX: usize = u8::MAX as usize;

/// Bytes before a frame's body: kind and length.
pub const FRAME_HEADER: usize = 5;

/// Bytes of a frame's body.
pub const FRAME_MAX: usize = 1_024 * 1_024;

/// Bytes of a resource in one frame, so that no other frame waits long behind it.
pub const PIECE_MAX: usize = 64 * 1_024;

/// Bytes of a call's argument or result. An inventory of 255 of the longest strings has 65,281.
pub const CALL_MAX: usize = 64 * 1_024;

/// Bytes of a manifest. Twice 4,096 entries with names of the usual length.
pub const MANIFEST_MAX: usize = 1_024 * 1_024;

/// Bytes of a base: as the packet that it is, sent in pieces. Some 29,000 creatures.
pub const BASE_MAX: usize = 1_024 * 1_024;

/// Bytes of a stream that wait for the peer to read. One that lets more pile up is cut off.
pub const STREAM_WAITING: usize = 2 * FRAME_MAX;
