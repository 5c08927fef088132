//! How clients go: by themselves, because they must, or with the server.

use alloc::vec::Vec;

use tickwire_session::{Instant, Reason, StreamId, Transmit};

use super::action_queue::Via;
use super::peer::{Peer, Stage};
use super::{Audience, Departure, Server, ServerEvent};
use crate::cppevy::limits::TIMEOUT;
use crate::cppevy::message::{EntityEvent, Object};
use crate::cppevy::{EventId, SyncId};

impl Server {
    /// Tells a client that it is gone, and closes its stream.
    pub(super) fn send_away(&mut self, now: Instant, on: StreamId, why: Departure) {
        let timestamp = self.timestamp(now);
        let Some(peer) = self.peers.get_mut(&on) else {
            return;
        };
        if let Some(actor) = peer.actor() {
            peer.tell(
                Via::Stream,
                timestamp,
                &EntityEvent::new(EventId::CLIENT_LEAVE, actor).object(),
            );
        }
        self.close(now, on, why);
    }

    /// Closes a client's stream behind what waits for it, without a word.
    pub(super) fn close(&mut self, now: Instant, on: StreamId, why: Departure) {
        let Some(peer) = self.peers.get_mut(&on) else {
            return;
        };
        let actor = peer.actor();
        self.news.close();
        peer.close(now, why, &self.news);
        if why == Departure::FellBehind {
            peer.hurry(now);
        }
        // The token ends with the session; what is left to tell still has its address.
        self.attachments.remove(on);
        if let Some(actor) = actor {
            self.leave_world(now, actor, why);
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

    /// Removes whoever is silent, cannot keep up or does not join, and answers what the game forgot.
    pub(super) fn sweep(&mut self, now: Instant) {
        let mut leaving = Vec::new();
        while let Some(on) = self.lobby.pop_late(now) {
            self.counters.join_overdue += 1;
            leaving.push((on, Departure::TimedOut));
        }
        let timestamp = self.timestamp(now);
        let mut late = Vec::new();
        for (&on, peer) in &mut self.peers {
            if now.since(peer.last_heard) >= TIMEOUT {
                leaving.push((on, Departure::TimedOut));
            } else if peer.is_behind() {
                leaving.push((on, Departure::FellBehind));
            }
            while let Some(line) = peer.actions.expire(now) {
                let (action, reason) = (line.action, Reason::Unavailable);
                peer.tell(line.via, timestamp, &Object::Failure { action, reason });
                late.push((on, line));
            }
        }
        self.counters.unanswered += late.len() as u64;
        for (on, line) in late {
            self.with_peer(on, |server, peer| server.take_turns(now, on, peer, line));
        }
        for (on, why) in leaving {
            self.close(now, on, why);
        }
    }

    /// Ends the stream of a client that was told everything, or has had its time.
    pub(super) fn poll_ended_stream(&mut self, now: Instant) -> Option<Transmit> {
        if let Some(end) = self.refused_streams.pop_front() {
            return Some(end);
        }
        let ends = |peer: &Peer| match peer.stage {
            Stage::Closing { until, .. } => peer.is_told() || now >= until,
            Stage::Open | Stage::Joined { .. } => false,
        };
        let (&on, peer) = self.peers.iter().find(|(_, peer)| ends(peer))?;
        let told = peer.is_told();
        self.forget(on);
        Some(if told {
            Transmit::Finish { on }
        } else {
            Transmit::Abort { on }
        })
    }

    pub(super) fn forget(&mut self, on: StreamId) {
        if let Some(peer) = self.peers.remove(&on) {
            self.lobby.leave(peer.as_visitor(on));
        }
        self.attachments.remove(on);
    }
}
