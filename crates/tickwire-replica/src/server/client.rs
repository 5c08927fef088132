//! One client: what it sees, what it knows, what is on its way to it.
//!
//! Once a send the client's view is brought up to date and a plan is made: which records, in which order.
//! Packets are then cut from the plan one by one. Nothing counts as sent before it is in a packet, so a
//! caller may stop at any time.

use alloc::vec::Vec;

use super::first_view::FirstView;
use super::flight::Flights;
use super::interest::Interest;
use super::knowledge::{Knowledge, KnownId};
use super::known::{Moment, Oldest};
use super::notices::Pending;
use super::plan::{Item, Plan};
use super::{Room, Shared};
use crate::limits::{LEFT_MAX, PACKETS_PER_SEND_MAX, ROOM_MIN};
use crate::number::{PacketNumber, PlaceNumber, SendIndex};
use crate::packet::{Header, Last, Notices, PacketWriter};
use crate::record::BlockName;
use crate::world::Store;

/// One client.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) interest: Interest,
    /// Ascending by number.
    places: Vec<Visible>,
    flights: Flights,
    pending: Pending,
    /// Bytes of records a send, and what has accumulated.
    pub(super) budget: usize,
    credit: usize,
    /// Sends after which something on its way is taken for lost.
    pub(super) overdue: u64,
    first_view: FirstView,
    /// The last send before which an acknowledgement came.
    heard: SendIndex,
    /// Whether a place in view cannot be entered yet.
    is_waiting: bool,
    /// The last time that everything was cleared.
    cleared: SendIndex,
    turn: Turn,
    plan: Plan,
}

/// A place in a client's view.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visible {
    pub(super) number: PlaceNumber,
    /// Whether it holds something that is the client's own.
    pub(super) is_own: bool,
    /// The square of how far it is from where the client looks.
    pub(super) distance: f64,
    /// The first packet that could hold a record of it. What earlier ones held was of another visit.
    entered: PacketNumber,
    pub(super) known: KnownId,
}

/// What a client gets at one send.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    send: SendIndex,
    /// How much of the plan is in packets.
    next: usize,
    packets: usize,
    is_over: bool,
}

/// How often clients are sent something, in sends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// After so many without an acknowledgement a client is silent.
    pub(super) silence: u64,
    /// A silent client is sent something every so many.
    pub(super) probe: u64,
}

impl Client {
    pub(super) fn new(interest: Interest, joined: SendIndex, cleared: SendIndex) -> Self {
        Self {
            interest,
            places: Vec::new(),
            flights: Flights::new(),
            pending: Pending::default(),
            budget: usize::MAX,
            credit: 0,
            overdue: 4,
            first_view: FirstView::Unseen,
            heard: joined,
            is_waiting: false,
            cleared,
            turn: Turn::default(),
            plan: Plan::default(),
        }
    }

    /// Begins a send, unless the client is silent and it is not its time. `own` are the places of its
    /// own entities.
    pub(super) fn begin(
        &mut self,
        store: &Store,
        shared: &mut Shared,
        own: impl Iterator<Item = PlaceNumber> + Clone,
        pace: Pace,
        room: Room,
        weigh: impl Fn(&Visible) -> u16,
    ) {
        let send = store.send();
        let is_silent = send.since(self.heard) > pace.silence;
        if is_silent && send.since(self.turn.send) < pace.probe {
            return;
        }
        self.turn = Turn {
            send,
            ..Turn::default()
        };
        self.flights.expire(send);
        self.update_view(store, &mut shared.knowledge, own);
        self.credit = self.credit.min(crate::limits::CREDIT_MAX);
        self.credit = self.credit.saturating_add(self.budget);
        let moment = Moment {
            send,
            overdue: self.overdue,
        };
        let Self {
            pending,
            plan,
            places,
            first_view,
            ..
        } = self;
        let find = |number| places.binary_search_by_key(&number, |visible| visible.number);
        let numbers = places.iter().map(|visible| visible.number);
        first_view.begin(store, numbers, |number| find(number).is_ok());
        plan.survey(store, &mut shared.knowledge, places, &moment, |block| {
            pending.add_gone(block);
        });
        let waits = |knowledge: &Knowledge, visible: &Visible, block| {
            let place = store.place(visible.number);
            let known = knowledge.get(visible.known);
            let sends = place.map_or(0, |place| known.waiting(place, block, &moment));
            sends * u64::from(weigh(visible).max(1))
        };
        plan.choose(store, shared, places, self.credit, room, waits);
    }

    /// Leaves places that are out of view, and enters those that have come into it.
    fn update_view(
        &mut self,
        store: &Store,
        knowledge: &mut Knowledge,
        own: impl Iterator<Item = PlaceNumber> + Clone,
    ) {
        if store.cleared > self.cleared && store.cleared <= store.send() {
            self.cleared = store.cleared;
            let mut known = Vec::new();
            for visible in self.places.drain(..) {
                known.extend(visible.blocks(knowledge));
                knowledge.leave(visible.known);
            }
            self.pending.add_clear(known);
            self.interest.is_stale = true;
        }
        for removed in &store.news.removed {
            if let Ok(at) = self.find(*removed) {
                knowledge.leave(self.places.remove(at).known);
            }
        }
        if !self.interest.update(store, own) {
            return;
        }
        let Self {
            places,
            interest,
            pending,
            ..
        } = self;
        places.retain(|visible| {
            let stays = interest.seen().binary_search(&visible.number).is_ok();
            if !stays {
                let known = knowledge.get(visible.known).known().collect();
                pending.add_leave(visible.number, known);
                knowledge.leave(visible.known);
            }
            stays
        });
        self.is_waiting = false;
        let entered = self.flights.next();
        for number in interest.seen().iter().copied() {
            let Some(place) = store.place(number) else {
                continue;
            };
            let at = places.binary_search_by_key(&number, |visible| visible.number);
            if at.is_err() && pending.blocks_entry(number) {
                self.is_waiting = true;
                continue;
            }
            let at = at.unwrap_or_else(|at| {
                let visible = Visible {
                    number,
                    is_own: false,
                    distance: 0.0,
                    entered,
                    known: knowledge.enter(),
                };
                places.insert(at, visible);
                at
            });
            if let Some(visible) = places.get_mut(at) {
                visible.is_own = interest.is_own(number, place);
                visible.distance = interest.distance(place, store.side);
            }
        }
    }

    fn find(&self, number: PlaceNumber) -> Result<usize, usize> {
        self.places
            .binary_search_by_key(&number, |visible| visible.number)
    }

    /// Whether this send has begun for the client.
    pub(super) fn has_begun(&self, send: SendIndex) -> bool {
        self.turn.send == send
    }

    /// Appends the next packet of the send, if there is one.
    pub(super) fn poll(
        &mut self,
        store: &mut Store,
        shared: &mut Shared,
        room: Room,
        out: &mut Vec<u8>,
    ) -> Option<PacketNumber> {
        let send = store.send();
        if !self.has_begun(send) || self.turn.is_over || room.datagram < ROOM_MIN {
            return None;
        }
        let number = self.flights.next();
        let notices = match self.turn.packets {
            0 => self.pending.tell(number),
            _ => Notices::default(),
        };
        let carries_notices = !notices.is_empty();
        let header = Header { number, send };
        let mut packet = PacketWriter::new(header, &notices, room.datagram, out).ok()?;
        while let Some(item) = self.plan.item(self.turn.next) {
            let entry = shared.records.entry(item.record);
            let body = shared.records.body(entry);
            if packet.record(&entry.head, body).is_err() {
                break;
            }
            self.turn.next += 1;
            if !item.is_entering {
                self.credit = self.credit.saturating_sub(item.bytes);
            }
            self.mark_sent(store, shared, &item);
        }
        self.turn.packets += 1;
        self.turn.is_over =
            self.turn.next == self.plan.len() || self.turn.packets == PACKETS_PER_SEND_MAX;
        let last = self
            .turn
            .is_over
            .then(|| self.last(store, &mut shared.knowledge, number));
        packet.finish(last);
        self.flights.depart(send, carries_notices);
        Some(number)
    }

    fn mark_sent(&mut self, store: &mut Store, shared: &mut Shared, item: &Item) {
        self.flights.load(item.record);
        let Shared { knowledge, records } = shared;
        let held = records.ledger().record(self.turn.send, item.record);
        let Some(((place, blocks), visible)) = held.zip(self.places.get_mut(item.place)) else {
            return;
        };
        for block in knowledge.mark_sent(&mut visible.known, item.record, blocks) {
            if let Some(head) = store.head_mut(place, *block) {
                head.knowers += 1;
            }
        }
    }

    /// What the last packet of a send says about it.
    fn last(&self, store: &Store, knowledge: &mut Knowledge, number: PacketNumber) -> Last {
        let mut oldest = Oldest::new(self.turn.send);
        for visible in self.plan.pending().filter_map(|at| self.places.get(at)) {
            if let Some(place) = store.place(visible.number) {
                oldest = oldest.and(knowledge.oldest(visible.known, place));
            }
        }
        let reach = |since: SendIndex| {
            if since == SendIndex::NONE {
                return 0;
            }
            // Farther back than can be said is as good as not at all.
            let packet = self.flights.first_of(since).min(number);
            u8::try_from(number.0 - packet.0 + 1).unwrap_or(0)
        };
        let is_left_out = self.plan.is_left_out() || self.turn.next < self.plan.len();
        let is_all_told = self.pending.is_all_told() && !self.is_waiting;
        Last {
            complete: if is_left_out || !is_all_told {
                0
            } else {
                reach(oldest.any)
            },
            settled: match oldest.movers {
                Some(send) if !self.is_waiting => reach(send),
                _ => 0,
            },
        }
    }

    /// A packet was received and applied. Calls `release` for each block that is not known any more.
    pub(super) fn acknowledge(
        &mut self,
        now: SendIndex,
        packet: PacketNumber,
        shared: &mut Shared,
        mut release: impl FnMut(BlockName),
    ) {
        let Self {
            flights,
            places,
            first_view,
            ..
        } = self;
        let Shared { knowledge, records } = shared;
        let arrived = flights.arrive(packet, |record, send| {
            if let Some((number, blocks)) = records.ledger().record(send, record)
                && let Ok(at) = places.binary_search_by_key(&number, |visible| visible.number)
                && let Some(visible) = places.get_mut(at)
                && packet >= visible.entered
            {
                first_view.arrive(number, blocks);
                knowledge.acknowledge(&mut visible.known, (send, record), blocks);
            }
        });
        let Some(arrived) = arrived else { return };
        self.heard = now;
        if arrived.carries_notices {
            self.pending.confirm(packet, |name| {
                let found = places.binary_search_by_key(&name.place, |visible| visible.number);
                if let Some(visible) = found.ok().and_then(|at| places.get_mut(at)) {
                    knowledge.change(&mut visible.known).end(name.block);
                }
                release(name);
            });
            self.interest.is_stale |= self.is_waiting;
        }
    }

    /// The client holds nothing for certain any more.
    pub(super) fn forget(&mut self, knowledge: &mut Knowledge) {
        self.flights.void();
        for visible in &mut self.places {
            knowledge.change(&mut visible.known).forget();
        }
    }

    #[cfg(test)]
    pub(super) const fn drain_credit(&mut self) {
        self.credit = 0;
    }

    #[cfg(test)]
    pub(super) fn known(&self) -> impl Iterator<Item = KnownId> {
        self.places.iter().map(|visible| visible.known)
    }

    /// Whether everything of the first view has arrived.
    pub(super) const fn is_ready(&self) -> bool {
        self.first_view.is_ready()
    }

    /// Whether it holds on to more of what is gone than any replica would.
    pub(super) fn is_stuck(&self) -> bool {
        self.pending.unconfirmed() > LEFT_MAX
    }

    /// The client is gone. Calls `release` for each block that it knew.
    pub(super) fn abandon(
        &mut self,
        knowledge: &mut Knowledge,
        mut release: impl FnMut(BlockName),
    ) {
        for visible in self.places.drain(..) {
            let known = knowledge.get(visible.known).known().collect();
            self.pending.add_leave(visible.number, known);
            knowledge.leave(visible.known);
        }
        self.pending.abandon(&mut release);
    }
}

impl Visible {
    /// The blocks that the client may know.
    fn blocks(self, knowledge: &Knowledge) -> impl Iterator<Item = BlockName> {
        let place = self.number;
        let blocks = knowledge.get(self.known).known();
        blocks.map(move |block| BlockName { place, block })
    }
}
