//! What a client holds of the world, snapshot by snapshot.
//!
//! In: which objects it has in range, what it acknowledges, and how many bytes it may be sent. Out: what
//! to say, and with it the record of what the client will hold when it has that snapshot whole. The next
//! difference is made against such a record, so it is the truth about the client: an object that did not
//! fit stays in it as it was in the baseline, and one that the baseline lacks stays out.

use alloc::vec::Vec;

use tickwire_session::Instant;

use super::changes::{Change, Changes};
use super::commands::CommandNumber;
use super::limits::HISTORY;
use super::scopes::HeldScopes;
use super::world::{SlotNumber, World};
use crate::reone::{EventId, ObjectId, SnapshotSeq};

/// The snapshots that a client was sent.
#[derive(Debug)]
pub(super) struct SentSnapshots {
    /// By sequence modulo [`HISTORY`].
    ring: Vec<SentSnapshot>,
    acknowledged: SnapshotSeq,
    /// Snapshots sent after the newest that is acknowledged.
    unacknowledged: u32,
    /// The newest snapshot when the client began. What was sent before, to the same client, does not count.
    began: SnapshotSeq,
    /// Which snapshot last told of each object, by slot, while the client is sent less than all.
    turns: Vec<Turn>,
}

#[derive(Debug)]
pub(super) struct SentSnapshot {
    of: SnapshotSeq,
    sent: Instant,
    /// By slot.
    held: Vec<Held>,
    /// What else it held.
    pub(super) commands: Vec<CommandNumber>,
    /// The event that it acknowledged; 0 if none.
    pub(super) answered: EventId,
    /// The variables and the inventory that the client holds with it.
    pub(super) scopes: HeldScopes,
}

/// What a client has in range.
pub(super) struct InRange<I> {
    /// In the order of slots.
    pub(super) seen: I,
    /// Its own creature, which is told of before everything else: what a snapshot says of events is
    /// true of that creature.
    pub(super) own: Option<SlotNumber>,
}

/// An object as a client holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) slot: SlotNumber,
    pub(super) version: SnapshotSeq,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    slot: SlotNumber,
    told: SnapshotSeq,
}

/// What an acknowledgement was worth.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Acknowledged {
    /// News: the snapshot was sent so long ago.
    Newest { sent: Instant },
    /// It says what is known, or nothing.
    Again,
    /// Of a snapshot that was never sent.
    NeverSent,
}

/// What is said in a snapshot; the memory is used again for the next.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// What changed, by list.
    pub(super) lists: [Vec<Change>; 4],
    pub(super) kept: Vec<ObjectId>,
    changed: Vec<Changed>,
    /// Places in `changed`, in the order in which they are told while there is room.
    order: Vec<usize>,
    own: Option<SlotNumber>,
    bytes: usize,
    is_rationed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Changed {
    change: Change,
    id: ObjectId,
    /// What the baseline has.
    before: Option<SnapshotSeq>,
    /// Its place in the snapshot.
    at: usize,
    told: SnapshotSeq,
    is_own: bool,
    is_sent: bool,
}

/// Stands in a snapshot, while it is made, for an object that does not get in.
const LEFT_OUT: SnapshotSeq = SnapshotSeq(u32::MAX);

impl SentSnapshots {
    /// The client begins after this snapshot, and holds the base and nothing else.
    pub(super) const fn new(began: SnapshotSeq) -> Self {
        Self {
            ring: Vec::new(),
            acknowledged: SnapshotSeq::NONE,
            unacknowledged: 0,
            began,
            turns: Vec::new(),
        }
    }

    /// The client says that it has a snapshot whole.
    pub(super) fn acknowledge(&mut self, seq: SnapshotSeq, newest: SnapshotSeq) -> Acknowledged {
        // What was sent before the client began again may still be on its way back.
        if seq <= self.acknowledged || seq <= self.began {
            return Acknowledged::Again;
        }
        let Some(snapshot) = self.snapshot(seq) else {
            // Which of the old ones were sent is forgotten.
            let is_old = newest.since(seq) >= HISTORY;
            return match is_old {
                true => Acknowledged::Again,
                false => Acknowledged::NeverSent,
            };
        };
        let sent = snapshot.sent;
        self.acknowledged = seq;
        let later = self
            .ring
            .iter()
            .filter(|snapshot| snapshot.of > seq)
            .count();
        self.unacknowledged = u32::try_from(later).unwrap_or(u32::MAX);
        Acknowledged::Newest { sent }
    }

    /// What the snapshot after this one is to differ from: [`SnapshotSeq::NONE`] is the base.
    pub(super) const fn baseline(&self, newest: SnapshotSeq) -> SnapshotSeq {
        if newest.since(self.acknowledged) < HISTORY {
            self.acknowledged
        } else {
            SnapshotSeq::NONE
        }
    }

    pub(super) fn snapshot(&self, seq: SnapshotSeq) -> Option<&SentSnapshot> {
        let snapshot = self.ring.get(place(seq))?;
        (snapshot.of == seq && seq != SnapshotSeq::NONE).then_some(snapshot)
    }

    pub(super) const fn acknowledged(&self) -> SnapshotSeq {
        self.acknowledged
    }

    pub(super) const fn unacknowledged(&self) -> u32 {
        self.unacknowledged
    }

    /// Decides what the newest snapshot says, and remembers what the client will hold. `budget` is the
    /// bytes of all that changed.
    pub(super) fn compose(
        &mut self,
        now: Instant,
        world: &World,
        changes: &mut Changes,
        InRange { seen, own }: InRange<impl Iterator<Item = SlotNumber>>,
        budget: usize,
        draft: &mut Draft,
    ) -> &mut SentSnapshot {
        let newest = world.newest();
        draft.own = own;
        if self.ring.is_empty() {
            self.ring
                .resize_with(HISTORY as usize, || SentSnapshot::new(now));
        }
        // The newest takes the place of one that is no baseline any more.
        let mut held = match self.ring.get_mut(place(newest)) {
            Some(snapshot) => core::mem::take(&mut snapshot.held),
            None => Vec::new(),
        };
        held.clear();
        draft.clear();
        let baseline = self.baseline(newest);
        match self.snapshot(baseline) {
            Some(snapshot) => {
                let mut before = snapshot.held.iter().peekable();
                draft.compare(world, changes, seen, &mut held, |slot| {
                    // Both are in the order of slots, so one pass over the two is enough.
                    while before.next_if(|held| held.slot < slot).is_some() {}
                    let same = before.next_if(|held| held.slot == slot)?;
                    Some(same.version)
                });
            }
            None => draft.compare(world, changes, seen, &mut held, |slot| {
                world.is_in_base(slot).then_some(SnapshotSeq::NONE)
            }),
        }
        if draft.bytes <= budget {
            draft.send_all();
            self.turns.clear();
        } else {
            self.ration(newest, &mut held, budget, draft);
        }
        self.unacknowledged = self.unacknowledged.saturating_add(1);
        let at = place(newest) % self.ring.len().max(1);
        let snapshot = self.ring.get_mut(at);
        let snapshot = snapshot.expect("the ring was filled above");
        snapshot.of = newest;
        snapshot.sent = now;
        snapshot.held = held;
        snapshot.commands.clear();
        snapshot.answered = EventId::UNACKNOWLEDGED;
        snapshot
    }

    /// Sends what was not told of for longest, and keeps the rest as the baseline has it.
    fn ration(
        &mut self,
        newest: SnapshotSeq,
        held: &mut Vec<Held>,
        budget: usize,
        draft: &mut Draft,
    ) {
        let told = |turns: &[Turn], slot| {
            let at = turns.binary_search_by_key(&slot, |turn| turn.slot);
            let turn = at.ok().and_then(|at| turns.get(at));
            turn.map_or(SnapshotSeq::NONE, |turn| turn.told)
        };
        for changed in &mut draft.changed {
            let slot = held.get(changed.at).map(|held| held.slot);
            changed.told = slot.map_or(SnapshotSeq::NONE, |slot| told(&self.turns, slot));
        }
        draft.send_oldest(budget);
        let mut turns = Vec::with_capacity(held.len());
        turns.extend(held.iter().map(|held| Turn {
            slot: held.slot,
            told: told(&self.turns, held.slot),
        }));
        for changed in &draft.changed {
            if changed.is_sent {
                if let Some(turn) = turns.get_mut(changed.at) {
                    turn.told = newest;
                }
            } else if let Some(held) = held.get_mut(changed.at) {
                held.version = changed.before.unwrap_or(LEFT_OUT);
            }
        }
        self.turns = turns;
        held.retain(|held| held.version != LEFT_OUT);
    }
}

impl SentSnapshot {
    fn new(now: Instant) -> Self {
        Self {
            of: SnapshotSeq::NONE,
            sent: now,
            held: Vec::new(),
            commands: Vec::new(),
            answered: EventId::UNACKNOWLEDGED,
            scopes: HeldScopes::default(),
        }
    }

    pub(super) fn has(&self, slot: SlotNumber) -> bool {
        let at = self.held.binary_search_by_key(&slot, |held| held.slot);
        at.is_ok()
    }

    pub(super) fn held(&self) -> &[Held] {
        &self.held
    }
}

impl Draft {
    fn clear(&mut self) {
        self.lists.iter_mut().for_each(Vec::clear);
        self.kept.clear();
        self.changed.clear();
        self.bytes = 0;
        self.is_rationed = false;
    }

    /// Finds what changed, and writes down what the client would hold if all of it were sent.
    #[inline]
    fn compare(
        &mut self,
        world: &World,
        changes: &mut Changes,
        seen: impl Iterator<Item = SlotNumber>,
        held: &mut Vec<Held>,
        mut baseline: impl FnMut(SlotNumber) -> Option<SnapshotSeq>,
    ) {
        for slot in seen {
            let (Some(version), Some(id)) = (world.current(slot), world.id(slot)) else {
                continue;
            };
            let before = baseline(slot);
            let at = held.len();
            held.push(Held { slot, version });
            if before == Some(version) {
                self.kept.push(id);
                continue;
            }
            let change = changes.find(world, slot, before);
            if change.is_nothing() {
                self.kept.push(id);
                continue;
            }
            self.bytes += change.length();
            self.changed.push(Changed {
                change,
                id,
                before,
                at,
                told: SnapshotSeq::NONE,
                is_own: self.own == Some(slot),
                is_sent: false,
            });
        }
    }

    fn send_all(&mut self) {
        for changed in &self.changed {
            if let Some(list) = self.lists.get_mut(usize::from(changed.change.list)) {
                list.push(changed.change);
            }
        }
    }

    /// Whether something that changed is left unsaid.
    pub(super) const fn is_rationed(&self) -> bool {
        self.is_rationed
    }

    fn send_oldest(&mut self, budget: usize) {
        self.is_rationed = true;
        let Self { changed, order, .. } = self;
        order.clear();
        order.extend(0..changed.len());
        order.sort_unstable_by_key(|at| {
            let changed = changed.get(*at);
            (changed.map(|changed| (!changed.is_own, changed.told)), *at)
        });
        let mut left = budget;
        for at in order {
            let Some(changed) = changed.get_mut(*at) else {
                continue;
            };
            match left.checked_sub(changed.change.length()) {
                Some(rest) => left = rest,
                None => break,
            }
            changed.is_sent = true;
            if let Some(list) = self.lists.get_mut(usize::from(changed.change.list)) {
                list.push(changed.change);
            }
        }
        // One that the client has never seen cannot be kept: it comes when it fits.
        let kept = changed.iter().filter(|changed| !changed.is_sent);
        let kept = kept.filter(|changed| changed.before.is_some());
        self.kept.extend(kept.map(|changed| changed.id));
    }
}

const fn place(seq: SnapshotSeq) -> usize {
    seq.0 as usize % HISTORY as usize
}
