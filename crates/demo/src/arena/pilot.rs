//! Who takes part.

use core::fmt;
use core::time::Duration;

use super::Tick;
use crate::slots::Slot;
use crate::view::OwnerId;
use crate::{EntityId, Intent, Loadout, is_printable, limits};

/// Names one pilot from joining to leaving; nobody else gets the same for a long time after.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PilotId(pub(super) Slot);

impl PilotId {
    /// The place, below [`limits::PILOTS`]; unique among those who are there at the same time.
    pub const fn index(self) -> u16 {
        self.0.index
    }

    /// How often the place was used before.
    pub const fn generation(self) -> u16 {
        self.0.generation
    }
}

impl From<PilotId> for OwnerId {
    fn from(id: PilotId) -> Self {
        Self(id.0.to_bits())
    }
}

impl fmt::Display for PilotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index(), self.generation())
    }
}

/// Somebody who takes part, or watches.
#[derive(Clone, Debug)]
pub struct Pilot {
    name: String,
    kills: u16,
    deaths: u16,
    pub(super) ping: Option<Duration>,
    pub(crate) intent: Intent,
    /// How long ago what its player sees was true; see [`Arena::set_rewind`](super::Arena::set_rewind).
    pub(crate) rewind: Duration,
    /// What the next ship carries; none while the pilot only watches.
    pub(super) loadout: Option<Loadout>,
    pub(super) ship: Option<EntityId>,
    /// When the next ship may come.
    pub(super) enters: Tick,
}

impl Pilot {
    pub(super) fn new(name: &str) -> Self {
        let mut pilot = Self {
            name: String::new(),
            kills: 0,
            deaths: 0,
            ping: None,
            intent: Intent::default(),
            rewind: Duration::ZERO,
            loadout: None,
            ship: None,
            enters: Tick(0),
        };
        pilot.set_name(name);
        pilot
    }

    /// What it is called; at most [`limits::NAME_BYTES`] long.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many ships it destroyed.
    pub const fn kills(&self) -> u16 {
        self.kills
    }

    /// How many ships it lost.
    pub const fn deaths(&self) -> u16 {
        self.deaths
    }

    /// Its round trip, if one was measured.
    pub const fn ping(&self) -> Option<Duration> {
        self.ping
    }

    /// Its ship, while it has one.
    pub const fn ship(&self) -> Option<EntityId> {
        self.ship
    }

    /// What it chose last; none while it only watches.
    pub const fn loadout(&self) -> Option<Loadout> {
        self.loadout
    }

    pub(super) fn set_name(&mut self, name: &str) {
        self.name.clear();
        for letter in name.chars().filter(|&letter| is_printable(letter)) {
            if self.name.len() + letter.len_utf8() > limits::NAME_BYTES {
                break;
            }
            self.name.push(letter);
        }
    }

    pub(super) const fn count_kill(&mut self) {
        self.kills = self.kills.saturating_add(1);
    }

    pub(super) const fn lose_ship(&mut self, enters: Tick) {
        self.deaths = self.deaths.saturating_add(1);
        self.ship = None;
        self.enters = enters;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_between_letters_and_cleaned() {
        assert_eq!(Pilot::new("Ada\u{1b}[2J\n").name(), "Ada[2J");
        let long = "ä".repeat(20);
        assert_eq!(Pilot::new(&long).name(), "ä".repeat(16));
        assert_eq!(Pilot::new(&format!("x{long}")).name().len(), 31);
    }
}
