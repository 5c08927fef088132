//! What the arena is like after a step, as objects, messages and sounds.
//!
//! In: the arena, and which of its ships and things have an object already. Out: objects made, changed
//! and destroyed, and for everybody who fired, who was lost and how the scores are. Objects of ships last
//! as long as their pilots; shots above a bound are not shown.

use tickwire_dialects::opendrakan::message::Lifecycle;
use tickwire_dialects::opendrakan::{
    Animation, AssetRef, ObjectId, ObjectTalk, Quat, Server, State, To, Value, Vec3,
};
use tickwire_session::Instant;

use super::{Gateway, ShipObject, Thing, number};
use crate::entity::Role;
use crate::flight::narrow;
use crate::gateway::opendrakan::words::{Kill, PilotNumber, ScoreLine};
use crate::gateway::opendrakan::{
    ARMED, EXPLOSION, GONE, HEALTH, HIT, KILLED, OWNER, PROTOTYPES, SCORE, SHIPS, SOUNDS,
    shot_asset,
};
use crate::{Arena, Entity, EntityId, Event, Heading, Kind};

/// Bullets that are objects at a time. Each costs every client 600 bytes a second; more of them hit,
/// but are not shown.
const BULLETS_SHOWN: usize = 128;
/// The same for all other shots.
const OTHER_SHOTS_SHOWN: usize = 512;

impl Gateway {
    pub(super) fn publish_ships(&mut self, arena: &Arena) {
        for (pilot, of) in arena.pilots() {
            let ship = of.ship().and_then(|id| Some((id, arena.entity(id)?)));
            match (ship, self.ships.get_mut(&pilot)) {
                (Some((id, entity)), Some(object)) => {
                    // The next life begins somewhere else, and nothing lies in between.
                    let is_new = object.entity.replace(id) != Some(id);
                    let object = object.id;
                    self.set_states(object, entity, is_new);
                }
                (Some((id, entity)), None) => {
                    if let Some(object) = self.create(entity) {
                        let entity = Some(id);
                        self.ships.insert(pilot, ShipObject { id: object, entity });
                    }
                }
                (None, Some(object)) => {
                    if object.entity.take().is_some() {
                        let object = object.id;
                        self.hide(object);
                    }
                }
                (None, None) => {}
            }
        }
        let server = &mut self.server;
        self.ships.retain(|pilot, object| {
            let stays = arena.pilot(*pilot).is_some();
            if !stays {
                destroy(server, object.id);
            }
            stays
        });
    }

    /// A ship is lost; its pilot's next will be the same object.
    pub(super) fn hide(&mut self, ship: ObjectId) {
        for state in [
            State::Visibility(false),
            State::Running(false),
            State::Extra(HEALTH, Value::U8(0)),
            State::Extra(ARMED, Value::Bool(false)),
        ] {
            self.set(ship, state);
        }
        self.live(ship, Lifecycle::Spawned);
    }

    pub(super) fn publish_things(&mut self, arena: &Arena) {
        let Self {
            server,
            things,
            bullets,
            other_shots,
            ..
        } = self;
        // What went makes room for what came.
        things.retain(|id, thing| {
            let stays = arena.entity(*id).is_some();
            if let (false, Some(object)) = (stays, thing.id) {
                destroy(server, object);
                match thing.kind {
                    Kind::Bullet => *bullets -= 1,
                    Kind::Rocket | Kind::Ray | Kind::Shockwave => *other_shots -= 1,
                    Kind::Ship | Kind::Planet | Kind::Sun => {}
                }
            }
            stays
        });
        for (id, entity) in arena.entities() {
            let kind = entity.kind();
            match self.things.get(&id) {
                _ if kind == Kind::Ship => {}
                Some(&Thing { id: None, .. }) => {}
                Some(&Thing { id: Some(id), .. }) => self.set_states(id, entity, false),
                None => {
                    let thing = Thing {
                        id: self.announce(entity),
                        kind,
                        owner: entity.owner,
                    };
                    self.things.insert(id, thing);
                }
            }
        }
    }

    /// Makes an object for an entity, unless it is one shot too many.
    fn announce(&mut self, entity: &Entity) -> Option<ObjectId> {
        let is_room = match entity.kind() {
            Kind::Bullet => self.bullets < BULLETS_SHOWN,
            Kind::Rocket | Kind::Ray | Kind::Shockwave => self.other_shots < OTHER_SHOTS_SHOWN,
            Kind::Ship | Kind::Planet | Kind::Sun => true,
        };
        let object = is_room.then(|| self.create(entity)).flatten()?;
        match entity.kind() {
            Kind::Bullet => self.bullets += 1,
            Kind::Rocket | Kind::Ray | Kind::Shockwave => self.other_shots += 1,
            Kind::Ship | Kind::Planet | Kind::Sun => {}
        }
        Some(object)
    }

    fn create(&mut self, entity: &Entity) -> Option<ObjectId> {
        let kind = entity.kind();
        let (_, prototype) = PROTOTYPES.iter().find(|(of, _)| *of == kind)?;
        // Numbers last for half a year of heavy fire.
        let object = self.server.create(*prototype).ok()?;
        self.set_states(object, entity, true);
        Some(object)
    }

    /// Makes an object what the entity is. What stays the same is no change.
    fn set_states(&mut self, object: ObjectId, entity: &Entity, is_new: bool) {
        let reach = narrow(entity.reach());
        let translation = State::Translation(Vec3 {
            x: narrow(entity.position.x),
            y: narrow(entity.position.y),
            z: 0.0,
        });
        let rotation = State::Rotation(yaw(entity.heading));
        let scale = State::Scale(match entity.kind() {
            Kind::Ray => Vec3 {
                x: reach,
                ..Vec3::ONE
            },
            _ => Vec3 {
                x: reach,
                y: reach,
                z: reach,
            },
        });
        for pose in [translation, rotation, scale] {
            if is_new {
                let set = self.server.jump(object, pose);
                debug_assert!(set.is_ok(), "{set:?}");
            } else {
                self.set(object, pose);
            }
        }
        let owner = entity.owner.map_or(PilotNumber::NOBODY, number);
        let health = Value::U8(entity.health_percent());
        for state in [
            State::Visibility(true),
            State::Running(true),
            State::Extra(HEALTH, health),
            State::Extra(OWNER, Value::U32(owner.0)),
            State::Extra(ARMED, Value::Bool(is_armed(entity))),
        ] {
            self.set(object, state);
        }
        self.live(object, Lifecycle::Running);
    }

    fn live(&mut self, object: ObjectId, lifecycle: Lifecycle) {
        let set = self.server.set_lifecycle(object, lifecycle);
        debug_assert!(set.is_ok(), "{set:?}");
    }

    fn set(&mut self, object: ObjectId, state: State) {
        let set = self.server.set(object, state);
        debug_assert!(set.is_ok(), "{set:?}");
    }

    /// Tells whoever was hit by whom, as a message from ship to ship.
    pub(super) fn publish_hits(&mut self, arena: &Arena) {
        for event in arena.events() {
            let &Event::Collision { a, b, .. } = event else {
                continue;
            };
            for (other, ship) in [(a, b), (b, a)] {
                self.tell_hit(arena, other, ship);
            }
        }
    }

    fn tell_hit(&mut self, arena: &Arena, other: EntityId, ship: EntityId) -> Option<()> {
        let hit = arena.entity(ship).filter(|hit| hit.kind() == Kind::Ship)?;
        let of = |thing: &Thing| thing.owner;
        let by = arena
            .entity(other)
            .map_or_else(|| self.things.get(&other).and_then(of), |other| other.owner);
        let victim = hit.owner.filter(|victim| Some(*victim) != by)?;
        let mut clients = self.clients.iter();
        let (&client, _) = clients.find(|(_, player)| player.pilot == victim)?;
        let talk = ObjectTalk {
            channel: HIT,
            sender: self.ships.get(&by?)?.id,
            receiver: self.ships.get(&victim)?.id,
        };
        let health = [hit.health_percent()];
        let told = self.server.send_object(To::One(client), talk, &health);
        debug_assert!(told.is_ok(), "{told:?}");
        Some(())
    }

    pub(super) fn publish_events(&mut self, now: Instant, arena: &Arena) {
        for event in arena.events() {
            match *event {
                Event::Added { entity } => {
                    if let Some(shot) = arena.entity(entity) {
                        self.report(now, shot);
                    }
                }
                Event::Killed { victim, by, .. } => {
                    let kill = Kill {
                        victim: number(victim),
                        by: by.map_or(PilotNumber::NOBODY, number),
                    };
                    self.tell(To::All, KILLED, &kill.encode());
                    let played = self.server.play_sound(EXPLOSION);
                    debug_assert!(played.is_ok(), "{played:?}");
                }
                _ => {}
            }
        }
    }

    /// Lets a shot be seen on its ship, and heard.
    fn report(&mut self, now: Instant, shot: &Entity) {
        let ship = shot.owner.and_then(|pilot| self.ships.get(&pilot));
        let (Some(asset), Some(ship)) = (shot_asset(shot.kind()), ship) else {
            return;
        };
        if self.reports.take(now).is_none() {
            return;
        }
        let from = |database| AssetRef { database, asset };
        let animated = self.server.animate(Animation {
            object: ship.id,
            animation: from(SHIPS),
            channel: 0,
            speed: 1.0,
        });
        let played = self.server.play_sound(from(SOUNDS));
        debug_assert!(animated.is_ok() && played.is_ok(), "both are in the table");
    }

    pub(super) fn publish_scores(&mut self, arena: &Arena) {
        let mut news = Vec::new();
        for (id, pilot) in arena.pilots() {
            let line = ScoreLine {
                pilot: number(id),
                kills: pilot.kills(),
                deaths: pilot.deaths(),
                name: pilot.name().to_owned(),
            };
            if self.scores.get(&id) != Some(&line) {
                news.push((SCORE, line.encode()));
                self.scores.insert(id, line);
            }
        }
        self.scores.retain(|id, line| {
            let stays = arena.pilot(*id).is_some();
            if !stays {
                news.push((GONE, line.pilot.encode()));
            }
            stays
        });
        for (channel, body) in news {
            self.tell(To::All, channel, &body);
        }
    }
}

fn destroy(server: &mut Server, object: ObjectId) {
    let destroyed = server.set_lifecycle(object, Lifecycle::Destroyed);
    debug_assert!(destroyed.is_ok(), "{destroyed:?}");
}

/// A turn around the axis that stands on the plane.
fn yaw(heading: Heading) -> Quat {
    let half = heading.radians() / 2.0;
    Quat {
        x: 0.0,
        y: 0.0,
        z: narrow(libm::sin(half)),
        w: narrow(libm::cos(half)),
    }
}

/// Whether it can hurt on purpose: it was fired, or it is a ship with a weapon.
fn is_armed(entity: &Entity) -> bool {
    match &entity.role {
        Role::Ship(ship) => ship.mounts.iter().any(Option::is_some),
        _ => entity.is_shot(),
    }
}
