//! What is spent on strangers.
//!
//! In: first packets, which cost their sender nothing and may claim any address. Out: which of them are
//! read at all, and who is let wait for a handshake, has to prove its address first, or is ignored. The
//! handshakes themselves are done by `endpoint`, a millisecond of them a turn.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use quinn_proto::Incoming;
use tickwire_session::{Instant, TokenBucket};

use crate::limits::{
    FIRST_PACKET_REFILL, FIRST_PACKETS, HANDSHAKE_HOSTS, HANDSHAKE_REFILL_A_HOST,
    HANDSHAKES_A_HOST, HANDSHAKES_UNVALIDATED, HANDSHAKES_WAITING,
};

#[derive(Debug)]
pub(super) struct Door {
    waiting: VecDeque<Incoming>,
    first_packets: TokenBucket,
    hosts: HashMap<Caller, TokenBucket>,
}

/// Those who proved their address are counted apart: others can only claim to come from there.
type Caller = (IpAddr, Proof);

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Proof {
    Proved,
    Claimed,
}

/// What to do with somebody who knocks.
#[derive(Debug)]
pub(super) enum Answer {
    /// It waits in here.
    Waits,
    /// It has to come again, from the address that it claims.
    Retry(Incoming),
    Ignore(Incoming),
}

impl Door {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            waiting: VecDeque::new(),
            first_packets: TokenBucket::new(now, FIRST_PACKETS, FIRST_PACKET_REFILL),
            hosts: HashMap::new(),
        }
    }

    /// Whether a datagram is to be read at all. Only first packets are ever refused here, by one look at
    /// the header: an Initial has a long header of type 0 (RFC 9000 section 17.2.2).
    pub(super) fn reads(&mut self, now: Instant, datagram: &[u8]) -> bool {
        let is_first = datagram.first().is_some_and(|flags| flags & 0xb0 == 0x80);
        !is_first || self.first_packets.take(now).is_some()
    }

    pub(super) fn knock(&mut self, now: Instant, incoming: Incoming) -> Answer {
        let can_retry = incoming.may_retry();
        let proof = match incoming.remote_address_validated() {
            true => Proof::Proved,
            false => Proof::Claimed,
        };
        let ip = incoming.remote_address().ip().to_canonical();
        let is_crowded = match proof {
            Proof::Proved => self.waiting.len() >= HANDSHAKES_WAITING,
            Proof::Claimed => self.waiting.len() >= HANDSHAKES_UNVALIDATED,
        };
        if !is_crowded && self.count(now, (ip, proof)) {
            self.waiting.push_back(incoming);
            return Answer::Waits;
        }
        match can_retry && proof == Proof::Claimed {
            true => Answer::Retry(incoming),
            false => Answer::Ignore(incoming),
        }
    }

    /// Counts a handshake of a host; returns whether it may have one.
    fn count(&mut self, now: Instant, caller: Caller) -> bool {
        if self.hosts.len() >= HANDSHAKE_HOSTS {
            self.hosts.retain(|_, bucket| !bucket.is_full(now));
        }
        if self.hosts.len() >= HANDSHAKE_HOSTS && !self.hosts.contains_key(&caller) {
            return false;
        }
        let full = TokenBucket::new(now, HANDSHAKES_A_HOST, HANDSHAKE_REFILL_A_HOST);
        let bucket = self.hosts.entry(caller).or_insert(full);
        bucket.take(now).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn next(&mut self) -> Option<Incoming> {
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_millis(5);

    #[test]
    fn first_packets_are_counted_and_others_are_not() {
        let mut door = Door::new(NOW);
        for _ in 0..FIRST_PACKETS {
            assert!(door.reads(NOW, &[0xc3, 0, 0, 0, 1]));
        }
        assert!(!door.reads(NOW, &[0xc3, 0, 0, 0, 1]));
        // A handshake that goes on, and a connection that is there.
        assert!(door.reads(NOW, &[0xe3, 0, 0, 0, 1]));
        assert!(door.reads(NOW, &[0x43]));
        assert!(door.reads(NOW + FIRST_PACKET_REFILL, &[0xc0]));
    }

    #[test]
    fn a_host_that_claims_an_address_does_not_use_up_what_its_owner_has() {
        let mut door = Door::new(NOW);
        let ip = IpAddr::from([192, 0, 2, 1]);
        let count = (0..200).filter(|_| door.count(NOW, (ip, Proof::Claimed)));
        assert_eq!(count.count(), HANDSHAKES_A_HOST as usize);
        assert!(door.count(NOW, (ip, Proof::Proved)));
    }

    #[test]
    fn the_hosts_that_are_counted_are_bounded_and_forgotten() {
        let mut door = Door::new(NOW);
        let host = |number: u32| (IpAddr::from(number.to_be_bytes()), Proof::Claimed);
        let most = u32::try_from(HANDSHAKE_HOSTS).unwrap();
        assert!((0..most).all(|number| door.count(NOW, host(number))));
        assert!(!door.count(NOW, host(most)));
        assert!(door.count(NOW, host(0)));
        let later = NOW + 4 * HANDSHAKE_REFILL_A_HOST;
        assert!(door.count(later, host(most)));
        assert_eq!(door.hosts.len(), 1);
    }
}
