//! The entities of the worlds that are followed.

use tickwire_replica::{Archetypes, EntityId, Replicate};
use tickwire_sim::Rng;

#[derive(Clone, Debug, PartialEq, Replicate)]
pub(crate) struct Ship {
    #[replicate(step = 0.01, position)]
    pub(crate) position: [f32; 2],
    pub(crate) hull: u8,
    pub(crate) target: EntityId,
}

#[derive(Clone, Debug, PartialEq, Replicate)]
pub(crate) struct Rock {
    #[replicate(step = 0.5, position)]
    pub(crate) position: [f32; 2],
    #[replicate(bits = 3)]
    pub(crate) size: u8,
}

/// What lies nowhere.
#[derive(Clone, Debug, PartialEq, Replicate)]
pub(crate) struct Score {
    pub(crate) points: u16,
    #[replicate(max = 6)]
    pub(crate) name: String,
}

#[derive(Archetypes, Clone, Debug, PartialEq)]
pub(crate) enum Thing {
    Ship(Ship),
    Rock(Rock),
    Score(Score),
}

/// Where entities are: some cells of [`SIDE`] across.
pub(crate) const EXTENT: f32 = 40.0;

/// The side of a cell.
pub(crate) const SIDE: f64 = 16.0;

impl Thing {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        match rng.within(0..=5) {
            0..3 => Self::Ship(Ship {
                position: point(rng),
                hull: 255,
                target: EntityId::NONE,
            }),
            3 | 4 => Self::Rock(Rock {
                position: point(rng),
                size: 1,
            }),
            _ => Self::Score(Score {
                points: 0,
                name: String::new(),
            }),
        }
    }

    /// Something happens to it: it moves a little or far, or changes otherwise.
    pub(crate) fn disturb(&mut self, rng: &mut Rng, other: EntityId) {
        let jumps = rng.within(0..=15) == 0;
        match self {
            Self::Ship(ship) => match rng.within(0..=7) {
                0 => ship.hull = ship.hull.wrapping_sub(1),
                1 => ship.target = other,
                _ => move_by(&mut ship.position, jumps, rng),
            },
            Self::Rock(rock) => move_by(&mut rock.position, jumps, rng),
            Self::Score(score) => {
                score.points = score.points.wrapping_add(1);
                score.name = format!("n{}", rng.within(0..=99));
            }
        }
    }
}

fn point(rng: &mut Rng) -> [f32; 2] {
    let extent = f64::from(EXTENT);
    [0; 2].map(|_| small(rng, extent))
}

fn move_by(position: &mut [f32; 2], jumps: bool, rng: &mut Rng) {
    let reach = if jumps { 60.0 } else { 3.0 };
    for at in position {
        *at = (*at + small(rng, reach)).clamp(-EXTENT, EXTENT);
    }
}

/// A number of that size at most.
fn small(rng: &mut Rng, size: f64) -> f32 {
    let share = u32::try_from(rng.within(0..=2_000)).map_or(0.0, f64::from) / 1_000.0 - 1.0;
    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
    let number = (share * size) as f32;
    number
}
