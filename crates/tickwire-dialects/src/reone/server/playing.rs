//! A client that is sent snapshots: what it sees, and what it has.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use tickwire_state::{Circle, Sight, SightRange};

use super::ServerCounters;
use super::client::Seated;
use super::commands::{CommandNumber, Commands, Scene};
use super::limits::{HISTORY, SEEN_MAX};
use super::sent_snapshots::{Acknowledged, SentSnapshots};
use super::world::{SlotNumber, World};
use crate::reone::{EventId, Mode, SnapshotSeq};

#[derive(Debug)]
pub(super) struct Playing {
    pub(super) seated: Seated,
    pub(super) sent: SentSnapshots,
    /// How its last snapshot was made.
    pub(super) mode: Mode,
    /// The newest snapshot is to be sent.
    pub(super) is_due: bool,
    /// It pinged meanwhile. A Ready after that means that it lost everything.
    pub(super) may_restart: bool,
    /// From this on, commands are to be told at once.
    pub(super) untold: CommandNumber,
    /// Commands that it has for sure and that others may not have.
    known: BTreeSet<CommandNumber>,
    sight: Sight<SlotNumber>,
}

impl Playing {
    /// It holds the base and nothing else.
    pub(super) fn begin(seated: Seated, newest: SnapshotSeq, untold: CommandNumber) -> Self {
        Self {
            seated,
            sent: SentSnapshots::new(newest),
            mode: Mode::Fallback,
            is_due: false,
            may_restart: false,
            untold,
            known: BTreeSet::new(),
            sight: Sight::new(),
        }
    }

    /// It lost everything, and begins again after this snapshot.
    pub(super) fn restart(&mut self, newest: SnapshotSeq) {
        *self = Self {
            is_due: self.is_due,
            ..Self::begin(self.seated, newest, self.untold)
        };
    }

    /// It says that it has a snapshot whole. Returns what that is worth, and the event that the snapshot
    /// acknowledged.
    pub(super) fn acknowledge(
        &mut self,
        seq: SnapshotSeq,
        world: &World,
    ) -> (Acknowledged, EventId) {
        let worth = self.sent.acknowledge(seq, world.newest());
        let is_news = matches!(worth, Acknowledged::Newest { .. });
        let Some(snapshot) = self.sent.snapshot(seq).filter(|_| is_news) else {
            return (worth, EventId::default());
        };
        self.known.extend(&snapshot.commands);
        (worth, snapshot.answered)
    }

    /// Whether so many snapshots are not acknowledged that, with silence, it counts as gone.
    pub(super) const fn is_unanswered(&self) -> bool {
        self.sent.unacknowledged() >= HISTORY
    }

    /// Looks around, and writes down what is in range, by slot.
    pub(super) fn look(&mut self, world: &World, range: SightRange, seen: &mut Vec<SlotNumber>) {
        let own = self.seated.own().and_then(|own| world.find(own));
        // Where a creature was lost sight of is where its player goes on looking.
        if let Some(at) = own.and_then(|own| world.position(own)) {
            self.seated.eye = at;
        }
        self.sight.look(world.grid(), self.seated.eye, range);
        seen.clear();
        let in_range = self.sight.seen().iter().take(SEEN_MAX);
        seen.extend(in_range);
        if let Some(own) = own
            && let Err(at) = seen.binary_search(&own)
        {
            seen.insert(at, own);
        }
    }

    /// Whether something that happens somewhere concerns it.
    pub(super) fn notices(&self, scene: Scene, range: SightRange) -> bool {
        match scene {
            Scene::Place(at) => Circle {
                center: self.seated.eye,
                radius: range.radius,
            }
            .has(at),
            Scene::Object { id, slot } => {
                self.seated.own() == Some(id) || slot.is_some_and(|slot| self.sight.has(slot))
            }
        }
    }

    /// Takes note of what its next snapshot is made against.
    pub(super) fn set_mode(&mut self, baseline: SnapshotSeq, counters: &mut ServerCounters) {
        let mode = match baseline {
            SnapshotSeq::NONE => Mode::Fallback,
            _ => Mode::Performant,
        };
        counters.mode_changes += u64::from(mode != self.mode);
        self.mode = mode;
        match mode {
            Mode::Performant => counters.performant += 1,
            Mode::Fallback => counters.fallback += 1,
        }
    }

    /// The commands that concern it and that it may not have, oldest first.
    pub(super) fn untaken(
        &self,
        commands: &Commands,
        range: SightRange,
    ) -> impl Iterator<Item = CommandNumber> {
        let waiting = commands.since(commands.first());
        let untaken = waiting.filter(move |(number, waiting)| {
            !self.known.contains(number) && self.notices(waiting.scene, range)
        });
        untaken.map(|(number, _)| number)
    }

    /// Forgets commands that nobody is told any more.
    pub(super) fn forget_commands(&mut self, commands: &Commands) {
        let first = commands.first();
        while self.known.first().is_some_and(|number| *number < first) {
            self.known.pop_first();
        }
    }
}
