//! The server's half: C++evy clients fly the arena's ships.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tickwire_dialects::cppevy::{
    ActionId, ActionToken, Answer, Archetype, Audience, Reason, Server, ServerConfig, ServerEvent,
    SyncId,
};
use tickwire_session::{Events, Instant, Session, TokenBucket};

use super::content::{self, emblem_asset};
use super::words::{self, ScoreLine, Shot};
use super::{
    ARCHETYPES, CHAT, CONTROLS, DESTROYED, EMBLEM, HEADING, HEALTH, POSITION, SAID, SCORE, SELECT,
    SHOT, SHOT_GONE, VELOCITY, loadout, registry,
};
use crate::gateway::{Notice, ServerGateway};
use crate::{Arena, Entity, EntityId, Event, Kind, PilotId, Worlds, limits};

/// Clients of this protocol at most: a few places of the arena stay for the others.
const CLIENTS_MAX: u16 = limits::PILOTS - 12;

/// Chats at once, and how soon one more.
const CHATS_AT_ONCE: u32 = 8;
const CHAT_REFILL: Duration = Duration::from_secs(1);

/// Bytes of a chat: what an event carries besides its actor.
const CHAT_MAX: usize = 240;

/// Between two words about the same rocket, ray or shockwave.
const SHOT_STEPS: u64 = 6;

/// Between two looks at the scores: they are assured, so only changes are told.
const SCORE_STEPS: u64 = 30;

pub(super) struct Gateway {
    server: Server,
    clients: BTreeMap<SyncId, Pilot>,
    /// The same from the other side.
    actors: BTreeMap<PilotId, SyncId>,
    /// The arena's entities that have a sync id of their own: planets, the sun, ships of others.
    shown: BTreeMap<EntityId, SyncId>,
    /// What was fired and told of.
    shots: BTreeSet<EntityId>,
    scores: BTreeMap<SyncId, ScoreLine>,
    /// Those who have an emblem.
    emblems: BTreeSet<SyncId>,
}

/// A client in the arena.
struct Pilot {
    pilot: PilotId,
    chats: TokenBucket,
    /// A choice that counts from the next ship, and the ship it waits for the end of.
    delayed: Option<(ActionToken, EntityId)>,
}

impl Gateway {
    pub(super) fn new(now: Instant, secret: [u8; 32]) -> Self {
        let config = ServerConfig {
            registry: registry(),
            actor: archetype(Kind::Ship).unwrap_or_default(),
            clients: Some(CLIENTS_MAX),
            uploads: content::EMBLEM_MAX,
        };
        let mut server = Server::new(now, secret, config);
        for (name, bytes) in content::ASSETS {
            // Short, and within what an asset may be: it cannot be refused.
            server.add_asset(name, bytes).ok();
        }
        Self {
            server,
            clients: BTreeMap::new(),
            actors: BTreeMap::new(),
            shown: BTreeMap::new(),
            shots: BTreeSet::new(),
            scores: BTreeMap::new(),
            emblems: BTreeSet::new(),
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
            ServerEvent::Joined { actor, name } => match arena.join(&name) {
                Ok(pilot) => {
                    let chats = TokenBucket::new(now, CHATS_AT_ONCE, CHAT_REFILL);
                    self.clients.insert(
                        actor,
                        Pilot {
                            pilot,
                            chats,
                            delayed: None,
                        },
                    );
                    self.actors.insert(pilot, actor);
                    self.tell_scores(now, actor);
                    self.tell_emblems(now, actor);
                    notices.push(Notice::Joined { name });
                }
                // Somebody of another protocol took the last place since places were last counted.
                Err(_) => self.server.kick(now, actor),
            },
            ServerEvent::Action {
                actor,
                action,
                data,
                token,
            } => {
                let answer = self.act(now, actor, (action, token), &data, arena, notices);
                // The answers here are shorter than an object.
                self.server.answer(now, token, answer).ok();
            }
            ServerEvent::Offered { name, token, .. } => {
                let answer = match name.as_str() {
                    content::EMBLEM => Answer::Success(&[]),
                    _ => Answer::Failure(Reason::Unavailable),
                };
                self.server.answer(now, token, answer).ok();
            }
            ServerEvent::Uploaded { actor, bytes, .. } => self.wear(now, actor, &bytes),
            ServerEvent::Left { actor, why } => {
                self.scores.remove(&actor);
                if self.emblems.remove(&actor) {
                    self.server.remove_asset(&emblem_asset(actor));
                }
                if let Some(client) = self.clients.remove(&actor) {
                    self.actors.remove(&client.pilot);
                    let name = name_of(arena, client.pilot);
                    notices.push(Notice::Left {
                        name,
                        why: why.to_string(),
                    });
                    arena.leave(client.pilot);
                }
            }
            _ => {}
        }
    }

    /// Shows everybody somebody's emblem. What is none is left at that.
    fn wear(&mut self, now: Instant, actor: SyncId, bytes: &[u8]) {
        let name = emblem_asset(actor);
        if content::emblem(bytes).is_some() && self.server.add_asset(&name, bytes).is_ok() {
            self.emblems.insert(actor);
            let number = actor.number().to_le_bytes();
            let others = Audience::AllBut(actor);
            // Registered, and two bytes.
            self.server.event(now, others, EMBLEM, &number).ok();
        }
    }

    /// Tells a newcomer who has an emblem.
    fn tell_emblems(&mut self, now: Instant, actor: SyncId) {
        for wearer in &self.emblems {
            let number = wearer.number().to_le_bytes();
            let one = Audience::One(actor);
            self.server.event(now, one, EMBLEM, &number).ok();
        }
    }

    /// Decides about an action.
    fn act(
        &mut self,
        now: Instant,
        actor: SyncId,
        (action, token): (ActionId, ActionToken),
        data: &[u8],
        arena: &mut Arena,
        notices: &mut Vec<Notice>,
    ) -> Answer<'static> {
        let Some(client) = self.clients.get_mut(&actor) else {
            return Answer::Failure(Reason::Unavailable);
        };
        let ship = arena.pilot(client.pilot).and_then(crate::Pilot::ship);
        match action {
            CONTROLS => match words::decode_intent(data) {
                None => Answer::Failure(Reason::Error),
                Some(_) if ship.is_none() => Answer::Failure(Reason::Unavailable),
                Some(_) => Answer::Success(&[]),
            },
            SELECT => match (loadout(data), ship) {
                (None, _) => Answer::Failure(Reason::Error),
                (Some(chosen), None) => {
                    arena.select(client.pilot, chosen);
                    Answer::Success(&[])
                }
                // One choice at a time waits for its ship.
                (Some(_), Some(_)) if client.delayed.is_some() => Answer::Failure(Reason::Waiting),
                (Some(chosen), Some(ship)) => {
                    arena.select(client.pilot, chosen);
                    client.delayed = Some((token, ship));
                    Answer::Failure(Reason::Delayed)
                }
            },
            CHAT => match core::str::from_utf8(data) {
                Ok("") | Err(_) => Answer::Failure(Reason::Error),
                Ok(text) if text.len() > CHAT_MAX => Answer::Failure(Reason::Error),
                Ok(_) if client.chats.take(now).is_none() => Answer::Failure(Reason::Waiting),
                Ok(text) => {
                    notices.push(Notice::Said {
                        name: name_of(arena, client.pilot),
                        text: text.to_owned(),
                    });
                    let said = words::encode_said(actor, text);
                    // Registered, and within what an event carries.
                    self.server.event(now, Audience::All, SAID, &said).ok();
                    Answer::Success(&[])
                }
            },
            _ => Answer::Failure(Reason::Error),
        }
    }

    /// How many clients of this protocol the arena has places for.
    fn places(&self, arena: &Arena) -> u16 {
        let others = arena.pilots().count().saturating_sub(self.clients.len());
        let left = usize::from(limits::PILOTS).saturating_sub(others);
        u16::try_from(left).map_or(CLIENTS_MAX, |left| left.min(CLIENTS_MAX))
    }

    /// Choices whose ship is gone have taken effect.
    fn finish_delayed(&mut self, now: Instant, arena: &Arena) {
        for client in self.clients.values_mut() {
            let flies = arena.pilot(client.pilot).and_then(crate::Pilot::ship);
            if let Some((token, _)) = client
                .delayed
                .take_if(|(_, ship)| flies.is_some_and(|now| now != *ship))
            {
                self.server.answer(now, token, Answer::Success(&[])).ok();
            }
        }
    }

    /// The sync id of the ship that a pilot flies.
    fn actor_of(&self, arena: &Arena, pilot: PilotId) -> Option<SyncId> {
        self.actors.get(&pilot).copied().or_else(|| {
            let ship = arena.pilot(pilot)?.ship()?;
            self.shown.get(&ship).copied()
        })
    }

    fn publish_entities(&mut self, now: Instant, arena: &Arena) {
        for (id, entity) in arena.entities() {
            let Some(archetype) = archetype(entity.kind()) else {
                continue;
            };
            let client = entity.owner.and_then(|pilot| self.actors.get(&pilot));
            let sync_id = client.or_else(|| self.shown.get(&id)).copied();
            let sync_id = match sync_id {
                Some(sync_id) => sync_id,
                None => match self.server.summon(now, archetype) {
                    Ok(sync_id) => {
                        self.shown.insert(id, sync_id);
                        sync_id
                    }
                    // More than can be named: the others cannot be seen here.
                    Err(_) => continue,
                },
            };
            self.set_states(sync_id, entity);
        }
        for (&pilot, &actor) in &self.actors {
            if arena.pilot(pilot).and_then(crate::Pilot::ship).is_none() {
                // One byte.
                self.server.set_state(actor, HEALTH, &[0]).ok();
            }
        }
        let server = &mut self.server;
        self.shown.retain(|id, sync_id| {
            let stays = arena.entity(*id).is_some();
            if !stays {
                server.dismiss(now, *sync_id);
            }
            stays
        });
    }

    fn set_states(&mut self, sync_id: SyncId, entity: &Entity) {
        let position = words::encode_vector(entity.position);
        let velocity = words::encode_vector(entity.velocity);
        let health = [entity.health_percent()];
        let heading = words::encode_number(entity.heading.degrees());
        let states: [(_, &[u8]); 4] = [
            (POSITION, &position),
            (VELOCITY, &velocity),
            (HEALTH, &health),
            (HEADING, &heading),
        ];
        for (component, value) in states {
            // Eight bytes at most.
            self.server.set_state(sync_id, component, value).ok();
        }
    }

    fn publish_shots(&mut self, now: Instant, arena: &Arena) {
        let tick = arena.tick().0;
        for event in arena.events() {
            match *event {
                Event::Added { entity } => {
                    if let Some(shot) = arena.entity(entity) {
                        self.tell_shot(now, arena, entity, shot);
                    }
                }
                Event::Removed { entity } if self.shots.remove(&entity) => {
                    let number = entity.index().to_le_bytes();
                    self.server
                        .event(now, Audience::All, SHOT_GONE, &number)
                        .ok();
                }
                _ => {}
            }
        }
        for (id, entity) in arena.entities() {
            // Not all in one step, which would be long.
            let is_due = (tick + u64::from(id.index())).is_multiple_of(SHOT_STEPS);
            // A bullet flies as it was fired.
            if is_due && entity.kind() != Kind::Bullet {
                self.tell_shot(now, arena, id, entity);
            }
        }
    }

    fn tell_shot(&mut self, now: Instant, arena: &Arena, id: EntityId, entity: &Entity) {
        if archetype(entity.kind()).is_some() {
            return;
        }
        self.shots.insert(id);
        let shot = Shot {
            number: id.index(),
            kind: entity.kind(),
            owner: entity.owner.and_then(|pilot| self.actor_of(arena, pilot)),
            position: entity.position,
            velocity: entity.velocity,
            degrees: entity.heading.degrees(),
            reach: entity.reach(),
        };
        self.server
            .event(now, Audience::All, SHOT, &shot.encode())
            .ok();
    }

    /// Tells those whose ships were destroyed who did it.
    fn tell_victims(&mut self, now: Instant, arena: &Arena) {
        for event in arena.events() {
            if let Event::Killed { victim, by, .. } = event
                && let Some(actor) = self.actors.get(victim)
            {
                let name = by.map_or_else(String::new, |by| name_of(arena, by));
                // A name is shorter than what an event carries.
                self.server
                    .event(now, Audience::One(*actor), DESTROYED, name.as_bytes())
                    .ok();
            }
        }
    }

    /// Tells a newcomer the scores that the others know.
    fn tell_scores(&mut self, now: Instant, actor: SyncId) {
        for line in self.scores.values() {
            self.server
                .event(now, Audience::One(actor), SCORE, &line.encode())
                .ok();
        }
    }

    fn publish_scores(&mut self, now: Instant, arena: &Arena) {
        let step = arena.tick().0;
        for (id, pilot) in arena.pilots() {
            let Some(actor) = self.actor_of(arena, id) else {
                continue;
            };
            // By turns: after a wild moment, all of them would make one step long.
            if !(step + u64::from(actor.number())).is_multiple_of(SCORE_STEPS) {
                continue;
            }
            let name = pilot.name().to_owned();
            let line = ScoreLine {
                actor,
                kills: pilot.kills(),
                deaths: pilot.deaths(),
                name,
            };
            if self.scores.get(&actor) != Some(&line) {
                self.server
                    .event(now, Audience::All, SCORE, &line.encode())
                    .ok();
                self.scores.insert(actor, line);
            }
        }
        if step.is_multiple_of(SCORE_STEPS) {
            let named = |actor: &SyncId| {
                self.clients.contains_key(actor) || self.shown.values().any(|shown| shown == actor)
            };
            self.scores.retain(|actor, _| named(actor));
        }
    }
}

impl ServerGateway for Gateway {
    fn session(&mut self) -> &mut dyn Session {
        &mut self.server
    }

    fn figures(&self) -> &dyn Session {
        &self.server
    }

    fn has_pilot(&self, pilot: PilotId) -> bool {
        self.actors.contains_key(&pilot)
    }

    fn collect(&mut self, now: Instant, worlds: &mut Worlds, notices: &mut Vec<Notice>) {
        let arena = &mut worlds.arena;
        while let Some(event) = self.server.poll_event() {
            self.apply(now, event, arena, notices);
        }
        for (actor, client) in &self.clients {
            let held = self.server.controls(now, *actor, CONTROLS);
            let intent = held.and_then(words::decode_intent).unwrap_or_default();
            arena.set_intent(client.pilot, intent);
        }
    }

    fn publish(&mut self, now: Instant, worlds: &Worlds) {
        let arena = &worlds.arena;
        self.server.set_places(self.places(arena));
        self.finish_delayed(now, arena);
        self.publish_entities(now, arena);
        self.publish_shots(now, arena);
        self.tell_victims(now, arena);
        self.publish_scores(now, arena);
    }
}

fn archetype(kind: Kind) -> Option<Archetype> {
    ARCHETYPES
        .iter()
        .find(|(ours, _)| *ours == kind)
        .map(|(_, theirs)| *theirs)
}

fn name_of(arena: &Arena, pilot: PilotId) -> String {
    arena
        .pilot(pilot)
        .map(|pilot| pilot.name().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
