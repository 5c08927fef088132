//! A look around: who is there, and what is in the way.

use super::track::Track;
use crate::{Kind, Seen, SeenId, Vec2, View, rules};

/// What a bot makes of everything in sight.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    /// Who to fight.
    pub(super) enemy: Option<&'a Seen>,
    /// The sun and the planets.
    sky: Vec<&'a Seen>,
    /// Away from shots that would hit and ships that are too near.
    evasion: Vec2,
    nearest_ship: f64,
    nearest_rocket: Option<(f64, SeenId)>,
}

impl<'a> Scene<'a> {
    /// Looks at everything once. `grudge` makes the `current` enemy seem that much nearer.
    pub(super) fn read(view: &'a View, own: Track, current: Option<SeenId>, grudge: f64) -> Self {
        let mut scene = Self {
            enemy: None,
            sky: Vec::new(),
            evasion: Vec2::ZERO,
            nearest_ship: f64::INFINITY,
            nearest_rocket: None,
        };
        let mut best = f64::INFINITY;
        for seen in view.seen.iter().filter(|seen| !seen.own) {
            match seen.kind {
                Kind::Sun | Kind::Planet => scene.sky.push(seen),
                Kind::Bullet | Kind::Rocket => scene.note_shot(own, seen),
                Kind::Ship => {
                    let distance = own.position.distance(seen.position);
                    scene.note_ship(own, seen, distance);
                    let liking = if Some(seen.id) == current {
                        grudge
                    } else {
                        1.0
                    };
                    // The wounded are worth a detour.
                    let cost = distance * liking * (0.5 + f64::from(seen.health) / 200.0);
                    if cost < best {
                        (best, scene.enemy) = (cost, Some(seen));
                    }
                }
                Kind::Ray | Kind::Shockwave => {}
            }
        }
        scene
    }

    fn note_ship(&mut self, own: Track, ship: &Seen, distance: f64) {
        self.nearest_ship = self.nearest_ship.min(distance);
        if let Some(away) = (own.position - ship.position).unit()
            && distance < ELBOW_ROOM
        {
            self.evasion += away * (1.0 - distance / ELBOW_ROOM);
        }
    }

    fn note_shot(&mut self, own: Track, shot: &Seen) {
        let to_me = own.position - shot.position;
        // Most are far away, and a look must be cheap.
        if to_me.x.abs() > SHOT_SIGHT || to_me.y.abs() > SHOT_SIGHT {
            return;
        }
        let way = shot.heading.unit();
        let ahead = to_me.dot(way);
        let aside = to_me.dot(way.left());
        if ahead <= 0.0 || ahead > SHOT_SIGHT {
            return;
        }
        let nearer = self
            .nearest_rocket
            .is_none_or(|(nearest, _)| ahead < nearest);
        if shot.kind == Kind::Rocket && aside.abs() < ahead && nearer {
            self.nearest_rocket = Some((ahead, shot.id));
        }
        if aside.abs() < 2.0 * rules::SHIP_RADIUS {
            let urgency = 1.0 - ahead / SHOT_SIGHT;
            self.evasion += way.left() * aside.signum() * urgency;
        }
    }

    /// Whether a shockwave would be of use.
    pub(super) fn is_pressed(&self) -> bool {
        self.nearest_ship < 0.6 * rules::SHOCKWAVE_REACH
            || self
                .nearest_rocket
                .is_some_and(|(distance, _)| distance < 0.35 * rules::SHOCKWAVE_REACH)
    }

    /// The rocket to shoot down first.
    pub(super) fn rocket(&self) -> Option<SeenId> {
        self.nearest_rocket
            .filter(|&(distance, _)| distance < POINT_DEFENCE)
            .map(|(_, id)| id)
    }

    /// Whether a shot at `enemy` meets neither the sun nor a planet on its way.
    pub(super) fn is_clear(&self, own: Track, enemy: &Seen) -> bool {
        let (from, to) = (own.position, enemy.position);
        let Some(way) = (to - from).unit() else {
            return true;
        };
        let length = from.distance(to);
        self.sky.iter().all(|body| {
            let centre = body.position - from;
            let nearest = way * centre.dot(way).clamp(0.0, length);
            nearest.distance(centre) > body.reach
        })
    }

    /// The wish, bent around what must not be touched; its length is at most one.
    pub(super) fn safe_way(&self, own: Track, wish: Vec2) -> Vec2 {
        let mut way = wish + self.evasion.at_most(1.2);
        for body in &self.sky {
            way += detour(own, body, wish);
        }
        if let Some(out) = own.position.unit() {
            let outside = own.position.length() - HOME_RADIUS;
            way -= out * (outside / 300.0).clamp(0.0, 2.0);
        }
        way.at_most(1.0)
    }
}

/// Away from a body of the sky, and around it on the side that is on the way.
fn detour(own: Track, body: &Seen, wish: Vec2) -> Vec2 {
    // Where the ship will be matters more than where it is.
    let soon = own.position + own.velocity * LOOK_AHEAD_SECONDS;
    let away = soon - body.position;
    let gap = away.length().min(own.position.distance(body.position)) - body.reach;
    let margin = if body.kind == Kind::Sun { 450.0 } else { 260.0 };
    let (Some(out), true) = ((own.position - body.position).unit(), gap < margin) else {
        return Vec2::ZERO;
    };
    let urgency = (1.0 - gap / margin).min(1.5);
    let side = if wish.dot(out.left()) < 0.0 {
        -1.0
    } else {
        1.0
    };
    (out * 1.8 + out.left() * side * 0.8) * urgency
}

/// Ships nearer than this are kept off.
const ELBOW_ROOM: f64 = 300.0;
/// Shots further away are not minded yet.
const SHOT_SIGHT: f64 = 1_100.0;
/// A rocket nearer than this is worth a bullet.
const POINT_DEFENCE: f64 = 900.0;
/// Bots stay inside, well before the boundary pulls.
const HOME_RADIUS: f64 = 4_500.0;
/// How far bots think ahead of themselves.
const LOOK_AHEAD_SECONDS: f64 = 0.5;
