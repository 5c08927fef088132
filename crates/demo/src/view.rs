//! What a client shows, the same in every protocol.
//!
//! The client's half of a gateway turns what its protocol told it into a [`View`] and a list of
//! [`Score`]s; players' screens, bots and the dashboard are written against these alone. So nothing here knows the arena: ids are
//! opaque, and what a protocol cannot tell has a stated stand-in.

use core::time::Duration;
use std::collections::VecDeque;

use crate::{Heading, Kind, Vec2};

/// Names a thing for as long as it is seen. What the number means is the protocol's.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SeenId(pub u32);

/// Names a player for as long as it is known. What the number means is the protocol's.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OwnerId(pub u32);

/// The world as one client knows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// When this was true, on the viewer's own clock: only differences have a meaning.
    pub time: Duration,
    /// Everything in sight.
    pub seen: Vec<Seen>,
    /// The viewer's ship, while it has one.
    pub own_ship: Option<SeenId>,
}

impl View {
    /// The thing of that name.
    pub fn find(&self, id: SeenId) -> Option<&Seen> {
        self.seen.iter().find(|seen| seen.id == id)
    }

    /// The viewer's ship, while it has one.
    pub fn own_ship(&self) -> Option<&Seen> {
        self.find(self.own_ship?)
    }

    /// Marks what belongs to `viewer`, and nothing else, as its own.
    pub fn set_viewer(&mut self, viewer: Option<OwnerId>) {
        self.own_ship = None;
        for seen in &mut self.seen {
            seen.own = viewer.is_some() && seen.owner == viewer;
            if seen.own && seen.kind == Kind::Ship {
                self.own_ship = Some(seen.id);
            }
        }
    }
}

/// One thing in sight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Its name.
    pub id: SeenId,
    /// What it is.
    pub kind: Kind,
    /// Its middle; the origin of a ray.
    pub position: Vec2,
    /// Where it points; where it goes, for things that only move. East, if the protocol does not
    /// tell.
    pub heading: Heading,
    /// What is left of it, from 0 to 100; 100 if the protocol does not tell.
    pub health: u8,
    /// Who it belongs to, if the protocol tells: some protocols do not name every player, so that
    /// two ships without an owner may still be enemies.
    pub owner: Option<OwnerId>,
    /// Whether it belongs to the viewer.
    pub own: bool,
    /// The radius of a round thing, the length of a ray; [`Kind::usual_reach`], if the protocol does
    /// not tell.
    pub reach: f64,
}

/// Something that happened, to be shown for a moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// Two things touched.
    Impact {
        /// Where.
        at: Vec2,
    },
    /// A ship fired.
    Muzzle {
        /// Where the ship is.
        at: Vec2,
        /// Where it points.
        heading: Heading,
    },
    /// Something is heard, wherever it is.
    Heard {
        /// What makes that sound.
        what: &'static str,
    },
    /// The viewer's ship was hit.
    Hit {
        /// By whom.
        by: String,
    },
}

/// What happened and was not shown yet. A viewer who never looks misses the oldest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects(VecDeque<Effect>);

impl Effects {
    /// More than happens between two pictures, and few enough to be kept for nobody.
    const KEPT: usize = 64;

    pub(crate) fn push(&mut self, effect: Effect) {
        if self.0.len() == Self::KEPT {
            self.0.pop_front();
        }
        self.0.push_back(effect);
    }

    pub(crate) fn take(&mut self) -> Vec<Effect> {
        self.0.drain(..).collect()
    }
}

/// One line of the scoreboard.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Whose it is.
    pub owner: OwnerId,
    /// What the player is called.
    pub name: String,
    /// How many ships it destroyed.
    pub kills: u16,
    /// How many ships it lost.
    pub deaths: u16,
    /// Its round trip, if it has one that was measured.
    pub ping: Option<Duration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ship(id: u32, owner: Option<u32>) -> Seen {
        Seen {
            id: SeenId(id),
            kind: Kind::Ship,
            position: Vec2::ZERO,
            heading: Heading::EAST,
            health: 100,
            owner: owner.map(OwnerId),
            own: false,
            reach: Kind::Ship.usual_reach(),
        }
    }

    #[test]
    fn a_viewer_owns_its_things_and_no_others() {
        let mut view = View {
            seen: vec![ship(1, Some(7)), ship(2, Some(8)), ship(3, None)],
            ..View::default()
        };
        view.set_viewer(Some(OwnerId(8)));
        assert_eq!(view.own_ship().map(|ship| ship.id), Some(SeenId(2)));
        assert_eq!(view.seen.iter().filter(|seen| seen.own).count(), 1);

        // What nobody owns does not belong to a viewer who is nobody.
        view.set_viewer(None);
        assert_eq!(view.own_ship(), None);
        assert!(view.seen.iter().all(|seen| !seen.own));
    }
}
