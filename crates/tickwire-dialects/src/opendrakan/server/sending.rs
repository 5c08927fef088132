//! A snapshot as bytes: what differs from a reference, cut into datagrams.
//!
//! A sending is a function of the world, the reference and the datagram's size, so clients that
//! acknowledged the same snapshot share one. The changes come first and the confirmation last; in
//! which order they arrive is no matter.

use alloc::vec::Vec;

use tickwire_state::Tick;

use super::super::bundle;
use super::super::limits::{BUNDLE_MAX, TICKS_PER_SECOND};
use super::super::message::{BasicChanges, Confirm, Lifecycle, Message};
use super::super::{ObjectId, Writer};
use super::world::{Entry, World};

#[derive(Debug)]
pub(super) struct Sending {
    pub(super) tick: Tick,
    pub(super) reference: Tick,
    /// No datagram is longer.
    pub(super) limit: u16,
    /// Messages in all of them.
    pub(super) messages: u64,
    bytes: Vec<u8>,
    /// Where each datagram ends.
    ends: Vec<usize>,
}

impl Sending {
    /// The world as it is now, by its difference to `reference`; [`Tick::NONE`] for all of it.
    pub(super) fn build(world: &World, reference: Tick, limit: u16) -> Self {
        let mut packer = Packer::new(world.tick(), reference, limit);
        if reference == Tick::NONE {
            for (id, entry) in world.objects() {
                packer.pack_whole(id, entry);
            }
        } else {
            for (id, entry) in world.changed_after(reference) {
                if entry.is_new_since(reference) {
                    packer.pack_whole(id, entry);
                } else {
                    packer.pack_changes(id, entry);
                }
            }
            for grave in world.destroyed_after(reference) {
                packer.pack_lifecycle(grave.object, Lifecycle::Destroyed);
            }
        }
        packer.finish()
    }

    /// How many datagrams it has.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// One of its datagrams.
    pub(super) fn datagram(&self, number: usize) -> Option<&[u8]> {
        let start = match number.checked_sub(1) {
            None => 0,
            Some(before) => *self.ends.get(before)?,
        };
        self.bytes.get(start..*self.ends.get(number)?)
    }
}

/// Fills datagrams.
struct Packer {
    sending: Sending,
    /// Where the datagram that is being filled begins.
    start: usize,
    changes: u32,
    /// For bundles, kept between them.
    scratch: Vec<u8>,
    states: Vec<bundle::Change>,
}

impl Packer {
    const fn new(tick: Tick, reference: Tick, limit: u16) -> Self {
        Self {
            sending: Sending {
                tick,
                reference,
                limit,
                messages: 0,
                bytes: Vec::new(),
                ends: Vec::new(),
            },
            start: 0,
            changes: 0,
            scratch: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Everything about an object.
    fn pack_whole(&mut self, object: ObjectId, entry: &Entry) {
        if let Some(prototype) = entry.prototype {
            let tick = self.sending.tick;
            self.changes += 1;
            self.pack(&Message::ObjectCreated {
                tick,
                object,
                prototype,
            });
        }
        self.pack_lifecycle(object, entry.lifecycle);
        self.pack_states(object, entry, true);
    }

    /// What changed of an object that the reference has.
    fn pack_changes(&mut self, object: ObjectId, entry: &Entry) {
        if entry.lifecycle_changed > self.sending.reference {
            self.pack_lifecycle(object, entry.lifecycle);
        }
        self.pack_states(object, entry, false);
    }

    fn pack_lifecycle(&mut self, object: ObjectId, lifecycle: Lifecycle) {
        let tick = self.sending.tick;
        self.changes += 1;
        self.pack(&Message::LifecycleChanged {
            tick,
            object,
            lifecycle,
        });
    }

    fn pack_states(&mut self, object: ObjectId, entry: &Entry, all: bool) {
        let (tick, reference) = (self.sending.tick, self.sending.reference);
        let states: BasicChanges = entry.basic_changes(reference, all).collect();
        if !states.is_empty() {
            self.count(states.len());
            self.pack(&Message::ObjectStates {
                tick,
                object,
                states,
            });
        }
        let mut extra = core::mem::take(&mut self.states);
        extra.clear();
        extra.extend(entry.extra_changes(reference, all));
        if !extra.is_empty() {
            self.count(extra.len());
            let mut scratch = core::mem::take(&mut self.scratch);
            scratch.clear();
            bundle::encode(&mut Writer::new(&mut scratch, BUNDLE_MAX), &extra);
            let bundle = &scratch;
            self.pack(&Message::ObjectExtraStates {
                tick,
                object,
                bundle,
            });
            self.scratch = scratch;
        }
        self.states = extra;
    }

    fn count(&mut self, states: usize) {
        self.changes += u32::try_from(states).unwrap_or(u32::MAX);
    }

    /// Puts a message into this datagram, or if it is full, into the next.
    fn pack(&mut self, message: &Message<'_>) {
        self.sending.messages += 1;
        if self.try_pack(message) {
            return;
        }
        self.close();
        let fits = self.try_pack(message);
        debug_assert!(fits, "{message:?} is larger than a datagram");
    }

    fn try_pack(&mut self, message: &Message<'_>) -> bool {
        let used = self.sending.bytes.len() - self.start;
        let room = usize::from(self.sending.limit).saturating_sub(used);
        let mut w = Writer::new(&mut self.sending.bytes, room);
        message.encode(&mut w).is_ok()
    }

    fn close(&mut self) {
        self.start = self.sending.bytes.len();
        self.sending.ends.push(self.start);
    }

    fn finish(mut self) -> Sending {
        let Sending {
            tick, reference, ..
        } = self.sending;
        self.pack(&Message::ConfirmSnapshot(Confirm {
            tick,
            real_time: real_time(tick),
            changes: self.changes,
            reference,
        }));
        self.close();
        self.sending
    }
}

/// The moment of a tick, in seconds.
pub(super) fn real_time(tick: Tick) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "53 bits of ticks last for millions of years"
    )]
    let ticks = tick.0 as f64;
    ticks / f64::from(TICKS_PER_SECOND)
}
