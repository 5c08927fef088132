//! Snapshots on their way: datagrams in any order, of several snapshots at a time, some twice, some
//! never.
//!
//! A snapshot is whole when as many different datagrams are here as its Last says, wherever that one
//! stood. What never becomes whole is pushed out by newer ones.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::limits::ASSEMBLIES_MAX;
use super::snapshot::{Builder, Snapshot, Spoilt};
use crate::reone::message::{Compression, Down, DownHeader, Packet};
use crate::reone::{EventId, SnapshotSeq};

/// The snapshots that are not whole, by sequence.
#[derive(Debug, Default)]
pub(super) struct Assemblies {
    by_sequence: BTreeMap<SnapshotSeq, Assembly>,
}

/// The datagrams of one snapshot, as they came.
#[derive(Debug)]
pub(super) struct Assembly {
    pub(super) header: DownHeader,
    /// The newest event that it shows the outcome of, if it says so.
    pub(super) answered: Option<EventId>,
    datagrams: Vec<Box<[u8]>>,
    /// How many there are in all, once Last is here.
    count: Option<u8>,
}

/// A datagram of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) header: DownHeader,
    pub(super) bytes: &'a [u8],
    /// What its Last says, if it has one.
    pub(super) last: Option<u8>,
    /// What its EventAck says, if it has one.
    pub(super) answered: Option<EventId>,
}

/// Why a datagram is not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Rejected {
    /// It is here already.
    Duplicate,
    /// Every snapshot under assembly is newer, and there are enough of them.
    TooOld,
    /// It contradicts the others of its snapshot. If they contradict its number, all are dropped.
    Contradiction,
}

impl Assemblies {
    /// Takes a datagram; returns the snapshot's datagrams once all are here.
    pub(super) fn add(&mut self, part: Part<'_>) -> Result<Option<Assembly>, Rejected> {
        let sequence = part.header.sequence;
        if !self.by_sequence.contains_key(&sequence) {
            // What needs nobody's place waits for none: forged parts of the future keep out only what is
            // in several datagrams.
            if part.last == Some(1) {
                let mut assembly = Assembly::new(part.header);
                assembly.add(part)?;
                return Ok(Some(assembly));
            }
            self.make_room(sequence)?;
        }
        let assembly = self
            .by_sequence
            .entry(sequence)
            .or_insert_with(|| Assembly::new(part.header));
        assembly.add(part)?;
        let here = assembly.datagrams.len();
        match assembly.count.map(usize::from) {
            Some(count) if here == count => Ok(self.by_sequence.remove(&sequence)),
            Some(count) if here > count => {
                self.by_sequence.remove(&sequence);
                Err(Rejected::Contradiction)
            }
            None if here >= usize::from(u8::MAX) => {
                // One more is needed for Last, and that many it cannot say.
                self.by_sequence.remove(&sequence);
                Err(Rejected::Contradiction)
            }
            _ => Ok(None),
        }
    }

    /// Datagrams that are held.
    pub(super) fn datagrams(&self) -> usize {
        let held = self.by_sequence.values();
        held.map(|assembly| assembly.datagrams.len()).sum()
    }

    /// Gives up everything older than `sequence`.
    pub(super) fn drop_older(&mut self, sequence: SnapshotSeq) {
        self.by_sequence = self.by_sequence.split_off(&sequence);
    }

    /// The oldest gives way, unless `sequence` is older.
    fn make_room(&mut self, sequence: SnapshotSeq) -> Result<(), Rejected> {
        if self.by_sequence.len() < ASSEMBLIES_MAX {
            return Ok(());
        }
        match self.by_sequence.first_key_value() {
            Some((&oldest, _)) if oldest < sequence => {
                self.by_sequence.remove(&oldest);
                Ok(())
            }
            _ => Err(Rejected::TooOld),
        }
    }
}

impl Assembly {
    const fn new(header: DownHeader) -> Self {
        Self {
            header,
            answered: None,
            datagrams: Vec::new(),
            count: None,
        }
    }

    fn add(&mut self, part: Part<'_>) -> Result<(), Rejected> {
        if self.datagrams.iter().any(|held| **held == *part.bytes) {
            return Err(Rejected::Duplicate);
        }
        let is_second_last = part.last.is_some() && self.count.is_some();
        if part.header != self.header || is_second_last {
            return Err(Rejected::Contradiction);
        }
        self.count = self.count.or(part.last);
        self.answered = self.answered.max(part.answered);
        self.datagrams.push(part.bytes.into());
        Ok(())
    }

    /// The snapshot that the datagrams make of `baseline`.
    pub(super) fn build(
        &self,
        compression: Compression,
        baseline: &Snapshot,
    ) -> Result<Snapshot, Spoilt> {
        let mut builder = Builder::new(baseline);
        let mut scratch = Vec::new();
        for bytes in &self.datagrams {
            // Each decoded when it came.
            let Ok(packet) = decode(compression, bytes, &mut scratch) else {
                continue;
            };
            for element in packet.elements() {
                builder.add(&element)?;
            }
        }
        builder.finish(self.header.sequence, self.header.tick)
    }
}

/// Reads a datagram of the server; what is coded unfolds to `scratch`.
pub(super) fn decode<'a>(
    compression: Compression,
    bytes: &'a [u8],
    scratch: &'a mut Vec<u8>,
) -> Result<Packet<'a, Down>, tickwire_wire::DecodeError> {
    match compression {
        Compression::None => Packet::decode(bytes),
        Compression::Huffman => Packet::decode_coded(bytes, scratch),
    }
}
