//! What the game is asked to do, and what it says to that.
//!
//! In: decisions of the game about actions. Out: successes and failures for the clients, and the next
//! action of a line for the game. In which order actions come to the game is the [`action_queue`](super::action_queue)'s.

use tickwire_session::{Instant, Reason, StreamId};

use super::action_queue::{LineId, Turn};
use super::peer::Peer;
use super::{ActionToken, Answer, PublishError, Server, ServerEvent};
use crate::cppevy::message::{Data, Object};
use crate::cppevy::{ActionId, SyncId};

impl Server {
    /// Answers an action. Only the first answer counts, except after [`Reason::Delayed`]: such an
    /// action may succeed later, and should, because until then its client gets only failures for
    /// others of its kind. An action whose client is gone is no mistake.
    pub fn answer(
        &mut self,
        now: Instant,
        token: ActionToken,
        answer: Answer<'_>,
    ) -> Result<(), PublishError> {
        let ActionToken { on, line, number } = token;
        let action = line.action;
        let (object, decision) = match answer {
            Answer::Success(message) => {
                let message = Data::new(message).ok_or(PublishError::TooLong)?;
                (Object::Success { action, message }, Ok(()))
            }
            Answer::Failure(reason) => (Object::Failure { action, reason }, Err(reason)),
        };
        let timestamp = self.timestamp(now);
        let peer = self
            .peers
            .get_mut(&on)
            .filter(|peer| peer.actor().is_some() || peer.has_left());
        match peer.map(|peer| (peer.actions.decide(now, line, number, decision), peer)) {
            Some((Ok(()), peer)) => peer.tell(line.via, timestamp, &object),
            _ => {
                self.counters.stray_answer += 1;
                return Ok(());
            }
        }
        self.with_peer(on, |server, peer| server.take_turns(now, on, peer, line));
        Ok(())
    }

    /// What a client's newest successful action of this kind said, for half a second: its current
    /// input.
    pub fn controls(&self, now: Instant, actor: SyncId, action: ActionId) -> Option<&[u8]> {
        let peer = self.peers.get(self.actors.get(&actor)?)?;
        peer.actions.newest(now, action)
    }

    /// Shows the game the first of a line, after refusing what needs no game.
    pub(super) fn take_turns(&mut self, now: Instant, on: StreamId, peer: &mut Peer, line: LineId) {
        let timestamp = self.timestamp(now);
        let action = line.action;
        let Some(actor) = peer.actor() else {
            Self::refuse_rest(peer, line, timestamp);
            return;
        };
        while let Some(turn) = peer.actions.next(now, line) {
            match turn {
                Turn::Refuse(reason) => {
                    self.counters.busy += u64::from(reason == Reason::Busy);
                    peer.tell(line.via, timestamp, &Object::Failure { action, reason });
                }
                Turn::Ask { number, data } => self.events.push_back(ServerEvent::Action {
                    actor,
                    action,
                    data,
                    token: ActionToken { on, line, number },
                }),
            }
        }
    }

    /// Refuses what a client sent before it left and the game was not shown.
    fn refuse_rest(peer: &mut Peer, line: LineId, timestamp: u32) {
        let (action, reason) = (line.action, Reason::Unavailable);
        while peer.has_left() && peer.actions.dismiss(line).is_some() {
            peer.tell(line.via, timestamp, &Object::Failure { action, reason });
        }
    }
}
