//! Explosions: what a screen adds where a ship was a moment ago.

use std::collections::BTreeMap;
use std::time::Duration;

use ratatui::style::Color;
use tickwire_demo::{Heading, Kind, SeenId, Vec2, View};

use crate::palette;

/// How long an explosion is seen.
const LASTS: Duration = Duration::from_millis(700);

/// How far its sparks fly.
const REACH: f64 = 420.0;

/// What exploded lately, concluded from one view after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blasts {
    ships: BTreeMap<SeenId, Vec2>,
    began: Vec<(Duration, Vec2)>,
}

/// An explosion at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Blast {
    at: Vec2,
    /// From 0, when it begins, to 1.
    age: f64,
}

impl Blasts {
    /// Compares a view with the one before it: no protocol tells of ships that are gone, but all stop
    /// telling of them.
    pub(crate) fn update(&mut self, view: &View) -> Vec<Blast> {
        let ships = view.seen.iter().filter(|seen| seen.kind == Kind::Ship);
        let ships: BTreeMap<_, _> = ships.map(|ship| (ship.id, ship.position)).collect();
        let gone = self.ships.iter().filter(|(id, _)| !ships.contains_key(id));
        self.began.extend(gone.map(|(_, &at)| (view.time, at)));
        self.ships = ships;
        self.began
            .retain(|(began, _)| view.time.saturating_sub(*began) < LASTS);
        let blasts = self.began.iter().map(|&(began, at)| Blast {
            at,
            age: view.time.saturating_sub(began).as_secs_f64() / LASTS.as_secs_f64(),
        });
        blasts.collect()
    }
}

impl Blast {
    /// The dots that fly apart, and their colour.
    pub(super) fn sparks(&self) -> (Vec<(f64, f64)>, Color) {
        let sparks = (0_u32..48).map(|spark| {
            // Neighbours differ in speed, so that it looks like debris and not like a ring.
            let speed = 0.35 + 0.65 * f64::from(spark * 7 % 11) / 10.0;
            let way = Heading::from_degrees(f64::from(spark) * 7.5).unit();
            // Fast at first, then spent.
            let at = self.at + way * (REACH * speed * self.age.sqrt());
            (at.x, at.y)
        });
        let tint = match self.age {
            ..0.3 => palette::YELLOW,
            0.3..0.6 => palette::ORANGE,
            _ => palette::VERMILLION,
        };
        (sparks.collect(), tint)
    }
}

#[cfg(test)]
mod tests {
    use tickwire_demo::Arena;

    use super::*;

    #[test]
    fn a_ship_that_is_gone_explodes_for_a_moment() {
        let mut arena = Arena::new(1);
        let pilot = arena.join("Ada").unwrap();
        arena.select(pilot, tickwire_demo::Loadout::default());
        arena.step();
        let mut blasts = Blasts::default();
        assert_eq!(blasts.update(&arena.view()), []);
        arena.leave(pilot);
        assert_eq!(blasts.update(&arena.view()).len(), 1);
        for _ in 0..60 {
            arena.step();
        }
        assert_eq!(blasts.update(&arena.view()), []);
    }
}
