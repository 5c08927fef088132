//! The arena with its bots and the tile world, open to any number of protocols: all of a server but
//! its sockets.
//!
//! Whoever has sockets, or a simulated network, drives the gateways' sessions and calls
//! [`GameServer::step`] sixty times a second.

use std::time::Duration;

use tickwire_session::{Instant, Session};

use crate::gateway::{LoadError, Notice, Opening, Protocol, ServerGateway, Settings};
use crate::tiles::{Storage, StoreError, TileWorld};
use crate::{Arena, Bot, Event, PilotId, Skill, Worlds};

/// Between two steps.
pub const STEP: Duration = Duration::from_nanos(16_666_667);

/// Steps of the arena between two of the tile world, which has 20 a second.
const TILE_STEPS: u64 = 3;

/// What the bots are called, in this order; beyond these they have numbers too.
const NAMES: [&str; 12] = [
    "Vega",
    "Rigel",
    "Deneb",
    "Altair",
    "Mira",
    "Castor",
    "Spica",
    "Antares",
    "Capella",
    "Pollux",
    "Sirius",
    "Bellatrix",
];

/// The worlds, their bots and their gateways.
pub struct GameServer {
    worlds: Worlds,
    bots: Vec<(PilotId, Bot)>,
    gateways: Vec<Box<dyn ServerGateway>>,
    /// Whether the disk took the tile world's edits when it was last asked.
    stores: bool,
}

impl GameServer {
    /// Worlds that follow from `seed`, with so many bots in the arena; fewer, if it does not hold as
    /// many.
    pub fn new(seed: u64, bots: usize) -> Self {
        Self::with_skill(seed, bots, Skill::Normal)
    }

    /// The same with bots that are this good.
    pub fn with_skill(seed: u64, bots: usize, skill: Skill) -> Self {
        let mut worlds = Worlds::new(seed);
        let arena = &mut worlds.arena;
        let mut crew = Vec::new();
        for number in 0..bots {
            let Ok(pilot) = arena.join(&bot_name(number)) else {
                break;
            };
            let bot = Bot::with_skill(seed.wrapping_add(number as u64), skill);
            arena.select(pilot, bot.loadout());
            crew.push((pilot, bot));
        }
        Self {
            worlds,
            bots: crew,
            gateways: Vec::new(),
            stores: true,
        }
    }

    /// Puts a tile world in place of the one in memory that there would be.
    pub fn set_tiles(&mut self, tiles: TileWorld) {
        self.worlds.set_tiles(tiles);
    }

    /// Opens the worlds to one more protocol.
    pub fn open(&mut self, gateway: Box<dyn ServerGateway>) {
        self.gateways.push(gateway);
    }

    /// Opens the worlds to one more protocol. The secret keeps its tokens from being guessed.
    pub fn serve(
        &mut self,
        protocol: &Protocol,
        now: Instant,
        secret: [u8; 32],
        settings: &Settings,
    ) {
        let gateway = (protocol.serve)(&Opening {
            now,
            secret,
            worlds: &self.worlds,
            settings,
        });
        self.open(gateway);
    }

    /// The arena.
    pub const fn arena(&self) -> &Arena {
        &self.worlds.arena
    }

    /// The arena, for tests to arrange things in.
    #[cfg(test)]
    pub(crate) const fn arena_mut(&mut self) -> &mut Arena {
        &mut self.worlds.arena
    }

    /// The tile world, if a gateway to it is open.
    pub const fn tiles(&self) -> Option<&TileWorld> {
        self.worlds.tiles()
    }

    /// The gateways, in the order they were opened.
    pub fn gateways(&self) -> impl Iterator<Item = &dyn ServerGateway> {
        self.gateways.iter().map(|gateway| &**gateway)
    }

    /// The sessions to be driven, in the order their gateways were opened.
    pub fn sessions(&mut self) -> Vec<&mut dyn Session> {
        self.gateways
            .iter_mut()
            .map(|gateway| gateway.session())
            .collect()
    }

    /// Advances the worlds by a sixtieth of a second.
    pub fn step(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        for gateway in &mut self.gateways {
            gateway.collect(now, &mut self.worlds, notices);
        }
        self.think();
        self.worlds.arena.step();
        if self.arena().tick().0.is_multiple_of(TILE_STEPS) {
            self.worlds.step_tiles();
            notices.extend(self.watch_storage());
        }
        notices.extend(
            self.arena()
                .events()
                .iter()
                .filter_map(|event| self.notice(event)),
        );
        for gateway in &mut self.gateways {
            gateway.publish(now, &self.worlds);
        }
    }

    /// The arena as a savegame, if a protocol that has any is open.
    pub fn save(&self) -> Option<Vec<u8>> {
        self.gateways.iter().find_map(|gateway| gateway.save())
    }

    /// Takes up a savegame, before the first step.
    pub fn load(&mut self, save: &[u8]) -> Result<(), LoadError> {
        let keeper = |gateway: &&mut Box<dyn ServerGateway>| gateway.save().is_some();
        match self.gateways.iter_mut().find(keeper) {
            Some(gateway) => gateway.load(save, &mut self.worlds),
            None => Err(LoadError::NoSavegames),
        }
    }

    /// Whether steps take longer than they may: then nobody new is let in.
    pub fn set_busy(&mut self, is_busy: bool) {
        for gateway in &mut self.gateways {
            gateway.session().set_busy(is_busy);
        }
    }

    /// Says something to everybody whose protocol has a way to say it.
    pub fn tell_everybody(&mut self, text: &str) {
        for gateway in &mut self.gateways {
            gateway.tell_everybody(text);
        }
    }

    /// How many peers the sessions have, also those that have not joined yet.
    pub fn peers(&self) -> usize {
        let mut peers = 0;
        for gateway in &self.gateways {
            gateway.figures().visit_peers(&mut |_| peers += 1);
        }
        peers
    }

    /// Tells everybody that it is over.
    pub fn shut_down(&mut self, now: Instant) {
        for gateway in &mut self.gateways {
            gateway.shut_down(now);
        }
    }

    /// Whether everybody was told.
    pub fn is_finished(&self) -> bool {
        self.gateways
            .iter()
            .all(|gateway| gateway.figures().is_finished())
    }

    /// Stores what was built in the tile world, and ends it. Whoever acts in it now acts in another.
    pub fn close_tiles(&mut self) -> Result<(), StoreError> {
        self.worlds.take_tiles().map_or(Ok(()), TileWorld::close)
    }

    fn think(&mut self) {
        if self.bots.is_empty() {
            return;
        }
        let arena = &mut self.worlds.arena;
        let mut view = arena.view();
        for (pilot, bot) in &mut self.bots {
            view.set_viewer(Some((*pilot).into()));
            arena.set_intent(*pilot, bot.think(&view));
        }
    }

    /// Says when the disk no longer takes what is built, and when it does again.
    fn watch_storage(&mut self) -> Option<Notice> {
        let stores = match self.tiles()?.storage() {
            Storage::Failing(why) if self.stores => Err(why),
            Storage::Failing(_) => return None,
            // Whether it works shows when something is stored.
            Storage::Saving => return None,
            Storage::Saved | Storage::MemoryOnly if self.stores => return None,
            Storage::Saved | Storage::MemoryOnly => Ok(()),
        };
        self.stores = stores.is_ok();
        Some(Notice::Storage { stores })
    }

    fn notice(&self, event: &Event) -> Option<Notice> {
        let name = |pilot| {
            self.arena()
                .pilot(pilot)
                .map(|pilot| pilot.name().to_owned())
        };
        match *event {
            Event::Killed { victim, by, .. } => Some(Notice::Killed {
                victim: name(victim)?,
                by: by.and_then(name),
            }),
            _ => None,
        }
    }
}

impl core::fmt::Debug for GameServer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("GameServer")
            .field("tick", &self.arena().tick())
            .field("bots", &self.bots.len())
            .field("gateways", &self.gateways.len())
            .finish()
    }
}

/// What the bot of this number is called.
pub fn bot_name(number: usize) -> String {
    let name = NAMES[number % NAMES.len()];
    match number / NAMES.len() {
        0 => name.to_owned(),
        again => format!("{name}-{}", again + 1),
    }
}
