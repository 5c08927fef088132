//! Which snapshot one client is sent, when, and against which reference.
//!
//! In: ticks, what the client acknowledges, and a way to build a snapshot against a reference. Out: the
//! next datagram. Three things hold a snapshot back: the client's byte budget, one before it that is not
//! through, and silence. Whoever acknowledges nothing for [`SILENT_AFTER`] is sent every
//! [`SILENT_TICKS`]th tick, in full, so that clients which only listen cost little.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use tickwire_session::{Instant, PeerLink, PeerStats, Room, RoundTrip, Updates, Wrote};
use tickwire_state::Tick;

use super::budget::Budget;
use super::sending::Sending;
use crate::opendrakan::limits::{
    DATAGRAM_MAX, DATAGRAM_MIN, REPEAT_ABOVE, REPEAT_AT_LEAST, REPEAT_FOR, SEND_TICKS,
    SILENT_AFTER, SILENT_TICKS, SNAPSHOTS_HELD,
};

#[derive(Debug)]
pub(super) struct SnapshotSender {
    /// The snapshots it was sent that may still be referred to, oldest first.
    sent: VecDeque<Sent>,
    /// The newest that it acknowledged.
    acknowledged: Option<Tick>,
    /// When the first snapshot after that one had gone out whole.
    unanswered: Option<Instant>,
    budget: Budget,
    /// Datagrams to be written now.
    due: Option<Due>,
    /// The snapshot that is being sent. None is begun before this one is through.
    flight: Option<Flight>,
    round_trip: RoundTrip,
    updates: Updates,
    resent: u64,
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

/// When something is scheduled, and for which path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: Instant,
    pub(super) tick: Tick,
    /// The world can tell differences to this tick and later ones.
    pub(super) remembered: Tick,
    /// The client's path.
    pub(super) room: Room,
}

/// Why a snapshot was not sent to a client whose turn it was.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Skipped {
    OverBudget,
    PathTooNarrow,
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

impl SnapshotSender {
    pub(super) fn new(now: Instant, bytes_per_second: u32) -> Self {
        Self {
            sent: VecDeque::new(),
            acknowledged: None,
            unanswered: None,
            budget: Budget::new(now, bytes_per_second),
            due: None,
            flight: None,
            round_trip: RoundTrip::new(),
            updates: Updates::NONE,
            resent: 0,
        }
    }

    /// Whether the client has acknowledged anything yet.
    pub(super) const fn is_acknowledged(&self) -> bool {
        self.acknowledged.is_some()
    }

    /// Whether datagrams wait to be written.
    pub(super) const fn is_due(&self) -> bool {
        self.due.is_some()
    }

    /// Decides what goes out at this tick. `build` makes the snapshot against a reference, in
    /// datagrams of at most so many bytes, or finds it.
    pub(super) fn schedule(
        &mut self,
        moment: Moment,
        build: impl FnOnce(Tick, u16) -> Arc<Sending>,
    ) -> Option<Skipped> {
        let Moment { now, tick, .. } = moment;
        let is_silent = self.is_silent(now);
        let period = if is_silent { SILENT_TICKS } else { SEND_TICKS };
        let is_send_tick = tick.0.is_multiple_of(period);
        let limit = moment.room.largest.min(DATAGRAM_MAX);
        if limit < DATAGRAM_MIN {
            return is_send_tick.then_some(Skipped::PathTooNarrow);
        }
        // Whatever the driver has not fetched since the last tick it will not fetch in time.
        if self.due.is_some() {
            return None;
        }
        let reference = self.reference(now, moment.remembered);
        self.flight.take_if(|flight| {
            flight.sending.limit > limit || flight.is_over(now, reference != Tick::NONE)
        });
        if let Some(flight) = &self.flight {
            let waits = is_send_tick && !flight.is_repeated();
            if waits {
                self.updates.hold_back();
            }
            self.send_on(now, is_send_tick);
            return waits.then_some(Skipped::OverBudget);
        }
        if !is_send_tick {
            return None;
        }
        if !self.budget.has_room(now) {
            self.updates.hold_back();
            return Some(Skipped::OverBudget);
        }
        self.updates.add(now);
        self.flight = Some(Flight {
            sending: build(reference, limit),
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
        None
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
            self.budget.spend(now, size);
            flight.next += 1;
        }
        let datagrams = from..flight.next;
        if datagrams.is_empty() {
            return;
        }
        if flight.passes > 0 {
            self.resent += datagrams.len() as u64;
        }
        if flight.is_pass_over() {
            flight.passes += 1;
            self.unanswered.get_or_insert(now);
        }
        self.due = Some(Due {
            sending: flight.sending.clone(),
            datagrams,
        });
    }

    /// Whether the client acknowledges nothing. A snapshot that takes long to send is not held
    /// against it: what counts is the time since the first that it could have acknowledged.
    fn is_silent(&self, now: Instant) -> bool {
        self.unanswered
            .is_some_and(|since| now.since(since) >= SILENT_AFTER)
    }

    /// What the next snapshot may refer to. The last so many that were sent count, however long that
    /// took: a client whose budget is spent on one for a minute may still acknowledge it.
    fn reference(&self, now: Instant, remembered: Tick) -> Tick {
        let is_held = self.sent.len() < SNAPSHOTS_HELD && !self.is_silent(now);
        self.acknowledged
            .filter(|tick| is_held && *tick >= remembered)
            .unwrap_or(Tick::NONE)
    }

    /// The oldest tick that a snapshot to this client may ever refer to; `None` if no past one.
    pub(super) fn oldest_reference(&self, now: Instant) -> Option<Tick> {
        match self.reference(now, Tick::NONE) {
            Tick::NONE => self.sent.front().map(|sent| sent.tick),
            tick => Some(tick),
        }
    }

    fn remember(&mut self, sent: Sent) {
        if self.sent.len() == SNAPSHOTS_HELD {
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
            // Or so long ago that it cannot be a reference any more.
            return Acknowledged::NeverSent;
        };
        if sent.is_timed {
            self.round_trip.add_sample(now.since(sent.at));
        }
        self.acknowledged = Some(tick);
        self.unanswered = None;
        self.sent.retain(|sent| sent.tick > tick);
        Acknowledged::Newest
    }

    /// Writes the next datagram that is due.
    pub(super) fn write(&mut self, link: &mut PeerLink, out: &mut Vec<u8>) -> Wrote {
        let room = link.datagram_room();
        // The path became narrower since the datagrams were made.
        self.due.take_if(|due| due.sending.limit > room.largest);
        let Some(due) = self.due.as_mut() else {
            return Wrote::Nothing;
        };
        let number = due.datagrams.start;
        let datagram = due.sending.datagram(number).unwrap_or_default();
        if (room.bytes as usize) < datagram.len() {
            return Wrote::Blocked;
        }
        out.extend_from_slice(datagram);
        due.datagrams.start = number + 1;
        if due.datagrams.is_empty() {
            link.traffic.messages_out += due.sending.messages;
            self.due = None;
        }
        Wrote::Datagram
    }

    /// Adds what is measured here to a client's figures.
    pub(super) fn add_to(&self, stats: &mut PeerStats<'_>) {
        stats.round_trip = self.round_trip.mean();
        stats.jitter = self.round_trip.jitter();
        stats.resent = Some(self.resent);
        stats.updates = self.updates;
        stats.choke = self.updates.choke();
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

    /// Whether the next snapshot may begin. A pass that has begun is finished, because half a snapshot is
    /// useless, unless the client has acknowledged a reference in the meantime.
    fn is_over(&self, now: Instant, has_reference: bool) -> bool {
        if !self.is_repeated() {
            return self.is_pass_over();
        }
        let is_spent = self.passes >= REPEAT_AT_LEAST && now.since(self.since) >= REPEAT_FOR;
        has_reference || self.is_pass_over() && is_spent
    }
}
