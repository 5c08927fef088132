//! Putting messages into the outboxes of clients.

use alloc::vec::Vec;

use tickwire_session::{Instant, PeerId, Peers as Table, Transmit, Wrote};

use crate::pixmess::SetId;
use crate::pixmess::limits::WAITING_MAX;
use crate::pixmess::message::{FromServer, Shared};

use super::connection::Connection;

pub(super) type Peer = tickwire_session::Peer<Connection>;

/// The connections, and what is told to them.
#[derive(Debug)]
pub(super) struct Peers {
    pub(super) table: Table<Connection>,
    /// Those that do not read, to be cut off as soon as nobody is being told anything.
    overrun: Vec<PeerId>,
}

impl Peers {
    pub(super) fn new() -> Self {
        Self {
            // pixmess has neither tokens nor datagrams.
            table: Table::new(Instant::ZERO, [0; 32], 0),
            overrun: Vec::new(),
        }
    }

    pub(super) fn get(&self, id: PeerId) -> Option<&Peer> {
        self.table.get(id)
    }

    pub(super) fn get_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.table.get_mut(id)
    }

    pub(super) fn state(&mut self, id: PeerId) -> Option<&mut Connection> {
        self.table.get_mut(id).map(|peer| &mut peer.state)
    }

    pub(super) fn ids(&self) -> Vec<PeerId> {
        self.table.iter().map(|(id, _)| id).collect()
    }

    /// Puts a message into the queue of somebody who takes part.
    pub(super) fn tell(&mut self, id: PeerId, message: FromServer<Shared>) {
        if let Some(connection) = self.state(id)
            && connection.is_playing()
        {
            self.push(id, |connection| connection.outbox.push(message));
        }
    }

    /// The same for a message about a block or a layer of this set.
    pub(super) fn tell_of(&mut self, id: PeerId, set: SetId, message: FromServer<Shared>) {
        if let Some(connection) = self.state(id)
            && core::mem::replace(&mut connection.sight.our_set, set) != set
        {
            self.tell(id, FromServer::LayersetSelect { set });
        }
        self.tell(id, message);
    }

    /// Puts a message before everything that waits, even if its receiver does not take part.
    pub(super) fn tell_urgently(&mut self, id: PeerId, message: FromServer<Shared>) {
        self.push(id, |connection| connection.outbox.push_urgent(message));
    }

    /// Tells everybody who can hear of movable sets.
    pub(super) fn tell_of_set(&mut self, message: &FromServer<Shared>) {
        for id in self.ids() {
            if self.get(id).is_some_and(|peer| peer.state.knows_sets()) {
                self.tell(id, message.clone());
            }
        }
    }

    fn push(&mut self, id: PeerId, push: impl FnOnce(&mut Connection)) {
        let Some(connection) = self.state(id) else {
            return;
        };
        // Whoever is to be cut off gets no more, otherwise the limit is not a limit.
        if connection.outbox.waiting() > WAITING_MAX {
            return;
        }
        push(connection);
        if connection.outbox.waiting() > WAITING_MAX {
            self.overrun.push(id);
        }
        self.table.mark_ready(id);
    }

    /// Somebody who does not read.
    pub(super) fn pop_overrun(&mut self) -> Option<PeerId> {
        self.overrun.pop()
    }

    /// Sets the deadline of a connection to what is due next. To be called when that is sooner than it
    /// was: when it is later, the deadline comes early and does no harm.
    pub(super) fn rearm(&mut self, id: PeerId) {
        if let Some(Peer { link, state }) = self.table.get(id)
            && !link.is_closing()
        {
            let deadline = state.deadline(link.last_heard);
            self.table.set_deadline(id, Some(deadline));
        }
    }

    /// Writes for somebody who has something to say and room for it.
    pub(super) fn poll_transmit(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        self.table.poll_transmit(out, |_, peer, out| {
            let Peer { link, state } = peer;
            if state.outbox.is_empty() {
                return Wrote::Nothing;
            }
            if link.stream_room() == 0 {
                return Wrote::Blocked;
            }
            link.traffic.messages_out += state.outbox.write(link.stream_room(), out);
            Wrote::Stream
        })
    }
}
