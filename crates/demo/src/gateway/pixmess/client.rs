//! The client's half: a pixmess client's chunks and entities as a walker sees them.
//!
//! It holds the chunks around the player and the train's while it is near, and lets the others go.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::pixmess::limits::CHUNKS_HELD;
use tickwire_dialects::pixmess::{
    ChunkId, ChunkXy, Client, ClientConfig, ClientEvent, EndReason, Phase, PlayerId, SetId, Version,
};
use tickwire_session::{Addr, Events, Instant, Session};

use crate::gateway::{ClientGateway, Ending, Notice, Resident, Status, TileClient};
use crate::tiles::{Block, BlockId, Cell, Direction, Look, Sublayer, Tile};

/// Chunks that are held on each side of the player's own: the view reaches 64 cells at least.
const REACH: i32 = 1;

/// Chunks further away than this are let go. One more than is asked for, so that walking to and fro
/// over a border loads nothing twice.
const KEPT: u32 = 2;

/// How far away the train is worth looking at, in chunks.
const TRAIN_REACH: u32 = 2;

/// How far a spectator may look away from the plaza, in chunks: further away, a server releases what is
/// asked for.
const CAMERA_REACH: u32 = 14;

/// How long a request may take before it is repeated, and how soon one that was refused is.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Gateway {
    client: Client,
    /// Chunks that were asked for and have not come, and when that was.
    asked: BTreeMap<ChunkId, Instant>,
    was_in: bool,
    /// Where a spectator looks; it stands nowhere.
    camera: Option<Cell>,
}

impl Gateway {
    /// A client that begins to connect; an error says what is wrong with the name.
    pub(super) fn new(now: Instant, server: Addr, name: &str, look: Look) -> Result<Self, String> {
        let config = ClientConfig::new(server, Version::Two, name);
        let mut config = config.map_err(|why| why.to_string())?;
        config.look = look;
        Ok(Self {
            client: Client::new(now, config),
            asked: BTreeMap::new(),
            was_in: false,
            // The server has spectators look at the plaza.
            camera: name.is_empty().then_some(Cell::default()),
        })
    }

    /// Asks for what should be seen, and lets go what is far away.
    fn look_around(&mut self, now: Instant) {
        let Some(at) = self.position() else {
            return;
        };
        for chunk in self.wanted(at) {
            let waits = |since: &Instant| now.since(*since) < PATIENCE;
            if self.client.chunk(chunk).is_none()
                && !self.asked.get(&chunk).is_some_and(waits)
                && self.client.request(now, chunk).is_ok()
            {
                self.asked.insert(chunk, now);
            }
        }
        let far: Vec<ChunkId> = self
            .client
            .chunks()
            .map(|(chunk, _)| chunk)
            .filter(|chunk| self.distance(*chunk, at) > Some(KEPT))
            .collect();
        for chunk in far {
            // It is asked for again in the next turn if this one has no room for it.
            if self.client.release(chunk).is_err() {
                return;
            }
        }
        self.asked.retain(|_, since| now.since(*since) < PATIENCE);
    }

    /// The chunks around a cell, the nearest first, and the sets that are near.
    fn wanted(&self, at: Cell) -> Vec<ChunkId> {
        let home = at.chunk();
        let sides = || -REACH..=REACH;
        let around = sides().flat_map(|y| sides().map(move |x| (x, y)));
        let mut wanted: Vec<ChunkId> = around
            .map(|(x, y)| ChunkXy {
                x: home.x.saturating_add(x),
                y: home.y.saturating_add(y),
            })
            .filter(|chunk| chunk.exists())
            .map(ChunkId::root)
            .collect();
        wanted.sort_by_key(|chunk| chunk.at.distance(home));
        let sets = self.client.sets();
        let near = sets.filter(|(_, corner)| corner.chunk().distance(home) <= TRAIN_REACH);
        wanted.extend(near.map(|(set, _)| ChunkId {
            set,
            at: ChunkXy::default(),
        }));
        // More cannot be held, however many trains a server has.
        wanted.truncate(CHUNKS_HELD);
        wanted
    }

    /// How many chunks lie between a chunk and a cell of the root; `None` if its set is gone.
    fn distance(&self, chunk: ChunkId, from: Cell) -> Option<u32> {
        if chunk.set == SetId::ROOT {
            return Some(chunk.at.distance(from.chunk()));
        }
        let corner = self.client.corner(chunk.set)?;
        Some(corner.chunk().distance(from.chunk()))
    }

    fn root_tile(&self, at: Cell) -> Option<Tile> {
        self.tile_of(SetId::ROOT, at)
    }

    fn tile_of(&self, set: SetId, cell: Cell) -> Option<Tile> {
        let seen = |sublayer| {
            let id = BlockId {
                set,
                cell,
                sublayer,
            };
            self.client.block(id)
        };
        Some(Tile {
            walkable: seen(Sublayer::Walkable)?,
            solid: seen(Sublayer::Solid)?,
        })
    }

    /// The set with a floor above a cell of the ground, and the cell of it that is there. Only those
    /// are looked at of which something is held.
    fn set_above(&self, ground: Cell) -> Option<(SetId, Cell, Tile)> {
        let held = self.client.chunks().map(|(chunk, _)| chunk.set);
        held.filter(|set| *set != SetId::ROOT).find_map(|set| {
            let corner = self.client.corner(set)?;
            let local = Cell {
                x: ground.x.checked_sub(corner.x)?,
                y: ground.y.checked_sub(corner.y)?,
            };
            let tile = self.tile_of(set, local)?;
            (!tile.walkable.is_empty()).then_some((set, local, tile))
        })
    }
}

impl ClientGateway for Gateway {
    fn session(&mut self) -> &mut dyn Session {
        &mut self.client
    }

    fn figures(&self) -> &dyn Session {
        &self.client
    }

    fn collect(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::LoggedIn(_) => self.was_in = true,
                ClientEvent::ChunkLoaded(chunk) => {
                    self.asked.remove(&chunk);
                }
                ClientEvent::PlayerIdTold(player) => {
                    let text = format!("you are player {}", player.0);
                    notices.push(Notice::Answered { text });
                }
                ClientEvent::Chatted(text) => notices.push(Notice::Answered { text }),
                _ => {}
            }
        }
        self.look_around(now);
    }

    fn status(&self) -> Status {
        match self.client.phase() {
            Phase::Dialling | Phase::LoggingIn => Status::Connecting,
            Phase::Playing | Phase::Leaving => Status::Playing,
            Phase::Ended(why) => Status::Ended(match why {
                EndReason::Unreachable => Ending::Unreachable,
                // The reason is among the last words.
                EndReason::Kicked(_) if !self.was_in => Ending::Refused,
                EndReason::Kicked(_) => Ending::Removed,
                EndReason::Broken => Ending::garbled(self.was_in),
                EndReason::Quit => Ending::Left,
                _ => Ending::broken_off(self.was_in),
            }),
        }
    }

    fn last_words(&self) -> Option<String> {
        match self.client.phase() {
            Phase::Ended(EndReason::Kicked(why)) => Some(crate::printable(why)),
            _ => None,
        }
    }

    fn chat(&mut self, now: Instant, text: &str) -> Result<(), String> {
        let said = self.client.chat(now, text);
        said.map_err(|error| error.to_string())
    }

    fn disconnect(&mut self, now: Instant) {
        self.client.quit(now, "bye");
    }
}

impl TileClient for Gateway {
    fn position(&self) -> Option<Cell> {
        let is_in = *self.client.phase() == Phase::Playing;
        let camera = self.camera.filter(|_| is_in);
        self.client.position().or(camera)
    }

    fn is_spectator(&self) -> bool {
        self.camera.is_some()
    }

    fn tile(&self, cell: Cell) -> Option<Tile> {
        let above = self.set_above(cell).map(|(_, _, tile)| tile);
        above.or_else(|| self.root_tile(cell))
    }

    fn block_at(&self, cell: Cell, sublayer: Sublayer) -> BlockId {
        match self.set_above(cell) {
            Some((set, cell, _)) => BlockId {
                set,
                cell,
                sublayer,
            },
            None => BlockId::root(cell, sublayer),
        }
    }

    fn others(&self) -> Vec<Resident<'_>> {
        let own = self.client.player().map(PlayerId::entity);
        let others = self.client.entities().filter(|(id, _)| Some(*id) != own);
        others
            .map(|(_, entity)| Resident {
                name: &entity.name,
                look: entity.look,
                position: entity.at,
            })
            .collect()
    }

    fn walk(&mut self, now: Instant, direction: Direction) -> Result<(), String> {
        if let Some(camera) = &mut self.camera {
            let to = camera.step(direction);
            let to = to.filter(|to| to.chunk().distance(ChunkXy::default()) <= CAMERA_REACH);
            *camera = to.ok_or("a spectator sees no further")?;
            return Ok(());
        }
        self.client
            .walk(now, direction)
            .map_err(|error| error.to_string())
    }

    fn identify(&mut self) -> Result<(), String> {
        let asked = self.client.ask_player_id();
        asked.map_err(|error| error.to_string())
    }

    fn ignore_nearest(&mut self) -> Result<String, String> {
        let at = self.position().ok_or("you are nowhere")?;
        let own = self.client.player().map(PlayerId::entity);
        let others = self.client.entities().filter(|(id, _)| Some(*id) != own);
        let (id, nearest) = others
            .min_by_key(|(_, other)| other.at.distance(at))
            .ok_or("nobody is there")?;
        let name = nearest.name.clone();
        let ignored = self.client.ignore(id);
        ignored.map(|()| name).map_err(|error| error.to_string())
    }

    fn build(&mut self, now: Instant, at: BlockId, block: Block) -> Result<(), String> {
        self.client
            .edit(now, at, block)
            .map_err(|error| error.to_string())
    }
}
