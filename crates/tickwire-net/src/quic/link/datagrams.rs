//! The datagrams of one link: a queue of two, and the room that its session believes in.
//!
//! In: what the session sends, and what the congestion window leaves. Out: whether packets should go now, and
//! a [`Room`] whenever the session's idea of it is wrong. Nothing waits behind anything: the newest datagram
//! pushes out the oldest.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use quinn_proto::{Connection, SendDatagramError};
use tickwire_session::Room;

use crate::Counters;
use crate::limits::LINK_DATAGRAMS_EARLY;
use crate::quic::congestion::Flight;

#[derive(Debug)]
pub(super) struct Datagrams {
    /// What the session believes.
    told: Room,
    flight: Arc<Flight>,
    /// Bytes that the queue takes when it is empty.
    queue_space: usize,
    /// What came before the peer was let in.
    early: VecDeque<Bytes>,
}

/// What a link's queue of datagrams is like.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Queue {
    Open,
    /// Another may push out one that waits.
    Full,
}

impl Datagrams {
    pub(super) fn new(conn: &mut Connection, flight: Arc<Flight>) -> Self {
        Self {
            told: Room::DATAGRAMS,
            flight,
            queue_space: conn.datagrams().send_buffer_space(),
            early: VecDeque::new(),
        }
    }

    /// Keeps the newest of what came, for when the peer is let in.
    ///
    /// They are copied: one byte that lies in `quinn-proto`'s queue keeps the whole packet that brought it.
    pub(super) fn hold(&mut self, conn: &mut Connection) {
        while let Some(datagram) = conn.datagrams().recv() {
            if self.early.len() == LINK_DATAGRAMS_EARLY {
                self.early.pop_front();
            }
            self.early.push_back(Bytes::copy_from_slice(&datagram));
        }
    }

    pub(super) fn receive(&mut self, conn: &mut Connection) -> Option<Bytes> {
        self.early.pop_front().or_else(|| conn.datagrams().recv())
    }

    /// Queues one, which pushes out the oldest if the queue is full.
    pub(super) fn send(
        &mut self,
        conn: &mut Connection,
        bytes: &[u8],
        counters: &mut Counters,
    ) -> Queue {
        self.told.spend(bytes.len());
        match conn.datagrams().send(Bytes::copy_from_slice(bytes), true) {
            Ok(()) => {}
            Err(SendDatagramError::TooLarge) => counters.datagrams_oversize += 1,
            Err(_) => counters.datagrams_unsendable += 1,
        }
        // It holds two of the largest.
        match 2 * conn.datagrams().send_buffer_space() < self.queue_space {
            true => Queue::Full,
            false => Queue::Open,
        }
    }

    /// What the session has to hear: nothing, as long as what it believes is about right.
    pub(super) fn poll_room(&mut self, conn: &mut Connection) -> Option<Room> {
        let room = self.room(conn);
        let error = room.bytes.abs_diff(self.told.bytes);
        let is_known =
            room.largest == self.told.largest && error <= room.bytes.max(self.told.bytes) / 4;
        (!is_known).then(|| {
            self.told = room;
            room
        })
    }

    fn room(&self, conn: &mut Connection) -> Room {
        let Some(largest) = conn.datagrams().max_size() else {
            return Room::CLOSED;
        };
        let bytes = if conn.datagrams().send_buffer_space() < self.queue_space {
            // What waits is the newest there is; more would only push it out.
            0
        } else {
            let window = conn.congestion_state().window();
            // One may always be tried: the figure holds bare acknowledgements, too.
            window
                .saturating_sub(self.flight.bytes())
                .max(largest as u64)
        };
        Room {
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            largest: u16::try_from(largest).unwrap_or(u16::MAX),
        }
    }
}
