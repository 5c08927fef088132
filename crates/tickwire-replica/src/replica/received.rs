//! Which packets were applied, and which sends are complete by that.
//!
//! In: the numbers of applied packets, and what the last packet of a send says about the send. Out: the
//! sends at which everything that is held was true. A packet may arrive late and make an earlier send
//! complete.

use alloc::collections::VecDeque;

use crate::limits;
use crate::number::{PacketNumber, SendIndex};
use crate::packet::Last;

/// How many packets back a packet can be told from one that was applied: 64 to a send.
const PACKETS: usize = 4_096;
const WORDS: usize = PACKETS / 64;

#[derive(Debug)]
pub(super) struct Received {
    newest: PacketNumber,
    /// By the number's lowest bits.
    applied: [u64; WORDS],
    /// What was said about sends and does not hold yet; at most [`limits::WINDOW`].
    claims: VecDeque<Claim>,
    complete: SendSet,
    settled: SendSet,
}

#[derive(Clone, Copy, Debug)]
struct Claim {
    send: SendIndex,
    number: PacketNumber,
    last: Last,
}

/// What is known of a packet by its number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Arrival {
    First,
    Repeated,
    TooOld,
}

impl Received {
    pub(super) const fn new() -> Self {
        Self {
            newest: PacketNumber(0),
            applied: [0; WORDS],
            claims: VecDeque::new(),
            complete: SendSet::EMPTY,
            settled: SendSet::EMPTY,
        }
    }

    pub(super) const fn newest(&self) -> PacketNumber {
        self.newest
    }

    pub(super) fn arrival(&self, number: PacketNumber) -> Arrival {
        if number > self.newest {
            Arrival::First
        } else if self.newest.0 - number.0 >= PACKETS as u64 {
            Arrival::TooOld
        } else if self.holds(number.0) {
            Arrival::Repeated
        } else {
            Arrival::First
        }
    }

    /// Notes that a packet was applied.
    pub(super) fn insert(&mut self, number: PacketNumber, send: SendIndex, last: Option<Last>) {
        // The ring's places between the newest and this one stood for older numbers.
        let passed = number.0.saturating_sub(self.newest.0);
        for stale in 1..=passed.min(PACKETS as u64) {
            let (word, bit) = place(self.newest.0.wrapping_add(stale));
            if let Some(word) = self.applied.get_mut(word) {
                *word &= !bit;
            }
        }
        self.newest = self.newest.max(number);
        let (word, bit) = place(number.0);
        if let Some(word) = self.applied.get_mut(word) {
            *word |= bit;
        }
        if let Some(last) = last {
            if self.claims.len() as u64 >= limits::WINDOW {
                self.claims.pop_front();
            }
            self.claims.push_back(Claim { send, number, last });
        }
        self.settle_claims();
    }

    fn settle_claims(&mut self) {
        for _ in 0..self.claims.len() {
            let Some(claim) = self.claims.pop_front() else {
                return;
            };
            let holds = |count| self.all_applied(claim.number, count);
            let (complete, settled) = (holds(claim.last.complete), holds(claim.last.settled));
            if complete {
                self.complete.insert(claim.send);
            }
            if complete || settled {
                self.settled.insert(claim.send);
            }
            if !complete {
                self.claims.push_back(claim);
            }
        }
    }

    /// Whether the last `count` packets up to `number` were applied; not if that says nothing.
    fn all_applied(&self, number: PacketNumber, count: u8) -> bool {
        let behind = self.newest.0 - number.0;
        count > 0
            && behind + u64::from(count) <= PACKETS as u64
            && (0..u64::from(count)).all(|back| number.0 > back && self.holds(number.0 - back))
    }

    fn holds(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.applied.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The newest complete send that is not newer than `send`.
    pub(super) fn complete_until(&self, send: SendIndex) -> Option<SendIndex> {
        self.complete.until(send)
    }

    /// The newest send not newer than `send` at which all that movers moved to was there.
    pub(super) fn settled_until(&self, send: SendIndex) -> Option<SendIndex> {
        self.settled.until(send)
    }
}

const fn place(number: u64) -> (usize, u64) {
    let place = number % PACKETS as u64;
    let word = (place / 64) as usize;
    (word, 1 << (place % 64))
}

/// Some of the last 128 sends.
#[derive(Clone, Copy, Debug)]
struct SendSet {
    newest: SendIndex,
    /// Bit `n`: the send `n` before the newest.
    ages: u128,
}

impl SendSet {
    const EMPTY: Self = Self {
        newest: SendIndex::NONE,
        ages: 0,
    };

    fn insert(&mut self, send: SendIndex) {
        if send > self.newest {
            let passed = u32::try_from(send.since(self.newest)).unwrap_or(u32::MAX);
            self.ages = self.ages.checked_shl(passed).unwrap_or(0);
            self.newest = send;
        }
        let age = u32::try_from(self.newest.since(send)).unwrap_or(u32::MAX);
        self.ages |= 1_u128.checked_shl(age).unwrap_or(0);
    }

    fn until(&self, send: SendIndex) -> Option<SendIndex> {
        let newer = u32::try_from(self.newest.since(send)).unwrap_or(u32::MAX);
        let ages = self.ages.checked_shr(newer)?;
        let age = u64::from(newer) + u64::from(ages.trailing_zeros());
        (ages != 0).then(|| self.newest.before(age))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn last(complete: u8, settled: u8) -> Option<Last> {
        Some(Last { complete, settled })
    }

    #[test]
    fn a_send_is_complete_when_the_packets_it_counts_are_there() {
        let mut received = Received::new();
        let newest = SendIndex(u64::MAX);
        received.insert(PacketNumber(1), SendIndex(7), None);
        received.insert(PacketNumber(3), SendIndex(8), last(3, 1));
        assert_eq!(received.complete_until(newest), None);
        assert_eq!(received.settled_until(newest), Some(SendIndex(8)));
        // The missing one comes after a later send.
        received.insert(PacketNumber(4), SendIndex(9), last(0, 0));
        received.insert(PacketNumber(2), SendIndex(8), None);
        assert_eq!(received.complete_until(newest), Some(SendIndex(8)));
        assert_eq!(received.complete_until(SendIndex(7)), None);
    }

    #[test]
    fn what_lies_before_the_first_packet_was_not_applied() {
        let mut received = Received::new();
        received.insert(PacketNumber(1), SendIndex(1), last(2, 2));
        assert_eq!(received.settled_until(SendIndex(1)), None);
    }

    #[test]
    fn packets_are_told_apart_until_they_are_too_old() {
        let mut received = Received::new();
        for number in [1, 2, 5_000] {
            assert_eq!(received.arrival(PacketNumber(number)), Arrival::First);
            received.insert(PacketNumber(number), SendIndex(1), None);
        }
        assert_eq!(received.arrival(PacketNumber(2)), Arrival::TooOld);
        assert_eq!(received.arrival(PacketNumber(5_000)), Arrival::Repeated);
        // It shares its place in the ring with a number that was applied.
        assert_eq!(received.arrival(PacketNumber(4_097)), Arrival::First);
        assert_eq!(received.arrival(PacketNumber(4_999)), Arrival::First);
    }

    #[test]
    fn sends_are_forgotten_after_128() {
        let mut set = SendSet::EMPTY;
        set.insert(SendIndex(10));
        set.insert(SendIndex(137));
        assert_eq!(set.until(SendIndex(136)), Some(SendIndex(10)));
        set.insert(SendIndex(138));
        assert_eq!(set.until(SendIndex(136)), None);
        set.insert(SendIndex(5));
        assert_eq!(set.until(SendIndex(136)), None);
        set.insert(SendIndex(100));
        assert_eq!(set.until(SendIndex(136)), Some(SendIndex(100)));
    }
}
