//! From keys and mouse to an intent.
//!
//! Weapons aim by themselves at the nearest enemy ahead, with the lead that a bullet needs, or straight
//! ahead if there is none. The mouse takes over as soon as it is moved, until it has rested for
//! [`MOUSE_RESTS`]; its left button fires the first weapon.

use std::time::Duration;

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use tickwire_demo::limits::WEAPON_SLOTS;
use tickwire_demo::{Heading, Intent, Kind, Seen, SeenId, Vec2, View, rules};
use tickwire_session::Instant;

use super::keys::{Control, Held};
use crate::arena_canvas::Camera;

/// After this the mouse is taken for forgotten.
const MOUSE_RESTS: Duration = Duration::from_secs(3);

/// How far an enemy may be to be aimed at by itself: as far as a bullet flies.
const AIM_DISTANCE: f64 =
    rules::BULLET_SPEED * rules::STEP_SECONDS * rules::BULLET_LIFE_STEPS as f64;

/// How far to either side of the bow an enemy may be, in radians.
const AIM_CONE: f64 = 1.1;

/// The one who holds the controls.
#[derive(Clone, Debug, Default)]
pub(super) struct Helm {
    pub(super) held: Held,
    mouse: Option<Mouse>,
    track: Option<Track>,
}

#[derive(Clone, Copy, Debug)]
struct Mouse {
    cell: Position,
    moved: Instant,
    fires: bool,
}

/// An enemy that is aimed at, and how it moves.
#[derive(Clone, Copy, Debug)]
struct Track {
    id: SeenId,
    position: Vec2,
    time: Duration,
    velocity: Vec2,
}

/// What the weapons point at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Aim {
    /// Straight ahead.
    #[default]
    Ahead,
    /// The nearest enemy.
    Enemy(Vec2),
    /// Where the mouse is.
    Mouse(Vec2),
}

impl Helm {
    pub(super) fn handle_mouse(&mut self, now: Instant, event: MouseEvent) {
        let fires = match event.kind {
            MouseEventKind::Down(MouseButton::Left) | MouseEventKind::Drag(MouseButton::Left) => {
                true
            }
            MouseEventKind::Up(MouseButton::Left) => false,
            _ => self.mouse.is_some_and(|mouse| mouse.fires),
        };
        self.mouse = Some(Mouse {
            cell: Position::new(event.column, event.row),
            moved: now,
            fires,
        });
    }

    /// What the player wants at this moment, seeing this view through this camera.
    pub(super) fn steer(
        &mut self,
        now: Instant,
        view: &View,
        camera: Camera,
        area: Rect,
    ) -> (Intent, Aim) {
        let held = |control| self.held.is_held(now, control);
        let mut intent = Intent {
            forward: held(Control::Forward),
            backward: held(Control::Backward),
            turn_left: held(Control::TurnLeft),
            turn_right: held(Control::TurnRight),
            strafe_left: held(Control::StrafeLeft),
            strafe_right: held(Control::StrafeRight),
            fire: std::array::from_fn::<_, WEAPON_SLOTS, _>(|slot| held(Control::Fire(slot))),
            aim: Vec2::ZERO,
        };
        intent.fire[0] |= self.mouse.is_some_and(|mouse| mouse.fires);
        let Some(own) = view.own_ship() else {
            return (intent, Aim::Ahead);
        };
        let mouse = self
            .mouse
            .filter(|mouse| mouse.fires || now.since(mouse.moved) < MOUSE_RESTS);
        let aim = match (mouse, nearest_ahead(view, own)) {
            (Some(mouse), _) => Aim::Mouse(camera.place(area, mouse.cell)),
            (None, Some(enemy)) => Aim::Enemy(self.lead(own, enemy, view.time)),
            (None, None) => Aim::Ahead,
        };
        intent.aim = match aim {
            Aim::Ahead => own.position + own.heading.unit() * rules::PHASER_LENGTH,
            Aim::Enemy(place) | Aim::Mouse(place) => place,
        };
        (intent, aim)
    }

    /// Where a bullet meets an enemy that goes on as it does.
    fn lead(&mut self, own: &Seen, enemy: &Seen, time: Duration) -> Vec2 {
        let velocity = match self.track {
            Some(last) if last.id == enemy.id => {
                let seconds = time.saturating_sub(last.time).as_secs_f64();
                if seconds > 0.0 {
                    let fresh =
                        ((enemy.position - last.position) / seconds).at_most(rules::SHIP_MAX_SPEED);
                    // Half of it is forgotten in about 100 ms: what is shown is not quite smooth.
                    last.velocity + (fresh - last.velocity) * (seconds / 0.15).min(1.0)
                } else {
                    last.velocity
                }
            }
            _ => Vec2::ZERO,
        };
        self.track = Some(Track {
            id: enemy.id,
            position: enemy.position,
            time,
            velocity,
        });
        // Each round corrects the flight time of the round before.
        (0..3).fold(enemy.position, |meeting, _| {
            let flight = own.position.distance(meeting) / rules::BULLET_SPEED;
            enemy.position + velocity * flight
        })
    }
}

fn nearest_ahead<'a>(view: &'a View, own: &Seen) -> Option<&'a Seen> {
    let is_target = |seen: &&Seen| {
        let way = seen.position - own.position;
        seen.kind == Kind::Ship
            && !seen.own
            && way.length() < AIM_DISTANCE
            && Heading::of(way).is_some_and(|way| own.heading.turn_to(way).abs() < AIM_CONE)
    };
    let targets = view.seen.iter().filter(is_target);
    targets.min_by(|a, b| {
        let distance = |seen: &Seen| (seen.position - own.position).length_squared();
        distance(a).total_cmp(&distance(b))
    })
}

#[cfg(test)]
mod tests {
    use tickwire_demo::OwnerId;

    use super::*;
    use crate::arena_canvas::Zoom;

    fn ship(id: u32, position: Vec2) -> Seen {
        Seen {
            id: SeenId(id),
            kind: Kind::Ship,
            position,
            heading: Heading::EAST,
            health: 100,
            owner: Some(OwnerId(id)),
            own: false,
            reach: Kind::Ship.usual_reach(),
        }
    }

    fn view(millis: u64, enemies: &[Seen]) -> View {
        let mut view = View {
            time: Duration::from_millis(millis),
            seen: [&[ship(0, Vec2::ZERO)], enemies].concat(),
            ..View::default()
        };
        view.set_viewer(Some(OwnerId(0)));
        view
    }

    const AREA: Rect = Rect::new(0, 0, 80, 20);

    fn camera() -> Camera {
        Camera::around(Vec2::ZERO, Zoom::default())
    }

    #[test]
    fn the_nearest_enemy_ahead_is_aimed_at_with_a_lead() {
        let mut helm = Helm::default();
        let behind = ship(1, Vec2::new(-200.0, 0.0));
        let mut aim = Aim::Ahead;
        for step in 0..60_u32 {
            // Crosses the bow at 600 units a second.
            let y = 10.0 * f64::from(step) - 300.0;
            let enemies = [behind, ship(2, Vec2::new(1_100.0, y))];
            let now = Instant::from_millis(u64::from(step) * 16);
            let view = view(u64::from(step) * 1_000 / 60, &enemies);
            aim = helm.steer(now, &view, camera(), AREA).1;
        }
        let Aim::Enemy(at) = aim else {
            panic!("{aim:?}");
        };
        // It is at 290; the bullet takes about 0.55 s.
        assert!((580.0..680.0).contains(&at.y), "{at:?}");
    }

    #[test]
    fn without_an_enemy_ahead_the_aim_is_straight_ahead() {
        let view = view(0, &[ship(1, Vec2::new(-200.0, 0.0))]);
        let (intent, aim) = Helm::default().steer(Instant::ZERO, &view, camera(), AREA);
        assert_eq!(aim, Aim::Ahead);
        assert_eq!(intent.aim, Vec2::new(rules::PHASER_LENGTH, 0.0));
    }

    #[test]
    fn the_mouse_aims_until_it_rests() {
        let mut helm = Helm::default();
        let event = |kind| MouseEvent {
            kind,
            column: 60,
            row: 10,
            modifiers: crossterm::event::KeyModifiers::NONE,
        };
        helm.handle_mouse(
            Instant::ZERO,
            event(MouseEventKind::Down(MouseButton::Left)),
        );
        let view = view(0, &[ship(1, Vec2::new(300.0, 0.0))]);
        let (intent, aim) = helm.steer(Instant::from_millis(9_000), &view, camera(), AREA);
        assert!(intent.fire[0]);
        let under_it = camera().place(AREA, Position::new(60, 10));
        assert_eq!(aim, Aim::Mouse(under_it));

        helm.handle_mouse(Instant::ZERO, event(MouseEventKind::Up(MouseButton::Left)));
        let (intent, aim) = helm.steer(Instant::from_millis(3_000), &view, camera(), AREA);
        assert!(!intent.fire[0]);
        assert!(matches!(aim, Aim::Enemy(_)), "{aim:?}");
    }
}
