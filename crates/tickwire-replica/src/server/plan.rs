//! What a client is sent at one send: which records, and in which order.
//!
//! What is the client's own goes first. If the budget has room for everything else, everything goes, place
//! by place. If not, blocks go by how important they are and how long they have waited, until the first
//! that does not fit: nothing overtakes it, and unused budget accumulates until it fits. Blocks that the
//! client has never held do not use the budget: they go nearest first, a few at a time, as the path has
//! room.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::client::Visible;
use super::knowledge::Knowledge;
use super::known::{Due, Moment};
use super::ledger::RecordIndex;
use super::{Room, Shared};
use crate::limits::ENTERING_MAX;
use crate::number::BlockNumber;
use crate::packet::PacketWriter;
use crate::record::BlockName;
use crate::world::Store;

/// The records of one send to one client.
#[derive(Debug, Default)]
pub(super) struct Plan {
    items: Vec<Item>,
    sites: Vec<Site>,
    /// Places with something on its way.
    pending: Vec<usize>,
    /// Where to look, by importance.
    order: Vec<Waiting>,
    entering: usize,
    is_left_out: bool,
}

/// A record to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Which of the client's places it is of.
    pub(super) place: usize,
    /// Which of the send's records it is.
    pub(super) record: RecordIndex,
    /// With its head.
    pub(super) bytes: usize,
    /// Whether it is not of the budget.
    pub(super) is_entering: bool,
}

/// A place with something to send.
#[derive(Clone, Debug)]
struct Site {
    place: usize,
    is_own: bool,
    fate: Fate,
}

/// How a place's blocks are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    /// It was not decided.
    Open,
    /// Relative to one baseline.
    Whole,
    /// In a record each.
    Split,
}

/// A block that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    site: usize,
    due: Due,
    priority: u64,
}

impl Plan {
    pub(super) fn item(&self, at: usize) -> Option<Item> {
        self.items.get(at).copied()
    }

    pub(super) const fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether something that is due is not part of it.
    pub(super) const fn is_left_out(&self) -> bool {
        self.is_left_out
    }

    /// Places with something on its way.
    pub(super) fn pending(&self) -> impl Iterator<Item = usize> {
        self.pending.iter().copied()
    }

    /// Finds out what is due. Tells `gone` which blocks that the client may know are no more.
    pub(super) fn survey(
        &mut self,
        store: &Store,
        knowledge: &mut Knowledge,
        places: &mut [Visible],
        moment: &Moment,
        mut gone: impl FnMut(BlockName),
    ) {
        self.items.clear();
        self.sites.clear();
        self.pending.clear();
        (self.entering, self.is_left_out) = (0, false);
        for (at, visible) in places.iter_mut().enumerate() {
            let number = visible.number;
            let Some(place) = store.place(number) else {
                continue;
            };
            if knowledge.get(visible.known).is_settled(place) {
                continue;
            }
            knowledge.survey(&mut visible.known, (number, place), moment);
            let survey = knowledge.found(visible.known);
            for block in survey.gone.iter().copied() {
                gone(BlockName {
                    place: number,
                    block,
                });
            }
            self.entering += survey.entering;
            if survey.is_pending {
                self.pending.push(at);
            }
            if !survey.due.is_empty() {
                self.sites.push(Site {
                    place: at,
                    is_own: visible.is_own,
                    fate: Fate::Open,
                });
            }
        }
    }

    /// Chooses among what is due. `waits` says how important a block is and how long it has waited.
    pub(super) fn choose(
        &mut self,
        store: &Store,
        shared: &mut Shared,
        places: &[Visible],
        credit: usize,
        room: Room,
        waits: impl Fn(&Knowledge, &Visible, BlockNumber) -> u64,
    ) {
        // Stable: within both, places ascend, so that their numbers take a byte.
        self.sites.sort_by_key(|site| !site.is_own);
        let mut chooser = Chooser {
            store,
            shared,
            places,
            items: &mut self.items,
        };
        let mut own = 0;
        for site in &mut self.sites {
            chooser.site(site);
            if site.is_own {
                own = chooser.items.len();
            }
        }
        let total: usize = self.items.iter().map(|item| item.bytes).sum();
        if total > credit {
            self.prefer(store, shared, places, (own, credit), waits);
        }
        self.enter(store, shared, places, room);
    }

    /// Chooses what goes first, because not everything can go. The first `own` items do in any case.
    fn prefer(
        &mut self,
        store: &Store,
        shared: &mut Shared,
        places: &[Visible],
        (own, credit): (usize, usize),
        waits: impl Fn(&Knowledge, &Visible, BlockNumber) -> u64,
    ) {
        self.items.truncate(own);
        self.order.clear();
        for (at, site) in self.sites.iter_mut().enumerate().filter(|(_, s)| !s.is_own) {
            site.fate = Fate::Open;
            let Some(visible) = places.get(site.place) else {
                continue;
            };
            let due = &shared.knowledge.found(visible.known).due;
            for due in due.iter().filter(|due| !due.is_fresh).copied() {
                let priority = waits(&shared.knowledge, visible, due.block);
                self.order.push(Waiting {
                    site: at,
                    due,
                    priority,
                });
            }
        }
        self.order.sort_by_key(|waiting| Reverse(waiting.priority));
        let used: usize = self.items.iter().map(|item| item.bytes).sum();
        let mut left = credit.saturating_sub(used);
        let mut chooser = Chooser {
            store,
            shared,
            places,
            items: &mut self.items,
        };
        for waiting in &self.order {
            let Some(site) = self.sites.get_mut(waiting.site) else {
                continue;
            };
            if site.fate == Fate::Whole {
                continue;
            }
            if site.fate == Fate::Open {
                let first = chooser.items.len();
                let whole = chooser.whole(site).filter(|bytes| *bytes <= left);
                if let Some(bytes) = whole {
                    site.fate = Fate::Whole;
                    left -= bytes;
                    continue;
                }
                chooser.items.truncate(first);
                site.fate = Fate::Split;
            }
            let Some(item) = chooser.block(site, &waiting.due) else {
                continue;
            };
            if item.bytes > left {
                self.is_left_out = true;
                break;
            }
            left -= item.bytes;
            chooser.items.push(item);
        }
        if let Some(chosen) = self.items.get_mut(own..) {
            chosen.sort_by_key(|item| item.place);
        }
    }

    /// Adds blocks that the client has never held.
    fn enter(&mut self, store: &Store, shared: &mut Shared, places: &[Visible], room: Room) {
        self.order.clear();
        for (at, site) in self.sites.iter().enumerate() {
            if site.fate == Fate::Whole {
                continue;
            }
            let Some(visible) = places.get(site.place) else {
                continue;
            };
            let due = &shared.knowledge.found(visible.known).due;
            let fresh = due.iter().filter(|due| due.is_fresh).copied();
            self.order.extend(fresh.map(|due| Waiting {
                site: at,
                due,
                priority: 0,
            }));
        }
        if self.order.is_empty() {
            return;
        }
        let nearness = |waiting: &Waiting| {
            let site = self.sites.get(waiting.site);
            let visible = site.and_then(|site| places.get(site.place));
            visible.map_or((true, 0.0), |place| (!place.is_own, place.distance))
        };
        self.order.sort_by(|a, b| {
            let ((a, near), (b, far)) = (nearness(a), nearness(b));
            a.cmp(&b).then(near.total_cmp(&far))
        });
        let used: usize = self.items.iter().map(|item| item.bytes).sum();
        let mut left = room.path.saturating_sub(used);
        let slots = ENTERING_MAX.saturating_sub(self.entering);
        self.is_left_out |= self.order.len() > slots;
        let mut chooser = Chooser {
            store,
            shared,
            places,
            items: &mut self.items,
        };
        for waiting in self.order.iter().take(slots) {
            if let Some(site) = self.sites.get(waiting.site)
                && let Some(mut item) = chooser.block(site, &waiting.due)
            {
                item.is_entering = true;
                if item.bytes > left {
                    self.is_left_out = true;
                    break;
                }
                left -= item.bytes;
                chooser.items.push(item);
            }
        }
    }
}

/// Turns what is due into records.
struct Chooser<'a> {
    store: &'a Store,
    shared: &'a mut Shared,
    places: &'a [Visible],
    items: &'a mut Vec<Item>,
}

impl Chooser<'_> {
    /// Everything that is due of a place, relative to one baseline if that can be.
    fn site(&mut self, site: &mut Site) {
        site.fate = Fate::Split;
        let Some(visible) = self.places.get(site.place) else {
            return;
        };
        let due = &self.shared.knowledge.found(visible.known).due;
        // A place that the client is only entering is paced block by block.
        if due.iter().all(|due| due.is_fresh) {
            return;
        }
        if self.whole(site).is_some() {
            site.fate = Fate::Whole;
            return;
        }
        for at in 0.. {
            let due = self.shared.knowledge.found(visible.known).due.get(at);
            let Some(due) = due.copied() else { return };
            if !due.is_fresh {
                let item = self.block(site, &due);
                self.items.extend(item);
            }
        }
    }

    /// Adds everything that changed in a place, if there is one baseline for it, and says how many bytes.
    fn whole(&mut self, site: &Site) -> Option<usize> {
        let Visible { number, known, .. } = *self.places.get(site.place)?;
        let place = (number, self.store.place(number)?);
        let Shared { knowledge, records } = self.shared;
        let ages = knowledge.whole(known, place, records)?;
        let mut bytes = 0;
        for record in records.place(self.store, place, ages) {
            let item = self.item(site, record);
            bytes += item.bytes;
            self.items.push(item);
        }
        Some(bytes)
    }

    fn block(&mut self, site: &Site, due: &Due) -> Option<Item> {
        let number = self.places.get(site.place)?.number;
        let place = (number, self.store.place(number)?);
        let ages = due.ages();
        let record = self
            .shared
            .records
            .block(self.store, place, due.block, ages)?;
        Some(self.item(site, record))
    }

    fn item(&self, site: &Site, record: RecordIndex) -> Item {
        Item {
            place: site.place,
            record,
            bytes: self.shared.records.entry(record).len() + PacketWriter::RECORD_HEAD_BYTES,
            is_entering: false,
        }
    }
}
