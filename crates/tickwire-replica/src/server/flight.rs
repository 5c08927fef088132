//! Packets on their way to one client, and which blocks each of them holds.

use alloc::collections::VecDeque;

use crate::limits::WINDOW;
use crate::number::{PacketNumber, SendIndex};
use crate::record::BlockName;

/// The packets of the last 64 sends. Older ones are not applied any more, whoever still has them.
#[derive(Debug)]
pub(super) struct Flights {
    packets: VecDeque<Flight>,
    /// The number of the first of `packets`.
    first: PacketNumber,
    /// What they hold, one packet after the other.
    blocks: VecDeque<BlockName>,
    /// How many blocks the packets before the first held.
    dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    send: SendIndex,
    /// How many blocks all packets up to this one hold.
    end: u64,
    carries_notices: bool,
    is_acked: bool,
}

/// What an acknowledged packet tells.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Arrived {
    pub(super) carries_notices: bool,
}

impl Flights {
    pub(super) const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            first: PacketNumber(1),
            blocks: VecDeque::new(),
            dropped: 0,
        }
    }

    /// The number of the next packet.
    pub(super) fn next(&self) -> PacketNumber {
        PacketNumber(self.first.0 + self.packets.len() as u64)
    }

    /// Notes that the next packet holds a block.
    #[inline]
    pub(super) fn load(&mut self, block: BlockName) {
        self.blocks.push_back(block);
    }

    /// Notes that the next packet is on its way.
    pub(super) fn depart(&mut self, send: SendIndex, carries_notices: bool) {
        self.packets.push_back(Flight {
            send,
            end: self.dropped + self.blocks.len() as u64,
            carries_notices,
            is_acked: false,
        });
    }

    /// Notes that a packet arrived, and calls `each` for the blocks in it, with their send. Nothing if it
    /// is unknown, too old, or had arrived before.
    pub(super) fn arrive(
        &mut self,
        number: PacketNumber,
        mut each: impl FnMut(BlockName, SendIndex),
    ) -> Option<Arrived> {
        let at = usize::try_from(number.0.checked_sub(self.first.0)?).ok()?;
        let before = at.checked_sub(1).and_then(|at| self.packets.get(at));
        let start = before.map_or(self.dropped, |flight| flight.end);
        let flight = self.packets.get_mut(at)?;
        if flight.is_acked {
            return None;
        }
        flight.is_acked = true;
        let index = |end: u64| usize::try_from(end - self.dropped).unwrap_or(usize::MAX);
        for block in self.blocks.range(index(start)..index(flight.end)) {
            each(*block, flight.send);
        }
        let arrived = Arrived {
            carries_notices: flight.carries_notices,
        };
        self.drop_while(|flight| flight.is_acked);
        Some(arrived)
    }

    /// Drops what is too old to be applied.
    pub(super) fn expire(&mut self, now: SendIndex) {
        self.drop_while(|flight| now.since(flight.send) > WINDOW);
    }

    /// Drops the oldest packets. The fewer are kept, the less memory is walked through.
    fn drop_while(&mut self, is_done: impl Fn(&Flight) -> bool) {
        while let Some(flight) = self.packets.front()
            && is_done(flight)
        {
            let count = usize::try_from(flight.end - self.dropped).unwrap_or(usize::MAX);
            self.blocks.drain(..count.min(self.blocks.len()));
            self.dropped = flight.end;
            self.packets.pop_front();
            self.first = self.first.next();
        }
    }

    /// Lets no packet so far say anything about blocks.
    pub(super) fn void(&mut self) {
        self.dropped += self.blocks.len() as u64;
        self.blocks.clear();
        for flight in &mut self.packets {
            flight.end = self.dropped;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::number::{BlockNumber, PlaceNumber};

    const fn name(block: u16) -> BlockName {
        BlockName {
            place: PlaceNumber(1),
            block: BlockNumber(block),
        }
    }

    fn flights() -> Flights {
        let mut flights = Flights::new();
        flights.load(name(1));
        flights.load(name(2));
        flights.depart(SendIndex(1), true);
        flights.depart(SendIndex(2), false);
        flights.load(name(3));
        flights.depart(SendIndex(70), false);
        flights
    }

    fn arrive(flights: &mut Flights, number: u64) -> Option<Vec<BlockName>> {
        let mut blocks = vec![];
        flights.arrive(PacketNumber(number), |block, _| blocks.push(block))?;
        Some(blocks)
    }

    #[test]
    fn each_packet_arrives_once_and_in_any_order() {
        let mut flights = flights();
        assert_eq!(arrive(&mut flights, 3), Some(vec![name(3)]));
        assert_eq!(arrive(&mut flights, 1), Some(vec![name(1), name(2)]));
        assert_eq!(arrive(&mut flights, 2), Some(vec![]));
        for number in 0..5 {
            assert_eq!(arrive(&mut flights, number), None, "{number}");
        }
    }

    #[test]
    fn old_packets_expire_and_the_others_keep_their_blocks() {
        let mut flights = flights();
        flights.expire(SendIndex(66));
        assert_eq!(arrive(&mut flights, 1), None);
        assert_eq!(arrive(&mut flights, 2), Some(vec![]));
        assert_eq!(arrive(&mut flights, 3), Some(vec![name(3)]));
        assert_eq!(flights.next(), PacketNumber(4));
    }

    #[test]
    fn what_is_void_still_arrives_but_without_blocks() {
        let mut flights = flights();
        flights.void();
        flights.load(name(4));
        flights.depart(SendIndex(71), false);
        assert_eq!(arrive(&mut flights, 1), Some(vec![]));
        assert_eq!(arrive(&mut flights, 4), Some(vec![name(4)]));
    }
}
