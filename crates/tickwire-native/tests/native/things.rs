//! The game of the simulation: ships among rocks, of which each sees what is near, and secrets of groups and of
//! single players.

use tickwire_native::Game;
use tickwire_replica::{Archetypes, Replicate};

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(crate) struct Ship {
    #[replicate(position, step = 0.01)]
    pub(crate) at: [f32; 2],
    #[replicate(angle, bits = 8)]
    pub(crate) heading: f32,
}

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(crate) struct Rock {
    #[replicate(position, step = 0.5)]
    pub(crate) at: [f32; 2],
    #[replicate(bits = 3)]
    pub(crate) size: u8,
}

/// What lies nowhere, and not everybody may see.
#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(crate) struct Secret {
    pub(crate) word: u16,
    #[replicate(max = 6)]
    pub(crate) name: String,
}

#[derive(Archetypes)]
pub(crate) enum Thing {
    Ship(Ship),
    Rock(Rock),
    Secret(Secret),
}

/// How far a ship sees.
pub(crate) const SIGHT: f32 = 24.0;

/// The side of a grid cell.
pub(crate) const SIDE: f64 = 12.0;

/// Where entities are: so far from the middle.
pub(crate) const EXTENT: f32 = 40.0;

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(crate) struct Stick {
    #[replicate(range = -1..=1)]
    pub(crate) right: i8,
    #[replicate(range = -1..=1)]
    pub(crate) up: i8,
    /// Tells inputs apart.
    pub(crate) number: u16,
}

/// What is said, both ways.
#[derive(Clone, Debug, Default, Eq, PartialEq, Replicate)]
pub(crate) struct Word(pub(crate) u32);

pub(crate) struct Sea;

impl Game for Sea {
    type Things = Thing;
    type Input = Stick;
    type ToServer = Word;
    type ToClient = Word;
    // Few ticks, each of them a send: what is simulated is the protocol, not the game.
    const HZ: u16 = 20;
    const SIGHT: f32 = SIGHT;

    fn step(own: &mut Thing, stick: &Stick) {
        if let Thing::Ship(ship) = own {
            for (at, wanted) in ship.at.iter_mut().zip([stick.right, stick.up]) {
                *at = (*at + f32::from(wanted) * 0.5).clamp(-EXTENT, EXTENT);
            }
            ship.heading += 0.1;
        }
    }
}
