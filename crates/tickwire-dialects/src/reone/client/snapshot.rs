//! A snapshot: everything in range at one moment, by id.
//!
//! In: the elements of its datagrams and the snapshot that they differ from. Out: the whole, or why
//! there is none; the baseline is left as it is.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::reone::message::{Base, DownElement};
use crate::reone::{AnyStatus, CreatureStatus, ObjectId, SnapshotSeq};

/// Everything in range at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Snapshot {
    /// Its number; [`SnapshotSeq::NONE`] is the base.
    pub sequence: SnapshotSeq,
    /// The server's tick.
    pub tick: u32,
    /// Ascending, no id twice.
    objects: Box<[(ObjectId, AnyStatus)]>,
}

impl Snapshot {
    /// One object.
    pub fn object(&self, id: ObjectId) -> Option<&AnyStatus> {
        let at = self.objects.binary_search_by_key(&id, |(held, _)| *held);
        self.objects.get(at.ok()?).map(|(_, object)| object)
    }

    /// One creature.
    pub fn creature(&self, id: ObjectId) -> Option<&CreatureStatus> {
        match self.object(id)? {
            AnyStatus::Creature(status) => Some(status),
            AnyStatus::Spatial(_) => None,
        }
    }

    /// All of them, by id.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = (ObjectId, &AnyStatus)> {
        self.objects.iter().map(|(id, object)| (*id, object))
    }

    /// The snapshot that a module begins with; `None` if it names an object twice.
    pub(super) fn from_base(base: &Base<'_>) -> Option<Self> {
        let nothing = Self {
            sequence: SnapshotSeq::NONE,
            tick: base.tick,
            objects: Box::default(),
        };
        let mut builder = Builder::new(&nothing);
        for element in base.elements() {
            builder.add(&element).ok()?;
        }
        builder.finish(SnapshotSeq::NONE, base.tick).ok()
    }
}

/// Why the datagrams of a snapshot do not make one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Spoilt {
    /// It changes or keeps an object that the baseline does not have, or has as something else.
    UnknownObject,
    /// It names an object twice.
    Twice,
}

/// A snapshot in the making.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    baseline: &'a Snapshot,
    objects: Vec<(ObjectId, AnyStatus)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(baseline: &'a Snapshot) -> Self {
        Self {
            baseline,
            objects: Vec::with_capacity(baseline.objects.len()),
        }
    }

    /// Takes an element; those that are not about the state of an object are passed over.
    pub(super) fn add(&mut self, element: &DownElement<'_>) -> Result<(), Spoilt> {
        let (id, object) = match element {
            DownElement::CreatureFull { id, status } => (*id, AnyStatus::Creature(*status)),
            DownElement::SpatialFull { id, status } => (*id, AnyStatus::Spatial(*status)),
            DownElement::KeepAlive { id } => (*id, self.before(*id)?),
            DownElement::CreatureDiff { id, delta } => match self.before(*id)? {
                AnyStatus::Creature(mut status) => {
                    delta.apply(&mut status);
                    (*id, AnyStatus::Creature(status))
                }
                AnyStatus::Spatial(_) => return Err(Spoilt::UnknownObject),
            },
            DownElement::SpatialDiff { id, delta } => match self.before(*id)? {
                AnyStatus::Spatial(mut status) => {
                    delta.apply(&mut status);
                    (*id, AnyStatus::Spatial(status))
                }
                AnyStatus::Creature(_) => return Err(Spoilt::UnknownObject),
            },
            _ => return Ok(()),
        };
        self.objects.push((id, object));
        Ok(())
    }

    pub(super) fn finish(mut self, sequence: SnapshotSeq, tick: u32) -> Result<Snapshot, Spoilt> {
        self.objects.sort_unstable_by_key(|(id, _)| *id);
        if self.objects.is_sorted_by(|(a, _), (b, _)| a < b) {
            Ok(Snapshot {
                sequence,
                tick,
                objects: self.objects.into(),
            })
        } else {
            Err(Spoilt::Twice)
        }
    }

    fn before(&self, id: ObjectId) -> Result<AnyStatus, Spoilt> {
        let object = self.baseline.object(id).copied();
        object.ok_or(Spoilt::UnknownObject)
    }
}
