//! The module: what clients load before they fly.
//!
//! A text of the rules for people, and a chart of the sky for prediction: whoever knows the planets'
//! ways and the tick knows what pulls at a ship, in range or not.

use std::sync::Arc;

use tickwire_dialects::reone::{AnyStatus, Module, Object, ObjectId, SpatialStatus};

use super::{ROUND, Settings, celestial};
use crate::flight::narrow;
use crate::orbit::{Chart, Orbit};
use crate::{Arena, Entity, Kind};

/// How the names of the arena's own resources begin.
pub(super) const OWN: &str = "arena/";
/// The resource that says how the game is played.
const RULES: &str = "arena/rules.txt";
/// The resource that says where planets are: a line for each, from the sun outwards, of the radius of
/// its way, the steps of a round, the angle at tick 0 in radians and its size.
pub(super) const SKY: &str = "arena/sky.txt";

const RULES_TEXT: &str = "\
Ships fight around a sun. Whoever destroys another has a kill, and some of the own hull repaired.
The sun burns what touches it. Planets and ships are bounced off; fast bumps hurt.
Everything that flies falls towards the sun and the planets, and beyond 5,000 units back inside.
A lost ship is replaced after two seconds.
Rockets run out. More are found near planets, one a second.

gun        quick, many, weak
phaser     a beam of 900 units, for as long as its charge lasts
rockets    slow to load; they follow the nearest enemy ahead of them
shockwave  hurts and throws back everything within 900 units
";

/// The module of a round, counted from 1.
pub(super) fn module(round: u32, arena: &Arena, settings: &Settings) -> Module {
    let bodies = sky(arena).map(|(id, entity)| Object::new(id, celestial_status(entity)));
    let text = |text: &str| Arc::from(text.as_bytes());
    let mut resources = settings.resources.clone();
    let name = settings.module.as_deref().unwrap_or("arena");
    resources.insert(RULES.into(), text(RULES_TEXT));
    resources.insert(SKY.into(), text(&write_chart(&arena.chart())));
    Module {
        name: format!("{name}, round {round}"),
        base: bodies.collect(),
        variables: [(ROUND.to_owned(), i32::try_from(round).unwrap_or(i32::MAX))].into(),
        resources,
    }
}

/// The sun and the planets, with their ids.
pub(super) fn sky(arena: &Arena) -> impl Iterator<Item = (ObjectId, &Entity)> {
    let entities = arena.entities().map(|(_, entity)| entity);
    let bodies = entities.filter(|it| matches!(it.kind(), Kind::Sun | Kind::Planet));
    (0..).map(celestial).zip(bodies)
}

/// The sun or a planet. Nothing breaks it: its hit points are its radius.
pub(super) fn celestial_status(entity: &Entity) -> AnyStatus {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a radius is a few hundred units"
    )]
    let radius = entity.reach() as u32;
    AnyStatus::Spatial(SpatialStatus {
        x: narrow(entity.position.x),
        y: narrow(entity.position.y),
        z: 0.0,
        facing: narrow(entity.heading.radians()),
        max_hit_points: radius,
        hit_points: radius,
    })
}

fn write_chart(chart: &Chart) -> String {
    let line = |orbit: &Orbit| {
        let Orbit {
            radius,
            period_steps,
            phase,
            planet_radius,
        } = orbit;
        // Numbers are written so that they are the same to the bit when read.
        format!("{radius} {period_steps} {phase} {planet_radius}\n")
    };
    chart.planets.iter().map(line).collect()
}

/// Reads a chart; `None` if it is none.
pub(super) fn read_chart(bytes: &[u8]) -> Option<Chart> {
    let text = core::str::from_utf8(bytes).ok()?;
    let orbit = |line: &str| {
        let mut words = line.split(' ');
        let mut number = || {
            let number: f64 = words.next()?.parse().ok()?;
            number.is_finite().then_some(number)
        };
        let radius = number()?;
        let period = number()?;
        let orbit = Orbit {
            radius,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "what is out of range becomes the nearest"
            )]
            period_steps: (period as u32).max(1),
            phase: number()?,
            planet_radius: number()?,
        };
        words.next().is_none().then_some(orbit)
    };
    let lines = text.lines().take(crate::limits::CELESTIALS.into());
    let planets = lines.map(orbit).collect::<Option<_>>()?;
    Some(Chart { planets })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_survives_to_the_bit_and_nonsense_is_refused() {
        let chart = Arena::new(11).chart();
        let text = write_chart(&chart);
        assert_eq!(chart.planets.len(), 4);
        assert_eq!(read_chart(text.as_bytes()), Some(chart));
        for nonsense in ["1 2 3", "1 2 3 4 5", "1 2 NaN 4", "x 2 3 4", "\u{0}"] {
            assert_eq!(read_chart(nonsense.as_bytes()), None, "{nonsense}");
        }
    }

    #[test]
    fn the_base_is_the_sun_and_the_planets() {
        let arena = Arena::new(11);
        let module = module(3, &arena, &Settings::default());
        assert_eq!(module.name, "arena, round 3");
        let ids: Vec<_> = module.base.iter().map(|object| object.id).collect();
        assert_eq!(ids, (0..5).map(celestial).collect::<Vec<_>>());
    }
}
