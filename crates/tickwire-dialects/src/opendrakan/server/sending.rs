//! A snapshot as bytes: what differs from a reference, cut into datagrams.
//!
//! A sending depends only on the world, the reference and the datagram's size, so clients that
//! acknowledged the same snapshot share one. The changes come first and the confirmation last; they may
//! arrive in any order.

use alloc::vec::Vec;

use tickwire_state::Tick;
use tickwire_wire::Full;

use super::world::{Entry, Wanted, World};
use crate::opendrakan::bundle::{self, Change};
use crate::opendrakan::limits::{BUNDLE_MAX, TICKS_PER_SECOND};
use crate::opendrakan::message::{self, Confirm, Kind, Lifecycle, Message, ObjectChange};
use crate::opendrakan::{ObjectId, Writer};

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
            for entry in world.objects() {
                packer.pack_whole(entry);
            }
        } else {
            for entry in world.changed_after(reference) {
                if entry.is_new_since(reference) {
                    packer.pack_whole(entry);
                } else {
                    packer.pack_changes(entry);
                }
            }
            for tombstone in world.destroyed_after(reference) {
                packer.pack_lifecycle(tombstone.object, Lifecycle::Destroyed);
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
    /// For extra states and their bundle, kept between objects.
    states: Vec<Change>,
    scratch: Vec<u8>,
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
            states: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Everything about an object.
    fn pack_whole(&mut self, entry: &Entry) {
        if let Some(prototype) = entry.object.prototype {
            self.pack_change(entry.id, ObjectChange::Created(prototype));
        }
        self.pack_lifecycle(entry.id, entry.object.lifecycle);
        self.pack_states(entry, Wanted::All);
    }

    /// What changed of an object that the reference has.
    fn pack_changes(&mut self, entry: &Entry) {
        if entry.lifecycle_changed > self.sending.reference {
            self.pack_lifecycle(entry.id, entry.object.lifecycle);
        }
        self.pack_states(entry, Wanted::Changed);
    }

    fn pack_lifecycle(&mut self, object: ObjectId, lifecycle: Lifecycle) {
        self.pack_change(object, ObjectChange::Lifecycle(lifecycle));
    }

    fn pack_change(&mut self, object: ObjectId, change: ObjectChange<'_>) {
        let tick = self.sending.tick;
        self.changes += 1;
        self.pack(&Message::ObjectChanged {
            tick,
            object,
            change,
        });
    }

    fn pack_states(&mut self, entry: &Entry, wanted: Wanted) {
        let reference = self.sending.reference;
        let basic = entry.basic_bundle(reference, wanted);
        if basic.states > 0 {
            self.changes += basic.states;
            self.pack_bundle(Kind::ObjectStates, entry.id, basic.bytes());
        }
        let mut states = core::mem::take(&mut self.states);
        states.clear();
        states.extend(entry.extra_changes(reference, wanted));
        if !states.is_empty() {
            self.changes += u32::try_from(states.len()).unwrap_or(u32::MAX);
            let mut scratch = core::mem::take(&mut self.scratch);
            scratch.clear();
            bundle::encode(&mut Writer::new(&mut scratch, BUNDLE_MAX), &states);
            self.pack_bundle(Kind::ObjectExtraStates, entry.id, &scratch);
            self.scratch = scratch;
        }
        self.states = states;
    }

    fn pack_bundle(&mut self, kind: Kind, object: ObjectId, bundle: &[u8]) {
        let tick = self.sending.tick;
        self.pack_with(|w| message::encode_bundle(w, kind, tick, object, bundle));
    }

    /// Puts a message into this datagram, or if it is full, into the next.
    fn pack(&mut self, message: &Message<'_>) {
        self.pack_with(|w| message.encode(w));
    }

    fn pack_with(&mut self, encode: impl Fn(&mut Writer<'_>) -> Result<(), Full>) {
        self.sending.messages += 1;
        if encode(&mut self.writer()).is_ok() {
            return;
        }
        self.close();
        let fits = encode(&mut self.writer()).is_ok();
        debug_assert!(fits, "a message is larger than a datagram");
    }

    /// What this datagram still takes.
    fn writer(&mut self) -> Writer<'_> {
        let used = self.sending.bytes.len() - self.start;
        let room = usize::from(self.sending.limit).saturating_sub(used);
        Writer::new(&mut self.sending.bytes, room)
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
