//! How clients go: by themselves, because they must, or with the server.

use alloc::vec::Vec;

use tickwire_session::{Due, Instant, PeerId};

use super::action_queue::Via;
use super::{Audience, Departure, Server, ServerEvent};
use crate::cppevy::limits::{FAREWELL, TIMEOUT};
use crate::cppevy::message::EntityEvent;
use crate::cppevy::{EventId, SyncId};

impl Server {
    /// Tells a client that it is gone, and closes its stream.
    pub(super) fn send_away(&mut self, now: Instant, id: PeerId, why: Departure) {
        let peer = self.peers.get(id);
        if let Some(actor) = peer.and_then(|peer| peer.state.actor()) {
            let leave = EntityEvent::new(EventId::CLIENT_LEAVE, actor);
            self.tell_one(now, id, Via::Stream, &leave.object());
        }
        self.close(now, id, why);
    }

    /// Closes a client's stream behind what waits for it. Its token and its datagrams end at once.
    pub(super) fn close(&mut self, now: Instant, id: PeerId, why: Departure) {
        let Some(peer) = self
            .peers
            .get_mut(id)
            .filter(|peer| !peer.link.is_closing())
        else {
            return;
        };
        let actor = peer.state.actor();
        peer.state.close(why == Departure::Left);
        if why == Departure::FellBehind {
            // It does not read, so it is not waited for.
            self.peers.abort(id);
        } else {
            self.peers.close(id, now + FAREWELL);
        }
        if let Some(actor) = actor {
            self.leave_world(now, actor, why);
        }
    }

    /// Closes everybody's stream. Nobody is told of the others' leaving.
    pub(super) fn close_all(&mut self, now: Instant) {
        let ids: Vec<_> = self.peers.iter().map(|(id, _)| id).collect();
        let actors = core::mem::take(&mut self.actors);
        for id in ids {
            self.send_away(now, id, Departure::ShutDown);
        }
        for (actor, _) in actors {
            self.remove_entity(now, actor);
            let why = Departure::ShutDown;
            self.events.push_back(ServerEvent::Left { actor, why });
        }
    }

    /// Tells the others, and the game, that a client and its entity are gone.
    pub(super) fn leave_world(&mut self, now: Instant, actor: SyncId, why: Departure) {
        if self.actors.remove(&actor).is_some() {
            let leave = EntityEvent::new(EventId::CLIENT_LEAVE, actor);
            self.tell(now, Audience::All, Via::Stream, &leave.object());
            self.remove_entity(now, actor);
            self.events.push_back(ServerEvent::Left { actor, why });
        }
    }

    /// Looks after everybody whose time has come: removes the silent and those who did not join,
    /// answers what the game forgot, keeps paths alive.
    pub(super) fn handle_due(&mut self, now: Instant) {
        while let Some(due) = self.peers.pop_due(now) {
            match due {
                Due::Proof(id) => {
                    self.counters.join_overdue += 1;
                    self.close(now, id, Departure::TimedOut);
                }
                Due::Deadline(id) => self.look_after(now, id),
            }
        }
    }

    fn look_after(&mut self, now: Instant, id: PeerId) {
        let timestamp = self.timestamp(now);
        let Some(peer) = self.peers.mark_ready(id) else {
            return;
        };
        if now.since(peer.link.last_heard) >= TIMEOUT {
            return self.close(now, id, Departure::TimedOut);
        }
        peer.state.keep_alive(now, timestamp);
        self.expire_actions(now, id);
        self.expire_upload(now, id);
        self.set_deadline(id);
    }

    /// Works out when a client is to be looked after. In between, deadlines are only brought forward,
    /// since each payload that is sent or heard puts them off.
    pub(super) fn set_deadline(&mut self, id: PeerId) {
        if let Some(peer) = self.peers.get(id).filter(|peer| !peer.link.is_closing()) {
            let at = peer.state.deadline(&peer.link);
            self.peers.set_deadline(id, Some(at));
        }
    }
}
