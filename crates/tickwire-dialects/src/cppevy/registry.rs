//! What a game says over the protocol: its kinds of event and action, and how each travels.
//!
//! Both sides hold the same registry. The protocol's own events and actions are always in it and
//! cannot be changed.

use alloc::collections::BTreeMap;

use tickwire_session::Belief;

use super::{ActionId, Component, EventId};

/// How an event or action travels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Delivery {
    /// By UDP, once: it may get lost, and the next one replaces it.
    Instant,
    /// By TCP: it arrives, in order.
    Assured,
}

/// How an action is used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ActionUse {
    /// How it travels.
    pub delivery: Delivery,
    /// Whether it is shown before it is answered.
    pub belief: Belief,
    /// Whether the server has it. One that it has not is answered with
    /// [`Reason::Disabled`](super::Reason::Disabled).
    pub enabled: bool,
}

/// Every kind of event and action of a game, and how long its states are.
///
/// ```
/// use tickwire_dialects::cppevy::{ActionId, Component, Delivery, EventId, Registry};
/// use tickwire_session::Belief;
///
/// let health = Component::new(2).unwrap();
/// let registry = Registry::new()
///     .with_state(health, 1)
///     .with_event(EventId(0x0100), Delivery::Instant)
///     .with_action(ActionId(0x0001), Delivery::Instant, Belief::Assumed)
///     .with_action(ActionId(0x0002), Delivery::Assured, Belief::Confirmed);
/// assert_eq!(registry.event(EventId(0x0100)), Some(Delivery::Instant));
/// assert_eq!(registry.action(ActionId(0x0003)), None);
/// ```
#[derive(Clone, Debug)]
pub struct Registry {
    events: BTreeMap<EventId, Delivery>,
    actions: BTreeMap<ActionId, ActionUse>,
    /// By component.
    state_lengths: [Option<u8>; Component::COUNT as usize],
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Only what the protocol has itself.
    pub const fn new() -> Self {
        Self {
            events: BTreeMap::new(),
            actions: BTreeMap::new(),
            state_lengths: [None; Component::COUNT as usize],
        }
    }

    /// Says how many bytes a state of this kind has. One of another length is not sent, and not taken.
    /// States need not be registered; then any length will do.
    #[must_use]
    pub fn with_state(mut self, component: Component, length: u8) -> Self {
        if let Some(place) = self.state_lengths.get_mut(usize::from(component.number())) {
            *place = Some(length);
        }
        self
    }

    /// Adds a kind of event.
    ///
    /// # Panics
    /// If its number is the protocol's.
    #[must_use]
    pub fn with_event(mut self, event: EventId, delivery: Delivery) -> Self {
        assert!(event.name().is_none(), "{event:?} is the protocol's own");
        self.events.insert(event, delivery);
        self
    }

    /// Adds a kind of action.
    ///
    /// # Panics
    /// If its number is the protocol's.
    #[must_use]
    pub fn with_action(self, action: ActionId, delivery: Delivery, belief: Belief) -> Self {
        self.with_action_use(
            action,
            ActionUse {
                delivery,
                belief,
                enabled: true,
            },
        )
    }

    /// Adds a kind of action that exists, but not on this server.
    ///
    /// # Panics
    /// If its number is the protocol's.
    #[must_use]
    pub fn with_disabled_action(self, action: ActionId) -> Self {
        self.with_action_use(
            action,
            ActionUse {
                delivery: Delivery::Assured,
                belief: Belief::Confirmed,
                enabled: false,
            },
        )
    }

    fn with_action_use(mut self, action: ActionId, used: ActionUse) -> Self {
        assert!(action.name().is_none(), "{action:?} is the protocol's own");
        self.actions.insert(action, used);
        self
    }

    /// Whether a state of this kind may have so many bytes.
    #[inline]
    pub(super) fn allows_state(&self, component: Component, length: usize) -> bool {
        match self.state_lengths.get(usize::from(component.number())) {
            Some(Some(right)) => usize::from(*right) == length,
            _ => true,
        }
    }

    /// How an event travels; `None` if there is no such event.
    pub fn event(&self, event: EventId) -> Option<Delivery> {
        match event.name() {
            Some(_) => Some(Delivery::Assured),
            None => self.events.get(&event).copied(),
        }
    }

    /// How a game's action is used; `None` if there is no such action, or it is the protocol's.
    pub fn action(&self, action: ActionId) -> Option<ActionUse> {
        self.actions.get(&action).copied()
    }
}
