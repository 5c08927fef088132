//! Computer players.
//!
//! In: a [`View`], which is what a player at a screen has. Out: an [`Intent`], which is what a player
//! at a keyboard has. So a bot plays in the server's process or through any protocol, and cannot
//! cheat: speeds it must work out from what moved, and its own reload times it must count.
//!
//! A bot does little in every view and much in few. [`Bot::think`] always steers and aims, which
//! concerns its own ship and one enemy; looking at everything in sight, to choose that enemy and
//! where to fly, happens ten times a second or so. `scene` is that look around, `helm` turns a wish
//! to move into held keys, `gunnery` aims and fires, `track` works out speeds.

mod gunnery;
mod helm;
mod scene;
mod track;

use core::time::Duration;

use crate::{Heading, Intent, Loadout, Random, Seen, SeenId, Vec2, View, Weapon, rules};
use gunnery::{Gunner, Situation};
use scene::Scene;
use track::Track;

/// A computer player. Seeds make characters: how near it fights, how well it aims, how long it
/// thinks, what it carries, how it bears a grudge.
#[derive(Clone, Debug)]
pub struct Bot {
    character: Character,
    random: Random,
    own: Option<Track>,
    enemy: Option<Track>,
    gunner: Gunner,
    plan: Plan,
    /// When to look around again.
    next_look: Duration,
    /// When to circle the other way.
    next_swing: Duration,
    /// Circling to the left or to the right of the enemy: 1 or -1.
    swing: f64,
    /// Where to go while nobody is there, and until when.
    waypoint: (Vec2, Duration),
}

/// How good a bot is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Skill {
    /// It aims badly, thinks slowly and has a gun only.
    Easy,
    /// It is worth watching.
    #[default]
    Normal,
    /// It hardly misses.
    Hard,
}

impl Skill {
    /// How much further its aim strays than usual.
    const fn sway(self) -> f64 {
        match self {
            Self::Easy => 3.0,
            Self::Normal => 1.0,
            Self::Hard => 0.3,
        }
    }

    /// How much longer it thinks than usual.
    const fn delay(self) -> f64 {
        match self {
            Self::Easy => 3.0,
            Self::Normal => 1.0,
            Self::Hard => 0.6,
        }
    }
}

/// What a bot is like.
#[derive(Clone, Copy, Debug)]
struct Character {
    loadout: Loadout,
    /// Where it likes its enemy to be.
    distance: f64,
    /// What share of the present enemy's distance another must be within to be preferred.
    grudge: f64,
    /// Health below which it would rather be elsewhere.
    fear: u8,
    /// Between two looks around.
    reaction: Duration,
}

/// What the last look around led to.
#[derive(Clone, Copy, Debug, Default)]
struct Plan {
    /// The velocity to have.
    velocity: Vec2,
    /// An enemy's ship that is near enough for a shockwave, or a rocket that is.
    pressed: bool,
    /// A hostile rocket on its way here.
    rocket: Option<SeenId>,
    /// Nothing of the sky is between here and the enemy.
    clear: bool,
}

impl Bot {
    /// A bot whose character follows from `seed`.
    pub fn new(seed: u64) -> Self {
        Self::with_skill(seed, Skill::Normal)
    }

    /// The same, but this good at what it does.
    pub fn with_skill(seed: u64, skill: Skill) -> Self {
        let mut random = Random::new(seed);
        let mut character = Character::draw(&mut random);
        character.reaction = character.reaction.mul_f64(skill.delay());
        if skill == Skill::Easy {
            character.loadout = Loadout([Some(Weapon::Gun), None, None, None]);
        }
        let gunner = Gunner::new(character.loadout, skill.sway(), &mut random);
        Self {
            character,
            gunner,
            own: None,
            enemy: None,
            plan: Plan::default(),
            next_look: Duration::ZERO,
            next_swing: Duration::ZERO,
            swing: if random.chance(0.5) { 1.0 } else { -1.0 },
            waypoint: (Vec2::ZERO, Duration::ZERO),
            random,
        }
    }

    /// The weapons it wants. Whoever enters it must select these, for it fires by them.
    pub const fn loadout(&self) -> Loadout {
        self.character.loadout
    }

    /// Decides what to hold until the next view. Meant for every view, up to 60 a second; fewer make
    /// it clumsier, not wrong.
    pub fn think(&mut self, view: &View) -> Intent {
        let now = view.time;
        let Some(me) = view.own_ship() else {
            self.forget();
            return Intent::default();
        };
        let own = Track::follow(self.own, me, now);
        self.own = Some(own);
        if now >= self.next_look {
            self.look_around(view, own);
            self.next_look = now + self.character.reaction;
        }
        self.enemy = self
            .enemy
            .and_then(|enemy| Some(Track::follow(self.enemy, view.find(enemy.id)?, now)));
        let mut intent = Intent {
            // Ahead, until there is something to aim at.
            aim: me.position + me.heading.unit() * rules::PHASER_LENGTH,
            ..Intent::default()
        };
        let situation = Situation {
            now,
            me,
            enemy: self.enemy,
            rocket: self.plan.rocket.and_then(|rocket| view.find(rocket)),
            plan: self.plan,
        };
        self.gunner.fire(&mut intent, &situation);
        let facing = self.facing(me, intent.aim);
        helm::steer(
            &mut intent,
            me.heading,
            self.plan.velocity - own.velocity,
            facing,
        );
        intent
    }

    /// Drops what belonged to the ship that is gone. The moments too: if it was the session that
    /// ended, the clock of the next one may be younger.
    const fn forget(&mut self) {
        self.own = None;
        self.enemy = None;
        self.next_look = Duration::ZERO;
        self.next_swing = Duration::ZERO;
        self.waypoint.1 = Duration::ZERO;
    }

    /// Chooses an enemy and a way.
    fn look_around(&mut self, view: &View, own: Track) {
        let current = self.enemy.map(|enemy| enemy.id);
        let scene = Scene::read(view, own, current, self.character.grudge);
        self.enemy = scene
            .enemy
            .map(|enemy| Track::follow(self.enemy, enemy, view.time));
        if view.time >= self.next_swing {
            self.swing = -self.swing;
            self.next_swing = view.time + Duration::from_millis(self.random.bits() % 3_000 + 1_500);
        }
        let health = view.own_ship().map_or(100, |me| me.health);
        let wish = match scene.enemy {
            Some(enemy) => self.circle(own, enemy, health),
            None => self.wander(own.position, view.time),
        };
        self.plan = Plan {
            velocity: scene.safe_way(own, wish) * CRUISE,
            pressed: scene.is_pressed(),
            rocket: scene.rocket(),
            clear: scene.enemy.is_some_and(|enemy| scene.is_clear(own, enemy)),
        };
    }

    /// Towards the distance it likes, and around the enemy.
    fn circle(&self, own: Track, enemy: &Seen, health: u8) -> Vec2 {
        let Some(way) = (enemy.position - own.position).unit() else {
            return Vec2::new(self.swing, 0.0);
        };
        let liked = if health < self.character.fear {
            self.character.distance * FLIGHT
        } else {
            self.character.distance
        };
        let closing = ((own.position.distance(enemy.position) - liked) / SLACK).clamp(-1.0, 1.0);
        let around = (1.0 - closing * closing).sqrt();
        way * closing + way.left() * (around * self.swing)
    }

    fn wander(&mut self, from: Vec2, now: Duration) -> Vec2 {
        let (goal, until) = self.waypoint;
        if now >= until || from.distance(goal) < ARRIVED {
            let angle = Heading::from_degrees(self.random.between(0.0, 360.0));
            let goal = angle.unit() * self.random.between(1_200.0, 4_200.0);
            self.waypoint = (goal, now + WANDERING);
        }
        (self.waypoint.0 - from).unit().unwrap_or_default()
    }

    /// In a fight a ship looks at its enemy, otherwise where it goes.
    fn facing(&self, me: &Seen, aim: Vec2) -> Option<Heading> {
        let from = me.position;
        let fighting = self
            .enemy
            .is_some_and(|enemy| from.distance(enemy.position) < FACING_DISTANCE);
        if fighting {
            Heading::of(aim - from)
        } else {
            Heading::of(self.plan.velocity)
        }
    }
}

impl Character {
    fn draw(random: &mut Random) -> Self {
        use Weapon::{Gun, Phaser, Rocket, Shockwave};
        let loadout = match random.bits() % 6 {
            0 => [Gun, Gun, Rocket, Shockwave],
            1 => [Gun, Phaser, Phaser, Shockwave],
            2 => [Gun, Phaser, Rocket, Rocket],
            _ => [Gun, Phaser, Rocket, Shockwave],
        };
        Self {
            loadout: Loadout(loadout.map(Some)),
            distance: random.between(450.0, 1_300.0),
            grudge: random.between(0.5, 0.9),
            fear: if random.chance(0.4) { 35 } else { 0 },
            reaction: Duration::from_millis(random.bits() % 80 + 70),
        }
    }
}

/// Speed of a bot on its way: what the engines give without a push.
const CRUISE: f64 = rules::SHIP_THRUST / rules::SHIP_DRAG;
/// How many times further away a frightened bot likes its enemy.
const FLIGHT: f64 = 2.2;
/// Off the liked distance by this much, a bot only closes in or backs off; nearer, it circles too.
const SLACK: f64 = 500.0;
/// So near, a waypoint counts as reached.
const ARRIVED: f64 = 400.0;
/// How long a bot tries to reach a waypoint that the sun may stand in front of.
const WANDERING: Duration = Duration::from_secs(8);
/// Nearer than this, an enemy is looked at.
const FACING_DISTANCE: f64 = 1_500.0;

#[cfg(test)]
mod tests;
