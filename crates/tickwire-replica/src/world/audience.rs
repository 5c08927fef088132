//! Who may see an entity.
//!
//! Audiences are few and have numbers, so that a place can be found by cell and audience. An audience
//! lives as long as a place has it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::limits::AUDIENCES_MAX;

/// A player, as the game counts them.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PlayerId(pub u32);

/// A set of groups, one a bit.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Groups(pub u64);

/// Who may see an entity.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Audience {
    /// Everyone.
    #[default]
    Everyone,
    /// Whoever belongs to one of these.
    Groups(Groups),
    /// One player alone.
    Player(PlayerId),
}

impl Audience {
    /// Whether a player who belongs to these groups is part of it.
    pub const fn admits(self, player: PlayerId, groups: Groups) -> bool {
        match self {
            Self::Everyone => true,
            Self::Groups(ours) => ours.0 & groups.0 != 0,
            Self::Player(ours) => ours.0 == player.0,
        }
    }
}

/// An audience that lives, by its number.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct AudienceNumber(u8);

impl AudienceNumber {
    pub(super) const FIRST: Self = Self(0);
    pub(super) const LAST: Self = Self(u8::MAX);
}

/// The audiences that live.
#[derive(Debug, Default)]
pub(super) struct Audiences {
    numbers: BTreeMap<Audience, AudienceNumber>,
    /// How many places have each.
    uses: Vec<u32>,
}

impl Audiences {
    /// The number of an audience, which it is given unless it has one; nothing if there are too many.
    pub(super) fn number(&mut self, audience: Audience) -> Option<AudienceNumber> {
        if let Some(number) = self.numbers.get(&audience) {
            return Some(*number);
        }
        let unused = self.uses.iter().position(|uses| *uses == 0);
        let number = unused.unwrap_or(self.uses.len());
        if number >= AUDIENCES_MAX {
            return None;
        }
        if unused.is_none() {
            self.uses.push(0);
        }
        let number = AudienceNumber(u8::try_from(number).ok()?);
        // One that was numbered for a place that did not come about has no use, and no number any more.
        self.numbers.retain(|_, other| *other != number);
        self.numbers.insert(audience, number);
        Some(number)
    }

    /// Notes that a place has it.
    pub(super) fn retain(&mut self, number: AudienceNumber) {
        if let Some(uses) = self.uses.get_mut(usize::from(number.0)) {
            *uses += 1;
        }
    }

    /// Notes that a place that had it is no more.
    pub(super) fn release(&mut self, number: AudienceNumber) {
        if let Some(uses) = self.uses.get_mut(usize::from(number.0)) {
            *uses = uses.saturating_sub(1);
            if *uses == 0 {
                self.numbers.retain(|_, other| *other != number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_players_see_what_is_theirs() {
        let (ada, bob) = (PlayerId(1), PlayerId(2));
        let (red, blue) = (Groups(1), Groups(2));
        assert!(Audience::Everyone.admits(ada, Groups::default()));
        assert!(Audience::Groups(Groups(3)).admits(ada, red));
        assert!(!Audience::Groups(red).admits(ada, blue));
        assert!(Audience::Player(ada).admits(ada, blue));
        assert!(!Audience::Player(ada).admits(bob, red));
    }

    #[test]
    fn a_number_is_free_again_when_no_place_has_it() {
        let mut audiences = Audiences::default();
        let player = |number| Audience::Player(PlayerId(number));
        for number in 0..256 {
            let number = audiences.number(player(number)).unwrap();
            audiences.retain(number);
        }
        assert_eq!(audiences.number(player(256)), None);
        let freed = audiences.number(player(7)).unwrap();
        audiences.release(freed);
        assert_eq!(audiences.number(player(256)), Some(freed));
        assert_eq!(audiences.number(player(7)), Some(freed), "nobody took it");
    }
}
