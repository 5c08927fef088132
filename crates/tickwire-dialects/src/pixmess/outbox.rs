//! Messages until the stream has room for them.
//!
//! They wait as messages, because a packet that was encoded has changed the masks and can no longer
//! be left out, and because the encoder does better the more of them it sees. At most one packet is
//! encoded and not yet sent: the one that the room has cut.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::iter;

use super::Writer;
use super::limits::WRITE_MAX;
use super::mask::Masks;
use super::message::{Packet, Run};

/// What waits to be sent to a peer, and what the masks towards it are by now.
#[derive(Debug)]
pub(super) struct Outbox<M> {
    /// Ping and pong, which overtake everything, each with how many there are in a row: a peer decides
    /// how many pongs wait, and may make them many. They have no fields.
    urgent: VecDeque<(M, usize)>,
    queue: VecDeque<M>,
    /// The rest of a packet that was cut.
    cut: Vec<u8>,
    masks: Masks,
    /// Bytes of everything that waits, as if no mask spared any.
    waiting: usize,
}

impl<M: Packet> Outbox<M> {
    pub(super) fn new() -> Self {
        Self {
            urgent: VecDeque::new(),
            queue: VecDeque::new(),
            cut: Vec::new(),
            masks: Masks::default(),
            waiting: 0,
        }
    }

    /// Puts a message behind all others.
    pub(super) fn push(&mut self, message: M) {
        self.waiting += message.plain_size();
        self.queue.push_back(message);
    }

    /// Puts a message without fields before all others but those that were put there earlier.
    pub(super) fn push_urgent(&mut self, message: M) {
        self.waiting += message.plain_size();
        match self.urgent.back_mut() {
            Some((last, count)) if last.kind() == message.kind() => *count += 1,
            _ => self.urgent.push_back((message, 1)),
        }
    }

    /// Forgets what is not encoded yet.
    pub(super) fn clear(&mut self) {
        self.urgent.clear();
        self.queue.clear();
        self.waiting = self.cut.len();
    }

    /// Bytes that wait at the most.
    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many messages wait, but for the urgent ones.
    pub(super) fn messages(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.urgent.is_empty() && self.queue.is_empty() && self.cut.is_empty()
    }

    /// Appends what there is room for; how many packets were begun.
    pub(super) fn write(&mut self, room: u32, out: &mut Vec<u8>) -> u64 {
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(WRITE_MAX);
        let end = out.len() + room;
        let rest = self.cut.len().min(room);
        out.extend(self.cut.drain(..rest));
        self.waiting -= rest;
        let mut packets = 0;
        while out.len() < end
            && let Some((message, count)) = self.urgent.front_mut()
        {
            self.waiting -= message.plain_size();
            // A packet is cut where the room ends, not by the writer.
            let mut w = Writer::new(out, usize::MAX);
            message.encode(&mut self.masks, iter::empty(), &mut w);
            packets += 1;
            *count -= 1;
            if *count == 0 {
                self.urgent.pop_front();
            }
        }
        while out.len() < end && !self.queue.is_empty() {
            packets += self.write_run(end, out);
        }
        if out.len() > end {
            self.cut = out.split_off(end);
            self.waiting += self.cut.len();
        }
        packets
    }

    /// Writes messages of the queue in the forms that are cheapest together, until `out` has its
    /// length or more has to be looked at; how many.
    fn write_run(&mut self, end: usize, out: &mut Vec<u8>) -> u64 {
        let run = Run::plan(&self.masks, self.queue.iter());
        let mut packets = 0;
        for place in 0..run.sure() {
            if out.len() >= end {
                break;
            }
            let Some(message) = self.queue.pop_front() else {
                break;
            };
            self.waiting -= message.plain_size();
            let mut w = Writer::new(out, usize::MAX);
            run.encode(place, &message, &mut self.masks, &mut w);
            packets += 1;
        }
        packets
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::pixmess::message::{FromClient, FromServer, Shared};
    use crate::pixmess::{EntityId, Reader};

    type Message = FromClient<Shared>;

    fn chat(text: &str) -> Message {
        FromClient::Chat { text: text.into() }
    }

    #[test]
    fn a_packet_that_is_cut_goes_on_where_it_was() {
        let mut outbox = Outbox::new();
        outbox.push(chat("hello"));
        outbox.push(Message::PlayerId);
        let mut got = vec![];
        for room in [1, 0, 3, 1, 100] {
            let before = got.len();
            outbox.write(room, &mut got);
            assert!(got.len() - before <= room as usize);
        }
        assert_eq!(got, b"\x58\x05hello\x7e");
        assert_eq!((outbox.waiting(), outbox.is_empty()), (0, true));
    }

    #[test]
    fn what_is_urgent_overtakes_whole_packets_only() {
        let mut outbox = Outbox::new();
        outbox.push(chat("hello"));
        outbox.push(chat("again"));
        let mut got = vec![];
        outbox.write(3, &mut got);
        outbox.push_urgent(Message::Pong);
        outbox.write(100, &mut got);
        assert_eq!(got, b"\x58\x05hello\x7d\x58\x05again");
    }

    #[test]
    fn many_pongs_wait_in_one_place() {
        let mut outbox = Outbox::new();
        for _ in 0..100_000 {
            outbox.push_urgent(Message::Pong);
        }
        outbox.push_urgent(Message::Ping);
        assert_eq!((outbox.urgent.len(), outbox.waiting()), (2, 100_001));
        let mut got = vec![];
        while !outbox.is_empty() {
            outbox.write(30_000, &mut got);
        }
        assert_eq!(got.len(), 100_001);
        assert_eq!(got.iter().position(|&kind| kind != 0x7d), Some(100_000));
        assert_eq!((got.last(), outbox.waiting()), (Some(&0x7c), 0));
    }

    #[test]
    fn clearing_keeps_the_rest_of_what_was_begun() {
        let mut outbox = Outbox::new();
        outbox.push(chat("hello"));
        outbox.push(chat("again"));
        let mut got = vec![];
        outbox.write(3, &mut got);
        outbox.clear();
        assert_eq!(outbox.waiting(), 4);
        outbox.push(FromClient::Kick {
            reason: "bye".into(),
        });
        outbox.write(100, &mut got);
        assert_eq!(got, b"\x58\x05hello\x7f\x03bye");
    }

    #[test]
    fn what_waits_is_counted_as_if_nothing_were_masked() {
        let mut outbox = Outbox::new();
        for _ in 0..10 {
            outbox.push(Message::Movement { direction: 0 });
        }
        assert_eq!(outbox.waiting(), 20);
        let mut got = vec![];
        assert_eq!(outbox.write(100, &mut got), 10);
        assert!(got.len() < 20);
        assert_eq!(outbox.waiting(), 0);
    }

    #[test]
    fn a_long_queue_says_the_same_in_pieces_and_takes_little_more() {
        let step = |at: u16| FromServer::<Shared>::Movement {
            entity: EntityId(at / 7 % 3),
            direction: u8::try_from(at / 5 % 2).unwrap(),
        };
        let mut sizes = vec![];
        for room in [u32::MAX, 1, 5, 64] {
            let mut outbox = Outbox::new();
            (0..200).for_each(|at| outbox.push(step(at)));
            let mut got = vec![];
            while !outbox.is_empty() {
                outbox.write(room, &mut got);
            }
            let (mut r, mut masks) = (Reader::new(&got), Masks::default());
            for at in 0..200 {
                let FromServer::Movement { entity, direction } = step(at) else {
                    unreachable!("all of them are steps");
                };
                let heard = FromServer::decode(&mut r, &mut masks);
                assert_eq!(heard, Ok(FromServer::Movement { entity, direction }));
            }
            assert!(r.is_empty());
            sizes.push(got.len());
        }
        // A step takes four bytes; one like the one before, or nearly so, takes one or two.
        assert!(sizes.iter().all(|&size| size < 400), "{sizes:?}");
        assert!(
            sizes.iter().all(|size| size.abs_diff(sizes[0]) < 8),
            "{sizes:?}"
        );
    }
}
