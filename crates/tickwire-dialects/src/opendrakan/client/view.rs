//! The world at the moment that is shown.

use alloc::sync::Arc;
use core::time::Duration;

use tickwire_state::{Sample, Tick};

use crate::opendrakan::ObjectId;
use crate::opendrakan::snapshot::{Object, Pose, Snapshot};

/// The world at one moment: what is there by the last snapshot before it, where things are blended
/// with the next.
#[derive(Debug)]
pub struct View<'a> {
    sample: Sample<'a, Arc<Snapshot>>,
}

/// An object as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Where it is at this moment.
    pub pose: Pose,
    /// Everything else, as of the last snapshot.
    pub object: &'a Object,
}

impl<'a> View<'a> {
    pub(super) const fn new(sample: Sample<'a, Arc<Snapshot>>) -> Self {
        Self { sample }
    }

    /// The moment, on the server's clock.
    pub const fn time(&self) -> Duration {
        self.sample.time()
    }

    /// The tick of the last snapshot before it.
    pub fn tick(&self) -> Tick {
        self.sample.snapshot().tick
    }

    /// Everything that is there.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, Shown<'a>)> {
        let objects = self.sample.snapshot().objects.keys();
        objects.filter_map(|&id| Some((id, self.object(id)?)))
    }

    /// One object.
    pub fn object(&self, id: ObjectId) -> Option<Shown<'a>> {
        let object = self.sample.snapshot().object(id)?;
        let pose = self
            .sample
            .show(|snapshot| snapshot.object(id).map(|object| &object.pose))?;
        Some(Shown { pose, object })
    }
}
