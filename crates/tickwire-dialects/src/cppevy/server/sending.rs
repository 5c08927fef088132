//! One sending of states, encoded once for everybody.
//!
//! Nearly all clients are to hear the same states at the same moment. So these become the contents of
//! payloads here, and a client gets copies; what only some are owed (everything to a newcomer, what was asked for)
//! is the [`Peer`](super::peer::Peer)'s own affair. What exceeds a sending comes first in the next.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Range;

use super::super::limits::{DATAGRAMS_A_SENDING, HEADER};
use super::super::message::PayloadWriter;
use super::entities::Entities;

#[derive(Debug, Default)]
pub(super) struct Sending {
    /// States that are to be sent, by descriptor.
    due: BTreeSet<u16>,
    /// Where to go on among them, so that each gets its turn.
    next_due: u16,
    /// Begun, and not encoded yet.
    is_new: bool,
    timestamp: u32,
    payloads: Vec<Place>,
    bytes: Vec<u8>,
    /// What is in the payloads, in order.
    states: Vec<u16>,
}

#[derive(Clone, Debug)]
struct Place {
    /// Within the bytes: without header and padding.
    objects: Range<usize>,
    /// Within the states.
    states: Range<usize>,
}

/// What fills a payload, the same for everybody.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared<'a> {
    pub(super) timestamp: u32,
    pub(super) objects: &'a [u8],
    pub(super) count: u64,
}

impl Sending {
    /// Begins a sending with these states, besides what the last one did not get to.
    pub(super) fn begin(&mut self, due: &[u16]) {
        self.due.extend(due);
        self.is_new = true;
        self.payloads.clear();
        self.bytes.clear();
        self.states.clear();
    }

    /// Encodes a sending that was begun, and returns whether there was one. Values are those of this
    /// moment, not of the one at which they became due.
    pub(super) fn encode(&mut self, timestamp: u32, entities: &Entities) -> bool {
        if !core::mem::take(&mut self.is_new) {
            return false;
        }
        self.timestamp = timestamp;
        while !self.due.is_empty() && self.payloads.len() < DATAGRAMS_A_SENDING as usize {
            let (begin, first) = (self.bytes.len(), self.states.len());
            let mut payload = PayloadWriter::new(&mut self.bytes, timestamp);
            let states = &mut self.states;
            Due {
                states: &mut self.due,
                next: &mut self.next_due,
            }
            .fill(&mut payload, entities, |descriptor| states.push(descriptor));
            let end = begin + payload.length();
            self.payloads.push(Place {
                objects: begin + HEADER..end,
                states: first..self.states.len(),
            });
        }
        true
    }

    /// How many payloads there are.
    pub(super) const fn len(&self) -> usize {
        self.payloads.len()
    }

    pub(super) fn get(&self, number: usize) -> Option<Shared<'_>> {
        let place = self.payloads.get(number)?;
        Some(Shared {
            timestamp: self.timestamp,
            objects: self.bytes.get(place.objects.clone())?,
            count: place.states.len() as u64,
        })
    }

    /// The states of the payloads from this one on.
    pub(super) fn states_from(&self, number: usize) -> &[u16] {
        let begin = self.payloads.get(number).map(|place| place.states.start);
        begin
            .and_then(|begin| self.states.get(begin..))
            .unwrap_or_default()
    }
}

/// States that are to be sent, and where to go on among them.
pub(super) struct Due<'a> {
    pub(super) states: &'a mut BTreeSet<u16>,
    pub(super) next: &'a mut u16,
}

impl Due<'_> {
    /// Moves states into a payload, as many as fit.
    pub(super) fn fill(
        self,
        payload: &mut PayloadWriter<'_>,
        entities: &Entities,
        mut filled: impl FnMut(u16),
    ) {
        while let Some(descriptor) = self
            .states
            .range(*self.next..)
            .next()
            .or_else(|| self.states.first())
            .copied()
        {
            if let Some(object) = entities.object(descriptor) {
                if payload.push(&object).is_err() {
                    break;
                }
                filled(descriptor);
            }
            self.states.remove(&descriptor);
            *self.next = descriptor.wrapping_add(1);
        }
    }
}
