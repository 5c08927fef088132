//! The server's half: lwar players fly the arena's ships.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::lwar::message::Collision;
use tickwire_dialects::lwar::{
    self, Button, Controls, PlayerId, Server, ServerConfig, ServerEvent, Shape,
};
use tickwire_session::{Events, Instant, Session, TokenBucket};

use super::{kind_to_lwar, loadout, whole};
use crate::gateway::{Notice, ServerGateway};
use crate::{Arena, Entity, EntityId, Event, Intent, Kind, PilotId, Vec2, Worlds};

/// Shots announced at once, and how soon one more may be.
///
/// A shot costs 23 reliable bytes, and a client 150 ms away takes about 2,400 of those a second; above
/// that its queue would only grow until it is removed. Shots beyond this rate hit, but are not shown.
const SHOTS_AT_ONCE: u32 = 40;
const SHOT_REFILL: Duration = Duration::from_millis(20);

pub(super) struct Gateway {
    server: Server,
    pilots: BTreeMap<PlayerId, PilotId>,
    shown: BTreeMap<EntityId, Shown>,
    shots: TokenBucket,
}

/// What became of an arena's entity here.
struct Shown {
    /// Its id in lwar; a shot above the rate has none.
    id: Option<lwar::EntityId>,
    /// The publication that last saw it.
    seen: u64,
}

impl Gateway {
    pub(super) fn new(now: Instant, secret: [u8; 32]) -> Self {
        Self {
            server: Server::new(now, ServerConfig::default(), secret),
            pilots: BTreeMap::new(),
            shown: BTreeMap::new(),
            shots: TokenBucket::new(now, SHOTS_AT_ONCE, SHOT_REFILL),
        }
    }

    fn apply(
        &mut self,
        now: Instant,
        event: ServerEvent,
        arena: &mut Arena,
        notices: &mut Vec<Notice>,
    ) {
        match event {
            ServerEvent::Joined { player, name } => match arena.join(&name) {
                Ok(pilot) => {
                    self.pilots.insert(player, pilot);
                    notices.push(Notice::Joined { name });
                }
                Err(full) => self.server.kick(now, player, &full.to_string()),
            },
            ServerEvent::Selected { player, selection } => {
                if let Some(&pilot) = self.pilots.get(&player) {
                    arena.select(pilot, loadout(selection));
                }
            }
            ServerEvent::Renamed { player, name } => {
                if let Some(&pilot) = self.pilots.get(&player) {
                    let from = name_of(arena, pilot);
                    arena.rename(pilot, &name);
                    notices.push(Notice::Renamed { from, to: name });
                }
            }
            ServerEvent::Chatted { player, text } => {
                if let Some(&pilot) = self.pilots.get(&player) {
                    notices.push(Notice::Said {
                        name: name_of(arena, pilot),
                        text,
                    });
                }
            }
            ServerEvent::Left { player, why } => {
                if let Some(pilot) = self.pilots.remove(&player) {
                    notices.push(Notice::Left {
                        name: name_of(arena, pilot),
                        why: why.to_string(),
                    });
                    arena.leave(pilot);
                }
            }
            _ => {}
        }
    }

    /// The player that an entity belongs to: the server, unless a client of this protocol owns it.
    fn owner(&self, entity: &Entity) -> PlayerId {
        let owner = self
            .pilots
            .iter()
            .find(|(_, pilot)| entity.owner == Some(**pilot));
        owner.map_or(PlayerId::SERVER, |(player, _)| *player)
    }

    /// Announces an entity, unless it is one shot too many.
    fn announce(&mut self, now: Instant, entity: &Entity) -> Option<lwar::EntityId> {
        let kind = entity.kind();
        if matches!(
            kind,
            Kind::Bullet | Kind::Rocket | Kind::Ray | Kind::Shockwave
        ) {
            self.shots.take(now)?;
        }
        // The arena holds fewer entities than lwar can name.
        self.server
            .add(kind_to_lwar(kind), self.owner(entity), shape(entity))
            .ok()
    }

    fn publish_scores(&mut self, arena: &Arena) {
        for (&player, &pilot) in &self.pilots {
            if let Some(pilot) = arena.pilot(pilot) {
                self.server.set_score(player, pilot.kills(), pilot.deaths());
            }
        }
        let others = arena
            .pilots()
            .filter(|(id, _)| !self.pilots.values().any(|own| own == id));
        let (kills, deaths) = others.fold((0_u16, 0_u16), |(kills, deaths), (_, pilot)| {
            (
                kills.saturating_add(pilot.kills()),
                deaths.saturating_add(pilot.deaths()),
            )
        });
        self.server.set_score(PlayerId::SERVER, kills, deaths);
    }

    fn publish_collisions(&mut self, arena: &Arena) {
        let known = |id| self.shown.get(&id).and_then(|shown| shown.id);
        for event in arena.events() {
            if let &Event::Collision { a, b, at } = event
                && let (Some(a), Some(b)) = (known(a), known(b))
            {
                let (x, y) = (whole(at.x), whole(at.y));
                self.server.collide(Collision {
                    entities: [a, b],
                    x,
                    y,
                });
            }
        }
    }
}

impl ServerGateway for Gateway {
    fn tell_everybody(&mut self, text: &str) {
        self.server.say(text);
    }

    fn session(&mut self) -> &mut dyn Session {
        &mut self.server
    }

    fn figures(&self) -> &dyn Session {
        &self.server
    }

    fn has_pilot(&self, pilot: PilotId) -> bool {
        self.pilots.values().any(|own| *own == pilot)
    }

    fn collect(&mut self, now: Instant, worlds: &mut Worlds, notices: &mut Vec<Notice>) {
        let arena = &mut worlds.arena;
        while let Some(event) = self.server.poll_event() {
            self.apply(now, event, arena, notices);
        }
        for (&player, &pilot) in &self.pilots {
            arena.set_intent(pilot, intent(self.server.take_controls(now, player)));
        }
    }

    fn publish(&mut self, now: Instant, worlds: &Worlds) {
        let arena = &worlds.arena;
        // Collisions name what this step may have removed, so they come before the removals.
        self.publish_collisions(arena);
        let tick = arena.tick().0;
        for (id, entity) in arena.entities() {
            let known = self.shown.get_mut(&id).map(|shown| {
                shown.seen = tick;
                shown.id
            });
            match known {
                Some(Some(known)) => self.server.set(known, shape(entity)),
                Some(None) => {}
                None => {
                    let shown = Shown {
                        id: self.announce(now, entity),
                        seen: tick,
                    };
                    self.shown.insert(id, shown);
                }
            }
        }
        let server = &mut self.server;
        self.shown.retain(|_, shown| {
            let stays = shown.seen == tick;
            if let (false, Some(id)) = (stays, shown.id) {
                server.remove(id);
            }
            stays
        });
        self.publish_scores(arena);
    }
}

fn name_of(arena: &Arena, pilot: PilotId) -> String {
    arena
        .pilot(pilot)
        .map(|pilot| pilot.name().to_owned())
        .unwrap_or_default()
}

fn intent(controls: Controls) -> Intent {
    let pressed = |button| controls.buttons.contains(button);
    Intent {
        forward: pressed(Button::Forward),
        backward: pressed(Button::Backward),
        turn_left: pressed(Button::TurnLeft),
        turn_right: pressed(Button::TurnRight),
        strafe_left: pressed(Button::StrafeLeft),
        strafe_right: pressed(Button::StrafeRight),
        fire: Button::FIRE.map(pressed),
        aim: Vec2::new(controls.aim.x.into(), controls.aim.y.into()),
    }
}

fn shape(entity: &Entity) -> Shape {
    let (x, y) = (whole(entity.position.x), whole(entity.position.y));
    let orientation = degrees(entity);
    match entity.kind() {
        Kind::Ship | Kind::Bullet | Kind::Rocket | Kind::Planet | Kind::Sun => Shape::Body {
            x,
            y,
            orientation,
            health: entity.health_percent(),
        },
        Kind::Ray => Shape::Ray {
            x,
            y,
            orientation,
            length: length(entity.reach()),
        },
        Kind::Shockwave => Shape::Circle {
            x,
            y,
            radius: length(entity.reach()),
        },
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped"
)]
fn length(reach: f64) -> u16 {
    reach.round().clamp(0.0, u16::MAX.into()) as u16
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "reduced to 0..360"
)]
fn degrees(entity: &Entity) -> u16 {
    entity.heading.degrees().rem_euclid(360.0).round() as u16 % 360
}

#[cfg(test)]
mod tests {
    use tickwire_dialects::lwar::message::{Framed, Unreliable};
    use tickwire_dialects::lwar::{Client, ClientConfig, Header, Kind as LwarKind, Reader};
    use tickwire_sim::addr::link;

    use super::*;
    use crate::gateway::lwar::selection;
    use crate::{Loadout, STEP};

    /// A gateway and a client of it, with nothing in between.
    struct Pair {
        gateway: Gateway,
        client: Client,
        worlds: Worlds,
        now: Instant,
        /// The kinds of what came in Update, and in UpdatePos.
        updated: Vec<LwarKind>,
        positioned: Vec<LwarKind>,
    }

    impl Pair {
        fn new() -> Self {
            let now = Instant::from_millis(1_000);
            let config = ClientConfig {
                server: link(0),
                name: "ann".into(),
            };
            Self {
                gateway: Gateway::new(now, [1; 32]),
                client: Client::new(now, config),
                worlds: Worlds::new(1),
                now,
                updated: Vec::new(),
                positioned: Vec::new(),
            }
        }

        fn step(&mut self) {
            self.now += STEP;
            let (now, server) = (self.now, &mut self.gateway.server);
            let mut out = Vec::new();
            self.client.handle_timeout(now);
            while self.client.poll_transmit(now, &mut out).is_some() {
                server.handle_datagram(now, link(1), &core::mem::take(&mut out));
            }
            server.handle_timeout(now);
            while self.gateway.server.poll_transmit(now, &mut out).is_some() {
                self.look(&out);
                self.client
                    .handle_datagram(now, link(0), &core::mem::take(&mut out));
            }
            self.gateway.collect(now, &mut self.worlds, &mut Vec::new());
            self.worlds.arena.step();
            self.gateway.publish(now, &self.worlds);
        }

        fn look(&mut self, datagram: &[u8]) {
            let mut r = Reader::new(datagram);
            Header::decode(&mut r).expect("it is lwar's");
            let kind = |id| {
                let mut entities = self.client.entities();
                entities
                    .find(|(other, _)| *other == id)
                    .map(|(_, entity)| entity.kind)
            };
            while !r.is_empty() {
                match Framed::decode(&mut r).expect("it is a message") {
                    Framed::Unreliable(Unreliable::Update(bodies)) => {
                        let kinds = bodies.iter().filter_map(|body| kind(body.entity));
                        self.updated.extend(kinds);
                    }
                    Framed::Unreliable(Unreliable::UpdatePos(places)) => {
                        let kinds = places.iter().filter_map(|place| kind(place.entity));
                        self.positioned.extend(kinds);
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn bullets_and_all_other_bodies_come_by_update() {
        let mut pair = Pair::new();
        for _ in 0..300 {
            pair.step();
            // The original client reads nothing else for them.
            pair.client.select(selection(Loadout::STANDARD)).ok();
            let buttons = lwar::Buttons::NONE
                .with(Button::FIRE[0], true)
                .with(Button::FIRE[2], true);
            let aim = lwar::Point { x: 5_000, y: 0 };
            pair.client.steer(Controls { buttons, aim });
        }
        for kind in [
            LwarKind::SHIP,
            LwarKind::BULLET,
            LwarKind::ROCKET,
            LwarKind::PLANET,
            LwarKind::SUN,
        ] {
            assert!(pair.updated.contains(&kind), "{kind:?}: {:?}", pair.updated);
        }
        assert_eq!(pair.positioned, []);
    }
}
