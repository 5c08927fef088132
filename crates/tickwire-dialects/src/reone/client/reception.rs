//! From datagrams to snapshots.
//!
//! In: the parts of snapshots, in any order and not all of them, and what each says that the server
//! knows of this client. Out: every snapshot that became whole, with what else follows from it. What it
//! holds is what the server may refer to: the module's base, and the snapshots since the one that was
//! acknowledged last. When to ask, and what is shown, is for others.

use alloc::sync::Arc;
use core::time::Duration;

use tickwire_session::{Instant, Updates};
use tickwire_state::{History, Tick};

use super::assembly::{Assemblies, Assembly, Part, Rejected};
use super::limits::{BASELINES, HANG};
use super::module_fence::ModuleFence;
use super::snapshot::{Snapshot, Spoilt};
use crate::reone::message::{Compression, DownHeader};
use crate::reone::{EventId, Mode, SnapshotSeq};

#[derive(Debug)]
pub(super) struct Reception {
    fence: ModuleFence,
    assemblies: Assemblies,
    /// The snapshot that the module begins with.
    base: Option<Arc<Snapshot>>,
    baselines: History<Arc<Snapshot>>,
    /// The newest snapshot that any datagram belongs to.
    newest: SnapshotSeq,
    /// The newest whole snapshot.
    whole: Option<Arc<Snapshot>>,
    /// What that one was made of.
    mode: Option<Mode>,
    /// The newest event that whole snapshots show the outcome of.
    answered: EventId,
    /// When a datagram of a snapshot came last.
    last_part: Option<Instant>,
    /// When a snapshot was whole last, what was held was forgotten, or the first was asked for.
    last_whole: Instant,
    /// Those that became whole and were the newest.
    pub(super) updates: Updates,
}

/// A snapshot became whole.
#[derive(Debug)]
pub(super) struct Completed {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) mode: Mode,
    /// The newest event that it is known to show the outcome of.
    pub(super) answered: EventId,
    /// Whether it is newer than every other that is whole.
    pub(super) is_newest: bool,
    /// Snapshots that are not whole between the newest before and this.
    pub(super) missing: u32,
}

/// Why a datagram of a snapshot was of no use.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unused {
    /// Its snapshot is the newest whole one: the server has not heard that it is.
    Unheard,
    /// Its snapshot is whole.
    Settled,
    /// It does not go with the others of its snapshot.
    Rejected(Rejected),
    /// It was the last of its snapshot, whose baseline is not here.
    NoBaseline,
    /// It was the last of its snapshot, which makes no sense.
    Spoilt(Spoilt),
}

impl Reception {
    /// Nothing was heard on this connection.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            fence: ModuleFence::default(),
            assemblies: Assemblies::default(),
            base: None,
            baselines: History::new(BASELINES),
            newest: SnapshotSeq::NONE,
            whole: None,
            mode: None,
            answered: EventId(0),
            last_part: None,
            last_whole: now,
            updates: Updates::NONE,
        }
    }

    /// Another module begins on the same connection: events and sequences go on.
    pub(super) fn change_module(&mut self, now: Instant) {
        self.fence.change_module();
        *self = Self {
            fence: self.fence,
            answered: self.answered,
            ..Self::new(now)
        };
    }

    /// What is held is of no use any more, except the base.
    pub(super) fn forget(&mut self, now: Instant) {
        *self = Self {
            fence: self.fence,
            base: self.base.take(),
            answered: self.answered,
            ..Self::new(now)
        };
    }

    /// The module is loaded.
    pub(super) fn set_base(&mut self, base: Option<Arc<Snapshot>>) {
        self.base = base;
    }

    /// The server said its parameters at this tick, and is asked for the first snapshot.
    pub(super) fn begin(&mut self, now: Instant, tick: u32) {
        self.last_whole = now;
        self.fence.begin_module(tick);
    }

    /// A snapshot came before this module was ready.
    pub(super) fn note_early(&mut self, sequence: SnapshotSeq) {
        self.fence.note_early(sequence);
    }

    /// A snapshot of this module came, or a part of it.
    pub(super) fn note(&mut self, now: Instant, sequence: SnapshotSeq) {
        self.last_part = Some(now);
        self.newest = self.newest.max(sequence);
        self.fence.note(sequence);
    }

    /// Whether a snapshot with this header is of a module before.
    pub(super) fn is_before(&self, header: &DownHeader) -> bool {
        self.fence.is_before(header)
    }

    /// Whether no snapshot was whole for so long that what is held is of no use.
    pub(super) fn is_stuck(&self, now: Instant) -> bool {
        now.since(self.last_whole) >= HANG
    }

    /// From now on, whatever comes is of this module.
    pub(super) fn open_fence(&mut self) {
        self.fence.clear();
    }

    /// Takes a datagram; returns its snapshot once all of it is here.
    pub(super) fn add(
        &mut self,
        now: Instant,
        compression: Compression,
        part: Part<'_>,
    ) -> Result<Option<Completed>, Unused> {
        let sequence = part.header.sequence;
        if self.acknowledged() == sequence {
            return Err(Unused::Unheard);
        }
        if self.snapshot(sequence).is_some() {
            return Err(Unused::Settled);
        }
        let Some(assembly) = self.assemblies.add(part).map_err(Unused::Rejected)? else {
            return Ok(None);
        };
        let baseline = self.baseline(&assembly).ok_or(Unused::NoBaseline)?;
        let built = assembly.build(compression, &baseline);
        let snapshot = built.map_err(Unused::Spoilt)?;
        Ok(Some(self.complete(now, &assembly, Arc::new(snapshot))))
    }

    /// The newest whole snapshot.
    pub(super) const fn whole(&self) -> Option<&Arc<Snapshot>> {
        self.whole.as_ref()
    }

    /// The number of the newest whole snapshot, as the server is told it.
    pub(super) fn acknowledged(&self) -> SnapshotSeq {
        let whole = self.whole.as_ref();
        whole.map_or(SnapshotSeq::NONE, |whole| whole.sequence)
    }

    /// A whole snapshot, as long as it is held.
    pub(super) fn snapshot(&self, sequence: SnapshotSeq) -> Option<&Arc<Snapshot>> {
        self.baselines.get(tick(sequence))
    }

    /// The newest snapshot that any datagram belongs to.
    pub(super) const fn newest(&self) -> SnapshotSeq {
        self.newest
    }

    /// Datagrams of snapshots that are not whole.
    pub(super) fn datagrams_held(&self) -> usize {
        self.assemblies.datagrams()
    }

    /// What the newest whole snapshot was made of.
    pub(super) const fn mode(&self) -> Option<Mode> {
        self.mode
    }

    /// When a datagram of a snapshot came last.
    pub(super) const fn last_part(&self) -> Option<Instant> {
        self.last_part
    }

    /// How long ago a snapshot was whole last.
    pub(super) fn age(&self, now: Instant) -> Option<Duration> {
        self.whole.as_ref().map(|_| now.since(self.last_whole))
    }

    fn baseline(&self, assembly: &Assembly) -> Option<Arc<Snapshot>> {
        let baseline = match assembly.header.acknowledged {
            SnapshotSeq::NONE => self.base.as_ref(),
            sequence => self.snapshot(sequence),
        };
        baseline.cloned()
    }

    fn complete(
        &mut self,
        now: Instant,
        assembly: &Assembly,
        snapshot: Arc<Snapshot>,
    ) -> Completed {
        let Assembly {
            header, answered, ..
        } = *assembly;
        let DownHeader {
            sequence,
            acknowledged: baseline,
            ..
        } = header;
        let mode = match baseline {
            SnapshotSeq::NONE => Mode::Fallback,
            _ => Mode::Performant,
        };
        let before = self.whole.as_ref().map(|whole| whole.sequence);
        let is_newest = before.is_none_or(|before| before < sequence);
        self.baselines.insert(tick(sequence), snapshot.clone());
        if !is_newest {
            return Completed {
                snapshot,
                mode,
                // What a newer one answers may be more than this one shows.
                answered: answered.unwrap_or_default(),
                is_newest,
                missing: 0,
            };
        }
        // An acknowledgement holds for later snapshots too.
        self.answered = self.answered.max(answered.unwrap_or_default());
        self.mode = Some(mode);
        self.whole = Some(snapshot.clone());
        self.last_whole = now;
        self.updates.add(now);
        // The server refers to what it knows to be here, and that only moves on.
        self.baselines.drop_older(tick(baseline));
        self.assemblies.drop_older(baseline);
        Completed {
            snapshot,
            mode,
            answered: answered.unwrap_or(self.answered),
            is_newest,
            missing: before.map_or(0, |before| sequence.since(before) - 1),
        }
    }
}

/// The key that histories know a snapshot by.
const fn tick(sequence: SnapshotSeq) -> Tick {
    Tick(sequence.0 as u64)
}
