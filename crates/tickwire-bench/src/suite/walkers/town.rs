//! The server: the tile world behind its pixmess gateway, and the arena behind its lwar gateway, sixty
//! turns a second, as `serve` has it.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tickwire_demo::gateway::{Opening, Protocol, ServerGateway, Settings};
use tickwire_demo::tiles::{Cell, Entity, EntityId, Event, Motion};
use tickwire_demo::{Pace, STEP, Worlds};
use tickwire_net::{Carries, Driver, NodeId};
use tickwire_session::{Instant, Session};

use super::{Case, SPAN, SPANS, Signals};
use crate::suite::ANY_PORT;
use crate::suite::clock::timed;

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
    /// By the clock on the wall.
    pub(super) lasted: Duration,
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
    worlds: Worlds,
    /// pixmess, lwar.
    nodes: [NodeId; 2],
    gateways: [Box<dyn ServerGateway>; 2],
    pace: Pace,
    last_step: Instant,
    steps: u32,
}

impl Town {
    pub(super) fn new(case: Case) -> anyhow::Result<Self> {
        let mut driver = Driver::new()?;
        let now = driver.now();
        let worlds = Worlds::new(1);
        let mut serve = |name, carries| {
            let protocol = Protocol::named(name).context("both worlds are served")?;
            let node = driver.bind(ANY_PORT, carries)?;
            let gateway = (protocol.serve)(&Opening {
                now,
                secret: [0; 32],
                worlds: &worlds,
                settings: &Settings::default(),
            });
            anyhow::Ok((node, gateway))
        };
        let (pixmess, tiles) = serve("pixmess", Carries::Streams)?;
        let (lwar, arena) = serve("lwar", Carries::Datagrams)?;
        Ok(Self {
            case,
            driver,
            worlds,
            nodes: [pixmess, lwar],
            gateways: [tiles, arena],
            pace: Pace::new(now),
            last_step: now,
            steps: 0,
        })
    }

    /// Where pixmess and lwar clients are expected.
    pub(super) fn addrs(&self) -> [Option<SocketAddr>; 2] {
        self.nodes.map(|node| self.driver.local_addr(node))
    }

    /// Goes on for a while without walkers.
    pub(super) fn idle(&mut self, span: Duration) -> anyhow::Result<()> {
        let until = self.driver.now() + span;
        while self.driver.now() < until {
            self.turn(&mut Costs::default())?;
        }
        Ok(())
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

    /// Measures for a while, whoever comes.
    pub(super) fn measure_for(&mut self, span: Duration) -> anyhow::Result<Vec<Costs>> {
        let until = self.driver.now() + span;
        let mut costs = Vec::new();
        while self.driver.now() < until {
            costs.push(self.span()?);
        }
        Ok(costs)
    }

    fn span(&mut self) -> anyhow::Result<Costs> {
        let mut costs = Costs::default();
        let began = self.driver.now();
        for _ in 0..SPAN {
            self.turn(&mut costs)?;
        }
        costs.lasted = self.driver.now().since(began);
        Ok(costs)
    }

    fn turn(&mut self, costs: &mut Costs) -> anyhow::Result<()> {
        let (driver, until) = (&mut self.driver, self.pace.due());
        let mut sessions: [&mut dyn Session; 2] =
            self.gateways.each_mut().map(|gateway| gateway.session());
        let (carrying, turned) = timed(|| driver.run_until(until, &mut sessions));
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
        self.pace.made_step(self.driver.now());
        Ok(())
    }

    fn step(&mut self, now: Instant) {
        for gateway in &mut self.gateways {
            gateway.collect(now, &mut self.worlds, &mut Vec::new());
        }
        self.worlds.arena.step();
        self.steps += 1;
        if self.steps.is_multiple_of(TILE_STEPS) {
            self.worlds.tiles_mut().step();
        }
        for gateway in &mut self.gateways {
            gateway.publish(now, &self.worlds);
        }
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
