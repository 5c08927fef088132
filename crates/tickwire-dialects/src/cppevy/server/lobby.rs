//! Streams that have not joined: bounded in number, by host, and in time.
//!
//! Whoever dials costs the server a connection before it has said who it is, so these are kept apart.
//! When there are too many the one that has waited longest gives way, and of one host's only that
//! host's: somebody who means to join does so within a round trip, and never waits for idle ones. One
//! that is being closed stays here, so that closing slowly keeps no place either.

use alloc::collections::BTreeSet;

use tickwire_session::{Host, Instant, StreamId};

use crate::cppevy::limits::{JOIN_PATIENCE, UNJOINED_A_HOST, UNJOINED_MAX};

#[derive(Debug, Default)]
pub(super) struct Lobby {
    /// Oldest first.
    by_age: BTreeSet<(Instant, StreamId, Host)>,
    /// The same by host, and within one oldest first.
    by_host: BTreeSet<(Host, Instant, StreamId)>,
}

/// A stream in the lobby.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Visitor {
    pub(super) on: StreamId,
    pub(super) host: Host,
    /// When it was opened.
    pub(super) since: Instant,
}

impl Lobby {
    /// Lets a stream in. Returns one that has to go for it.
    pub(super) fn enter(&mut self, visitor: Visitor) -> Option<StreamId> {
        let Visitor { on, host, since } = visitor;
        let oldest_of_host = self.of_host(host).nth(UNJOINED_A_HOST - 1);
        let gone = match oldest_of_host {
            Some(_) => self.of_host(host).next(),
            None if self.by_age.len() >= UNJOINED_MAX => self.oldest(),
            None => None,
        };
        if let Some(gone) = gone {
            self.leave(gone);
        }
        self.by_age.insert((since, on, host));
        self.by_host.insert((host, since, on));
        gone.map(|gone| gone.on)
    }

    /// A stream has joined, or has ended. One that is not here is no mistake.
    pub(super) fn leave(&mut self, visitor: Visitor) {
        let Visitor { on, host, since } = visitor;
        self.by_age.remove(&(since, on, host));
        self.by_host.remove(&(host, since, on));
    }

    /// A stream that has had its time, which thereby leaves.
    pub(super) fn pop_late(&mut self, now: Instant) -> Option<StreamId> {
        let oldest = self.oldest()?;
        if now.since(oldest.since) < JOIN_PATIENCE {
            return None;
        }
        self.leave(oldest);
        Some(oldest.on)
    }

    fn oldest(&self) -> Option<Visitor> {
        let &(since, on, host) = self.by_age.first()?;
        Some(Visitor { on, host, since })
    }

    /// The streams of one host, oldest first.
    fn of_host(&self, host: Host) -> impl Iterator<Item = Visitor> {
        let first = (host, Instant::ZERO, StreamId::Accepted(0));
        self.by_host
            .range(first..)
            .map(|&(host, since, on)| Visitor { on, host, since })
            .take_while(move |visitor| visitor.host == host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(number: u32, host: u64) -> Visitor {
        Visitor {
            on: StreamId::Accepted(number),
            host: Host::Link(host),
            since: Instant::from_millis(number.into()),
        }
    }

    const fn on(number: u32) -> Option<StreamId> {
        Some(StreamId::Accepted(number))
    }

    #[test]
    fn a_crowded_host_pushes_out_its_own_oldest_and_nobody_else_s() {
        let mut lobby = Lobby::default();
        let most = u32::try_from(UNJOINED_A_HOST).unwrap();
        assert_eq!(lobby.enter(visitor(0, 1)), None);
        for number in 1..=most {
            assert_eq!(lobby.enter(visitor(number, 2)), None);
        }
        assert_eq!(lobby.enter(visitor(most + 1, 2)), on(1));
        lobby.leave(visitor(5, 2));
        assert_eq!(lobby.enter(visitor(most + 2, 2)), None);
        assert_eq!(lobby.enter(visitor(most + 3, 2)), on(2));
        assert_eq!(lobby.enter(visitor(most + 4, 1)), None);
    }

    #[test]
    fn a_crowd_of_hosts_pushes_out_the_oldest_of_all() {
        let mut lobby = Lobby::default();
        let most = u32::try_from(UNJOINED_MAX).unwrap();
        for number in 0..most {
            assert_eq!(lobby.enter(visitor(number, number.into())), None);
        }
        assert_eq!(lobby.enter(visitor(most, most.into())), on(0));
        assert_eq!(lobby.enter(visitor(most + 1, 1)), on(1));
    }

    #[test]
    fn who_has_not_joined_in_time_leaves_once() {
        let mut lobby = Lobby::default();
        lobby.enter(visitor(10, 1));
        lobby.enter(visitor(20, 2));
        let almost = Instant::from_millis(9) + JOIN_PATIENCE;
        let late = Instant::from_millis(10) + JOIN_PATIENCE;
        assert_eq!(lobby.pop_late(almost), None);
        assert_eq!(lobby.pop_late(late), on(10));
        assert_eq!(lobby.pop_late(late), None);
        lobby.leave(visitor(20, 2));
        assert_eq!(lobby.pop_late(late + JOIN_PATIENCE), None);
    }
}
