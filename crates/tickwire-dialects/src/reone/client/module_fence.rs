//! Keeps snapshots of an earlier module out.
//!
//! A datagram does not say which module it belongs to, and a delayed one may arrive when the next module is
//! ready. Built from the wrong base it would be nonsense that looks like a snapshot. In: headers that arrive
//! while the module changes. Out: whether a header can belong to this module.
//!
//! Two things tell. Sequences never restart, so every sequence that arrived before this module began is too
//! old. And a server sends snapshots of a module only to clients that heard its Parameters, in a packet with
//! the tick of its newest snapshot; ticks rise, so a snapshot that is not later than the Parameters is too
//! old.

use tickwire_wire::Serial;

use crate::reone::SnapshotSeq;
use crate::reone::message::DownHeader;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ModuleFence {
    /// The newest snapshot that arrived on this connection.
    newest: SnapshotSeq,
    /// The newest snapshot that arrived before this module.
    sequence: SnapshotSeq,
    /// The server's tick when it said its parameters.
    tick: Option<u32>,
}

impl ModuleFence {
    /// A snapshot of this module came.
    pub(super) fn note(&mut self, sequence: SnapshotSeq) {
        self.newest = self.newest.max(sequence);
    }

    /// Another module begins.
    pub(super) const fn change_module(&mut self) {
        self.sequence = self.newest;
        self.tick = None;
    }

    /// A snapshot came before this module was ready.
    pub(super) fn note_early(&mut self, sequence: SnapshotSeq) {
        // Only after a module on the same connection. At a server that was started anew, sequences
        // begin anew, and what comes early may be the last words of the old one.
        if self.sequence != SnapshotSeq::NONE {
            self.note(sequence);
            self.sequence = self.newest;
        }
    }

    /// The server said its parameters at this tick: from now on there are snapshots of this module.
    pub(super) fn begin_module(&mut self, tick: u32) {
        self.tick.get_or_insert(tick);
    }

    /// Whether a snapshot with this header is of a module before.
    pub(super) fn is_before(&self, header: &DownHeader) -> bool {
        header.sequence <= self.sequence
            || self
                .tick
                .is_some_and(|tick| !header.tick.is_newer_than(tick))
    }

    /// Forgets everything: sequences may have begun anew.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
