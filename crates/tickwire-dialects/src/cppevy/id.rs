//! The two-byte descriptors, and what they name.
//!
//! A descriptor means something else in every kind of object: a state's is a component of an entity,
//! an event's and an action's are numbers that a game registers. So each has a type of its own, and
//! one cannot stand in for the other.

use core::fmt;

/// An entity, as both sides name it: 10 bits.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SyncId(u16);

impl SyncId {
    /// How many there are.
    pub const COUNT: u16 = 1 << 10;

    /// The id of this number, which is below [`SyncId::COUNT`].
    pub const fn new(number: u16) -> Option<Self> {
        if number < Self::COUNT {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Its number.
    pub const fn number(self) -> u16 {
        self.0
    }
}

impl fmt::Display for SyncId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// What aspect of an entity a state describes: 6 bits, numbered by the game.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Component(u8);

impl Component {
    /// How many there are.
    pub const COUNT: u8 = 1 << 6;

    /// The component of this number, which is below [`Component::COUNT`].
    pub const fn new(number: u8) -> Option<Self> {
        if number < Self::COUNT {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// A component of an entity: what the descriptor of a state names.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StateId {
    /// Which entity.
    pub entity: SyncId,
    /// What of it.
    pub component: Component,
}

impl StateId {
    /// What a descriptor names: the component in the 6 high bits, the entity in the 10 low ones.
    pub const fn from_descriptor(descriptor: u16) -> Self {
        Self {
            entity: SyncId(descriptor % SyncId::COUNT),
            component: Component((descriptor / SyncId::COUNT) as u8),
        }
    }

    /// The descriptor on the wire.
    pub const fn descriptor(self) -> u16 {
        (self.component.0 as u16) << 10 | self.entity.0
    }
}

/// What an entity is, numbered by the game.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Archetype(pub u8);

/// A kind of event. Numbers 1 to 4 and 0xff02 are the protocol's own.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct EventId(pub u16);

impl EventId {
    /// An entity is there.
    pub const SUMMON: Self = Self(1);
    /// An entity is gone.
    pub const DISMISS: Self = Self(2);
    /// Somebody plays.
    pub const CLIENT_JOIN: Self = Self(3);
    /// Somebody plays no longer.
    pub const CLIENT_LEAVE: Self = Self(4);
    /// A piece of an asset.
    pub const ASSET: Self = Self(0xff02);

    /// What the protocol calls it; `None` for a game's.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::SUMMON => Some("Summon"),
            Self::DISMISS => Some("Dismiss"),
            Self::CLIENT_JOIN => Some("ClientJoin"),
            Self::CLIENT_LEAVE => Some("ClientLeave"),
            Self::ASSET => Some("Asset"),
            _ => None,
        }
    }
}

/// A kind of action. Numbers 0xff00 to 0xff06 are the protocol's own.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ActionId(pub u16);

impl ActionId {
    /// Wants to play.
    pub const JOIN: Self = Self(0xff00);
    /// Shows where datagrams shall go.
    pub const ATTACH: Self = Self(0xff01);
    /// Wants an asset.
    pub const ASSET: Self = Self(0xff02);
    /// Wants to go.
    pub const LEAVE: Self = Self(0xff03);
    /// Known to every server and never allowed: what a client can try its handling of
    /// [`Reason::Disabled`](super::Reason::Disabled) on.
    pub const DISABLED: Self = Self(0xff04);
    /// Has content for the server.
    pub const OFFER: Self = Self(0xff05);
    /// Brings a piece of it.
    pub const PIECE: Self = Self(0xff06);

    /// What the protocol calls it; `None` for a game's.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::JOIN => Some("Join"),
            Self::ATTACH => Some("Attach"),
            Self::ASSET => Some("Asset"),
            Self::LEAVE => Some("Leave"),
            Self::DISABLED => Some("Disabled"),
            Self::OFFER => Some("Offer"),
            Self::PIECE => Some("Piece"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_descriptor_is_one_state() {
        for descriptor in 0..=u16::MAX {
            let state = StateId::from_descriptor(descriptor);
            assert_eq!(state.descriptor(), descriptor);
            assert_eq!(SyncId::new(state.entity.number()), Some(state.entity));
            let component = Component::new(state.component.number());
            assert_eq!(component, Some(state.component));
        }
        assert_eq!(SyncId::new(1_024), None);
        assert_eq!(Component::new(64), None);
    }

    #[test]
    fn the_component_lies_above_the_entity() {
        let state = StateId {
            entity: SyncId(0x155),
            component: Component(2),
        };
        assert_eq!(state.descriptor(), 0x0955);
    }
}
