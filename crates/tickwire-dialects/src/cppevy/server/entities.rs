//! The entities, their states, and when each state is to be sent.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use tickwire_session::Instant;

use crate::cppevy::limits::{REPEAT_FIRST, REPEAT_LONGEST};
use crate::cppevy::message::{Data, Object, Summon};
use crate::cppevy::{Archetype, Component, StateId, SyncId};

#[derive(Debug, Default)]
pub(super) struct Entities {
    entities: BTreeMap<SyncId, Entity>,
    /// By descriptor, which is how clients are walked through them.
    states: BTreeMap<u16, State>,
}

#[derive(Debug)]
struct Entity {
    archetype: Archetype,
    /// The moment of its Summon: a state that is not newer would be ignored. Not as it is on the wire,
    /// where every moment is older than one long before.
    summoned: u64,
}

#[derive(Debug)]
struct State {
    value: Vec<u8>,
    changed: bool,
    repeat_at: Instant,
    /// The wait after the next repetition.
    wait: Duration,
}

impl Entities {
    pub(super) fn add(&mut self, entity: Summon, moment: u64) {
        self.entities.insert(
            entity.entity,
            Entity {
                archetype: entity.archetype,
                summoned: moment,
            },
        );
    }

    pub(super) fn remove(&mut self, id: SyncId) -> Option<()> {
        self.entities.remove(&id)?;
        self.states
            .retain(|descriptor, _| StateId::from_descriptor(*descriptor).entity != id);
        Some(())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Summon> {
        self.entities.iter().map(|(&id, entity)| Summon {
            entity: id,
            archetype: entity.archetype,
        })
    }

    /// Sets a state of an entity that is there.
    pub(super) fn set(&mut self, entity: SyncId, component: Component, value: Data<'_>) {
        if !self.entities.contains_key(&entity) {
            return;
        }
        let descriptor = StateId { entity, component }.descriptor();
        let state = self.states.entry(descriptor).or_insert_with(|| State {
            value: Vec::new(),
            changed: true,
            repeat_at: Instant::ZERO,
            wait: REPEAT_FIRST,
        });
        if state.value != value.bytes() {
            state.value.clear();
            state.value.extend_from_slice(value.bytes());
            state.changed = true;
        }
    }

    /// Every state there is.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = u16> {
        self.states.keys().copied()
    }

    pub(super) fn has_state(&self, descriptor: u16) -> bool {
        self.states.contains_key(&descriptor)
    }

    /// The newest value of a state, as an object.
    pub(super) fn object(&self, descriptor: u16) -> Option<Object<'_>> {
        Some(Object::State {
            state: StateId::from_descriptor(descriptor),
            value: Data::new(&self.states.get(&descriptor)?.value)?,
        })
    }

    /// What is to be sent now, because it changed or because it is time to repeat it.
    pub(super) fn take_due(&mut self, now: Instant, moment: u64) -> Vec<u16> {
        let mut due = Vec::new();
        for (&descriptor, state) in &mut self.states {
            let entity = StateId::from_descriptor(descriptor).entity;
            let summoned = self.entities.get(&entity).map(|entity| entity.summoned);
            let too_early = summoned.is_some_and(|at| moment <= at);
            if too_early || !(state.changed || now >= state.repeat_at) {
                continue;
            }
            if core::mem::take(&mut state.changed) {
                state.wait = REPEAT_FIRST;
            }
            state.repeat_at = now + state.wait;
            state.wait = (state.wait * 2).min(REPEAT_LONGEST);
            due.push(descriptor);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cppevy::limits::STATE_PERIOD;

    const HEALTH: Component = Component::new(2).unwrap();

    fn with_one() -> (Entities, SyncId) {
        let mut entities = Entities::default();
        let entity = SyncId::new(5).unwrap();
        let archetype = Archetype(1);
        entities.add(Summon { entity, archetype }, 1_000);
        entities.set(entity, HEALTH, Data::new(&[100]).unwrap());
        (entities, entity)
    }

    /// When the state is due in the next `count` sendings, which begin 50 ms after its Summon.
    fn sendings(entities: &mut Entities, count: u64) -> Vec<u64> {
        (1..=count)
            .map(|sending| sending * 50)
            .filter(|&after| {
                let moment = 1_000 + after;
                let now = Instant::from_millis(moment);
                !entities.take_due(now, moment).is_empty()
            })
            .collect()
    }

    #[test]
    fn a_still_state_is_repeated_ever_less_often_but_every_second() {
        let (mut entities, _) = with_one();
        let sent = sendings(&mut entities, 100);
        assert_eq!(sent[..6], [50, 150, 350, 750, 1_550, 2_350]);
        assert!(
            sent.windows(2).all(|pair| pair[1] - pair[0] <= 1_000),
            "{sent:?}"
        );
        assert!(REPEAT_LONGEST + STATE_PERIOD < Duration::from_secs(1));
    }

    #[test]
    fn only_another_value_is_a_change() {
        let (mut entities, entity) = with_one();
        assert_eq!(sendings(&mut entities, 1), [50]);
        let due = |entities: &mut Entities, moment| {
            let now = Instant::from_millis(moment);
            entities.take_due(now, moment).len()
        };
        entities.set(entity, HEALTH, Data::new(&[100]).unwrap());
        assert_eq!(due(&mut entities, 1_100), 0);
        entities.set(entity, HEALTH, Data::new(&[99]).unwrap());
        assert_eq!(due(&mut entities, 1_100), 1);
    }

    #[test]
    fn nothing_is_sent_that_is_not_newer_than_the_summon() {
        let (mut entities, entity) = with_one();
        assert_eq!(
            entities.take_due(Instant::from_millis(1_000), 1_000),
            [0; 0]
        );
        let descriptor = StateId {
            entity,
            component: HEALTH,
        }
        .descriptor();
        let due = entities.take_due(Instant::from_millis(1_001), 1_001);
        assert_eq!(due, [descriptor]);
    }

    #[test]
    fn what_was_summoned_weeks_ago_is_still_told() {
        let (mut entities, _) = with_one();
        for days in [20, 25, 40, 50, 75] {
            let moment = 1_000 + days * 24 * 60 * 60 * 1_000;
            let due = entities.take_due(Instant::from_millis(moment), moment);
            assert_eq!(due.len(), 1, "after {days} days");
        }
    }
}
