//! What belongs to a scope: the variables of the game or of a creature, and what a creature carries.
//!
//! A snapshot holds it beside the objects, and tells it by differences too. In: what a game sets, or the
//! differences that a peer sends. Out: the state, and the differences between two. Both sides work with the
//! same type, so what one writes is what the other applies. Who is told of which scope is the server's to
//! decide; how much may be said at a time is for it too.

use alloc::collections::BTreeMap;
use core::num::NonZeroU16;

use tickwire_wire::display_enum;

use super::delta::Words;
use super::limits::VARIABLES_MAX;
use super::message::{DownElement, InventoryDiff, VariableDiff};
use super::{BadText, ObjectId, Text};

/// The scope of the game's own variables. Every other scope is the creature of that id.
pub const GLOBAL: ObjectId = ObjectId(0);

/// What belongs to one scope.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ScopeState {
    items: BTreeMap<u8, Item>,
    /// None is 0: a variable of that value is as good as none.
    variables: BTreeMap<Words, i32>,
}

/// What lies in a slot of an inventory.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Item {
    /// How many of it.
    pub count: NonZeroU16,
    /// The resource that it is made of; never empty.
    pub resref: Words,
}

display_enum! {
    /// Why something cannot be set.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum ScopeError: Error {
        /// The name cannot be sent, or is empty where something lies in a slot.
        Name(why: BadText) => "{why}",
        /// The scope has [`VARIABLES_MAX`] variables.
        TooMany => "a scope must have at most {VARIABLES_MAX} variables",
        /// The game itself carries nothing.
        NoCreature => "only a creature carries something",
        /// It was said to end, and is not there.
        Missing => "there is no such slot or variable",
    }
}

/// One thing that differs between two states of a scope.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Difference<'a> {
    Item(u8, Option<&'a Item>),
    Variable(&'a Words, i32),
}

impl Item {
    /// So many of a resource; `None` if there are none of it, or it has no name.
    pub fn new(count: u16, resref: &str) -> Option<Self> {
        Some(Self {
            count: NonZeroU16::new(count)?,
            resref: Words::new(resref)
                .ok()
                .filter(|it| !it.as_str().is_empty())?,
        })
    }
}

impl ScopeState {
    /// What lies in a slot.
    pub fn item(&self, slot: u8) -> Option<&Item> {
        self.items.get(&slot)
    }

    /// Everything that is carried, by slot.
    pub fn items(&self) -> impl Iterator<Item = (u8, &Item)> {
        self.items.iter().map(|(slot, item)| (*slot, item))
    }

    /// A variable; 0 if there is none of that name.
    pub fn variable(&self, name: &str) -> i32 {
        self.variables.get(name).copied().unwrap_or(0)
    }

    /// Every variable that is not 0, by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, i32)> {
        let named = self.variables.iter();
        named.map(|(name, value)| (name.as_str(), *value))
    }

    /// Whether nothing belongs to it.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.variables.is_empty()
    }

    /// Puts something into a slot, or takes it out. Nothing can be taken out of an empty one.
    pub(super) fn set_item(&mut self, slot: u8, item: Option<Item>) -> Result<(), ScopeError> {
        let is_taken = item.is_none();
        let before = match item {
            Some(item) => self.items.insert(slot, item),
            None => self.items.remove(&slot),
        };
        match is_taken && before.is_none() {
            true => Err(ScopeError::Missing),
            false => Ok(()),
        }
    }

    /// Sets a variable. One that is not there cannot become 0.
    pub(super) fn set_variable(&mut self, name: Words, value: i32) -> Result<(), ScopeError> {
        if value == 0 {
            let before = self.variables.remove(&name);
            return before.map(|_| ()).ok_or(ScopeError::Missing);
        }
        if self.variables.len() >= VARIABLES_MAX && !self.variables.contains_key(&name) {
            return Err(ScopeError::TooMany);
        }
        self.variables.insert(name, value);
        Ok(())
    }

    /// What has to be said to whoever has `before`: slots first, then variables.
    pub(super) fn differences<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = Difference<'a>> {
        let items = self.items.iter();
        let items = items.filter(|(slot, item)| before.items.get(slot) != Some(item));
        let items = items.map(|(slot, item)| Difference::Item(*slot, Some(item)));
        let emptied = before.items.keys();
        let emptied = emptied.filter(|slot| !self.items.contains_key(slot));
        let emptied = emptied.map(|slot| Difference::Item(*slot, None));
        let variables = self.variables.iter();
        let variables =
            variables.filter(|(name, value)| before.variables.get(*name) != Some(value));
        let variables = variables.map(|(name, value)| Difference::Variable(name, *value));
        let ended = before.variables.keys();
        let ended = ended.filter(|name| !self.variables.contains_key(*name));
        let ended = ended.map(|name| Difference::Variable(name, 0));
        items.chain(emptied).chain(variables).chain(ended)
    }

    /// Takes over what differs.
    pub(super) fn apply(&mut self, difference: Difference<'_>) -> Result<(), ScopeError> {
        match difference {
            Difference::Item(slot, item) => self.set_item(slot, item.cloned()),
            Difference::Variable(name, value) => self.set_variable(name.clone(), value),
        }
    }
}

impl<'a> Difference<'a> {
    /// As an element of a snapshot.
    pub(super) fn element(self, scope: ObjectId) -> DownElement<'a> {
        match self {
            Self::Item(slot, item) => DownElement::InventoryDiff(InventoryDiff {
                owner: scope,
                slot,
                item: item.map(|item| (item.count, item.resref.as_text())),
            }),
            Self::Variable(name, value) => {
                let name = name.as_text();
                DownElement::VariableDiff(VariableDiff { scope, name, value })
            }
        }
    }
}

/// A name as it is kept.
pub(super) fn owned(name: Text<'_>) -> Words {
    Words::from(name)
}
