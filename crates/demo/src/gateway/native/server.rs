//! The server's half: native clients fly the arena's ships.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tickwire_native::{PlayerId, Role, Server, ServerConfig, ServerEvent, To};
use tickwire_session::{Events, Instant, Session, TokenBucket};

use super::game::{ArenaGame, News, Thing, Wish, loadout, number};
use crate::arena::Event;
use crate::gateway::{Notice, ServerGateway};
use crate::{Arena, EntityId, Kind, PilotId, Worlds, limits};

/// Chats at once, and how soon one more.
const CHATS_AT_ONCE: u32 = 8;
const CHAT_REFILL: Duration = Duration::from_millis(1_250);

/// Steps between two looks at the scores: only changes are told.
const SCORE_STEPS: u64 = 15;

/// How far from the middle somebody sees who looks on: beyond the wall.
const WATCHED: f32 = 7_000.0;

pub(super) struct Gateway {
    server: Server<ArenaGame>,
    players: BTreeMap<PlayerId, Player>,
    /// What stands for each thing of the arena.
    things: BTreeMap<EntityId, tickwire_native::EntityId>,
    scores: BTreeMap<PilotId, News>,
}

struct Player {
    pilot: PilotId,
    chats: TokenBucket,
}

impl Gateway {
    pub(super) fn new(now: Instant, secret: [u8; 32]) -> Self {
        let config = ServerConfig {
            players: limits::PILOTS.into(),
            entities: limits::ENTITIES.into(),
            ..ServerConfig::default()
        };
        Self {
            server: Server::new(now, secret, config),
            players: BTreeMap::new(),
            things: BTreeMap::new(),
            scores: BTreeMap::new(),
        }
    }

    fn apply(
        &mut self,
        now: Instant,
        event: ServerEvent<ArenaGame>,
        arena: &mut Arena,
        notices: &mut Vec<Notice>,
    ) {
        match event {
            ServerEvent::Joined {
                player,
                role: Role::Spectator,
                ..
            } => self.let_watch(player, arena),
            ServerEvent::Joined { player, name, .. } => match arena.join(&name) {
                Ok(pilot) => {
                    let chats = TokenBucket::new(now, CHATS_AT_ONCE, CHAT_REFILL);
                    self.players.insert(player, Player { pilot, chats });
                    let owner = number(pilot.into());
                    self.tell(To::Player(player), &News::You { owner });
                    self.tell_scores(player);
                    notices.push(Notice::Joined { name });
                }
                Err(full) => self.server.kick(now, player, &full.to_string()),
            },
            ServerEvent::Left { player, why } => {
                if let Some(Player { pilot, .. }) = self.players.remove(&player) {
                    let name = name_of(arena, pilot);
                    arena.leave(pilot);
                    let why = why.to_string();
                    notices.push(Notice::Left { name, why });
                }
            }
            ServerEvent::Said { player, message } => {
                self.handle_wish(now, player, message, arena, notices)
            }
            _ => {}
        }
    }

    /// Lets somebody look on, from the middle and over all of the arena, where nobody hides.
    fn let_watch(&mut self, player: PlayerId, arena: &Arena) {
        let mut bodies = arena.entities().filter(|(_, it)| it.kind() == Kind::Sun);
        if let Some(sun) = bodies.next().and_then(|(id, _)| self.things.get(&id)) {
            self.server.look_from(player, *sun);
        }
        self.server.set_sight(player, WATCHED);
        self.tell_scores(player);
    }

    fn tell_scores(&mut self, player: PlayerId) {
        for score in self.scores.values().cloned().collect::<Vec<_>>() {
            self.tell(To::Player(player), &score);
        }
    }

    fn handle_wish(
        &mut self,
        now: Instant,
        player: PlayerId,
        wish: Wish,
        arena: &mut Arena,
        notices: &mut Vec<Notice>,
    ) {
        let Some(Player { pilot, chats }) = self.players.get_mut(&player) else {
            return;
        };
        match wish {
            Wish::Select { weapons } => arena.select(*pilot, loadout(weapons)),
            Wish::Chat { text } if chats.take(now).is_some() => {
                let name = name_of(arena, *pilot);
                notices.push(Notice::Said {
                    name: name.clone(),
                    text: text.clone(),
                });
                self.tell(To::All, &News::Said { name, text });
            }
            Wish::Chat { .. } => {}
        }
    }

    fn tell(&mut self, to: To, news: &News) {
        let told = self.server.say(to, news);
        debug_assert!(told.is_ok(), "names and numbers are short");
    }

    /// Sets what is there, spawns what is new and despawns what is gone.
    fn publish_things(&mut self, arena: &Arena) {
        let pilots = self.players.iter().map(|(player, it)| (it.pilot, *player));
        let players: BTreeMap<PilotId, PlayerId> = pilots.collect();
        let mut gone: BTreeSet<EntityId> = self.things.keys().copied().collect();
        for (id, entity) in arena.entities() {
            gone.remove(&id);
            let player = entity.owner.and_then(|pilot| players.get(&pilot));
            let mut thing = Thing::new(entity);
            // Nobody else predicts a ship, so that of a bot costs nothing.
            if let (Thing::Ship(ship), Some(_)) = (&mut thing, player) {
                ship.set_gun(entity, arena.tick());
            }
            if let Some(there) = self.things.get(&id) {
                // The wall keeps everything within range.
                self.server.set_any(*there, &thing).ok();
                continue;
            }
            let spawned = match player {
                Some(player) if matches!(thing, Thing::Ship(_)) => {
                    self.server.spawn_own(*player, thing)
                }
                Some(player) if thing.is_bullet() => self.server.spawn_from_input(*player, thing),
                _ => self.server.spawn(thing),
            };
            if let Ok(there) = spawned {
                self.things.insert(id, there);
            }
        }
        for id in gone {
            if let Some(there) = self.things.remove(&id) {
                self.server.despawn(there).ok();
            }
        }
    }

    fn publish_events(&mut self, arena: &Arena) {
        for event in arena.events() {
            if let Event::Killed { victim, by, .. } = event {
                let victim = number((*victim).into());
                let by = by.map_or(0, |by| number(by.into()));
                let told = self.server.happen(To::All, &News::Killed { victim, by });
                debug_assert!(told.is_ok(), "numbers fit");
            }
        }
    }

    fn publish_scores(&mut self, arena: &Arena) {
        let mut gone: BTreeSet<PilotId> = self.scores.keys().copied().collect();
        for (id, pilot) in arena.pilots() {
            gone.remove(&id);
            // To ten milliseconds, so that a line does not change with every look; 0 is none.
            let millis = |ping: Duration| (ping.as_millis() / 10 * 10).max(1);
            let ping = pilot.ping().map_or(0, millis);
            let ping = u16::try_from(ping).unwrap_or(u16::MAX);
            let score = News::Score {
                owner: number(id.into()),
                name: pilot.name().to_owned(),
                kills: pilot.kills(),
                deaths: pilot.deaths(),
                ping,
            };
            if self.scores.get(&id) != Some(&score) {
                self.tell(To::All, &score);
                self.scores.insert(id, score);
            }
        }
        for id in gone {
            self.scores.remove(&id);
            let owner = number(id.into());
            self.tell(To::All, &News::Gone { owner });
        }
    }
}

fn name_of(arena: &Arena, pilot: PilotId) -> String {
    let pilot = arena.pilot(pilot);
    pilot.map_or_else(String::new, |pilot| pilot.name().to_owned())
}

impl ServerGateway for Gateway {
    fn tell_everybody(&mut self, text: &str) {
        let news = News::Said {
            name: "server".into(),
            text: text.into(),
        };
        self.tell(To::All, &news);
    }

    fn session(&mut self) -> &mut dyn Session {
        &mut self.server
    }

    fn figures(&self) -> &dyn Session {
        &self.server
    }

    fn has_pilot(&self, pilot: PilotId) -> bool {
        self.players.values().any(|player| player.pilot == pilot)
    }

    fn collect(&mut self, now: Instant, worlds: &mut Worlds, notices: &mut Vec<Notice>) {
        let arena = &mut worlds.arena;
        while let Some(event) = self.server.poll_event() {
            self.apply(now, event, arena, notices);
        }
        for (player, Player { pilot, .. }) in &self.players {
            let intent = self.server.input(*player).intent();
            arena.set_intent(*pilot, intent);
            arena.set_rewind(*pilot, self.server.rewind(*player));
            arena.set_ping(*pilot, self.server.round_trip(*player));
        }
    }

    fn publish(&mut self, now: Instant, worlds: &Worlds) {
        let arena = &worlds.arena;
        self.publish_things(arena);
        self.publish_events(arena);
        if arena.tick().0.is_multiple_of(SCORE_STEPS) {
            self.publish_scores(arena);
        }
        self.server.end_tick(now);
    }
}
