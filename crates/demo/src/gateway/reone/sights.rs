//! What a client shows besides objects: shots in the air, and shockwaves.
//!
//! The server tells how a shot began; where it is follows from its age. A bullet is over when it touches
//! something that is shown, even if the server does not think so: the next snapshot tells whom it hit.

use std::time::Duration;

use tickwire_dialects::reone::message::Ballistics;
use tickwire_dialects::reone::{Flight, ObjectId, ShotLives};

use super::{ROCKET_SNAPSHOTS, SHOTS, Shot};
use crate::{Heading, Kind, OwnerId, STEP, Seen, SeenId, Vec2, rules};

/// Marks the ids of shots and shockwaves.
const MADE_UP: u32 = 1 << 31;

/// Shockwaves that are shown at a time; the oldest gives way.
const WAVES_MAX: usize = 64;

/// How long shots fly without another word, where so many steps are between two snapshots.
pub(super) fn shot_lives(snapshot_steps: u32) -> ShotLives {
    let mut lives = ShotLives::default();
    for Shot { code, kind, .. } in SHOTS {
        let steps = match kind {
            Kind::Bullet => rules::BULLET_LIFE_STEPS,
            Kind::Rocket => ROCKET_SNAPSHOTS * snapshot_steps,
            _ => snapshot_steps,
        };
        lives.set(code, STEP * steps);
    }
    lives
}

/// A shot as it is seen; `None` if it is of no kind that is known here, or nowhere.
pub(super) fn seen_shot(flight: &Flight) -> Option<Seen> {
    let Ballistics {
        kind,
        origin,
        at,
        owner,
        heading,
    } = flight.shot;
    let Shot { kind, speed, .. } = SHOTS.iter().find(|it| it.code == kind)?;
    let heading = Heading::from_radians(heading.into());
    let begun = Vec2::new(origin.x.into(), origin.y.into());
    let (position, reach) = match kind {
        Kind::Ray => (begun, rules::PHASER_LENGTH),
        _ => {
            let flown = speed * flight.age.as_secs_f64();
            (begun + heading.unit() * flown, kind.usual_reach())
        }
    };
    // A shot has no number; its beginning is as good as one.
    let bits = [origin.x.to_bits(), origin.y.to_bits(), at.0, owner.0];
    let mixed = bits.into_iter().fold(0x811c_9dc5_u32, |mixed, bits| {
        (mixed ^ bits).wrapping_mul(0x0100_0193).rotate_left(13)
    });
    let seen = Seen {
        id: SeenId(MADE_UP | mixed),
        kind: *kind,
        position,
        heading,
        health: 100,
        owner: Some(OwnerId(owner.0)),
        own: false,
        reach,
    };
    (position.is_finite() && reach.is_finite()).then_some(seen)
}

/// Whether something that is shown stands in a bullet's way.
pub(super) fn is_stopped(shot: &Seen, others: &[Seen]) -> bool {
    let is_hit = |other: &Seen| {
        let apart = other.reach + shot.reach;
        (other.position - shot.position).length_squared() < apart * apart
    };
    shot.kind == Kind::Bullet && in_the_way(shot, others).any(is_hit)
}

/// How long a ray is that ends at the first thing shown in its way.
pub(super) fn ray_length(ray: &Seen, others: &[Seen]) -> f64 {
    let way = ray.heading.unit();
    let met = in_the_way(ray, others).filter_map(|other| {
        let to = other.position - ray.position;
        let along = to.dot(way);
        let half = other.reach * other.reach - (to.length_squared() - along * along);
        (along > 0.0 && half > 0.0).then(|| (along - half.sqrt()).max(0.0))
    });
    met.fold(ray.reach, f64::min)
}

/// What stops a shot: whatever is hard, and not its owner.
fn in_the_way<'a>(shot: &Seen, others: &'a [Seen]) -> impl Iterator<Item = &'a Seen> {
    let owner = shot.owner;
    others.iter().filter(move |other| {
        let is_hard = matches!(other.kind, Kind::Ship | Kind::Planet | Kind::Sun);
        is_hard && other.owner != owner
    })
}

/// Things by name, those that there are several of with their number.
pub(super) fn list(items: &[String]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for item in items {
        match counts.iter_mut().find(|(name, _)| name == item) {
            Some((_, count)) => *count += 1,
            None => counts.push((item, 1)),
        }
    }
    let words = counts.iter().map(|(name, count)| match count {
        1 => crate::printable(name),
        count => format!("{count} {}", crate::printable(name)),
    });
    let words: Vec<_> = words.collect();
    match words.is_empty() {
        true => "nothing".into(),
        false => words.join(", "),
    }
}

/// The shockwaves that grow.
#[derive(Debug, Default)]
pub(super) struct Waves(Vec<Wave>);

#[derive(Debug)]
struct Wave {
    /// When it began, on the server's clock.
    since: Duration,
    at: Vec2,
    owner: ObjectId,
}

impl Waves {
    pub(super) fn add(&mut self, since: Duration, at: Vec2, owner: ObjectId) {
        if self.0.len() >= WAVES_MAX {
            self.0.remove(0);
        }
        self.0.push(Wave { since, at, owner });
    }

    /// Those that are there at a moment of the server's clock. What is over is dropped.
    pub(super) fn seen(&mut self, time: Duration) -> impl Iterator<Item = Seen> {
        let reach = move |wave: &Wave| {
            let age = time.saturating_sub(wave.since).as_secs_f64();
            rules::SHIP_RADIUS + rules::SHOCKWAVE_SPEED * age
        };
        self.0.retain(|wave| reach(wave) < rules::SHOCKWAVE_REACH);
        let begun = self.0.iter().filter(move |wave| wave.since <= time);
        (MADE_UP..).zip(begun).map(move |(id, wave)| Seen {
            id: SeenId(id),
            kind: Kind::Shockwave,
            position: wave.at,
            heading: Heading::EAST,
            health: 100,
            owner: Some(OwnerId(wave.owner.0)),
            own: false,
            reach: reach(wave),
        })
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use tickwire_dialects::reone::{SnapshotSeq, Vec3};

    use super::*;

    fn bullet(age: Duration) -> Seen {
        let shot = Ballistics {
            kind: 1,
            origin: Vec3 {
                x: 10.0,
                y: 0.0,
                z: 2_200.0,
            },
            at: SnapshotSeq(7),
            owner: ObjectId(3),
            heading: 0.0,
        };
        seen_shot(&Flight { shot, age }).unwrap()
    }

    #[test]
    fn a_bullet_flies_on_by_its_age_and_keeps_its_id() {
        let (first, later) = (bullet(Duration::ZERO), bullet(Duration::from_millis(500)));
        assert_eq!(first.id, later.id);
        assert_eq!(later.position, Vec2::new(1_110.0, 0.0));
    }

    #[test]
    fn a_bullet_stops_at_ships_of_others() {
        let shot = bullet(Duration::ZERO);
        let ship = |owner| Seen {
            id: SeenId(1),
            kind: Kind::Ship,
            position: Vec2::new(60.0, 0.0),
            owner: Some(OwnerId(owner)),
            reach: rules::SHIP_RADIUS,
            ..shot
        };
        assert!(!is_stopped(&shot, &[ship(3)]));
        assert!(is_stopped(&shot, &[ship(3), ship(4)]));
    }

    #[test]
    fn a_wave_grows_until_it_is_over() {
        let ms = Duration::from_millis;
        let mut waves = Waves::default();
        waves.add(ms(1_000), Vec2::ZERO, ObjectId(1));
        assert_eq!(waves.seen(ms(900)).count(), 0);
        let reach = |waves: &mut Waves, at| waves.seen(ms(at)).next().map(|wave| wave.reach);
        assert_eq!(reach(&mut waves, 1_100), Some(210.0));
        assert_eq!(reach(&mut waves, 2_000), None);
        assert!(waves.0.is_empty());
    }
}
