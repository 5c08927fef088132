//! From datagrams to snapshots.
//!
//! In: the parts of snapshots, in any order and not all of them, and what each says that the server
//! knows of this client. Out: every snapshot that became whole, with what else follows from it. What it
//! holds is what the server may refer to: the module's base, and the snapshots since the one that was
//! acknowledged last. When to ask, and what is shown, is for others.

use alloc::sync::Arc;
use core::time::Duration;

use tickwire_session::Instant;
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::reone::message::{Base, Down, DownElement, PacketWriter};
    use crate::reone::{AnyStatus, CreatureStatus, ObjectId};

    const NOW: Instant = Instant::ZERO;
    const OBJECT: ObjectId = ObjectId(1);

    fn begin() -> Reception {
        let mut reception = Reception::new(NOW);
        let mut bytes = Vec::new();
        let object = AnyStatus::Creature(CreatureStatus::default());
        Base::encode(0, [(OBJECT, object)], &mut bytes).expect("a short base");
        let base = Base::decode(&bytes).expect("a good base");
        reception.set_base(Snapshot::from_base(&base).map(Arc::new));
        reception
    }

    /// A whole snapshot in one datagram, in which the object is as it was in `acknowledged`.
    fn add(
        reception: &mut Reception,
        header: DownHeader,
        answered: Option<EventId>,
    ) -> Result<Completed, Unused> {
        let mut bytes = Vec::new();
        let mut writer = PacketWriter::<Down>::new(&mut bytes, &header, 100);
        writer
            .push(&DownElement::KeepAlive { id: OBJECT })
            .expect("room for it");
        writer.finish();
        reception.note(NOW, header.sequence);
        let part = Part {
            header,
            bytes: &bytes,
            last: Some(1),
            answered,
        };
        let added = reception.add(NOW, Compression::None, part)?;
        Ok(added.expect("it is in one datagram"))
    }

    const fn header(sequence: u32, acknowledged: u32) -> DownHeader {
        DownHeader {
            sequence: SnapshotSeq(sequence),
            acknowledged: SnapshotSeq(acknowledged),
            tick: sequence,
        }
    }

    #[track_caller]
    fn check_answered(added: Result<Completed, Unused>, answered: u32) {
        assert_eq!(added.map(|it| it.answered), Ok(EventId(answered)));
    }

    #[test]
    fn an_acknowledged_event_is_answered_in_later_snapshots_too_but_not_in_earlier_ones() {
        let mut reception = begin();
        check_answered(add(&mut reception, header(3, 0), Some(EventId(5))), 5);
        check_answered(add(&mut reception, header(4, 0), None), 5);
        check_answered(add(&mut reception, header(2, 0), None), 0);
    }

    #[test]
    fn what_is_missing_is_counted_from_the_newest_whole_one() {
        let mut reception = begin();
        let mut missing = |sequence| {
            let added = add(&mut reception, header(sequence, 0), None);
            added.map(|it| (it.is_newest, it.missing))
        };
        assert_eq!(missing(7), Ok((true, 0)), "nobody knows of those before");
        assert_eq!(missing(10), Ok((true, 2)));
        assert_eq!(missing(9), Ok((false, 0)));
        assert_eq!(missing(11), Ok((true, 0)));
    }

    #[test]
    fn what_the_server_will_not_refer_to_is_dropped() {
        let mut reception = begin();
        for header in [header(1, 0), header(2, 1), header(3, 2)] {
            assert!(add(&mut reception, header, None).is_ok(), "{header:?}");
        }
        let held = |sequence| reception.snapshot(SnapshotSeq(sequence)).is_some();
        assert_eq!([1, 2, 3].map(held), [false, true, true]);
        let refused = add(&mut reception, header(4, 1), None);
        assert_eq!(refused.err(), Some(Unused::NoBaseline));
    }

    #[test]
    fn a_repeated_snapshot_is_unheard_only_if_it_is_the_newest() {
        let mut reception = begin();
        for sequence in [1, 2] {
            assert!(add(&mut reception, header(sequence, 0), None).is_ok());
        }
        let again = add(&mut reception, header(2, 0), None);
        assert_eq!(again.err(), Some(Unused::Unheard));
        let again = add(&mut reception, header(1, 0), None);
        assert_eq!(again.err(), Some(Unused::Settled));
    }

    #[test]
    fn who_forgets_begins_again_from_the_base() {
        let mut reception = begin();
        check_answered(add(&mut reception, header(1, 0), Some(EventId(5))), 5);
        reception.forget(NOW);
        assert_eq!(reception.acknowledged(), SnapshotSeq::NONE);
        let refused = add(&mut reception, header(2, 1), None);
        assert_eq!(refused.err(), Some(Unused::NoBaseline));
        check_answered(add(&mut reception, header(3, 0), None), 5);
    }

    #[test]
    fn another_module_has_another_base_and_later_sequences() {
        let mut reception = begin();
        assert!(add(&mut reception, header(1, 0), None).is_ok());
        reception.change_module(NOW);
        assert!(reception.is_before(&header(1, 0)));
        assert!(!reception.is_before(&header(2, 0)));
        let refused = add(&mut reception, header(2, 0), None);
        assert_eq!(refused.err(), Some(Unused::NoBaseline));
    }
}
