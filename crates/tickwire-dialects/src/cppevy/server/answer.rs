//! What the game is asked to do, and what it says to that.
//!
//! In: decisions of the game about actions. Out: successes and failures for the clients, and the next
//! action of a line for the game. In which order actions come to the game is decided by the
//! [`action_queue`](super::action_queue).

use tickwire_session::{Instant, PeerId, Reason};

use super::action_queue::{LineId, Turn};
use super::upload::Upload;
use super::{ActionToken, Answer, PublishError, Server, ServerEvent};
use crate::cppevy::limits::ANSWER_PATIENCE;
use crate::cppevy::message::{Data, Object, Offer};
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
        let ActionToken { peer, line, number } = token;
        let action = line.action;
        let (object, decision) = match answer {
            Answer::Success(message) => {
                let message = Data::new(message).ok_or(PublishError::TooLong)?;
                (Object::Success { action, message }, Ok(()))
            }
            Answer::Failure(reason) => (Object::Failure { action, reason }, Err(reason)),
        };
        let timestamp = self.timestamp(now);
        let state = self
            .peers
            .mark_ready(peer)
            .map(|peer| &mut peer.state)
            .filter(|state| state.actor().is_some() || state.has_left());
        match state.map(|state| (state.actions.decide(now, line, number, decision), state)) {
            Some((Ok(()), state)) => state.tell(line.via, timestamp, &object),
            _ => {
                self.counters.stray_answer += 1;
                return Ok(());
            }
        }
        if action == ActionId::OFFER {
            self.settle_offer(now, peer, decision.is_ok());
        }
        self.take_turns(now, peer, line);
        Ok(())
    }

    /// What a client's newest successful action of this kind said, for half a second: its current
    /// input.
    pub fn controls(&self, now: Instant, actor: SyncId, action: ActionId) -> Option<&[u8]> {
        let peer = self.peers.get(*self.actors.get(&actor)?)?;
        peer.state.actions.newest(now, action)
    }

    /// Shows the game the first of a line, after refusing what needs no game. Whoever left is not
    /// shown any more: what the game has not seen of it is refused.
    pub(super) fn take_turns(&mut self, now: Instant, id: PeerId, line: LineId) {
        let timestamp = self.timestamp(now);
        let action = line.action;
        let Some(peer) = self.peers.mark_ready(id) else {
            return;
        };
        let state = &mut peer.state;
        let Some(actor) = state.actor() else {
            let reason = Reason::Unavailable;
            while state.has_left() && state.actions.dismiss(line).is_some() {
                state.tell(line.via, timestamp, &Object::Failure { action, reason });
            }
            return;
        };
        while let Some(turn) = state.actions.next(now, line) {
            match turn {
                Turn::Refuse(reason) => {
                    self.counters.busy += u64::from(reason == Reason::Busy);
                    state.tell(line.via, timestamp, &Object::Failure { action, reason });
                    let is_offered = |upload: &mut Upload| upload.deadline().is_none();
                    if action == ActionId::OFFER {
                        state.upload.take_if(is_offered);
                    }
                }
                Turn::Ask { number, data } => {
                    let token = ActionToken {
                        peer: id,
                        line,
                        number,
                    };
                    self.events.push_back(match Offer::decode(&data) {
                        Ok(Offer { name, size, .. }) if action == ActionId::OFFER => {
                            let name = name.into();
                            ServerEvent::Offered {
                                actor,
                                name,
                                size,
                                token,
                            }
                        }
                        _ => ServerEvent::Action {
                            actor,
                            action,
                            data,
                            token,
                        },
                    });
                }
            }
        }
        self.peers.bring_forward(id, now + ANSWER_PATIENCE);
    }

    /// Answers what the game has left unanswered for too long.
    pub(super) fn expire_actions(&mut self, now: Instant, id: PeerId) {
        while let Some(peer) = self.peers.get_mut(id)
            && let Some(line) = peer.state.actions.expire(now)
        {
            self.counters.unanswered += 1;
            let (action, reason) = (line.action, Reason::Unavailable);
            self.tell_one(now, id, line.via, &Object::Failure { action, reason });
            if action == ActionId::OFFER {
                self.settle_offer(now, id, false);
            }
            self.take_turns(now, id, line);
        }
    }
}
