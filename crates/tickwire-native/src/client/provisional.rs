//! Things that came of this player's inputs, shown ahead of the server as the player's own entity is.
//!
//! In: inputs with the own entity as each left it, which entities the server says came of them, and the server's
//! states. Out: what to show of each. A thing is provisional until the server's entity that replaces it is in view;
//! from then on that entity is shown where it will be when the server gets to the player's newest input. A thing that
//! the server does not confirm goes after [`PROVISIONAL_PATIENCE`].

use alloc::collections::VecDeque;

use tickwire_replica::{Archetypes as _, EntityId};
use tickwire_state::Tick;

use super::world::copy;
use crate::game::Game;
use crate::limits::{PROVISIONAL_MAX, PROVISIONAL_PATIENCE};

/// The name of a thing that this client spawned ahead of the server. None is used twice.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ProvisionalId(pub u32);

/// What is to be shown of an entity that came of an input.
pub(super) enum Ahead<'a, T> {
    Shown(&'a T),
    /// The server has none any more, though it is still in view.
    Gone,
}

/// All that came of this player's inputs.
pub(super) struct Provisional<G: Game> {
    things: VecDeque<Thing<G>>,
    next: u32,
    patience: u64,
    /// The tick of the newest input.
    newest: Tick,
}

struct Thing<G: Game> {
    id: ProvisionalId,
    /// The tick of the input that it came of.
    key: Tick,
    /// The server's entity, once that is known.
    entity: Option<EntityId>,
    /// Of which tick the server's last word was.
    answered: Tick,
    /// Whether the entity is in view.
    is_replaced: bool,
    is_gone: bool,
    /// As of the newest input and the one before.
    now: G::Things,
    before: G::Things,
    shown: G::Things,
}

impl<G: Game> Provisional<G> {
    pub(super) fn new(hz: u16) -> Self {
        let patience = PROVISIONAL_PATIENCE.as_millis() * u128::from(hz) / 1_000;
        Self {
            things: VecDeque::new(),
            next: 0,
            patience: u64::try_from(patience).unwrap_or(u64::MAX),
            newest: Tick::NONE,
        }
    }

    /// An input was made for a tick, and left the own entity like this.
    pub(super) fn step(&mut self, tick: Tick, own: &G::Things, input: &G::Input) {
        for thing in &mut self.things {
            thing.before = copy::<G>(&thing.now);
            G::coast(&mut thing.now);
        }
        self.newest = tick;
        if self.things.len() < PROVISIONAL_MAX
            && let Some(spawned) = G::spawns(own, input)
        {
            let id = ProvisionalId(self.next);
            self.next = self.next.wrapping_add(1);
            self.things.push_back(Thing {
                id,
                key: tick,
                entity: None,
                answered: Tick::NONE,
                is_replaced: false,
                is_gone: false,
                before: copy::<G>(&spawned),
                shown: copy::<G>(&spawned),
                now: spawned,
            });
        }
    }

    /// An entity came of the input of a tick: of the first thing of that tick that has none yet.
    pub(super) fn confirm(&mut self, key: Tick, entity: EntityId) {
        let mut things = self.things.iter_mut();
        if let Some(thing) = things.find(|it| it.key == key && it.entity.is_none()) {
            thing.entity = Some(entity);
        }
    }

    /// The server told of its world at a tick. `latest` is what it says of an entity, and of which tick.
    pub(super) fn correct(
        &mut self,
        tick: Tick,
        latest: impl Fn(EntityId) -> Option<(Tick, G::Things)>,
    ) {
        let patience = self.patience;
        self.things
            .retain(|it| it.entity.is_some() || tick.0 <= it.key.0 + patience);
        for thing in &mut self.things {
            let Some(entity) = thing.entity else { continue };
            let Some((of, mut value)) = latest(entity) else {
                // What the server has not told of yet is not gone.
                thing.is_gone |= thing.answered != Tick::NONE;
                continue;
            };
            if of <= thing.answered {
                continue;
            }
            thing.answered = of;
            let ahead = self.newest.0.saturating_sub(of.0);
            // What is further ahead is more than inputs are kept for: the server was silent that long.
            for _ in 0..ahead.min(tickwire_state::INPUTS_WAITING as u64) {
                thing.before = copy::<G>(&value);
                G::coast(&mut value);
            }
            thing.now = value;
        }
    }

    /// An entity comes into view. Returns what it replaces.
    pub(super) fn replace(&mut self, entity: EntityId) -> Option<ProvisionalId> {
        let mut things = self.things.iter_mut();
        let thing = things.find(|it| it.entity == Some(entity))?;
        thing.is_replaced = true;
        Some(thing.id)
    }

    /// An entity is in view no more.
    pub(super) fn forget(&mut self, entity: EntityId) {
        self.things.retain(|it| it.entity != Some(entity));
    }

    /// This share of the newest input's tick has passed.
    pub(super) fn show(&mut self, share: f32) {
        for thing in &mut self.things {
            thing.shown = thing.before.between(&thing.now, share);
        }
    }

    /// Those that no entity in view has replaced yet.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (ProvisionalId, &G::Things)> {
        let waiting = self
            .things
            .iter()
            .filter(|it| !it.is_replaced && !it.is_gone);
        waiting.map(|thing| (thing.id, &thing.shown))
    }

    /// What is shown of an entity, if it came of an input.
    pub(super) fn of(&self, entity: EntityId) -> Option<Ahead<'_, G::Things>> {
        let thing = self.things.iter().find(|it| it.entity == Some(entity))?;
        Some(if thing.is_gone {
            Ahead::Gone
        } else {
            Ahead::Shown(&thing.shown)
        })
    }
}
