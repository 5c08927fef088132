//! A snapshot: everything in range at one moment, by id.
//!
//! In: the elements of its datagrams and the snapshot that they differ from. Out: the whole, or why
//! there is none; the baseline is left as it is.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::limits::SCOPES_MAX;
use crate::reone::delta::Words;
use crate::reone::limits::VARIABLES_MAX;
use crate::reone::message::{Base, DownElement, Velocity};
use crate::reone::scope::{Item, ScopeError, ScopeState, owned};
use crate::reone::{AnyStatus, CreatureStatus, ObjectId, SnapshotSeq, Vec2};

/// Everything in range at one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Snapshot {
    /// Its number; [`SnapshotSeq::NONE`] is the base.
    pub sequence: SnapshotSeq,
    /// The server's tick.
    pub tick: u32,
    /// Ascending, no id twice.
    objects: Box<[(ObjectId, AnyStatus)]>,
    /// Shared with the snapshots before, as long as nothing of a scope changes. None is empty.
    scopes: BTreeMap<ObjectId, Arc<ScopeState>>,
    /// Ascending, no id twice, each of a creature that is there.
    velocities: Box<[Velocity]>,
}

impl Snapshot {
    /// What belongs to the game, which is scope [`GLOBAL`](crate::reone::GLOBAL), or to a creature, as far as
    /// this client is told: `None` if nothing does.
    pub fn scope(&self, scope: ObjectId) -> Option<&ScopeState> {
        self.scopes.get(&scope).map(|state| &**state)
    }

    /// Every scope to which something belongs.
    pub fn scopes(&self) -> impl Iterator<Item = (ObjectId, &ScopeState)> {
        self.scopes.iter().map(|(scope, state)| (*scope, &**state))
    }

    /// How a creature moves, in units a second, if the server tells: of the own one it does.
    pub fn velocity(&self, id: ObjectId) -> Option<Vec2> {
        let at = self.velocities.binary_search_by_key(&id, |told| told.id);
        self.velocities.get(at.ok()?).map(|told| told.velocity)
    }

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
            scopes: BTreeMap::new(),
            velocities: Box::default(),
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
    /// It changes or keeps what the baseline does not have, or has as something else.
    UnknownObject,
    /// It names an object, a slot or a variable twice.
    Twice,
    /// It has more variables or scopes than a client keeps.
    TooMuch,
}

/// What a snapshot says of a scope, by name.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Named {
    Slot(u8),
    Variable(Words),
}

/// A snapshot in the making.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    baseline: &'a Snapshot,
    objects: Vec<(ObjectId, AnyStatus)>,
    scopes: BTreeMap<ObjectId, Arc<ScopeState>>,
    /// What was said of scopes.
    named: BTreeSet<(ObjectId, Named)>,
    velocities: Vec<Velocity>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(baseline: &'a Snapshot) -> Self {
        Self {
            baseline,
            objects: Vec::with_capacity(baseline.objects.len()),
            scopes: baseline.scopes.clone(),
            named: BTreeSet::new(),
            velocities: Vec::new(),
        }
    }

    /// Takes an element; those that are not about the state of the world are passed over.
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
            DownElement::InventoryDiff(diff) => {
                let item = diff.item.map(|(count, resref)| Item {
                    count,
                    resref: owned(resref),
                });
                let slot = diff.slot;
                self.name(diff.owner, Named::Slot(slot))?;
                return self.change(diff.owner, |state| state.set_item(slot, item));
            }
            DownElement::VariableDiff(diff) => {
                let (name, value) = (owned(diff.name), diff.value);
                self.name(diff.scope, Named::Variable(name.clone()))?;
                return self.change(diff.scope, |state| state.set_variable(name, value));
            }
            DownElement::Velocity(velocity) => {
                self.velocities.push(*velocity);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.objects.push((id, object));
        Ok(())
    }

    /// Takes note that something is said of a scope.
    fn name(&mut self, scope: ObjectId, named: Named) -> Result<(), Spoilt> {
        if self.named.len() >= NAMED_MAX {
            return Err(Spoilt::TooMuch);
        }
        match self.named.insert((scope, named)) {
            true => Ok(()),
            false => Err(Spoilt::Twice),
        }
    }

    fn change(
        &mut self,
        scope: ObjectId,
        change: impl FnOnce(&mut ScopeState) -> Result<(), ScopeError>,
    ) -> Result<(), Spoilt> {
        if self.scopes.len() >= SCOPES_MAX && !self.scopes.contains_key(&scope) {
            return Err(Spoilt::TooMuch);
        }
        let state = self.scopes.entry(scope).or_default();
        change(Arc::make_mut(state)).map_err(|why| match why {
            ScopeError::Missing => Spoilt::UnknownObject,
            _ => Spoilt::TooMuch,
        })
    }

    pub(super) fn finish(mut self, sequence: SnapshotSeq, tick: u32) -> Result<Snapshot, Spoilt> {
        self.objects.sort_unstable_by_key(|(id, _)| *id);
        self.velocities.sort_unstable_by_key(|told| told.id);
        let is_once = self.objects.is_sorted_by(|(a, _), (b, _)| a < b)
            && self.velocities.is_sorted_by(|a, b| a.id < b.id);
        if !is_once {
            return Err(Spoilt::Twice);
        }
        self.scopes.retain(|_, state| !state.is_empty());
        let snapshot = Snapshot {
            sequence,
            tick,
            objects: self.objects.into(),
            scopes: self.scopes,
            velocities: self.velocities.into(),
        };
        let mut moving = snapshot.velocities.iter();
        match moving.all(|told| snapshot.creature(told.id).is_some()) {
            true => Ok(snapshot),
            false => Err(Spoilt::UnknownObject),
        }
    }

    fn before(&self, id: ObjectId) -> Result<AnyStatus, Spoilt> {
        let object = self.baseline.object(id).copied();
        object.ok_or(Spoilt::UnknownObject)
    }
}

/// Slots and variables that one snapshot may name: all of the game's and of one creature's.
const NAMED_MAX: usize = 2 * VARIABLES_MAX + 256;
