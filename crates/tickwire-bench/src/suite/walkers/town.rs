//! The server: the tile world behind its pixmess gateway, sixty turns a second, as `serve` has it.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tickwire_demo::gateway::{Opening, Protocol, ServerGateway, Settings};
use tickwire_demo::tiles::{Cell, Entity, EntityId, Event, Motion};
use tickwire_demo::{STEP, Worlds};
use tickwire_net::{Carries, Driver, NodeId};
use tickwire_session::Instant;

use super::super::ANY_PORT;
use super::super::clock::timed;
use super::{Case, SPAN, SPANS, Signals};

/// How long everybody has to arrive, and then to settle.
const PATIENCE: Duration = Duration::from_secs(60);

/// Turns between two steps of the tile world.
const TILE_STEPS: u32 = 3;

/// Processor time of one span, by what it was spent on.
#[derive(Clone, Debug, Default)]
pub(super) struct Costs {
    /// Within the driver: the sessions, the driver itself, the kernel.
    pub(super) carrying: Duration,
    /// What each turn of the game and its gateway took.
    steps: Vec<Duration>,
    /// The same for each sixtieth of a second that passed since the turn before.
    paces: Vec<f64>,
    /// Steps that walkers took.
    pub(super) walked: u64,
}

impl Costs {
    pub(super) fn stepping(&self) -> Duration {
        self.steps.iter().sum()
    }

    pub(super) fn total(&self) -> Duration {
        self.carrying + self.stepping()
    }

    pub(super) fn paces(&self) -> &[f64] {
        &self.paces
    }
}

pub(super) struct Town {
    case: Case,
    driver: Driver,
    node: NodeId,
    worlds: Worlds,
    gateway: Box<dyn ServerGateway>,
    next_step: Instant,
    last_step: Instant,
    steps: u32,
}

impl Town {
    pub(super) fn new(case: Case) -> anyhow::Result<Self> {
        let protocol = Protocol::named("pixmess").context("the tile world speaks pixmess")?;
        let mut driver = Driver::new()?;
        let node = driver.bind(ANY_PORT, Carries::Streams)?;
        let now = driver.now();
        let worlds = Worlds::new(1);
        Ok(Self {
            case,
            driver,
            node,
            gateway: (protocol.serve)(&Opening {
                now,
                secret: [0; 32],
                worlds: &worlds,
                settings: &Settings::default(),
            }),
            worlds,
            next_step: now,
            last_step: now,
            steps: 0,
        })
    }

    pub(super) fn addr(&self) -> Option<SocketAddr> {
        self.driver.local_addr(self.node)
    }

    /// Lets everybody in and home, then measures.
    pub(super) fn measure(&mut self, signals: &Signals) -> anyhow::Result<Vec<Costs>> {
        let deadline = self.driver.now() + PATIENCE;
        while self.players().len() < usize::from(self.case.walkers) {
            ensure!(self.driver.now() < deadline, "not everybody came");
            self.turn(&mut Costs::default())?;
        }
        self.settle()?;
        let deadline = self.driver.now() + PATIENCE;
        while !signals.settled.load(Ordering::Relaxed) {
            ensure!(self.driver.now() < deadline, "not everybody got home");
            ensure!(!signals.over.load(Ordering::Relaxed), "the walkers failed");
            self.turn(&mut Costs::default())?;
        }
        (0..SPANS).map(|_| self.span()).collect()
    }

    fn span(&mut self) -> anyhow::Result<Costs> {
        let mut costs = Costs::default();
        for _ in 0..SPAN {
            self.turn(&mut costs)?;
        }
        Ok(costs)
    }

    fn turn(&mut self, costs: &mut Costs) -> anyhow::Result<()> {
        let (driver, gateway) = (&mut self.driver, &mut self.gateway);
        let until = self.next_step;
        let (carrying, turned) = timed(|| driver.run_until(until, &mut [gateway.session()]));
        turned?;
        let now = self.driver.now();
        let (stepping, ()) = timed(|| self.step(now));
        costs.carrying += carrying;
        costs.steps.push(stepping);
        // A turn that a busy machine held up has the work of several.
        let turns = now.since(self.last_step).as_secs_f64() / STEP.as_secs_f64();
        self.last_step = now;
        costs.paces.push(stepping.as_secs_f64() / turns.max(1.0));
        costs.walked += self.count_walked();
        // After a pause there is no catching up.
        self.next_step = (self.next_step + STEP).max(now);
        Ok(())
    }

    fn step(&mut self, now: Instant) {
        self.gateway.collect(now, &mut self.worlds, &mut Vec::new());
        self.steps += 1;
        if self.steps.is_multiple_of(TILE_STEPS) {
            self.worlds.tiles_mut().step();
        }
        self.gateway.publish(now, &self.worlds);
    }

    /// The steps of players that the last turn has made a part of the world's, if it did.
    fn count_walked(&self) -> u64 {
        let Some(tiles) = self.worlds.tiles() else {
            return 0;
        };
        if !self.steps.is_multiple_of(TILE_STEPS) {
            return 0;
        }
        let walked = tiles.events().iter().filter(|event| match event {
            Event::EntityMoved {
                entity,
                how: Motion::Walked(_),
                ..
            } => tiles.entity(*entity).is_some_and(Entity::is_player),
            _ => false,
        });
        walked.count() as u64
    }

    fn players(&self) -> Vec<EntityId> {
        let tiles = self.worlds.tiles();
        let players = tiles.into_iter().flat_map(|tiles| tiles.players());
        players.map(|(player, _)| player).collect()
    }

    /// Takes everybody home: to the crossings of a grid, or where there is ground near them.
    fn settle(&mut self) -> anyhow::Result<()> {
        let Some(spacing) = self.case.spacing else {
            return Ok(());
        };
        let side = i32::from(self.case.walkers).isqrt() + 1;
        let mut homes = (0..).map(|place: i32| {
            let (row, column) = (place / side, place % side);
            let from_middle = |at: i32| (at - side / 2) * spacing;
            Cell {
                x: from_middle(column),
                y: from_middle(row),
            }
        });
        for player in self.players() {
            let tiles = self.worlds.tiles_mut();
            let home = homes.by_ref().take(4 * usize::from(self.case.walkers));
            let home = { home }.find(|&home| tiles.teleport(player, home).is_ok());
            home.context("there is ground somewhere")?;
        }
        Ok(())
    }
}
