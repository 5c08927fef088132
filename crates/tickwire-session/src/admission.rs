//! The one rule of admission, for every protocol.
//!
//! In: who opened a connection, from where and when; who asks to join. Out: who has to go, and whether
//! a newcomer may join now. What a protocol tells those it turns away is its own.
//!
//! Two bounds make a server that strangers cannot close:
//!
//! * [`Waiting`]: connections that have not proved an address or logged in have a bounded number of
//!   places and [`PROOF_PATIENCE`]. When the places are full, the oldest connection of the host with the
//!   most gives way, so a newcomer always gets in, and only a crowd pushes out its own.
//! * [`Joins`]: joins are limited per host and in all, because a join costs every other player something:
//!   an announcement, an identifier that rests, a world to send. While the game is too slow nobody joins.
//!
//! Those who play are never touched by either.

use alloc::collections::{BTreeMap, BTreeSet};
use core::time::Duration;

use tickwire_wire::display_enum;

use crate::bucket::HostBuckets;
use crate::{Host, Instant, TokenBucket};

/// How long a connection may stay without having proved an address or logged in.
pub const PROOF_PATIENCE: Duration = Duration::from_secs(5);

/// Connections that wait for their proof at a time. A join takes a round trip, so this is room for
/// more than a thousand honest joins a second.
pub const WAITING_MAX: usize = 512;

/// Joins of one host at once: a LAN party behind one address.
pub const JOINS_A_HOST: u32 = 64;

/// See [`JOINS_A_HOST`]: 64 a second follow.
pub const JOIN_REFILL_A_HOST: Duration = Duration::from_micros(15_625);

/// Joins of all hosts at once.
pub const JOINS: u32 = 256;

/// See [`JOINS`]: 128 a second follow. An identifier of ten bits that rests for five seconds after its
/// player left is used up by 200 joins a second.
pub const JOIN_REFILL: Duration = Duration::from_micros(7_812);

/// Hosts whose joins are counted. A host is forgotten once its bucket is full again, after a second, and
/// in a second no more than [`JOINS`] and half as many again can join.
const HOSTS_MAX: usize = 512;

display_enum! {
    /// Why somebody may not join now.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum NotAdmitted: Error {
        /// The game is slower than it should be, and keeps its time for those who play.
        Busy => "the server is busy, try again later",
        /// Too many joined from this host, or in all.
        TooFast {
            /// When the next may.
            next: Instant,
        } => "too many join at the same time, try again in a second",
    }
}

/// How many may join, and when.
#[derive(Debug)]
pub struct Joins {
    is_busy: bool,
    all: TokenBucket,
    hosts: HostBuckets,
}

impl Joins {
    /// Nobody has joined.
    pub const fn new(now: Instant) -> Self {
        Self {
            is_busy: false,
            all: TokenBucket::new(now, JOINS, JOIN_REFILL),
            hosts: HostBuckets::new(HOSTS_MAX, JOINS_A_HOST, JOIN_REFILL_A_HOST),
        }
    }

    /// Whether the game takes longer for its steps than it may. While it does, nobody joins.
    pub const fn set_busy(&mut self, is_busy: bool) {
        self.is_busy = is_busy;
    }

    /// Somebody asks to join. What is refused costs nothing.
    pub fn admit(&mut self, now: Instant, host: Host) -> Result<(), NotAdmitted> {
        if self.is_busy {
            return Err(NotAdmitted::Busy);
        }
        if let Some(next) = self.all.wait(now) {
            return Err(NotAdmitted::TooFast { next });
        }
        let Some(of_host) = self.hosts.get(now, host) else {
            let next = now + JOIN_REFILL_A_HOST;
            return Err(NotAdmitted::TooFast { next });
        };
        if let Some(next) = of_host.wait(now) {
            return Err(NotAdmitted::TooFast { next });
        }
        of_host.take(now);
        self.all.take(now);
        Ok(())
    }
}

/// The connections that have not proved who they are, by whatever names them.
#[derive(Debug)]
pub struct Waiting<Id> {
    most: usize,
    by_age: BTreeSet<(Instant, Id)>,
    /// Within a host, oldest first.
    by_host: BTreeMap<Host, BTreeSet<(Instant, Id)>>,
}

impl<Id: Copy + Ord> Waiting<Id> {
    /// Has places for so many.
    pub const fn new(most: usize) -> Self {
        Self {
            most,
            by_age: BTreeSet::new(),
            by_host: BTreeMap::new(),
        }
    }

    /// Lets a connection in. Returns one that has to go for it.
    pub fn enter(&mut self, now: Instant, host: Host, id: Id) -> Option<Id> {
        self.by_age.insert((now, id));
        self.by_host.entry(host).or_default().insert((now, id));
        if self.by_age.len() <= self.most {
            return None;
        }
        // Among equals the oldest connection decides, so that one of a kind is not pushed out by
        // another that came later.
        let (host, &(since, gone)) = self
            .by_host
            .iter()
            .filter_map(|(host, ids)| Some((ids.len(), *host, ids.first()?)))
            .max_by_key(|&(count, _, oldest)| (count, core::cmp::Reverse(oldest)))
            .map(|(_, host, oldest)| (host, oldest))?;
        self.leave(since, host, gone);
        Some(gone)
    }

    /// A connection proved itself, or ended. One that is not here is no mistake.
    pub fn leave(&mut self, since: Instant, host: Host, id: Id) {
        self.by_age.remove(&(since, id));
        if let Some(of_host) = self.by_host.get_mut(&host) {
            of_host.remove(&(since, id));
            if of_host.is_empty() {
                self.by_host.remove(&host);
            }
        }
    }

    /// The oldest connection, and since when it is here. It stays until it leaves.
    pub fn oldest(&self) -> Option<(Instant, Id)> {
        self.by_age.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PeerId;

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    const fn host(number: u64) -> Host {
        Host::Link(number)
    }

    #[test]
    fn a_full_house_pushes_out_the_oldest_of_the_host_with_the_most() {
        let mut waiting = Waiting::new(WAITING_MAX);
        assert_eq!(waiting.enter(at(0), host(1), PeerId(0)), None);
        let crowd = u32::try_from(WAITING_MAX).unwrap() - 1;
        for number in 1..=crowd {
            assert_eq!(
                waiting.enter(at(number.into()), host(2), PeerId(number)),
                None
            );
        }
        let late = at(100_000);
        assert_eq!(
            waiting.enter(late, host(3), PeerId(9_000)),
            Some(PeerId(1)),
            "neither the oldest of all nor the newcomer"
        );
        assert_eq!(waiting.enter(late, host(2), PeerId(9_001)), Some(PeerId(2)));
        waiting.leave(at(3), host(2), PeerId(3));
        assert_eq!(waiting.enter(late, host(4), PeerId(9_002)), None);
        assert_eq!(waiting.enter(late, host(4), PeerId(9_003)), Some(PeerId(4)));
    }

    #[test]
    fn of_equals_the_oldest_goes() {
        let mut waiting = Waiting::new(WAITING_MAX);
        let full = u32::try_from(WAITING_MAX).unwrap();
        for number in 0..full {
            waiting.enter(at(number.into()), host(number.into()), PeerId(number));
        }
        let next = waiting.enter(at(9_000), host(9_000), PeerId(9_000));
        assert_eq!(next, Some(PeerId(0)));
        let next = waiting.enter(at(9_001), host(9_001), PeerId(9_001));
        assert_eq!(next, Some(PeerId(1)));
    }

    #[test]
    fn nothing_is_left_of_those_who_went() {
        let mut waiting = Waiting::new(WAITING_MAX);
        waiting.enter(at(1), host(1), PeerId(1));
        waiting.leave(at(1), host(1), PeerId(1));
        waiting.leave(at(1), host(1), PeerId(1));
        assert_eq!(waiting.oldest(), None);
        assert!(waiting.by_host.is_empty());
    }

    #[test]
    fn a_lan_party_joins_at_once_and_a_flood_of_one_host_does_not() {
        let mut joins = Joins::new(at(0));
        for _ in 0..JOINS_A_HOST {
            assert_eq!(joins.admit(at(0), host(1)), Ok(()));
        }
        let next = Instant::ZERO + JOIN_REFILL_A_HOST;
        assert_eq!(
            joins.admit(at(0), host(1)),
            Err(NotAdmitted::TooFast { next })
        );
        assert_eq!(joins.admit(at(0), host(2)), Ok(()), "others may");
        assert_eq!(joins.admit(next, host(1)), Ok(()));
        let joined = (0..10_000).filter(|ms| joins.admit(at(100 + ms), host(1)).is_ok());
        assert!((600..=700).contains(&joined.count()));
    }

    #[test]
    fn a_flood_of_many_hosts_is_limited_too_and_forgotten() {
        let mut joins = Joins::new(at(0));
        let mut joined = 0;
        for number in 0..100_000_u64 {
            joined += u32::from(joins.admit(at(number / 10), host(number)).is_ok());
            assert!(joins.hosts.len() <= HOSTS_MAX);
        }
        // Ten seconds: those at once, and 128 a second.
        assert!((1_500..=1_600).contains(&joined), "{joined}");
    }

    #[test]
    fn a_busy_game_takes_nobody() {
        let mut joins = Joins::new(at(0));
        joins.set_busy(true);
        assert_eq!(joins.admit(at(0), host(1)), Err(NotAdmitted::Busy));
        joins.set_busy(false);
        assert_eq!(joins.admit(at(0), host(1)), Ok(()));
    }
}
