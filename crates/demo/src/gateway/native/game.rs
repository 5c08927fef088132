//! The arena as a game of the native protocol.

use tickwire_native::Game;
use tickwire_replica::{Archetypes, Replicate};

use crate::entity::Role;
use crate::flight::{Flight, muzzle, narrow};
use crate::{
    Entity, Heading, Intent, Kind, Loadout, OwnerId, Seen, SeenId, Tick, Vec2, Weapon, rules,
};

/// The arena.
pub(super) struct ArenaGame;

impl Game for ArenaGame {
    type Things = Thing;
    type Input = Controls;
    type ToServer = Wish;
    type ToClient = News;
    const HZ: u16 = 60;
    /// As far as a screen shows, and a rocket flies while one looks.
    const SIGHT: f32 = 3_000.0;

    fn step(own: &mut Thing, controls: &Controls) {
        if let Thing::Ship(ship) = own {
            let intent = controls.intent();
            ship.fly(&intent);
            ship.reload(&intent);
        }
    }

    /// The bullet of the gun. What other weapons fire, the server tells of: a rocket steers by what is
    /// around it, a ray ends at what it hits, and a shockwave is slow.
    fn spawns(own: &Thing, controls: &Controls) -> Option<Thing> {
        let Thing::Ship(ship) = own else { return None };
        ship.has_fired().then(|| {
            let heading = Heading::from_radians(ship.heading.into());
            let (at, heading) = muzzle(place(ship.at), heading, place(controls.aim));
            Thing::Shot(Shot {
                at: [narrow(at.x), narrow(at.y)],
                heading: narrow(heading.radians()),
                reach: narrow(Kind::Bullet.usual_reach()),
                health: 100,
                kind: ShotKind::Bullet,
                owner: ship.owner,
            })
        })
    }

    /// Straight ahead: what pulls at a bullet is small, and corrected.
    fn coast(thing: &mut Thing) {
        if let Thing::Shot(shot) = thing
            && shot.kind == ShotKind::Bullet
        {
            let way = Heading::from_radians(shot.heading.into()).unit();
            let at = place(shot.at) + way * (rules::BULLET_SPEED * rules::STEP_SECONDS);
            shot.at = [narrow(at.x), narrow(at.y)];
        }
    }
}

/// What [`Ship::gun`] says of a ship whose client fires no gun ahead of the server.
const NO_GUN: u8 = 4;

/// [`rules::GUN_RELOAD_STEPS`], as it travels.
const RELOAD: u8 = 9;

const _: () = assert!(RELOAD as u32 == rules::GUN_RELOAD_STEPS);

#[derive(Archetypes)]
pub(super) enum Thing {
    Ship(Ship),
    Shot(Shot),
    Body(Body),
}

/// Somebody's ship.
#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(super) struct Ship {
    #[replicate(position, step = 0.03125, jump_over = 400.0)]
    at: [f32; 2],
    #[replicate(step = 0.0625)]
    speed: [f32; 2],
    #[replicate(angle, bits = 14)]
    heading: f32,
    #[replicate(range = 0..=100)]
    health: u8,
    owner: u32,
    /// The slot of the first gun, or [`NO_GUN`].
    #[replicate(range = 0..=4)]
    gun: u8,
    /// Steps until the gun is loaded; all of them right after it fired.
    #[replicate(range = 0..=9)]
    loading: u8,
}

/// Something that was fired.
#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(super) struct Shot {
    #[replicate(position, step = 0.0625)]
    at: [f32; 2],
    #[replicate(angle, bits = 12)]
    heading: f32,
    #[replicate(step = 0.25)]
    reach: f32,
    #[replicate(range = 0..=100)]
    health: u8,
    kind: ShotKind,
    owner: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Replicate)]
enum ShotKind {
    #[default]
    Bullet,
    Rocket,
    Ray,
    Shockwave,
}

/// The sun, or a planet.
#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(super) struct Body {
    #[replicate(position, step = 0.0625)]
    at: [f32; 2],
    #[replicate(step = 0.25)]
    reach: f32,
    is_sun: bool,
}

/// What a player holds.
#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(super) struct Controls {
    /// In the order in which protocols number buttons.
    #[replicate(bits = 10)]
    buttons: u16,
    #[replicate(step = 1.0)]
    aim: [f32; 2],
}

/// What a player says.
#[derive(Clone, Debug, PartialEq, Replicate)]
pub(super) enum Wish {
    /// Weapons for four slots: 0 none, 1 gun, 2 phaser, 3 rocket, 4 shockwave.
    Select {
        #[replicate(range = 0..=4)]
        weapons: [u8; 4],
    },
    Chat {
        #[replicate(max = 200)]
        text: String,
    },
}

/// What the server says.
#[derive(Clone, Debug, PartialEq, Replicate)]
pub(super) enum News {
    /// Who the player is among the owners of things.
    You { owner: u32 },
    /// A line of the scoreboard.
    Score {
        owner: u32,
        #[replicate(max = 32)]
        name: String,
        kills: u16,
        deaths: u16,
        /// Milliseconds; 0 if there is none.
        ping: u16,
    },
    /// A line less.
    Gone { owner: u32 },
    Said {
        #[replicate(max = 32)]
        name: String,
        #[replicate(max = 200)]
        text: String,
    },
    /// A ship was destroyed, by nobody if `by` is 0.
    Killed { victim: u32, by: u32 },
}

impl Ship {
    fn fly(&mut self, intent: &Intent) {
        let [x, y] = self.at;
        let [speed_x, speed_y] = self.speed;
        let flight = Flight {
            x,
            y,
            speed_x,
            speed_y,
            heading: self.heading,
        };
        let next = flight.step(intent, []);
        self.at = [next.x, next.y];
        self.speed = [next.speed_x, next.speed_y];
        self.heading = next.heading;
    }

    fn reload(&mut self, intent: &Intent) {
        self.loading = self.loading.saturating_sub(1);
        let fires = intent.fire.get(usize::from(self.gun));
        if self.loading == 0 && fires.is_some_and(|fires| *fires) {
            self.loading = RELOAD;
        }
    }

    /// Whether the last step fired the gun.
    const fn has_fired(&self) -> bool {
        self.gun != NO_GUN && self.loading == RELOAD
    }

    /// Says what its own client needs to fire ahead of the server.
    pub(super) fn set_gun(&mut self, entity: &Entity, now: Tick) {
        let Role::Ship(ship) = &entity.role else {
            return;
        };
        let mut mounts = (0..NO_GUN).zip(ship.mounts.iter().copied());
        let gun = mounts.find_map(|(slot, mount)| {
            let mount = mount.filter(|mount| mount.weapon == Weapon::Gun)?;
            Some((slot, mount.ready.0.saturating_sub(now.0)))
        });
        if let Some((slot, left)) = gun {
            self.gun = slot;
            self.loading = u8::try_from(left).unwrap_or(RELOAD).min(RELOAD);
        }
    }
}

impl Thing {
    /// Whether a client may have fired it ahead of the server.
    pub(super) const fn is_bullet(&self) -> bool {
        matches!(self, Self::Shot(shot) if matches!(shot.kind, ShotKind::Bullet))
    }

    /// A thing of the arena as it travels.
    pub(super) fn new(entity: &Entity) -> Self {
        let at = [narrow(entity.position.x), narrow(entity.position.y)];
        let heading = narrow(entity.heading.radians());
        let owner = entity.owner.map_or(0, |pilot| number(pilot.into()));
        let (health, reach) = (entity.health_percent(), narrow(entity.reach()));
        let kind = match entity.kind() {
            Kind::Ship => {
                let speed = [narrow(entity.velocity.x), narrow(entity.velocity.y)];
                return Self::Ship(Ship {
                    at,
                    speed,
                    heading,
                    health,
                    owner,
                    gun: NO_GUN,
                    loading: 0,
                });
            }
            kind @ (Kind::Planet | Kind::Sun) => {
                let is_sun = kind == Kind::Sun;
                return Self::Body(Body { at, reach, is_sun });
            }
            Kind::Bullet => ShotKind::Bullet,
            Kind::Rocket => ShotKind::Rocket,
            Kind::Ray => ShotKind::Ray,
            Kind::Shockwave => ShotKind::Shockwave,
        };
        Self::Shot(Shot {
            at,
            heading,
            reach,
            health,
            kind,
            owner,
        })
    }
}

impl From<(SeenId, Ship)> for Seen {
    fn from((id, ship): (SeenId, Ship)) -> Self {
        Self {
            id,
            kind: Kind::Ship,
            position: place(ship.at),
            heading: Heading::from_radians(ship.heading.into()),
            health: ship.health,
            owner: owner(ship.owner),
            own: false,
            reach: Kind::Ship.usual_reach(),
        }
    }
}

impl From<(SeenId, Shot)> for Seen {
    fn from((id, shot): (SeenId, Shot)) -> Self {
        Self {
            id,
            kind: match shot.kind {
                ShotKind::Bullet => Kind::Bullet,
                ShotKind::Rocket => Kind::Rocket,
                ShotKind::Ray => Kind::Ray,
                ShotKind::Shockwave => Kind::Shockwave,
            },
            position: place(shot.at),
            heading: Heading::from_radians(shot.heading.into()),
            health: shot.health,
            owner: owner(shot.owner),
            own: false,
            reach: shot.reach.into(),
        }
    }
}

impl From<(SeenId, Body)> for Seen {
    fn from((id, body): (SeenId, Body)) -> Self {
        Self {
            id,
            kind: if body.is_sun { Kind::Sun } else { Kind::Planet },
            position: place(body.at),
            heading: Heading::EAST,
            health: 100,
            owner: None,
            own: false,
            reach: body.reach.into(),
        }
    }
}

impl Controls {
    pub(super) fn new(intent: &Intent) -> Self {
        let mut intent = *intent;
        let aim = [narrow(intent.aim.x), narrow(intent.aim.y)];
        let buttons = intent.buttons().into_iter().rev();
        let buttons = buttons.fold(0, |held, button| held << 1 | u16::from(*button));
        Self { buttons, aim }
    }

    pub(super) fn intent(&self) -> Intent {
        let mut intent = Intent {
            aim: place(self.aim),
            ..Intent::default()
        };
        for (place, button) in intent.buttons().into_iter().enumerate() {
            *button = self.buttons >> place & 1 == 1;
        }
        intent
    }
}

const WEAPONS: [Option<Weapon>; 5] = [
    None,
    Some(Weapon::Gun),
    Some(Weapon::Phaser),
    Some(Weapon::Rocket),
    Some(Weapon::Shockwave),
];

/// The wish for these weapons.
pub(super) fn select(loadout: Loadout) -> Wish {
    let code = |weapon| WEAPONS.iter().position(|other| *other == weapon);
    let weapons = loadout.0.map(|weapon| {
        code(weapon)
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(0)
    });
    Wish::Select { weapons }
}

/// The weapons of a wish.
pub(super) fn loadout(weapons: [u8; 4]) -> Loadout {
    Loadout(weapons.map(|code| WEAPONS.get(usize::from(code)).copied().flatten()))
}

fn place([x, y]: [f32; 2]) -> Vec2 {
    Vec2::new(x.into(), y.into())
}

/// An owner as it travels; 0 is nobody.
pub(super) const fn number(owner: OwnerId) -> u32 {
    owner.0.wrapping_add(1)
}

/// The owner of a number.
pub(super) fn owner(number: u32) -> Option<OwnerId> {
    number.checked_sub(1).map(OwnerId)
}
