//! The server's half: pixmess players walk the tile world.
//!
//! The session asks, the world decides, and the session is answered before it asks again; so a client's
//! wishes take effect in their order. Whatever else came of a wish, such as a block that was pushed, is
//! told before the next one is looked at: a client never hears of two changes in the wrong order.

use std::collections::BTreeMap;

use tickwire_dialects::pixmess;
use tickwire_dialects::pixmess::{PlayerId, Server, ServerConfig, ServerEvent};
use tickwire_session::{Events, Instant, Session};

use super::layers::Layers;
use crate::gateway::{Notice, ServerGateway};
use crate::tiles::{
    Block, BlockId, Cause, Cell, Direction, EntityId, Event, JoinRefusal, Look, Motion, SetId,
    TileWorld, limits,
};
use crate::{Tick, Worlds};

pub(super) struct Gateway {
    server: Server,
    players: BTreeMap<PlayerId, Player>,
    /// Everybody in the world, and what they are here.
    entities: BTreeMap<EntityId, pixmess::EntityId>,
    /// Whether the world was seen.
    is_set_up: bool,
    layers: Layers,
    /// The step of which everything was told.
    tick: Tick,
    /// How much was told of what happened since.
    told: usize,
}

/// Somebody whom the session has let in.
struct Player {
    name: String,
    /// A spectator has none.
    entity: Option<EntityId>,
}

/// What the session tells by itself when it is answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Answered {
    Nothing,
    Step(EntityId),
    Edit(EntityId, BlockId),
}

impl Gateway {
    pub(super) fn new() -> Self {
        let config = ServerConfig {
            players: limits::PLAYERS.into(),
        };
        Self {
            server: Server::new(config),
            players: BTreeMap::new(),
            entities: BTreeMap::new(),
            is_set_up: false,
            layers: Layers::default(),
            tick: Tick(0),
            told: 0,
        }
    }

    /// Shows the session what is in the world before anybody comes.
    fn set_up(&mut self, tiles: &TileWorld) {
        if core::mem::replace(&mut self.is_set_up, true) {
            return;
        }
        if !tiles.train().is_away() {
            self.show_train(tiles.train().origin());
        }
        for (id, _) in tiles.entities() {
            self.show_entity(tiles, id);
        }
        self.tick = tiles.tick();
        self.told = tiles.events_since_step().len();
    }

    fn show_train(&mut self, at: Cell) {
        // The only set of a session always has a place, and the train's number.
        let set = self.server.create_set(at);
        debug_assert_eq!(set, Ok(SetId(1)));
    }

    fn show_entity(&mut self, tiles: &TileWorld, id: EntityId) {
        let Some(entity) = tiles.entity(id) else {
            return;
        };
        let at = entity.position();
        // There are fewer in the world than the session can name.
        if let Ok(shown) = self.server.create_entity(at, entity.look(), entity.name()) {
            self.entities.insert(id, shown);
        }
    }

    fn apply(
        &mut self,
        now: Instant,
        event: ServerEvent,
        tiles: &mut TileWorld,
        notices: &mut Vec<Notice>,
    ) {
        match event {
            ServerEvent::LoginAsked { player, name, look } => {
                self.admit(now, tiles, player, (name, look), notices)
            }
            ServerEvent::MoveAsked {
                player, direction, ..
            } => self.walk(now, tiles, player, direction),
            ServerEvent::EditAsked { player, id, block } => {
                self.edit(now, tiles, player, id, block);
            }
            ServerEvent::BlockAsked { player, id } => {
                let truth = tiles.block(id).unwrap_or_default();
                self.server.tell_block(now, player, truth);
            }
            ServerEvent::ChunkAsked { player, chunk } => match tiles.chunk(chunk) {
                Some(content) => {
                    let layer = self.layers.layer(chunk, content);
                    self.server.provide_chunk(now, player, layer);
                }
                None => self.server.refuse_chunk(now, player),
            },
            ServerEvent::Chatted { player, text } => {
                let name = self.players.get(&player).map(|player| player.name.clone());
                notices.extend(name.map(|name| Notice::Said { name, text }));
            }
            ServerEvent::Left { player, why } => {
                let Some(Player { name, entity }) = self.players.remove(&player) else {
                    return;
                };
                if let Some(entity) = entity {
                    // The session has taken it out already.
                    self.entities.remove(&entity);
                    tiles.leave(entity);
                    let why = why.to_string();
                    notices.push(Notice::Left { name, why });
                }
            }
            _ => {}
        }
    }

    fn admit(
        &mut self,
        now: Instant,
        tiles: &mut TileWorld,
        player: PlayerId,
        (name, look): (String, Look),
        notices: &mut Vec<Notice>,
    ) {
        if name.is_empty() {
            // A spectator looks at the plaza, where everybody comes from.
            self.server.admit(now, player, Cell::default());
            let entity = None;
            self.players.insert(player, Player { name, entity });
            return;
        }
        match tiles.join(&name, look) {
            Ok(entity) => {
                self.entities.insert(entity, player.entity());
                // Whatever had to be cleared for the newcomer is cleared when it comes.
                self.tell_news(tiles, Answered::Nothing);
                let at = tiles.entity(entity).map(crate::tiles::Entity::position);
                self.server.admit(now, player, at.unwrap_or_default());
                notices.push(Notice::Joined { name: name.clone() });
                let entity = Some(entity);
                self.players.insert(player, Player { name, entity });
            }
            Err(why) => {
                let text = match why {
                    JoinRefusal::Crowded => "Server is full!",
                    JoinRefusal::Busy => "Server is busy: try again in a moment!",
                };
                self.server.kick(now, player, text);
            }
        }
    }

    fn walk(&mut self, now: Instant, tiles: &mut TileWorld, player: PlayerId, way: Direction) {
        let entity = self.entity_of(player);
        match entity.map(|entity| tiles.walk(entity, way)) {
            Some(Ok(_)) => {
                // What was pushed first, so that nobody is seen to stand in it.
                let step = entity.map_or(Answered::Nothing, Answered::Step);
                self.tell_news(tiles, step);
                self.server.allow_move(now, player);
            }
            Some(Err(_)) | None => self.server.refuse_move(now, player),
        }
    }

    fn edit(
        &mut self,
        now: Instant,
        tiles: &mut TileWorld,
        player: PlayerId,
        at: BlockId,
        wanted: Block,
    ) {
        let entity = self.entity_of(player);
        let done = entity.is_some_and(|entity| tiles.set_block(entity, at, wanted).is_ok());
        let truth = tiles.block(at).unwrap_or_default();
        let Some(entity) = entity.filter(|_| done) else {
            self.server.tell_block(now, player, truth);
            return;
        };
        self.tell_news(tiles, Answered::Edit(entity, at));
        self.server.allow_edit(now, player);
        // Of nothing, the world keeps neither colour nor character.
        if truth != wanted {
            self.server.set_block(at, truth);
        }
    }

    fn entity_of(&self, player: PlayerId) -> Option<EntityId> {
        self.players.get(&player)?.entity
    }

    /// Tells what has happened since the last call, but for what an answer will tell.
    fn tell_news(&mut self, tiles: &TileWorld, answered: Answered) {
        if tiles.tick() != self.tick {
            // What was not told before the step stands at its beginning.
            let first = core::mem::take(&mut self.told);
            self.tick = tiles.tick();
            for event in tiles.events().iter().skip(first) {
                self.tell(tiles, event, answered);
            }
        }
        for event in tiles.events_since_step().iter().skip(self.told) {
            self.tell(tiles, event, answered);
        }
        self.told = tiles.events_since_step().len();
    }

    fn tell(&mut self, tiles: &TileWorld, event: &Event, answered: Answered) {
        match *event {
            Event::BlockChanged { at, block, cause } => {
                let by_answer = |who| Answered::Edit(who, at) == answered;
                if !matches!(cause, Cause::Built(who) if by_answer(who)) {
                    self.server.set_block(at, block);
                }
            }
            Event::EntityCreated { entity, .. } => {
                if !self.entities.contains_key(&entity) {
                    self.show_entity(tiles, entity);
                }
            }
            Event::EntityMoved { entity, to, how } => match (how, self.entities.get(&entity)) {
                (Motion::Walked(_), Some(_)) if answered == Answered::Step(entity) => {}
                (Motion::Walked(way), Some(&shown)) => {
                    self.server.move_entity(shown, way);
                }
                // Its own client did not ask for it, and has to be told.
                (_, Some(&shown)) => self.server.place_entity(shown, to),
                (_, None) => {}
            },
            Event::EntityRemoved { entity, .. } => {
                if let Some(shown) = self.entities.remove(&entity) {
                    self.server.destroy_entity(shown);
                }
            }
            Event::TrainMoved { set, to } => self.server.move_set(set, to),
            Event::TrainLeft { set } => self.server.remove_set(set),
            Event::TrainCame { at, .. } => self.show_train(at),
        }
    }
}

/// What clients want that is decided in one step; the rest waits for the next one. Each has one wish at a
/// time in the queue, so those of one who wants much come after those of everybody else.
///
/// Four thousand who walk want 1,333 things in a sixtieth of a second. Deciding one takes a microsecond
/// or two.
const WISHES_A_STEP: usize = 2_048;

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

    fn collect(&mut self, now: Instant, worlds: &mut Worlds, notices: &mut Vec<Notice>) {
        let tiles = worlds.tiles_mut();
        self.set_up(tiles);
        for _ in 0..WISHES_A_STEP {
            let Some(event) = self.server.poll_event() else {
                break;
            };
            self.apply(now, event, tiles, notices);
        }
    }

    fn publish(&mut self, _now: Instant, worlds: &Worlds) {
        if let Some(tiles) = worlds.tiles() {
            self.tell_news(tiles, Answered::Nothing);
        }
    }
}
