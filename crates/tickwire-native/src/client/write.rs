//! What goes out: the stream first, then the newest inputs and what arrived.

use alloc::vec::Vec;

use tickwire_session::bulk::Request;
use tickwire_session::{Instant, Transmit};

use super::{Client, Phase};
use crate::game::Game;
use crate::limits::{DATAGRAM_MAX, KEEP_ALIVE};
use crate::message::{DatagramUp, Inputs, Latest, Role, Up};

/// Bytes of a message of which only the newest counts.
pub(super) const LATEST_MAX: usize = DATAGRAM_MAX - 4;

/// A message of which only the newest counts.
#[derive(Debug)]
pub(super) struct LatestOut {
    pub(super) number: u16,
    pub(super) body: Vec<u8>,
    /// How often it is still to be sent.
    pub(super) repeats: u8,
}

/// The smallest path that inputs and acknowledgements are sent on as datagrams.
const LARGEST_MIN: u16 = 128;

impl<G: Game> Client<G> {
    pub(super) fn write_stream(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if !self.uplink.is_open() {
            return None;
        }
        self.push_requests();
        let written = self.outbox.write(self.uplink.stream_room(), out)?;
        Some(self.uplink.sent_on_stream(now, written))
    }

    fn push_requests(&mut self) {
        if self.phase != Phase::Playing {
            return;
        }
        while let Some(request) = self.download.poll_request() {
            let Request { name, offset } = &request;
            let frame = Up::Fetch {
                name,
                offset: *offset,
            };
            self.outbox.push(|out| frame.encode(out)).ok();
        }
    }

    pub(super) fn write_datagram(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if self.phase != Phase::Playing {
            return None;
        }
        let takes_datagrams = self.takes_datagrams();
        if takes_datagrams && let Some(token) = self.uplink.due_token(now) {
            self.uplink.set_attach_at(self.next_attach(now));
            let start = out.len();
            DatagramUp::Attach(token).encode(out);
            return Some(self.uplink.sent_datagram(now, out.len() - start));
        }
        let start = out.len();
        if !self.write_latest(out) && !self.write_play(now, out) {
            return None;
        }
        if takes_datagrams && self.uplink.datagram_heard().is_some() {
            return Some(self.uplink.sent_datagram(now, out.len() - start));
        }
        // Nothing of the server has come by datagram: everything goes by stream.
        let datagram = out.split_off(start);
        let frame = Up::Datagram(&datagram);
        self.outbox.push(|out| frame.encode(out)).ok();
        self.write_stream(now, out)
    }

    /// Writes what arrived and the newest inputs, if that is due.
    fn write_play(&mut self, now: Instant, out: &mut Vec<u8>) -> bool {
        let is_idle = now >= self.next_keep_alive();
        let Some(joined) = &mut self.joined else {
            return false;
        };
        if !joined.is_due && !is_idle {
            return false;
        }
        joined.is_due = false;
        self.played = now;
        let forget = joined.poll_forget();
        let (mut inputs, bits);
        inputs = Inputs::NONE;
        if self.config.role == Role::Player
            && let Some((tick, shown, newest_first)) = joined.newest_inputs()
        {
            let (count, encoded) = Inputs::encode(newest_first);
            bits = encoded;
            let [low, high, ..] = tick.0.to_le_bytes();
            inputs = Inputs {
                tick: u16::from_le_bytes([low, high]),
                count,
                shown,
                bits: &bits,
            };
        }
        let play = DatagramUp::Play {
            acks: joined.acks,
            forget,
            inputs,
        };
        play.encode(out);
        true
    }

    /// Writes the next of the messages that replace each other. Returns whether there was one.
    fn write_latest(&mut self, out: &mut Vec<u8>) -> bool {
        let due = self.latest.iter_mut().find(|(_, it)| it.repeats > 0);
        let Some((&channel, latest)) = due else {
            return false;
        };
        latest.repeats -= 1;
        DatagramUp::Latest(Latest {
            channel,
            number: latest.number,
            body: &latest.body,
        })
        .encode(out);
        true
    }

    /// Whether the path to the server takes datagrams at all.
    pub(super) fn takes_datagrams(&self) -> bool {
        self.uplink.datagram_room().largest >= LARGEST_MIN
    }

    /// When something goes out although there is nothing new.
    pub(super) fn next_keep_alive(&self) -> Instant {
        self.played + KEEP_ALIVE
    }
}
