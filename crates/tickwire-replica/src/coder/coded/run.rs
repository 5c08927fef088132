//! One run over the blocks of a record, for either side: who came, who went, who changed.
//!
//! What an entity's values are coded by is in [`entity`](super::entity).

use alloc::vec::Vec;
use core::fmt;

use tickwire_wire::DecodeError;

use crate::block::SLOTS;
use crate::coder::Known;
use crate::coder::coded::entity::{Entities, Past};
use crate::coder::coded::residual::Set;
use crate::coder::coded::side::{Side, Subject};
use crate::coder::prior::{Plan, Prior};
use crate::coder::slots::{Changes, differing, members, same_occupants};
use crate::schema;

// Where the models that concern whole entities lie in their set.
const IS_CHANGED: usize = 0;
pub(in crate::coder) const OCCUPANTS_DIFFER: usize = 12;
const LEAVES: usize = 13;
const IS_REPLACED: usize = 14;
const COMES: usize = 15;
const IS_NEXT_ID: usize = 17;
pub(super) const BYTES_CHANGED: usize = 18;

/// A run, from its first block to its last.
pub(in crate::coder) struct Run<'a, S: Side> {
    pub(in crate::coder) side: S,
    prior: &'a Prior,
    storage: &'a mut Storage<S::Model>,
}

/// What a run remembers.
pub(in crate::coder) struct Storage<M> {
    sets: Vec<Set<M>>,
    /// Bit `n`: set `n` is in use by this run. The others are of an earlier one.
    in_use: u64,
    trail: Trail,
}

/// What was coded last.
#[derive(Clone, Debug, Default)]
pub(in crate::coder) struct Trail {
    archetype: usize,
    /// Whether the last two entities changed.
    changed: usize,
    /// The last newcomer's id.
    id: u32,
    /// How large the residual of each lane was.
    pub(super) sizes: Vec<u32>,
    /// What the last newcomer's lanes held, raw.
    pub(super) newcomer: Vec<u32>,
}

impl<M> Default for Storage<M> {
    fn default() -> Self {
        Self {
            sets: Vec::new(),
            in_use: 0,
            trail: Trail::default(),
        }
    }
}

impl<M> Storage<M> {
    /// Forgets what models learnt.
    pub(in crate::coder) fn forget(&mut self) {
        self.in_use = 0;
    }

    /// The models, set by set.
    pub(in crate::coder) fn sets(&self) -> &[Set<M>] {
        &self.sets
    }
}

impl<'a, S: Side> Run<'a, S> {
    /// Begins a run. Models that were not forgotten carry on from the last.
    pub(in crate::coder) fn new(
        prior: &'a Prior,
        storage: &'a mut Storage<S::Model>,
        side: S,
    ) -> Self {
        let starts = prior.starts();
        if storage.sets.len() != starts.len() {
            storage.in_use = 0;
            storage.sets.clear();
            let sets = starts.iter().map(|starts| starts.map(S::Model::from));
            storage.sets.extend(sets);
        }
        storage.trail.turn_to(usize::MAX, 0);
        Self {
            side,
            prior,
            storage,
        }
    }

    /// Codes a block of an archetype.
    pub(in crate::coder) fn block(
        &mut self,
        archetype: usize,
        known: &Known<'_>,
        truth: &Changes,
        subject: impl Subject,
    ) -> Result<(), DecodeError> {
        let Some(plan) = self.prior.plan(archetype) else {
            return Err(DecodeError::Forbidden {
                field: "archetype",
                at_bit: self.side.at_bit(),
                value: archetype as u64,
            });
        };
        self.begin_sets(plan);
        self.storage.trail.turn_to(archetype, plan.lanes.len());
        let mut block = Block {
            entities: Entities::new(
                &mut self.side,
                &mut self.storage.sets,
                plan,
                &mut self.storage.trail,
                known,
                subject,
            ),
            known,
        };
        let changes = block.occupants(truth)?;
        for slot in members(changes.new) {
            block.entities.code(slot, Past::None)?;
        }
        block.kept(&changes)
    }

    /// Sets that this run has not used yet begin as the prior says.
    fn begin_sets(&mut self, plan: &Plan) {
        let Storage { sets, in_use, .. } = &mut *self.storage;
        for &set in plan.lanes.iter().chain([&plan.entity]) {
            let starts = self.prior.starts().get(usize::from(set));
            if *in_use >> set & 1 == 0
                && let (Some(set), Some(starts)) = (sets.get_mut(usize::from(set)), starts)
            {
                *set = starts.map(S::Model::from);
            }
            *in_use |= 1 << set;
        }
    }
}

impl Trail {
    /// Entities of different archetypes have nothing in common.
    fn turn_to(&mut self, archetype: usize, lanes: usize) {
        if self.archetype != archetype {
            self.archetype = archetype;
            self.changed = 0;
            self.id = 0;
            self.sizes.clear();
            self.sizes.resize(lanes, 0);
            self.newcomer.clear();
            self.newcomer.resize(lanes, 0);
        }
    }
}

/// One block of a run.
struct Block<'b, S: Side, B> {
    entities: Entities<'b, S, B>,
    known: &'b Known<'b>,
}

impl<S: Side, B: Subject> Block<'_, S, B> {
    /// Who came and who went. What comes back lacks who changed.
    fn occupants(&mut self, truth: &Changes) -> Result<Changes, DecodeError> {
        let before = self.known.baseline.map_or(0, |block| block.occupied);
        let mut changes = Changes {
            kept: before,
            changed: truth.changed,
            ..Changes::default()
        };
        let differ =
            self.known.baseline.is_none() || self.bit(OCCUPANTS_DIFFER, !truth.same_occupants());
        if !differ {
            return Ok(changes);
        }
        let leave = truth.gone | truth.new & before;
        let mut is_new = false;
        for slot in 0..SLOTS {
            let is = |set: u64| set >> slot & 1 == 1;
            let leaves = is(before) && self.bit(LEAVES, is(leave));
            let model = if leaves {
                IS_REPLACED
            } else {
                COMES + usize::from(is_new)
            };
            if leaves || !is(before) {
                is_new = self.bit(model, is(truth.new));
                changes.gone |= u64::from(leaves && !is_new) << slot;
                changes.new |= u64::from(is_new) << slot;
            }
        }
        changes.kept &= !(changes.gone | changes.new);
        self.entities.side.check("occupants")?;
        self.entities.subject.vacate(changes.gone | changes.new);
        for slot in members(changes.new) {
            self.id(slot)?;
        }
        Ok(changes)
    }

    /// A newcomer's id: often the one after the last newcomer's.
    fn id(&mut self, slot: u8) -> Result<(), DecodeError> {
        let truth = self.entities.subject.id(slot);
        let next = self.entities.trail.id.wrapping_add(1);
        let mut id = next;
        if !self.bit(IS_NEXT_ID, truth == next) {
            let side = &mut *self.entities.side;
            id = side.plain(truth >> 16, 16) << 16 | side.plain(truth & 0xffff, 16);
        }
        self.entities.side.check("id")?;
        if id == 0 {
            return Err(self.entities.forbidden("id", 0));
        }
        self.entities.trail.id = id;
        self.entities.subject.set_id(slot, id);
        Ok(())
    }

    /// Those that stayed: whether they changed, and if so, to what.
    fn kept(&mut self, changes: &Changes) -> Result<(), DecodeError> {
        let Known {
            baseline: Some(baseline),
            previous,
            fields,
            ..
        } = self.known
        else {
            return Ok(());
        };
        let followed = previous.map_or(0, |previous| same_occupants(baseline, &previous));
        let moved = previous.map_or(0, |previous| {
            differing(baseline, &previous, schema::lanes(fields))
        });
        for slot in members(changes.kept) {
            let is = |set: u64| set >> slot & 1 == 1;
            let (motion, past) = match (is(followed), is(moved)) {
                (false, _) => (0, Past::Still),
                (true, false) => (1, Past::Moving),
                (true, true) => (2, Past::Moving),
            };
            let last = self.entities.trail.changed;
            let changed = self.bit(IS_CHANGED + motion * 4 + last, is(changes.changed));
            self.entities.trail.changed = (last << 1 | usize::from(changed)) & 3;
            if changed {
                self.entities.code(slot, past)?;
            }
        }
        self.entities.side.check("changed")
    }

    fn bit(&mut self, model: usize, bit: bool) -> bool {
        self.entities.bit(model, bit)
    }
}

impl<M> fmt::Debug for Storage<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}

impl<S: Side + fmt::Debug> fmt::Debug for Run<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("side", &self.side)
            .finish_non_exhaustive()
    }
}
