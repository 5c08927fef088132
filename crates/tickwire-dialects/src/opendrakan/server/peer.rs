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
    ACTION_REFILL, ACTIONS_AT_ONCE, DATAGRAM_MAX, REPEAT_ABOVE, REPEAT_AT_LEAST, REPEAT_FOR,
    SEND_TICKS, SNAPSHOTS_HELD,
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
    /// The snapshot that is being sent. None is begun before this one is through.
    flight: Option<Flight>,
    pub(super) round_trip: RoundTrip,
    pub(super) traffic: Traffic,
    pub(super) resent: u64,
    pub(super) refused: u64,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    tick: Tick,
    at: Instant,
    /// It left at once, and not again: its acknowledgement tells how long the way is.
    is_timed: bool,
}

#[derive(Clone, Debug)]
struct Due {
    sending: Arc<Sending>,
    datagrams: Range<usize>,
}

/// A snapshot on its way out.
#[derive(Clone, Debug)]
struct Flight {
    sending: Arc<Sending>,
    since: Instant,
    /// The next of its datagrams in this pass.
    next: usize,
    /// Passes that were completed.
    passes: u32,
}

/// When something is scheduled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: Instant,
    pub(super) tick: Tick,
    /// What the world can tell differences to: this tick and later ones.
    pub(super) remembered: Tick,
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
            flight: None,
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
        self.flight.take_if(|flight| !fits(&flight.sending));
    }

    /// Decides what goes out at this tick. `build` makes the snapshot against a reference, or finds
    /// it. Returns whether a snapshot was left out for want of budget.
    pub(super) fn schedule(
        &mut self,
        moment: Moment,
        build: impl FnOnce(Tick, u16) -> Arc<Sending>,
    ) -> bool {
        // Whatever the driver has not fetched since the last tick it will not fetch in time.
        if self.addr.is_none() || self.due.is_some() {
            return false;
        }
        let Moment { now, tick, .. } = moment;
        let is_send_tick = tick.0.is_multiple_of(SEND_TICKS);
        let reference = self.reference(moment.remembered);
        self.flight
            .take_if(|flight| flight.is_over(now, reference != Tick::NONE));
        if let Some(flight) = &self.flight {
            let waits = is_send_tick && !flight.is_repeated();
            self.send_on(now, is_send_tick);
            return waits;
        }
        if !is_send_tick {
            return false;
        }
        if !self.budget.has_room(now) {
            return true;
        }
        self.flight = Some(Flight {
            sending: build(reference, self.largest),
            since: now,
            next: 0,
            passes: 0,
        });
        self.send_on(now, is_send_tick);
        let left_at_once = |flight: &Flight| flight.is_pass_over() && !flight.is_repeated();
        self.remember(Sent {
            tick,
            at: now,
            is_timed: self.flight.as_ref().is_some_and(left_at_once),
        });
        false
    }

    /// Sends on with the snapshot under way: a small one whole, of a large one as much as the budget
    /// allows. A new pass begins with a send tick: sooner no acknowledgement of the last one can be
    /// there.
    fn send_on(&mut self, now: Instant, is_send_tick: bool) {
        let Some(flight) = &mut self.flight else {
            return;
        };
        if flight.is_pass_over() && is_send_tick {
            flight.next = 0;
        }
        let from = flight.next;
        while !flight.is_pass_over() && (flight.is_small() || self.budget.has_room(now)) {
            let size = flight.sending.datagram(flight.next).map_or(0, <[u8]>::len);
            self.budget.spend(size);
            flight.next += 1;
        }
        let datagrams = from..flight.next;
        if datagrams.is_empty() {
            return;
        }
        if flight.passes > 0 {
            self.resent += datagrams.len() as u64;
        }
        flight.passes += u32::from(flight.is_pass_over());
        self.due = Some(Due {
            sending: flight.sending.clone(),
            datagrams,
        });
    }

    /// What the next snapshot may refer to. The last so many that were sent count, however long that
    /// took: a client whose budget is spent on one for a minute may still acknowledge it.
    fn reference(&self, remembered: Tick) -> Tick {
        self.acknowledged
            .filter(|tick| *tick >= remembered && (self.sent.len() as u64) < SNAPSHOTS_HELD)
            .unwrap_or(Tick::NONE)
    }

    /// The oldest tick that a snapshot to this client may ever refer to; `None` if no past one.
    pub(super) fn oldest_reference(&self) -> Option<Tick> {
        let acknowledged = self.reference(Tick::NONE);
        match acknowledged {
            Tick::NONE => self.sent.front().map(|sent| sent.tick),
            tick => Some(tick),
        }
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
        if sent.is_timed {
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

impl Flight {
    /// Few enough datagrams to leave at once, even into debt.
    fn is_small(&self) -> bool {
        self.sending.len() <= REPEAT_ABOVE
    }

    /// Whether it is sent until acknowledged: a client that has nothing must get this, and of many
    /// datagrams one is usually lost.
    fn is_repeated(&self) -> bool {
        self.sending.reference == Tick::NONE && !self.is_small()
    }

    fn is_pass_over(&self) -> bool {
        self.next >= self.sending.len()
    }

    /// Whether the next snapshot may begin. A pass is always finished, since half a snapshot is none,
    /// unless the client can do without.
    fn is_over(&self, now: Instant, is_client_served: bool) -> bool {
        if !self.is_repeated() {
            return self.is_pass_over();
        }
        let is_spent = self.passes >= REPEAT_AT_LEAST && now.since(self.since) >= REPEAT_FOR;
        is_client_served || self.is_pass_over() && is_spent
    }
}
