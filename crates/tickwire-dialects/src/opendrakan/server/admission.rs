//! How clients come and go.
//!
//! In: a stream that opened, a token that was shown, a moment that came. Out: what a newcomer is told, and
//! for the game who joined and left. A connection that only opened costs a place among those who wait,
//! and nothing of the game: whoever shows its token by datagram has proved its address, and joins if there
//! is a place. The rule for those who wait is [`Peers`](tickwire_session::Peers)'s.

use alloc::boxed::Box;

use tickwire_session::{Addr, Due, Instant, NotAdmitted, Opened, PeerId, StreamId};

use super::client_state::{ClientState, Player, Stage};
use super::{Departure, Server, ServerEvent, client_id};
use crate::opendrakan::DatabaseId;
use crate::opendrakan::limits::{FAREWELL, TIMEOUT};
use crate::opendrakan::message::Message;

impl Server {
    /// A stream opened.
    pub(super) fn open(&mut self, now: Instant, on: StreamId, addr: Addr) {
        let Opened { peer, evicted } = self.peers.open(now, on, addr, ClientState::new());
        // Whoever had to go had not joined: the game does not know of it.
        self.counters.crowded_out += u64::from(evicted.is_some());
        if self.closing || self.is_full() {
            self.counters.full += 1;
            self.turn_away(now, peer);
        } else {
            self.greet(peer);
        }
    }

    fn is_full(&self) -> bool {
        self.joined >= self.clients_max
    }

    /// Tells a new connection its token and what to load.
    fn greet(&mut self, id: PeerId) {
        let Some(token) = self.peers.issue_token(id) else {
            return;
        };
        let Some(peer) = self.peers.mark_ready(id) else {
            return;
        };
        let mut push = |message: &Message<'_>| {
            // An empty outbox takes the largest table.
            let queued = peer.state.push(&mut peer.link, message);
            debug_assert!(queued.is_ok(), "the greeting fits");
        };
        push(&Message::Attach { token });
        let mut databases = 0;
        for path in &self.databases {
            let database = DatabaseId(databases);
            push(&Message::DatabaseEntry { database, path });
            databases += 1;
        }
        let path = &self.level_path;
        push(&Message::LoadLevel { databases, path });
    }

    /// A client that is attaching showed its token: it joins, if it may.
    pub(super) fn admit(&mut self, now: Instant, id: PeerId) {
        if self.is_full() {
            self.counters.full += 1;
            return self.turn_away(now, id);
        }
        match self.peers.admit(now, id) {
            Ok(()) => {}
            // It shows its token again soon, and may join then.
            Err(NotAdmitted::TooFast { .. }) => {
                self.counters.joins_too_fast += 1;
                return;
            }
            Err(NotAdmitted::Busy) => {
                self.counters.busy += 1;
                return self.turn_away(now, id);
            }
        }
        let Some(peer) = self.peers.get_mut(id) else {
            return;
        };
        let player = Player::new(now, self.bytes_per_second);
        peer.state.stage = Stage::Joined(Box::new(player));
        let addr = peer.link.stream_addr();
        self.peers.set_deadline(id, Some(now + TIMEOUT));
        self.joined += 1;
        let client = client_id(id);
        self.tell(ServerEvent::Joined { client, addr });
    }

    /// Closes a connection that has not joined: the protocol has no word for being full or busy.
    fn turn_away(&mut self, now: Instant, id: PeerId) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.state.stage = Stage::Closing;
            self.peers.close(id, now + FAREWELL);
        }
    }

    /// Ends a client's stream behind what waits for it. Its token and its datagrams end at once.
    pub(super) fn close(&mut self, now: Instant, id: PeerId, why: Departure) {
        if let Some(peer) = self.peers.get_mut(id) {
            let stage = core::mem::replace(&mut peer.state.stage, Stage::Closing);
            self.peers.close(id, now + FAREWELL);
            self.note_gone(id, &stage, why);
        }
    }

    /// Cuts off a client that does not read what it is sent, without waiting for it.
    pub(super) fn cut_off(&mut self, id: PeerId) {
        if let Some(peer) = self.peers.abort(id) {
            self.note_gone(id, &peer.state.stage, Departure::FellBehind);
        }
    }

    /// Tells the game, if it knows of the client.
    pub(super) fn note_gone(&mut self, id: PeerId, stage: &Stage, why: Departure) {
        if let Stage::Joined(_) = stage {
            self.joined -= 1;
            let client = client_id(id);
            self.tell(ServerEvent::Left { client, why });
        }
    }

    /// Looks after everybody whose time has come.
    pub(super) fn handle_due(&mut self, now: Instant) {
        while let Some(due) = self.peers.pop_due(now) {
            match due {
                Due::Proof(id) => {
                    self.counters.attach_overdue += 1;
                    self.turn_away(now, id);
                }
                Due::Deadline(id) => self.handle_deadline(now, id),
            }
        }
    }

    /// Removes a client that was silent. The deadline of one that was heard since is put off only
    /// now, so that hearing it costs nothing.
    fn handle_deadline(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get(id) else {
            return;
        };
        let deadline = peer.link.last_heard + TIMEOUT;
        if now >= deadline {
            self.close(now, id, Departure::TimedOut);
        } else {
            self.peers.set_deadline(id, Some(deadline));
        }
    }
}
