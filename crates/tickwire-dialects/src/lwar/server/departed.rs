//! Clients that are gone and have to be told so.
//!
//! Their place is free at once; what is kept here, for a second, is only what their last packets need.

use alloc::vec::Vec;

use tickwire_session::{Addr, Instant};

use super::peer::Peer;
use crate::lwar::PlayerId;
use crate::lwar::limits::{DEPARTED_MAX, LEAVE_PERIOD};
use crate::lwar::message::Reliable;
use crate::lwar::packet::Header;
use crate::lwar::reliable::{Inbox, Outbox};

#[derive(Debug)]
pub(super) struct Departed {
    pub(super) addr: Addr,
    /// Until when it is remembered.
    pub(super) until: Instant,
    /// Whether its packets are sent on the server's clock, or only as answers.
    pub(super) repeats: bool,
    /// Whether a packet waits to be written.
    pub(super) due: bool,
    pub(super) outbox: Outbox,
    pub(super) inbox: Inbox,
}

/// What a client hears on leaving.
#[derive(Clone, Copy, Debug)]
pub(super) enum Farewell<'a> {
    /// Nothing: nobody listens.
    None,
    /// Leave alone, as the answer to each of its Disconnects.
    Answered,
    /// Leave behind everything it has not acknowledged, repeated.
    Repeated,
    /// The same, and before it the reason, as a chat of the server.
    Explained(&'a str),
}

impl Departed {
    /// Keeps what is needed to say farewell to `peer`.
    pub(super) fn remember(
        departed: &mut Vec<Self>,
        now: Instant,
        peer: Peer,
        farewell: Farewell<'_>,
    ) {
        let mut outbox = peer.outbox;
        match farewell {
            Farewell::None => return,
            Farewell::Answered => outbox.clear(),
            Farewell::Repeated => {}
            Farewell::Explained(text) => {
                outbox.push(&Reliable::Chat {
                    player: PlayerId::SERVER,
                    text,
                });
            }
        }
        outbox.push(&Reliable::Leave {
            player: peer.player,
        });
        departed.retain(|other| other.addr != peer.addr);
        if departed.len() == DEPARTED_MAX {
            departed.remove(0);
        }
        let repeats = !matches!(farewell, Farewell::Answered);
        departed.push(Self {
            addr: peer.addr,
            until: now + LEAVE_PERIOD,
            repeats,
            due: repeats,
            outbox,
            inbox: peer.inbox,
        });
    }

    /// Whether it has acknowledged its Leave: there is nothing more to say to it.
    pub(super) fn is_told(&self) -> bool {
        self.outbox.is_empty()
    }

    /// Whether it knows that it is gone, or need not be told on the server's clock.
    pub(super) fn is_done(&self) -> bool {
        !self.repeats || self.is_told()
    }

    pub(super) fn write_packet(&mut self, now: Instant, timestamp: u32, out: &mut Vec<u8>) {
        self.due = false;
        let mut w = Header {
            ack: self.inbox.ack(),
            timestamp,
        }
        .begin(out);
        self.outbox.write(now, &mut w);
    }
}
