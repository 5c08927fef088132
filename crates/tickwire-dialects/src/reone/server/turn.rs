//! A client's turn to be written to: what its stream takes, then its datagrams.
//!
//! In: a peer that may have something to be sent. Out: bytes of one stream write or of one datagram. A peer
//! is asked until it has nothing left, so all datagrams of its snapshot are made before the first is taken.

use alloc::vec::Vec;

use tickwire_session::{Instant, Peer, PeerId, Wrote};

use super::client::{Client, Stage};
use super::connection::{Connection, Talk};
use super::datagrams::{Recipient, Scratch, Staged};
use super::limits::DATAGRAM_MIN;
use super::module::Served;
use super::{Pace, ServerCounters, Table};
use crate::reone::limits::DATAGRAM_MAX;
use crate::reone::message::Parameters;

/// What every peer's turn is made with.
pub(super) struct Turn<'a> {
    pub(super) now: Instant,
    pub(super) module: &'a Served,
    pub(super) pace: Pace,
    pub(super) table: &'a mut Table,
    pub(super) staged: &'a mut Staged,
    pub(super) scratch: &'a mut Scratch,
    pub(super) counters: &'a mut ServerCounters,
    /// Whose deadline changed: Parameters are due again, or its silence counts from now on.
    pub(super) rearmed: Option<PeerId>,
}

impl Turn<'_> {
    pub(super) fn write(
        &mut self,
        id: PeerId,
        peer: &mut Peer<Connection>,
        out: &mut Vec<u8>,
    ) -> Wrote {
        let Peer { link, state } = peer;
        let on_stream = state.write(&self.module.shelf, link.stream_room(), out);
        if on_stream == Wrote::Stream {
            // Whoever loads makes progress with every frame that its stream took whole.
            if state.is_drained()
                && let Some(client) = state.client_mut()
            {
                client.advance(self.now);
            }
            return Wrote::Stream;
        }
        let (Talk::Client(client), Some(_)) = (&mut state.talk, link.datagrams()) else {
            return on_stream;
        };
        if self.staged.take(id, out) {
            return Wrote::Datagram;
        }
        let limit = usize::from(link.datagram_room().largest).min(DATAGRAM_MAX);
        self.staged.begin(id);
        let snapshots = self.stage(id, client, limit);
        link.traffic.messages_out += snapshots;
        if snapshots > 0 {
            link.updates.add(self.now);
        }
        match self.staged.take(id, out) {
            true => Wrote::Datagram,
            false => on_stream,
        }
    }

    /// Writes everything that a client is to be sent by datagram now, none above `limit` bytes. Returns how
    /// many snapshots that is.
    fn stage(&mut self, id: PeerId, client: &mut Client, limit: usize) -> u64 {
        let tick = self.table.world.tick();
        let is_initialising = matches!(client.stage, Stage::Initialising(_));
        if let Some(seated) = client.seated_mut()
            && seated.take_parameters(self.now, is_initialising)
        {
            let (role, own) = seated.seat.role();
            let parameters = Parameters {
                tick_rate: self.pace.tick_rate,
                lerp_ms: self.pace.lerp_ms,
                role,
                own,
                module: self.module.number,
                compression: self.table.rules.compression,
            };
            self.staged.write_parameters(tick, parameters);
            self.rearmed = Some(id);
        }
        let Client { stage, order, .. } = client;
        let Stage::Playing(playing) = stage else {
            return 0;
        };
        let is_due = core::mem::take(&mut playing.is_due);
        // The longest element has to fit.
        if limit < DATAGRAM_MIN {
            self.counters.path_too_narrow += u64::from(is_due);
            return 0;
        }
        let mut recipient = Recipient { playing, limit };
        let range = self.table.rules.sight;
        self.staged
            .write_commands(tick, &mut recipient, &self.table.commands, range);
        if is_due {
            self.staged.write_snapshot(
                self.now,
                &mut recipient,
                order.take_ack(),
                self.table,
                self.scratch,
                self.counters,
            );
            if recipient.playing.is_unanswered() {
                self.rearmed = Some(id);
            }
        }
        u64::from(is_due)
    }
}
