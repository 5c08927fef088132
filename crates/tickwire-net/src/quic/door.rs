//! What is spent on strangers.
//!
//! In: first packets, which cost their sender nothing and may claim any address. Out: which of them are
//! read at all, and who is let wait for a handshake, has to prove its address first, or is ignored. Reading
//! them (keys are derived for each) and the handshakes themselves is `endpoint`'s, a millisecond of both a turn.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

use quinn_proto::{ConnectionId, ConnectionIdGenerator as _, Incoming};
use tickwire_session::{Instant, TokenBucket};

use super::ids::Ids;
use crate::limits::{
    FIRST_PACKET_REFILL, FIRST_PACKETS, FIRST_PACKETS_WAITING, HANDSHAKE_HOSTS,
    HANDSHAKE_REFILL_A_HOST, HANDSHAKES_A_HOST, HANDSHAKES_UNVALIDATED, HANDSHAKES_WAITING,
};

pub(super) struct Door {
    /// First packets that nobody has read.
    unread: VecDeque<FirstPacket>,
    waiting: VecDeque<Incoming>,
    first_packets: TokenBucket,
    /// Tells numbers that this server gave out from those that strangers make up.
    ids: Ids,
    hosts: HashMap<Caller, TokenBucket>,
}

/// Those who proved their address are counted apart: others can only claim to come from there.
type Caller = (IpAddr, Proof);

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Proof {
    Proved,
    Claimed,
}

/// What may be the beginning of a connection.
#[derive(Debug)]
pub(super) struct FirstPacket {
    pub(super) from: SocketAddr,
    /// The address of this machine that it was sent to.
    pub(super) asked: Option<IpAddr>,
    pub(super) bytes: Vec<u8>,
}

/// What to do with a datagram.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reading {
    Now,
    /// When there is time for strangers.
    Later,
    Never,
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
    pub(super) fn new(now: Instant, ids: Ids) -> Self {
        Self {
            unread: VecDeque::new(),
            ids,
            waiting: VecDeque::new(),
            first_packets: TokenBucket::new(now, FIRST_PACKETS, FIRST_PACKET_REFILL),
            hosts: HashMap::new(),
        }
    }

    /// When a datagram is to be read. Only first packets ever wait or are refused here, by one look at the
    /// header: an Initial has a long header of type 0 (RFC 9000 section 17.2.2).
    pub(super) fn reading(&mut self, now: Instant, datagram: &[u8]) -> Reading {
        let is_first = datagram.first().is_some_and(|flags| flags & 0xb0 == 0x80);
        if !is_first {
            return Reading::Now;
        }
        match self.first_packets.take(now) {
            None => Reading::Never,
            // The rest of a handshake, which what comes next must not overtake.
            Some(_) if self.is_known(datagram) => Reading::Now,
            Some(_) if self.unread.len() >= FIRST_PACKETS_WAITING => Reading::Never,
            Some(_) => Reading::Later,
        }
    }

    /// Whether a long header names a connection by a number that this server gave out.
    fn is_known(&self, datagram: &[u8]) -> bool {
        let Some((&length, rest)) = datagram.get(5..).and_then(<[u8]>::split_first) else {
            return false;
        };
        let id = rest.get(..length.into());
        let id = id.filter(|id| id.len() == self.ids.cid_len());
        id.is_some_and(|id| self.ids.validate(&ConnectionId::new(id)).is_ok())
    }

    pub(super) fn keep(&mut self, packet: FirstPacket) {
        self.unread.push_back(packet);
    }

    pub(super) fn next_unread(&mut self) -> Option<FirstPacket> {
        self.unread.pop_front()
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
        self.unread.is_empty() && self.waiting.is_empty()
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn next(&mut self) -> Option<Incoming> {
        self.waiting.pop_front()
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door")
            .field("unread", &self.unread.len())
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_millis(5);

    fn door() -> Door {
        Door::new(NOW, Ids::new(b"ours"))
    }

    #[test]
    fn first_packets_are_counted_and_others_are_not() {
        let mut door = door();
        for _ in 0..FIRST_PACKETS {
            assert_eq!(door.reading(NOW, &[0xc3, 0, 0, 0, 1]), Reading::Later);
        }
        assert_eq!(door.reading(NOW, &[0xc3, 0, 0, 0, 1]), Reading::Never);
        // A handshake that goes on, and a connection that is there.
        assert_eq!(door.reading(NOW, &[0xe3, 0, 0, 0, 1]), Reading::Now);
        assert_eq!(door.reading(NOW, &[0x43]), Reading::Now);
        let later = NOW + FIRST_PACKET_REFILL;
        assert_eq!(door.reading(later, &[0xc0]), Reading::Later);
    }

    #[test]
    fn only_what_names_no_connection_of_ours_waits_and_not_without_bound() {
        let mut door = door();
        let known = Ids::new(b"ours").generate_cid();
        let to = |id: &[u8]| [&[0xc3, 0, 0, 0, 1, 8], id].concat();
        assert_eq!(door.reading(NOW, &to(&known)), Reading::Now);
        assert_eq!(door.reading(NOW, &to(&known[..7])), Reading::Later);
        let mut stranger = known.to_vec();
        stranger[7] ^= 1;
        assert_eq!(door.reading(NOW, &to(&stranger)), Reading::Later);
        for _ in 0..FIRST_PACKETS_WAITING {
            door.keep(FirstPacket {
                from: ([192, 0, 2, 1], 1).into(),
                asked: None,
                bytes: Vec::new(),
            });
        }
        assert_eq!(door.reading(NOW, &to(&stranger)), Reading::Never);
        assert_eq!(door.reading(NOW, &to(&known)), Reading::Now);
    }

    #[test]
    fn a_host_that_claims_an_address_does_not_use_up_what_its_owner_has() {
        let mut door = door();
        let ip = IpAddr::from([192, 0, 2, 1]);
        let count = (0..200).filter(|_| door.count(NOW, (ip, Proof::Claimed)));
        assert_eq!(count.count(), HANDSHAKES_A_HOST as usize);
        assert!(door.count(NOW, (ip, Proof::Proved)));
    }

    #[test]
    fn the_hosts_that_are_counted_are_bounded_and_forgotten() {
        let mut door = door();
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
