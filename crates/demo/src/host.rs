//! The arena with its bots, open to any number of protocols: all of a server but its sockets.
//!
//! Whoever has sockets, or a simulated network, drives the gateways' sessions and calls
//! [`Host::step`] sixty times a second.

use std::time::Duration;

use tickwire_session::{Instant, Session};

use crate::gateway::{Notice, ServerGateway};
use crate::{Arena, Bot, Event, PilotId};

/// Between two steps.
pub const STEP: Duration = Duration::from_nanos(16_666_667);

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

/// One world, its bots and its gateways.
pub struct Host {
    arena: Arena,
    bots: Vec<(PilotId, Bot)>,
    gateways: Vec<Box<dyn ServerGateway>>,
}

impl Host {
    /// A world that follows from `seed`, with so many bots; fewer, if it does not hold as many.
    pub fn new(seed: u64, bots: usize) -> Self {
        let mut arena = Arena::new(seed);
        let mut crew = Vec::new();
        for number in 0..bots {
            let Ok(pilot) = arena.join(&bot_name(number)) else {
                break;
            };
            let bot = Bot::new(seed.wrapping_add(number as u64));
            arena.select(pilot, bot.loadout());
            crew.push((pilot, bot));
        }
        Self {
            arena,
            bots: crew,
            gateways: Vec::new(),
        }
    }

    /// Opens the world to one more protocol.
    pub fn open(&mut self, gateway: Box<dyn ServerGateway>) {
        self.gateways.push(gateway);
    }

    /// The world.
    pub const fn arena(&self) -> &Arena {
        &self.arena
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

    /// Advances the world by a sixtieth of a second.
    pub fn step(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        for gateway in &mut self.gateways {
            gateway.collect(now, &mut self.arena, notices);
        }
        self.think();
        self.arena.step();
        notices.extend(
            self.arena
                .events()
                .iter()
                .filter_map(|event| self.notice(event)),
        );
        for gateway in &mut self.gateways {
            gateway.publish(now, &self.arena);
        }
    }

    /// Tells everybody that it is over.
    pub fn shut_down(&mut self, now: Instant) {
        for gateway in &mut self.gateways {
            gateway.shut_down(now);
        }
    }

    /// Whether everybody was told.
    pub fn is_finished(&self) -> bool {
        self.gateways.iter().all(|gateway| gateway.is_finished())
    }

    fn think(&mut self) {
        if self.bots.is_empty() {
            return;
        }
        let mut view = self.arena.view();
        for (pilot, bot) in &mut self.bots {
            view.set_viewer(Some((*pilot).into()));
            self.arena.set_intent(*pilot, bot.think(&view));
        }
    }

    fn notice(&self, event: &Event) -> Option<Notice> {
        let name = |pilot| self.arena.pilot(pilot).map(|pilot| pilot.name().to_owned());
        match *event {
            Event::Killed { victim, by, .. } => Some(Notice::Killed {
                victim: name(victim)?,
                by: by.and_then(name),
            }),
            _ => None,
        }
    }
}

impl core::fmt::Debug for Host {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Host")
            .field("tick", &self.arena.tick())
            .field("bots", &self.bots.len())
            .field("gateways", &self.gateways.len())
            .finish()
    }
}

fn bot_name(number: usize) -> String {
    let name = NAMES[number % NAMES.len()];
    match number / NAMES.len() {
        0 => name.to_owned(),
        again => format!("{name}-{}", again + 1),
    }
}
