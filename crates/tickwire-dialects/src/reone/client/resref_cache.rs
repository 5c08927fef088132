//! A cache of resrefs: which resource each creature is made of.
//!
//! A creature without a resref cannot be shown. In: the creatures of each snapshot, and answers to calls.
//! Out: which resref to ask for next. Each is asked for once in a module, a few at a time, and again after a
//! pause if the call failed.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use tickwire_session::Instant;

use super::limits::{RESREF_RETRY, RESREFS_ASKED, RESREFS_KNOWN};
use super::snapshot::Snapshot;
use crate::reone::{AnyStatus, ObjectId};

#[derive(Debug, Default)]
pub(super) struct ResrefCache {
    entries: BTreeMap<ObjectId, Entry>,
    asked: usize,
}

#[derive(Debug)]
enum Entry {
    Asked,
    /// The call failed; not to be repeated before this.
    Retry(Instant),
    Known(Box<str>),
}

impl ResrefCache {
    /// The resource of a creature, if it is known.
    pub(super) fn resref(&self, id: ObjectId) -> Option<&str> {
        match self.entries.get(&id)? {
            Entry::Known(resref) => Some(resref),
            Entry::Asked | Entry::Retry(_) => None,
        }
    }

    /// Asks for the creatures of a snapshot that are not known; `ask` returns whether it could.
    pub(super) fn ask(
        &mut self,
        now: Instant,
        snapshot: &Snapshot,
        mut ask: impl FnMut(ObjectId) -> bool,
    ) {
        self.forget(snapshot);
        for (id, object) in snapshot.objects() {
            if self.asked >= RESREFS_ASKED {
                return;
            }
            let is_due = match self.entries.get(&id) {
                None => true,
                Some(Entry::Retry(at)) => now >= *at,
                Some(Entry::Asked | Entry::Known(_)) => false,
            };
            if !is_due || !matches!(object, AnyStatus::Creature(_)) {
                continue;
            }
            if !ask(id) {
                return;
            }
            self.entries.insert(id, Entry::Asked);
            self.asked += 1;
        }
    }

    /// The question for a creature ended, with an answer or without.
    pub(super) fn answer(&mut self, now: Instant, id: ObjectId, resref: Option<&str>) {
        if let Some(entry @ Entry::Asked) = self.entries.get_mut(&id) {
            self.asked -= 1;
            *entry = match resref {
                Some(resref) => Entry::Known(resref.into()),
                None => Entry::Retry(now + RESREF_RETRY),
            };
        }
    }

    /// Another module begins: ids mean something else.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.asked = 0;
    }

    /// Makes room among what is known.
    fn forget(&mut self, snapshot: &Snapshot) {
        if self.entries.len() > RESREFS_KNOWN {
            self.entries.retain(|id, entry| {
                matches!(entry, Entry::Asked) || snapshot.object(*id).is_some()
            });
        }
    }
}
