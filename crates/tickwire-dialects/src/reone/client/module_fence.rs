//! Where the module before ends.
//!
//! A datagram does not say which module it is of, and one that was held up may come when the next module
//! is ready. Built from another base it would be nonsense that looks like a snapshot. In: headers heard
//! while the module changes. Out: whether a header can be of this module.
//!
//! Two things tell. Sequences go on through modules, so what was heard before this one is over. And a
//! server sends the snapshots of a module to those alone who have heard its parameters, which it says in
//! a packet with the tick of its last snapshot. Each snapshot has a later tick than the one before, so
//! what is not later than the parameters is of before.

use tickwire_wire::Serial;

use crate::reone::SnapshotSeq;
use crate::reone::message::DownHeader;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ModuleFence {
    /// The newest snapshot that was heard of on this connection.
    newest: SnapshotSeq,
    /// The newest snapshot of the modules before, as far as it was heard of.
    sequence: SnapshotSeq,
    /// The server's tick when it said its parameters.
    tick: Option<u32>,
}

impl ModuleFence {
    /// A snapshot of this module came.
    pub(super) fn hear(&mut self, sequence: SnapshotSeq) {
        self.newest = self.newest.max(sequence);
    }

    /// The module changes.
    pub(super) const fn change_module(&mut self) {
        self.sequence = self.newest;
        self.tick = None;
    }

    /// A snapshot came before this module was ready.
    pub(super) fn note_early(&mut self, sequence: SnapshotSeq) {
        // Only after a module on the same connection. At a server that was started anew, sequences
        // begin anew, and what comes early may be the last words of the old one.
        if self.sequence != SnapshotSeq::NONE {
            self.hear(sequence);
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
