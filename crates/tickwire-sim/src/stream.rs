//! One end of a simulated stream: TCP, as far as a session can notice it.
//!
//! A stream has two ends. Each cuts what its session writes into [`Segment`]s at random places and puts
//! together those of the other end, in order and each once. What carries segments, and sends them
//! again when they are lost, is the network. There is no congestion control: what bounds a sender is
//! its window.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::{Addr, Room, StreamId};

use crate::schedule::Ticket;
use crate::{Chance, NodeId, Rng};

/// How streams behave, on top of the [`Conditions`](crate::Conditions) of the links they cross.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamConditions {
    /// Bytes that a session may have written and the peer not yet consumed: the room of an empty
    /// stream. At least 1.
    pub window: u32,
    /// The longest piece that travels at once. Each is cut at random, from 1 byte up to this.
    pub segment: u32,
    /// How long bytes may wait for more to travel with them, as with Nagle's algorithm: evenly from
    /// nothing up to this.
    pub hold: Duration,
    /// That a piece, instead of arriving, resets the stream.
    pub reset: Chance,
}

impl StreamConditions {
    /// What a stream of an operating system is like.
    pub const USUAL: Self = Self {
        window: 64 * 1_024,
        segment: 1_400,
        hold: Duration::ZERO,
        reset: Chance::NEVER,
    };

    /// Draws conditions: windows from 1 byte to 64 KiB, pieces from 1 byte, short holds; no resets,
    /// which a scenario has to expect.
    #[must_use]
    pub fn random(rng: &mut Rng) -> Self {
        // Evenly over the powers of two: otherwise small windows, which show the bugs, are rare.
        let window_bits = rng.within(0..=16);
        let segment_bits = rng.within(0..=10);
        Self {
            window: 1 << window_bits,
            segment: 1 << segment_bits,
            hold: rng.span(Duration::from_millis(20)),
            reset: Chance::NEVER,
        }
    }
}

impl Default for StreamConditions {
    /// [`StreamConditions::USUAL`].
    fn default() -> Self {
        Self::USUAL
    }
}

/// Which end of which stream.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct EndKey {
    pub(crate) stream: u64,
    pub(crate) side: Side,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Side {
    Dialler,
    Acceptor,
}

impl EndKey {
    pub(crate) const fn other(self) -> Self {
        Self {
            stream: self.stream,
            side: match self.side {
                Side::Dialler => Side::Acceptor,
                Side::Acceptor => Side::Dialler,
            },
        }
    }
}

/// What the ends of a stream send each other, under the names that TCP gave it.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) to: EndKey,
    pub(crate) content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// The dialler asks to connect.
    Syn,
    /// The acceptor agreed.
    SynAck,
    /// Bytes, and how many came before them.
    Data { at: u64, bytes: Vec<u8> },
    /// So many bytes were consumed.
    Ack { consumed: u64 },
    /// After so many bytes nothing comes.
    Fin { at: u64 },
    /// Cut off.
    Rst,
}

impl Segment {
    /// Bytes on the wire.
    pub(crate) fn size(&self) -> usize {
        let payload = match &self.content {
            Content::Data { bytes, .. } => bytes.len(),
            _ => 0,
        };
        SEGMENT_HEADER + payload
    }
}

/// Headers of IPv4 and TCP without options.
const SEGMENT_HEADER: usize = 40;

/// One end, until its session ended it or was told of its end.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) node: NodeId,
    /// Where the other end is; `None` if nobody has the address that was dialled.
    pub(crate) peer: Option<NodeId>,
    pub(crate) peer_addr: Addr,
    /// Its number; an acceptor has none before it hears of the stream.
    pub(crate) id: Option<StreamId>,
    /// The session knows that it is open.
    pub(crate) open: bool,
    /// Reports, when it comes, that the dialling failed.
    pub(crate) dial_timeout: Option<Ticket>,
    conditions: StreamConditions,

    /// What the session may still write, as far as it was told.
    room: u32,
    /// Written and not yet cut into segments.
    outgoing: Vec<u8>,
    /// A moment to cut them is arranged.
    pub(crate) holding: bool,
    /// Bytes cut so far.
    sent: u64,
    /// Bytes of those that the peer consumed.
    acked: u64,

    /// Bytes handed in so far.
    consumed: u64,
    /// Segments that arrived before one in front of them. The peer's window bounds them.
    early: BTreeMap<u64, Vec<u8>>,
    /// Where the peer finished.
    finished_at: Option<u64>,
}

/// A session wrote more than it had room for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct NoRoom {
    pub(crate) room: u32,
}

impl End {
    pub(crate) const fn new(
        node: NodeId,
        peer: Option<NodeId>,
        peer_addr: Addr,
        conditions: StreamConditions,
    ) -> Self {
        Self {
            node,
            peer,
            peer_addr,
            id: None,
            open: false,
            dial_timeout: None,
            conditions,
            room: 0,
            outgoing: Vec::new(),
            holding: false,
            sent: 0,
            acked: 0,
            consumed: 0,
            early: BTreeMap::new(),
            finished_at: None,
        }
    }

    pub(crate) const fn conditions(&self) -> &StreamConditions {
        &self.conditions
    }

    /// Takes what the session writes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        let count = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.room = (self.room.checked_sub(count)).ok_or(NoRoom { room: self.room })?;
        self.outgoing.extend_from_slice(bytes);
        Ok(())
    }

    /// Cuts everything written into pieces of random length.
    pub(crate) fn cut(&mut self, rng: &mut Rng) -> Vec<Content> {
        let longest = u64::from(self.conditions.segment.max(1));
        let mut pieces = Vec::new();
        let mut rest = self.outgoing.as_slice();
        while !rest.is_empty() {
            let length = usize::try_from(rng.within(1..=longest)).unwrap_or(usize::MAX);
            let (piece, after) = rest.split_at(length.min(rest.len()));
            pieces.push(Content::Data {
                at: self.sent,
                bytes: piece.into(),
            });
            self.sent += piece.len() as u64;
            rest = after;
        }
        self.outgoing.clear();
        pieces
    }

    /// What comes after everything cut so far.
    pub(crate) const fn fin(&self) -> Content {
        Content::Fin { at: self.sent }
    }

    /// Learns how much the peer consumed; returns whether that was news.
    pub(crate) fn acknowledge(&mut self, consumed: u64) -> bool {
        let news = consumed > self.acked;
        self.acked = self.acked.max(consumed);
        news
    }

    /// What the session may write from now on.
    pub(crate) fn report_room(&mut self) -> Room {
        let unconsumed = self.sent - self.acked + self.outgoing.len() as u64;
        let unconsumed = u32::try_from(unconsumed).unwrap_or(u32::MAX);
        self.room = self.conditions.window.max(1).saturating_sub(unconsumed);
        Room {
            bytes: self.room,
            largest: 0,
        }
    }

    /// Keeps a piece until its turn comes. Copies of what is already here change nothing.
    pub(crate) fn receive(&mut self, at: u64, bytes: Vec<u8>) {
        if at >= self.consumed {
            self.early.insert(at, bytes);
        }
    }

    pub(crate) const fn receive_fin(&mut self, at: u64) {
        self.finished_at = Some(at);
    }

    /// Everything that is complete up to here, in one run.
    pub(crate) fn take_ready(&mut self) -> Vec<u8> {
        let mut ready = Vec::new();
        while let Some(piece) = self.early.remove(&self.consumed) {
            self.consumed += piece.len() as u64;
            ready.extend_from_slice(&piece);
        }
        ready
    }

    pub(crate) const fn ack(&self) -> Content {
        Content::Ack {
            consumed: self.consumed,
        }
    }

    /// The peer finished, and every byte was handed in.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished_at == Some(self.consumed)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::addr::loopback;

    fn end(window: u32, segment: u32) -> End {
        let conditions = StreamConditions {
            window,
            segment,
            ..StreamConditions::USUAL
        };
        let mut end = End::new(NodeId(0), Some(NodeId(1)), loopback(1), conditions);
        end.report_room();
        end
    }

    /// The pieces of `content`, in order.
    fn pieces(content: Vec<Content>) -> Vec<(u64, Vec<u8>)> {
        let data = |content| match content {
            Content::Data { at, bytes } => (at, bytes),
            other => panic!("{other:?}"),
        };
        content.into_iter().map(data).collect()
    }

    #[test]
    fn pieces_come_together_in_any_order_and_twice() {
        let text: Vec<u8> = (0..=255).collect();
        for seed in 0..50 {
            let mut rng = Rng::new(seed);
            let (mut from, mut to) = (end(1_000, 16), end(1_000, 16));
            from.write(&text).unwrap();
            let mut shuffled = pieces(from.cut(&mut rng));
            assert!(shuffled.iter().all(|(_, bytes)| bytes.len() <= 16));
            shuffled.extend(shuffled.clone());
            for last in (1..shuffled.len()).rev() {
                let other = usize::try_from(rng.within(0..=last as u64)).unwrap();
                shuffled.swap(last, other);
            }
            let mut got = vec![];
            for (at, bytes) in shuffled {
                to.receive(at, bytes);
                got.extend(to.take_ready());
            }
            assert_eq!(got, text);
            assert!(to.early.is_empty());
        }
    }

    #[test]
    fn writes_are_joined_before_they_are_cut() {
        let mut end = end(100, 100);
        end.write(b"one").unwrap();
        end.write(b"two").unwrap();
        let cut = pieces(end.cut(&mut Rng::new(1)));
        let joined: Vec<u8> = cut.into_iter().flat_map(|(_, bytes)| bytes).collect();
        assert_eq!(joined, b"onetwo");
    }

    #[test]
    fn room_is_used_up_and_comes_back_as_the_peer_consumes() {
        let mut end = end(10, 4);
        end.write(b"1234567").unwrap();
        assert_eq!(end.write(b"89ab"), Err(NoRoom { room: 3 }));
        end.cut(&mut Rng::new(1));
        assert!(end.acknowledge(4));
        assert_eq!(end.report_room().bytes, 7);
        assert!(!end.acknowledge(2), "an older report changes nothing");
        assert_eq!(end.report_room().bytes, 7);
    }

    #[test]
    fn a_stream_is_finished_once_every_byte_was_taken() {
        let mut end = end(10, 4);
        end.receive_fin(3);
        assert!(!end.is_finished());
        end.receive(0, b"abc".to_vec());
        assert!(!end.is_finished());
        assert_eq!(end.take_ready(), b"abc");
        assert!(end.is_finished());
    }
}
