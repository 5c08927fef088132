//! A module: what clients load before they take part.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use tickwire_session::bulk::{Shelf, ShelfError};
use tickwire_wire::display_enum;

use super::world::Object;
use crate::reone::delta::Words;
use crate::reone::message::{Base, DownElement};
use crate::reone::resource::{BASE, MANIFEST};
use crate::reone::scope::{GLOBAL, ScopeError, ScopeState};
use crate::reone::{AnyStatus, BadText, ModuleNumber, ObjectId, Text};

/// What a server is in.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// What it is called.
    pub name: String,
    /// The objects that everybody begins with, as they are when it is loaded.
    pub base: Vec<Object>,
    /// The game's variables that everybody begins with.
    pub variables: BTreeMap<String, i32>,
    /// Whatever else clients have to load, by name. The manifest and the base are made by the server.
    pub resources: BTreeMap<String, Arc<[u8]>>,
}

display_enum! {
    /// Why a module cannot be served.
    #[derive(Clone, Debug, Eq, PartialEq)]
    #[non_exhaustive]
    pub enum ModuleError: Error {
        /// Its name cannot be sent.
        Name(why: BadText) => "the module's name: {why}",
        /// A resource cannot be offered.
        Resource {
            /// Which.
            name: String,
            /// Why.
            why: ShelfError,
        } => "the resource {name}: {why}",
        /// Two objects of the base have this id.
        Twice {
            /// Which.
            object: ObjectId,
        } => "{object} is twice in the base",
        /// A variable of the base cannot be sent, or there are too many.
        Variable {
            /// Which.
            name: String,
            /// Why.
            why: ScopeError,
        } => "the variable {name}: {why}",
        /// The base has too many objects.
        BaseTooLong => "the base has too many objects",
    }
}

/// What the base of a module holds.
#[derive(Debug)]
pub(super) struct BaseState {
    pub(super) objects: BTreeMap<ObjectId, AnyStatus>,
    pub(super) variables: ScopeState,
}

/// A module that is served.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) number: ModuleNumber,
    name: String,
    pub(super) shelf: Shelf,
}

impl Served {
    /// Makes the base and the manifest. Returns what the base holds, too.
    pub(super) fn new(
        number: ModuleNumber,
        module: Module,
    ) -> Result<(Self, BaseState), ModuleError> {
        let Module {
            name,
            base,
            variables,
            resources,
        } = module;
        Text::new(&name).map_err(ModuleError::Name)?;
        let mut objects = BTreeMap::new();
        for Object { id, status, .. } in base {
            if objects.insert(id, status).is_some() {
                return Err(ModuleError::Twice { object: id });
            }
        }
        let variables = read_variables(variables)?;
        let mut bytes = Vec::new();
        let full = objects.iter();
        let full = full.map(|(id, status)| DownElement::full(*id, *status));
        let nothing = ScopeState::default();
        let set = variables.differences(&nothing);
        let set = set.map(|variable| variable.element(GLOBAL));
        Base::encode(0, full.chain(set), &mut bytes).map_err(|_| ModuleError::BaseTooLong)?;
        let mut shelf = Shelf::new(MANIFEST);
        for (name, bytes) in resources {
            // The base is made of the objects above, and nothing else may stand in for it.
            let inserted = match &*name {
                BASE => Err(ShelfError::Name),
                name => shelf.insert(name, bytes),
            };
            if let Err(why) = inserted {
                return Err(ModuleError::Resource { name, why });
            }
        }
        if let Err(why) = shelf.insert(BASE, Arc::from(bytes)) {
            let name = BASE.into();
            return Err(ModuleError::Resource { name, why });
        }
        let served = Self {
            number,
            name,
            shelf,
        };
        Ok((served, BaseState { objects, variables }))
    }

    pub(super) fn name(&self) -> Text<'_> {
        // It was found to be good when the module was taken.
        Text::new(&self.name).unwrap_or_default()
    }
}

/// The variables of a base. Those that are 0 are as good as none.
fn read_variables(variables: BTreeMap<String, i32>) -> Result<ScopeState, ModuleError> {
    let mut state = ScopeState::default();
    for (name, value) in variables.into_iter().filter(|(_, value)| *value != 0) {
        let words = Words::new(&name).map_err(ScopeError::Name);
        let set = words.and_then(|words| state.set_variable(words, value));
        set.map_err(|why| ModuleError::Variable { name, why })?;
    }
    Ok(state)
}
