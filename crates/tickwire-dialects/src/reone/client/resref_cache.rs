//! Which resource each creature is made of.
//!
//! A creature whose resref is not known cannot be shown. In: the creatures of each snapshot, and the
//! answers to questions. Out: which to ask for next: each once in a module, a few at a time, and again
//! after a pause when a question came to nothing.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use tickwire_session::Instant;

use super::limits::{RESREF_RETRY, RESREFS_ASKED, RESREFS_KNOWN};
use super::snapshot::Snapshot;
use crate::reone::{AnyStatus, ObjectId};

#[derive(Debug, Default)]
pub(super) struct ResrefCache {
    roles: BTreeMap<ObjectId, Part>,
    asked: usize,
}

#[derive(Debug)]
enum Part {
    Asked,
    /// The question came to nothing; not to be repeated before this.
    Retry(Instant),
    Known(Box<str>),
}

impl ResrefCache {
    /// The resource of a creature, if it is known.
    pub(super) fn resref(&self, id: ObjectId) -> Option<&str> {
        match self.roles.get(&id)? {
            Part::Known(resref) => Some(resref),
            Part::Asked | Part::Retry(_) => None,
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
            let is_due = match self.roles.get(&id) {
                None => true,
                Some(Part::Retry(at)) => now >= *at,
                Some(Part::Asked | Part::Known(_)) => false,
            };
            if !is_due || !matches!(object, AnyStatus::Creature(_)) {
                continue;
            }
            if !ask(id) {
                return;
            }
            self.roles.insert(id, Part::Asked);
            self.asked += 1;
        }
    }

    /// The question for a creature ended, with an answer or without.
    pub(super) fn answer(&mut self, now: Instant, id: ObjectId, resref: Option<&str>) {
        if let Some(part @ Part::Asked) = self.roles.get_mut(&id) {
            self.asked -= 1;
            *part = match resref {
                Some(resref) => Part::Known(resref.into()),
                None => Part::Retry(now + RESREF_RETRY),
            };
        }
    }

    /// Another module begins: ids mean something else.
    pub(super) fn clear(&mut self) {
        self.roles.clear();
        self.asked = 0;
    }

    /// Makes room among what is known.
    fn forget(&mut self, snapshot: &Snapshot) {
        if self.roles.len() > RESREFS_KNOWN {
            self.roles
                .retain(|id, part| matches!(part, Part::Asked) || snapshot.object(*id).is_some());
        }
    }
}
