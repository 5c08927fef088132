//! Comparing a block's occupants with those of the version that playback showed before.

use alloc::vec::Vec;

use crate::EntityId;
use crate::number::SendIndex;
use crate::replica::entities::{Entities, Entity, Key, Occurrence, Sighting, State};
use crate::replica::history::{Block, Version};

/// The slots of every block.
const SLOTS: core::ops::Range<u8> = 0..64;

impl Entities {
    /// Takes note of who came to a block and who left it until send `reached`, and of who will come.
    pub(super) fn scan(&mut self, at: usize, block: &mut Block, reached: SendIndex) {
        let current = block.at(reached).map(|version| version.send);
        if !block.is_fresh && current == block.shown {
            return;
        }
        self.sight_late(at, block, reached);
        let shown = block.shown.and_then(|shown| block.at(shown));
        let now = block.at(reached);
        for (slot, before, after) in differences(shown, now) {
            let occurrence = Occurrence { block: at, slot };
            if let (Some(key), Some(shown), Some(now)) = (before, shown, now) {
                self.leave(key, occurrence, shown.send, now.send);
            }
            if let Some(key) = after {
                self.enter(key, occurrence);
            }
        }
        for (slot, _, comes) in differences(now, block.after(reached)) {
            if let (Some(entity), Some(next)) = (
                comes.and_then(|key| self.entity_mut(key)),
                block.after(reached),
            ) {
                let sooner = entity
                    .ahead
                    .is_none_or(|ahead| ahead.send <= reached || ahead.send > next.send);
                if sooner {
                    entity.ahead = Some(Sighting {
                        send: next.send,
                        at: Occurrence { block: at, slot },
                    });
                }
            }
        }
        block.shown = current;
        block.is_fresh = false;
        for version in block
            .versions_mut()
            .take_while(|version| version.send <= reached)
        {
            version.is_sighted = true;
        }
    }

    /// Who was in a version that playback has passed without showing it was there then: what other
    /// blocks say of earlier sends does not count.
    fn sight_late(&mut self, at: usize, block: &Block, reached: SendIndex) {
        let passed = block.reached(reached).saturating_sub(1);
        let versions = block.versions().iter().take(passed).enumerate();
        for (n, version) in versions.filter(|(_, version)| !version.is_sighted) {
            let Some(next) = block.versions().get(n + 1) else {
                continue;
            };
            for (slot, was_there, _) in differences(Some(version), Some(next)) {
                let Some(key) = was_there else { continue };
                let Self {
                    by_archetype,
                    unsettled,
                    ..
                } = self;
                let all = by_archetype.get_mut(key.0);
                if let Some(entity) = all.and_then(|all| all.get_mut(&key.1))
                    && entity.seen.send < version.send
                {
                    let at = Occurrence { block: at, slot };
                    let send = version.send;
                    entity.seen = Sighting { send, at };
                    entity.removed = next.send;
                    Self::unsettle(unsettled, entity, key);
                }
            }
        }
    }

    fn leave(&mut self, key: Key, from: Occurrence, seen: SendIndex, removed: SendIndex) {
        let all = self.by_archetype.get_mut(key.0);
        let Some(entity) = all.and_then(|all| all.get_mut(&key.1)) else {
            return;
        };
        entity.occurrences.retain(|at| *at != from);
        if entity.seen.send <= seen {
            entity.seen = Sighting {
                send: seen,
                at: from,
            };
            entity.removed = removed;
        }
        Self::unsettle(&mut self.unsettled, entity, key);
    }

    fn enter(&mut self, key: Key, at: Occurrence) {
        let Some(all) = self.by_archetype.get_mut(key.0) else {
            return;
        };
        let entity = all.entry(key.1).or_insert_with(|| Entity {
            // One that moves is in two for a while.
            occurrences: Vec::with_capacity(2),
            seen: Sighting::default(),
            removed: SendIndex::NONE,
            ahead: None,
            state: State::Hidden,
            is_unsettled: false,
        });
        entity.occurrences.push(at);
        Self::unsettle(&mut self.unsettled, entity, key);
    }
}

/// The slots that two versions of a block do not have the same occupant in, and those occupants.
fn differences<'a>(
    before: Option<&'a Version>,
    after: Option<&'a Version>,
) -> impl Iterator<Item = (u8, Option<Key>, Option<Key>)> + use<'a> {
    let key = |version: Option<&Version>, slot| {
        let (archetype, id) = version?.occupant(slot)?;
        (id != 0).then_some((archetype, EntityId(id)))
    };
    SLOTS
        .map(move |slot| (slot, key(before, slot), key(after, slot)))
        .filter(|(_, before, after)| before != after)
}
