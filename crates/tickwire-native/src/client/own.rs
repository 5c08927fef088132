//! The player's own entity, predicted by the game's own step.
//!
//! In: inputs, each for a tick, and what the server says of the entity at a tick. Out: the entity as it will
//! be when the server gets there. Both sides step what travels, rounded to what travels; so a prediction is
//! right to the bit unless something else befell the entity.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

use tickwire_replica::{Archetypes as _, Kind, RowReader, RowWriter, Schema};
use tickwire_state::{Blend, Motion};

use crate::game::Game;

/// A value as it travels.
pub(super) struct Rounded<G: Game> {
    value: G::Things,
    lanes: Vec<u32>,
    bytes: Vec<Arc<[u8]>>,
}

impl<G: Game> Rounded<G> {
    /// Rounds a value; nothing if a field does not take it.
    pub(super) fn new(schema: &Schema, value: &G::Things) -> Option<Self> {
        let archetype = value.archetype();
        let fields = schema.fields(archetype);
        let texts = |field: &&tickwire_replica::Field| matches!(field.kind, Kind::Bytes { .. });
        let mut lanes = vec![0; fields.iter().map(tickwire_replica::Field::lanes).sum()];
        let mut bytes = vec![Arc::default(); fields.iter().filter(texts).count()];
        value
            .store(&mut RowWriter::new(fields, &mut lanes, &mut bytes))
            .ok()?;
        let value = G::Things::load(archetype, &mut RowReader::new(&lanes, &bytes))?;
        Some(Self {
            value,
            lanes,
            bytes,
        })
    }

    pub(super) const fn value(&self) -> &G::Things {
        &self.value
    }
}

impl<G: Game> Clone for Rounded<G> {
    fn clone(&self) -> Self {
        Self {
            value: self.value.between(&self.value, 0.0),
            lanes: self.lanes.clone(),
            bytes: self.bytes.clone(),
        }
    }
}

impl<G: Game> PartialEq for Rounded<G> {
    fn eq(&self, other: &Self) -> bool {
        self.value.archetype() == other.value.archetype()
            && self.lanes == other.lanes
            && self.bytes == other.bytes
    }
}

impl<G: Game> Blend for Rounded<G> {
    /// What is between is shown and never stepped, so it is not rounded.
    fn blend(&self, next: &Self, share: f32) -> Self {
        Self {
            value: self.value.between(&next.value, share),
            lanes: next.lanes.clone(),
            bytes: next.bytes.clone(),
        }
    }
}

/// How a game's own entities move.
#[derive(Debug)]
pub(super) struct Rules<G> {
    schema: Schema,
    game: PhantomData<fn() -> G>,
}

impl<G: Game> Rules<G> {
    pub(super) fn new(schema: Schema) -> Self {
        Self {
            schema,
            game: PhantomData,
        }
    }
}

impl<G: Game> Motion for Rules<G> {
    type State = Rounded<G>;
    type Input = G::Input;

    fn step(&self, state: &Rounded<G>, input: &G::Input) -> Rounded<G> {
        let mut next = state.value.between(&state.value, 0.0);
        G::step(&mut next, input);
        // The server refuses such a step as well, and the entity stays as it was.
        Rounded::new(&self.schema, &next).unwrap_or_else(|| state.clone())
    }

    /// The distance of the two positions, in the game's units; without a position, 1 for any difference.
    fn distance(&self, shown: &Rounded<G>, truth: &Rounded<G>) -> f32 {
        if shown.value.archetype() != truth.value.archetype() {
            return f32::INFINITY;
        }
        let mut first = 0;
        for field in self.schema.fields(truth.value.archetype()) {
            let lanes = first..first + field.lanes();
            if field.is_position {
                let pairs = shown.lanes.get(lanes.clone()).into_iter().flatten();
                let pairs = pairs.zip(truth.lanes.get(lanes).into_iter().flatten());
                let squares = pairs.map(|(a, b)| {
                    let steps = f64::from(a.wrapping_sub(*b).cast_signed());
                    (steps * field.scale.step()) * (steps * field.scale.step())
                });
                return root(squares.sum());
            }
            first = lanes.end;
        }
        f32::from(u8::from(shown != truth))
    }
}

/// The square root of a finite number, by halving its exponent and Newton's rule; `core` has none.
fn root(square: f64) -> f32 {
    if square <= 0.0 {
        return 0.0;
    }
    let mut root = f64::from_bits((square.to_bits() >> 1) + (0x3ff0_0000_0000_0000 >> 1));
    for _ in 0..4 {
        root = (root + square / root) / 2.0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a figure for people")]
    let narrow = root as f32;
    narrow
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_right_to_a_float() {
        for (square, expected) in [(0.0, 0.0), (1e-6, 1e-3), (2.25, 1.5), (1e12, 1e6)] {
            assert!(
                (root(square) - expected).abs() <= expected * 1e-6,
                "{square}"
            );
        }
    }
}
