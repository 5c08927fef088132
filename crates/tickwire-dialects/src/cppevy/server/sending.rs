//! One sending of states, encoded once for everybody.
//!
//! Nearly all clients are to hear the same states at the same moment. So these become blocks here,
//! and a client gets copies; what only some are owed (everything to a newcomer, what was asked for)
//! is the affair of its own [`Datagrams`](super::datagrams::Datagrams). What exceeds a sending comes
//! first in the next.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use tickwire_wire::Full;

use super::block::Block;
use super::entities::Entities;
use crate::cppevy::limits::DATAGRAMS_A_SENDING;
use crate::cppevy::message::Object;

#[derive(Debug, Default)]
pub(super) struct Sending {
    due: Due,
    /// Begun, and not encoded yet.
    is_new: bool,
    blocks: Vec<Block>,
    /// What is in the blocks, in order.
    states: Vec<u16>,
}

impl Sending {
    /// Begins a sending with these states, besides what the last one did not get to.
    pub(super) fn begin(&mut self, due: &[u16]) {
        self.due.extend(due.iter().copied());
        self.is_new = true;
        self.blocks.clear();
        self.states.clear();
    }

    /// Encodes a sending that was begun, and returns whether there was one. Values are those of this
    /// moment, not of the one at which they became due.
    pub(super) fn encode(&mut self, timestamp: u32, entities: &Entities) -> bool {
        if !core::mem::take(&mut self.is_new) {
            return false;
        }
        while !self.due.is_empty() && self.blocks.len() < DATAGRAMS_A_SENDING as usize {
            let mut block = Block::new(timestamp);
            let states = &mut self.states;
            self.due.fill(entities, |descriptor, state| {
                block.push(state)?;
                states.push(descriptor);
                Ok(())
            });
            if block.count > 0 {
                self.blocks.push(block);
            }
        }
        true
    }

    /// How many blocks there are.
    pub(super) const fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn get(&self, number: usize) -> Option<&Block> {
        self.blocks.get(number)
    }

    /// The states of the blocks from this one on.
    pub(super) fn states_from(&self, number: usize) -> &[u16] {
        let before = self.blocks.iter().take(number).map(|block| block.count);
        let before = usize::try_from(before.sum::<u64>()).ok();
        before
            .and_then(|before| self.states.get(before..))
            .unwrap_or_default()
    }
}

/// States that are to be sent, by descriptor.
#[derive(Debug, Default)]
pub(super) struct Due {
    states: BTreeSet<u16>,
    /// Where to go on among them, so that each gets its turn.
    next: u16,
}

impl Due {
    pub(super) fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    pub(super) fn insert(&mut self, descriptor: u16) {
        self.states.insert(descriptor);
    }

    pub(super) fn extend(&mut self, descriptors: impl Iterator<Item = u16>) {
        self.states.extend(descriptors);
    }

    /// Nothing is owed of these: they are sent anyway.
    pub(super) fn remove_all(&mut self, descriptors: &[u16]) {
        if !self.is_empty() {
            for descriptor in descriptors {
                self.states.remove(descriptor);
            }
        }
    }

    /// Hands over states, with the values that they have now, as long as they are taken.
    pub(super) fn fill(
        &mut self,
        entities: &Entities,
        mut take: impl FnMut(u16, &Object<'_>) -> Result<(), Full>,
    ) {
        while let Some(descriptor) = self
            .states
            .range(self.next..)
            .next()
            .or_else(|| self.states.first())
            .copied()
        {
            if let Some(object) = entities.object(descriptor)
                && take(descriptor, &object).is_err()
            {
                break;
            }
            self.states.remove(&descriptor);
            self.next = descriptor.wrapping_add(1);
        }
    }
}
