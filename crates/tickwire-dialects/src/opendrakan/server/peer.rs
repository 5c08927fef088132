//! One client as the server knows it.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use tickwire_session::{
    Addr, Instant, PeerStats, Room, RoundTrip, StreamId, TokenBucket, Traffic, Transmit,
};
use tickwire_state::Tick;

use super::super::limits::{
    ACTION_REFILL, ACTIONS_AT_ONCE, DATAGRAM_MAX, REPEAT_ABOVE, REPEAT_FOR, SEND_TICKS,
    SNAPSHOTS_HELD,
};
use super::super::stream::{Inbox, Outbox};
use super::budget::Budget;
use super::sending::Sending;

#[derive(Debug)]
pub(super) struct Peer {
    pub(super) stream: StreamId,
    pub(super) stream_addr: Addr,
    /// Where its datagrams go, once it showed its token.
    pub(super) addr: Option<Addr>,
    pub(super) inbox: Inbox,
    pub(super) outbox: Outbox,
    pub(super) last_heard: Instant,
    pub(super) actions: TokenBucket,
    /// The largest datagram its path takes.
    pub(super) largest: u16,
    /// The snapshots it was sent that may still be referred to, oldest first.
    sent: VecDeque<Sent>,
    /// The newest that it acknowledged.
    acknowledged: Option<Tick>,
    budget: Budget,
    /// Datagrams to be written now.
    due: Option<Due>,
    /// A full snapshot that is repeated until acknowledged.
    repeat: Option<Repeat>,
    pub(super) round_trip: RoundTrip,
    pub(super) traffic: Traffic,
    pub(super) resent: u64,
    pub(super) refused: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    tick: Tick,
    at: Instant,
    /// Which copy an acknowledgement answers cannot be told.
    repeated: bool,
}

#[derive(Clone, Debug)]
struct Due {
    sending: Arc<Sending>,
    datagrams: Range<usize>,
}

#[derive(Clone, Debug)]
struct Repeat {
    sending: Arc<Sending>,
    since: Instant,
    /// The next of its datagrams in this pass.
    next: usize,
    /// Passes that were completed.
    passes: u32,
}

/// What an acknowledgement was worth.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Acknowledged {
    Newest,
    /// It says what is known.
    Again,
    /// A newer one came before it.
    Old,
    NeverSent,
}

impl Peer {
    pub(super) fn new(
        now: Instant,
        stream: StreamId,
        stream_addr: Addr,
        bytes_per_second: u32,
    ) -> Self {
        Self {
            stream,
            stream_addr,
            addr: None,
            inbox: Inbox::default(),
            outbox: Outbox::new(),
            last_heard: now,
            actions: TokenBucket::new(now, ACTIONS_AT_ONCE, ACTION_REFILL),
            largest: DATAGRAM_MAX,
            sent: VecDeque::new(),
            acknowledged: None,
            budget: Budget::new(now, bytes_per_second),
            due: None,
            repeat: None,
            round_trip: RoundTrip::new(),
            traffic: Traffic::NONE,
            resent: 0,
            refused: 0,
        }
    }

    /// Takes note of what its datagrams' path carries.
    pub(super) fn set_largest(&mut self, largest: u16) {
        self.largest = largest.min(DATAGRAM_MAX);
        let fits = |sending: &Sending| sending.limit <= self.largest;
        self.due.take_if(|due| !fits(&due.sending));
        self.repeat.take_if(|repeat| !fits(&repeat.sending));
    }

    /// Decides what goes out at this tick. `build` makes the snapshot against a reference, or finds
    /// it. Returns whether a snapshot was left out for want of budget.
    pub(super) fn schedule(
        &mut self,
        now: Instant,
        tick: Tick,
        build: impl FnOnce(Tick, u16) -> Arc<Sending>,
    ) -> bool {
        // Whatever the driver has not fetched since the last tick it will not fetch in time.
        if self.addr.is_none() || self.due.is_some() {
            return false;
        }
        let is_send_tick = tick.0.is_multiple_of(SEND_TICKS);
        let reference = self.reference(tick);
        // A pass is always finished: half a snapshot is none.
        let spent = |repeat: &Repeat| {
            repeat.is_pass_over() && repeat.passes > 0 && now.since(repeat.since) >= REPEAT_FOR
        };
        self.repeat
            .take_if(|repeat| reference != Tick::NONE || spent(repeat));
        if self.repeat.is_some() {
            self.schedule_repeat(now, is_send_tick);
            return false;
        }
        if !is_send_tick {
            return false;
        }
        if !self.budget.has_room(now) {
            return true;
        }
        let sending = build(reference, self.largest);
        let repeated = reference == Tick::NONE && sending.len() > REPEAT_ABOVE;
        self.remember(Sent {
            tick,
            at: now,
            repeated,
        });
        if repeated {
            self.repeat = Some(Repeat {
                sending,
                since: now,
                next: 0,
                passes: 0,
            });
            self.schedule_repeat(now, is_send_tick);
        } else {
            let datagrams = 0..sending.len();
            self.enqueue(sending, datagrams);
        }
        false
    }

    /// Sends on with a large full snapshot, as much as the budget allows. A new pass begins with a
    /// send tick: sooner no acknowledgement of the last one can be there.
    fn schedule_repeat(&mut self, now: Instant, is_send_tick: bool) {
        let Some(repeat) = &mut self.repeat else {
            return;
        };
        if repeat.is_pass_over() && is_send_tick {
            repeat.next = 0;
        }
        let from = repeat.next;
        while !repeat.is_pass_over() && self.budget.has_room(now) {
            let size = repeat.sending.datagram(repeat.next).map_or(0, <[u8]>::len);
            self.budget.spend(size);
            repeat.next += 1;
        }
        if repeat.passes > 0 {
            self.resent += (repeat.next - from) as u64;
        }
        if repeat.next > from && repeat.is_pass_over() {
            repeat.passes += 1;
        }
        let datagrams = from..repeat.next;
        if !datagrams.is_empty() {
            self.due = Some(Due {
                sending: repeat.sending.clone(),
                datagrams,
            });
        }
    }

    fn enqueue(&mut self, sending: Arc<Sending>, datagrams: Range<usize>) {
        let sizes = datagrams
            .clone()
            .filter_map(|number| sending.datagram(number));
        self.budget.spend(sizes.map(<[u8]>::len).sum());
        self.due = Some(Due { sending, datagrams });
    }

    /// What the snapshot of `tick` may refer to.
    fn reference(&self, tick: Tick) -> Tick {
        let oldest = tick.before(SEND_TICKS * SNAPSHOTS_HELD);
        self.acknowledged
            .filter(|acknowledged| *acknowledged >= oldest)
            .unwrap_or(Tick::NONE)
    }

    fn remember(&mut self, sent: Sent) {
        if self.sent.len() as u64 == SNAPSHOTS_HELD {
            self.sent.pop_front();
        }
        self.sent.push_back(sent);
    }

    /// The client says that it has a snapshot whole.
    pub(super) fn acknowledge(&mut self, now: Instant, tick: Tick) -> Acknowledged {
        match self.acknowledged {
            Some(newest) if tick < newest => return Acknowledged::Old,
            Some(newest) if tick == newest => return Acknowledged::Again,
            _ => {}
        }
        let Some(sent) = self.sent.iter().find(|sent| sent.tick == tick) else {
            // Sent so long ago that it may not be referred to any more is as good as never.
            return Acknowledged::NeverSent;
        };
        if !sent.repeated {
            self.round_trip.add_sample(now.since(sent.at));
        }
        self.acknowledged = Some(tick);
        self.sent.retain(|sent| sent.tick > tick);
        Acknowledged::Newest
    }

    /// Writes the next datagram that is due.
    pub(super) fn write_datagram(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        let to = self.addr?;
        let due = self.due.as_mut()?;
        let datagram = due
            .datagrams
            .next()
            .and_then(|number| due.sending.datagram(number));
        if let Some(datagram) = datagram {
            out.extend_from_slice(datagram);
            self.traffic.sent(datagram.len());
        }
        let found = datagram.is_some();
        if due.datagrams.is_empty() {
            self.traffic.messages_out += due.sending.messages;
            self.due = None;
        }
        found.then_some(Transmit::Datagram { to })
    }

    /// Writes what its stream takes.
    pub(super) fn write_stream(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        let written = self.outbox.write(out)?;
        self.traffic.sent(written);
        Some(Transmit::Stream { on: self.stream })
    }

    pub(super) const fn set_stream_room(&mut self, room: Room) {
        self.outbox.set_room(room);
    }

    pub(super) fn stats(&self) -> PeerStats<'_> {
        let state = match (self.addr, self.acknowledged) {
            (None, _) => "Attaching",
            (Some(_), None) => "Syncing",
            (Some(_), Some(_)) => "Playing",
        };
        let mut stats = PeerStats::new("", self.addr.unwrap_or(self.stream_addr), state);
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.traffic = self.traffic;
        stats.resent = self.resent;
        stats.refused = self.refused;
        stats
    }
}

impl Repeat {
    fn is_pass_over(&self) -> bool {
        self.next >= self.sending.len()
    }
}
