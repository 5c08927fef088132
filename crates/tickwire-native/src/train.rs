//! What a game's world costs on the wire, field by field, and a prior that makes it cost less.
//!
//! In: what a client was sent, as its replica holds it. Out: a [`Prior`] for [`Game::PRIOR`], and bits. What is
//! observed are the sends as a server would have told them to a client whose acknowledgements take two sends; not the
//! very bytes that it was sent, which depend on what else got lost.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use tickwire_replica::coder::{Ages, Coded, Cost, Known, Prior, Trainer};
use tickwire_replica::record::{BlockName, Held as _};
use tickwire_replica::{Archetypes as _, Replica, Schema, SendIndex};

use crate::game::Game;

/// How old the baseline is, and what motion is told from.
const AGES: Ages = Ages {
    baseline: 2,
    previous: 3,
};

/// Watches clients of a game.
pub struct Training<G> {
    schema: Schema,
    trainer: Trainer,
    /// The newest send that was observed.
    seen: SendIndex,
    sends: u64,
    entities: u64,
    game: PhantomData<fn() -> G>,
}

impl<G: Game> Default for Training<G> {
    fn default() -> Self {
        let schema = G::Things::schema();
        Self {
            trainer: Trainer::new(&schema),
            schema,
            seen: SendIndex::NONE,
            sends: 0,
            entities: 0,
            game: PhantomData,
        }
    }
}

impl<G: Game> Training<G> {
    /// Takes note of the newest send that a client holds whole, once. To be called after everything that arrives.
    pub fn observe(&mut self, replica: &Replica<G::Things>) {
        let Some(send) = replica.newest_complete().filter(|send| *send > self.seen) else {
            return;
        };
        self.seen = send;
        self.sends += 1;
        let before = |age: u8| SendIndex(send.0.saturating_sub(age.into()));
        let mut places: BTreeMap<_, Vec<BlockName>> = BTreeMap::new();
        for name in replica.blocks() {
            places.entry(name.place).or_default().push(name);
        }
        for names in places.into_values() {
            let changed = names.into_iter().filter_map(|name| {
                let (archetype, now) = replica.block_at(name, send)?;
                let held = |age| replica.block_at(name, before(age)).map(|(_, block)| block);
                let baseline = held(AGES.baseline);
                let is_same = baseline.is_some_and(|it| {
                    (it.ids, it.lanes, it.bytes) == (now.ids, now.lanes, now.bytes)
                });
                let previous = baseline.and_then(|_| held(AGES.previous));
                let known = Known {
                    fields: self.schema.fields(archetype),
                    baseline,
                    previous,
                    ages: Ages {
                        baseline: baseline.map_or(0, |_| AGES.baseline),
                        previous: previous.map_or(0, |_| AGES.previous),
                    },
                };
                (!is_same).then_some((archetype, known, now))
            });
            let changed: Vec<Coded<'_>> = changed.collect();
            if changed.is_empty() {
                continue;
            }
            let entities = changed.iter().map(|(_, _, now)| now.occupied.count_ones());
            self.entities += u64::from(entities.sum::<u32>());
            self.trainer.observe(changed);
        }
    }

    /// The prior that fits what was observed best.
    pub fn fit(&self) -> Prior {
        self.trainer.fit()
    }

    /// The prior that fits any game.
    pub fn general(&self) -> Prior {
        Prior::general(&self.schema)
    }

    /// What was observed costs with a prior, field by field.
    pub fn costs(&self, prior: &Prior) -> Vec<Cost> {
        self.trainer.costs(prior)
    }

    /// Bits that cost the same with every prior: of newcomers, texts and jumps.
    pub const fn plain_bits(&self) -> u64 {
        self.trainer.plain()
    }

    /// What an archetype is called.
    pub fn name(&self, archetype: usize) -> &str {
        let archetypes = self.schema.archetypes();
        archetypes.get(archetype).map_or("", |it| it.name)
    }

    /// How many sends were observed.
    pub const fn sends(&self) -> u64 {
        self.sends
    }

    /// How many entities were in the blocks that changed, over all sends.
    pub const fn entities(&self) -> u64 {
        self.entities
    }
}

impl<G> fmt::Debug for Training<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Training")
            .field("sends", &self.sends)
            .finish_non_exhaustive()
    }
}
