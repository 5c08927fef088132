//! Variables and inventories: what the game sets, and what of it each client is told.
//!
//! A client is told of the game's variables and of its own creature's scope, and of nobody else's. Like
//! objects, scopes are told by their difference to what the client is known to hold; so each snapshot sent records
//! what that is. States are shared until they change, and one that is the same is not looked into.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use tickwire_wire::Messages as _;

use super::limits::SCOPE_SHARE;
use crate::reone::scope::{Difference, GLOBAL, ScopeError, ScopeState};
use crate::reone::{ObjectId, SnapshotSeq, Writer};

/// The scopes of a module.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// The game's variables in the base.
    base: Arc<ScopeState>,
    /// As the game set them, for the next snapshot.
    next: BTreeMap<ObjectId, Arc<ScopeState>>,
    /// As they are in the newest snapshot.
    published: BTreeMap<ObjectId, Arc<ScopeState>>,
    /// Those that may differ between the two.
    dirty: BTreeSet<ObjectId>,
}

/// What a client holds, or is to hold.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldScopes {
    pub(super) global: Arc<ScopeState>,
    /// Nothing, if it has no creature.
    pub(super) own: Arc<ScopeState>,
}

/// What is said of scopes in a snapshot; the memory is used again for the next.
#[derive(Debug, Default)]
pub(super) struct ScopeDraft {
    bytes: Vec<u8>,
    /// The list of each element, and where it lies in `bytes`.
    elements: Vec<(u8, Range<usize>)>,
}

impl Scopes {
    /// A module that begins with these variables.
    pub(super) fn new(base: ScopeState) -> Self {
        let base = Arc::new(base);
        let begun = BTreeMap::from([(GLOBAL, base.clone())]);
        Self {
            base,
            next: begun.clone(),
            published: begun,
            dirty: BTreeSet::new(),
        }
    }

    /// Changes a scope, for the next snapshot. What ends and is not there is no change.
    pub(super) fn change(
        &mut self,
        scope: ObjectId,
        change: impl FnOnce(&mut ScopeState) -> Result<(), ScopeError>,
    ) -> Result<(), ScopeError> {
        let state = self.next.entry(scope).or_default();
        self.dirty.insert(scope);
        match change(Arc::make_mut(state)) {
            Err(ScopeError::Missing) => Ok(()),
            changed => changed,
        }
    }

    /// As the game set it last.
    pub(super) fn set(&self, scope: ObjectId) -> Option<&ScopeState> {
        self.next.get(&scope).map(|state| &**state)
    }

    /// Forgets a scope with the next snapshot.
    pub(super) fn remove(&mut self, scope: ObjectId) {
        if self.next.remove(&scope).is_some() {
            self.dirty.insert(scope);
        }
    }

    /// There is a new snapshot: what was set counts from now on.
    pub(super) fn publish(&mut self) {
        for scope in core::mem::take(&mut self.dirty) {
            match self.next.get(&scope) {
                Some(state) if !state.is_empty() => {
                    self.published.insert(scope, state.clone());
                }
                _ => {
                    self.next.remove(&scope);
                    self.published.remove(&scope);
                }
            }
        }
    }

    /// What whoever has this creature is to hold.
    pub(super) fn of(&self, own: Option<ObjectId>) -> HeldScopes {
        let published = |scope| self.published.get(&scope).cloned().unwrap_or_default();
        HeldScopes {
            global: published(GLOBAL),
            own: own.map_or_else(Arc::default, published),
        }
    }

    /// What everybody holds who has loaded the module.
    pub(super) fn base(&self) -> HeldScopes {
        HeldScopes {
            global: self.base.clone(),
            own: Arc::default(),
        }
    }
}

impl ScopeDraft {
    /// Decides what snapshot `seq` says to whoever holds `before`, within a budget of bytes but never nothing.
    /// Returns what the client will hold, and whether something is left unsaid.
    pub(super) fn compose(
        &mut self,
        seq: SnapshotSeq,
        before: HeldScopes,
        now: HeldScopes,
        own: Option<ObjectId>,
        budget: usize,
    ) -> (HeldScopes, bool) {
        self.bytes.clear();
        self.elements.clear();
        if Arc::ptr_eq(&before.global, &now.global) && Arc::ptr_eq(&before.own, &now.own) {
            return (before, false);
        }
        let of_game = now.global.differences(&before.global);
        let of_game = of_game.map(|difference| (GLOBAL, difference));
        let of_own = own.map(|own| {
            let differences = now.own.differences(&before.own);
            differences.map(move |difference| (own, difference))
        });
        let mut all: Vec<_> = of_own.into_iter().flatten().chain(of_game).collect();
        // What does not fit comes later, and who is first goes round: what changes all the time keeps
        // nothing else from being told.
        let first = seq.0 as usize % all.len().max(1);
        all.rotate_left(first);
        let told = all.iter().take_while(|(scope, difference)| {
            let at = self.bytes.len();
            let element = difference.element(*scope);
            element.encode(&mut Writer::new(&mut self.bytes, usize::MAX));
            let is_told = at == 0 || self.bytes.len() <= budget;
            match is_told {
                true => {
                    let list = element.number();
                    self.elements.push((list, at..self.bytes.len()));
                }
                false => self.bytes.truncate(at),
            }
            is_told
        });
        let told = told.count();
        // Neighbours of one list share its header.
        self.elements.sort_by_key(|(list, _)| *list);
        if told == all.len() {
            return (now, false);
        }
        let mut held = before.clone();
        for (scope, difference) in all.into_iter().take(told) {
            held.apply(scope, difference);
        }
        (held, true)
    }

    /// Bytes of what is said.
    pub(super) const fn length(&self) -> usize {
        self.bytes.len()
    }

    /// What is said: lists and encoded elements.
    pub(super) fn elements(&self) -> impl Iterator<Item = (u8, &[u8])> {
        let elements = self.elements.iter();
        elements.filter_map(|(list, range)| Some((*list, self.bytes.get(range.clone())?)))
    }
}

impl HeldScopes {
    fn apply(&mut self, scope: ObjectId, difference: Difference<'_>) {
        let state = match scope {
            GLOBAL => &mut self.global,
            _ => &mut self.own,
        };
        let applied = Arc::make_mut(state).apply(difference);
        debug_assert!(applied.is_ok(), "it is a difference to this: {applied:?}");
    }
}

/// Bytes of a snapshot's budget that scopes may take.
pub(super) const fn share(snapshot_bytes: usize) -> usize {
    snapshot_bytes / SCOPE_SHARE
}
