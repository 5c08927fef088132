//! Packets on their way to one client, and which records each of them holds.

use alloc::collections::VecDeque;

use super::ledger::RecordIndex;
use crate::limits::WINDOW;
use crate::number::{PacketNumber, SendIndex};

/// The packets of the last 64 sends. Older ones are not applied any more, whoever still has them.
#[derive(Debug)]
pub(super) struct Flights {
    packets: VecDeque<Flight>,
    /// The number of the first of `packets`.
    first: PacketNumber,
    /// What they hold, one packet after the other.
    records: VecDeque<RecordIndex>,
    /// How many records the packets before the first held.
    dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    send: SendIndex,
    /// How many records all packets up to this one hold.
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
            records: VecDeque::new(),
            dropped: 0,
        }
    }

    /// The number of the next packet.
    pub(super) fn next(&self) -> PacketNumber {
        PacketNumber(self.first.0 + self.packets.len() as u64)
    }

    /// Notes that the next packet holds a record of this send.
    pub(super) fn load(&mut self, record: RecordIndex) {
        self.records.push_back(record);
    }

    /// The first packet of a send, or what is left of it; the next one if none is left.
    pub(super) fn first_of(&self, send: SendIndex) -> PacketNumber {
        let at = self.packets.partition_point(|flight| flight.send < send);
        PacketNumber(self.first.0 + at as u64)
    }

    /// Notes that the next packet is on its way.
    pub(super) fn depart(&mut self, send: SendIndex, carries_notices: bool) {
        self.packets.push_back(Flight {
            send,
            end: self.dropped + self.records.len() as u64,
            carries_notices,
            is_acked: false,
        });
    }

    /// Notes that a packet arrived, and calls `each` for the records in it, with their send. Nothing if it
    /// is unknown, too old, or had arrived before.
    pub(super) fn arrive(
        &mut self,
        number: PacketNumber,
        mut each: impl FnMut(RecordIndex, SendIndex),
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
        for record in self.records.range(index(start)..index(flight.end)) {
            each(*record, flight.send);
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
            self.records.drain(..count.min(self.records.len()));
            self.dropped = flight.end;
            self.packets.pop_front();
            self.first = self.first.next();
        }
    }

    /// Lets no packet so far say anything about blocks.
    pub(super) fn void(&mut self) {
        self.dropped += self.records.len() as u64;
        self.records.clear();
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

    const fn record(index: u32) -> RecordIndex {
        RecordIndex(index)
    }

    fn flights() -> Flights {
        let mut flights = Flights::new();
        flights.load(record(1));
        flights.load(record(2));
        flights.depart(SendIndex(1), true);
        flights.depart(SendIndex(2), false);
        flights.load(record(3));
        flights.depart(SendIndex(70), false);
        flights
    }

    fn arrive(flights: &mut Flights, number: u64) -> Option<Vec<RecordIndex>> {
        let mut records = vec![];
        flights.arrive(PacketNumber(number), |record, _| records.push(record))?;
        Some(records)
    }

    #[test]
    fn each_packet_arrives_once_and_in_any_order() {
        let mut flights = flights();
        assert_eq!(arrive(&mut flights, 3), Some(vec![record(3)]));
        assert_eq!(arrive(&mut flights, 1), Some(vec![record(1), record(2)]));
        assert_eq!(arrive(&mut flights, 2), Some(vec![]));
        for number in 0..5 {
            assert_eq!(arrive(&mut flights, number), None, "{number}");
        }
    }

    #[test]
    fn the_first_packet_of_a_send_is_the_first_that_is_left() {
        let mut flights = flights();
        let first = |flights: &Flights, send| flights.first_of(SendIndex(send)).0;
        assert_eq!(
            [1, 2, 3, 70, 71].map(|send| first(&flights, send)),
            [1, 2, 3, 3, 4]
        );
        arrive(&mut flights, 1);
        assert_eq!(first(&flights, 1), 2);
    }

    #[test]
    fn old_packets_expire_and_the_others_keep_their_records() {
        let mut flights = flights();
        flights.expire(SendIndex(66));
        assert_eq!(arrive(&mut flights, 1), None);
        assert_eq!(arrive(&mut flights, 2), Some(vec![]));
        assert_eq!(arrive(&mut flights, 3), Some(vec![record(3)]));
        assert_eq!(flights.next(), PacketNumber(4));
    }

    #[test]
    fn what_is_void_still_arrives_but_without_records() {
        let mut flights = flights();
        flights.void();
        flights.load(record(4));
        flights.depart(SendIndex(71), false);
        assert_eq!(arrive(&mut flights, 1), Some(vec![]));
        assert_eq!(arrive(&mut flights, 4), Some(vec![record(4)]));
    }
}
