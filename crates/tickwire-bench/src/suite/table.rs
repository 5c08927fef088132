//! A server of the arena with bots that play on it, all in one loop on one thread.
//!
//! The bots are ordinary clients, over memory links or through sockets of their own. Every part of a
//! step is timed by itself, so that a benchmark can say exactly what it counts.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tickwire_demo::gateway::{
    ArenaClient, Connect, Opening, Paths, Protocol, ServerGateway, Settings, Status,
};
use tickwire_demo::{Bot, Pace, Worlds};
use tickwire_net::{Carries, Driver, NodeId};
use tickwire_session::Session;

use super::ANY_PORT;
use super::clock::timed;

/// How a bot reaches the server.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Memory,
    Loopback,
}

/// Processor time, by what it was spent on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Costs {
    /// Within the driver: the sessions of both sides, the driver itself, the kernel.
    pub(super) carrying: Duration,
    /// What the server's gateway does before and after a step.
    pub(super) serving: Duration,
    /// What the clients' gateways do with what they heard, and send.
    pub(super) hearing: Duration,
    /// The arena's step.
    pub(super) stepping: Duration,
    /// The clients' views, and what their bots think of them.
    pub(super) thinking: Duration,
    pub(super) steps: u32,
    /// By the clock on the wall.
    pub(super) lasted: Duration,
}

/// A server, and the bots that play on it.
pub(super) struct Table {
    protocol: &'static Protocol,
    driver: Driver,
    worlds: Worlds,
    gateway: Box<dyn ServerGateway>,
    server: NodeId,
    players: Vec<Player>,
    pace: Pace,
    /// Steps between two thoughts of a bot; not all of them think in the same step.
    thought_steps: usize,
    steps: usize,
}

struct Player {
    bot: Bot,
    gateway: Box<dyn ArenaClient>,
}

impl Table {
    pub(super) fn new(name: &str) -> anyhow::Result<Self> {
        let protocol = Protocol::named(name).with_context(|| format!("no protocol {name}"))?;
        let mut driver = Driver::new()?;
        let carries = match protocol.paths {
            Paths::Datagrams => Carries::Datagrams,
            Paths::Streams => Carries::Streams,
            Paths::Both => Carries::Both,
        };
        let server = driver.bind(ANY_PORT, carries)?;
        let worlds = Worlds::new(1);
        let gateway = (protocol.serve)(&Opening {
            now: driver.now(),
            secret: [0; 32],
            worlds: &worlds,
            settings: &Settings::default(),
        });
        Ok(Self {
            protocol,
            pace: Pace::new(driver.now()),
            driver,
            worlds,
            gateway,
            server,
            players: Vec::new(),
            thought_steps: 1,
            steps: 0,
        })
    }

    pub(super) const fn with_thought_every(mut self, steps: usize) -> Self {
        self.thought_steps = steps;
        self
    }

    pub(super) fn with_bots(mut self, bots: u64, way: Way) -> anyhow::Result<Self> {
        for seed in 0..bots {
            let addr = match way {
                Way::Memory => self.driver.link(self.server).1,
                Way::Loopback => {
                    self.driver.open();
                    let addr = self.driver.local_addr(self.server);
                    addr.context("a server has a socket")?.into()
                }
            };
            let bot = Bot::new(seed);
            let now = self.driver.now();
            let Connect::Arena(connect) = self.protocol.connect else {
                bail!("{} has no arena", self.protocol.name);
            };
            let gateway = connect(now, addr, "bot", bot.loadout());
            self.players.push(Player { bot, gateway });
        }
        Ok(self)
    }

    /// Plays for so long, in real time, and returns what that took.
    pub(super) fn play(&mut self, span: Duration) -> anyhow::Result<Costs> {
        let mut costs = Costs::default();
        let began = self.driver.now();
        while self.pace.due() < began + span {
            let mut sessions: Vec<&mut dyn Session> = vec![self.gateway.session()];
            sessions.extend(
                self.players
                    .iter_mut()
                    .map(|player| player.gateway.session()),
            );
            let (driver, due) = (&mut self.driver, self.pace.due());
            let (time, turned) = timed(|| driver.run_until(due, &mut sessions));
            turned?;
            costs.carrying += time;
            self.step(&mut costs);
            self.pace.made_step(self.driver.now());
        }
        costs.lasted = self.driver.now().since(began);
        Ok(costs)
    }

    /// Fails unless every bot plays.
    pub(super) fn check_playing(&self) -> anyhow::Result<()> {
        let playing = |player: &&Player| player.gateway.status() == Status::Playing;
        let playing = self.players.iter().filter(playing).count();
        ensure!(
            playing == self.players.len(),
            "{playing} of {} bots play",
            self.players.len()
        );
        Ok(())
    }

    fn step(&mut self, costs: &mut Costs) {
        let now = self.driver.now();
        let mut notices = Vec::new();
        let (worlds, gateway) = (&mut self.worlds, &mut self.gateway);
        let (collecting, ()) = timed(|| gateway.collect(now, worlds, &mut notices));
        let (stepping, ()) = timed(|| worlds.arena.step());
        let (publishing, ()) = timed(|| gateway.publish(now, worlds));
        let (hearing, ()) = timed(|| {
            for player in &mut self.players {
                player.gateway.collect(now, &mut notices);
            }
        });
        let (thinking, ()) = timed(|| {
            let first = self.steps % self.thought_steps;
            for player in self
                .players
                .iter_mut()
                .skip(first)
                .step_by(self.thought_steps)
            {
                let view = player.gateway.view(now);
                player.gateway.act(&player.bot.think(&view));
            }
        });
        self.steps += 1;
        costs.serving += collecting + publishing;
        costs.stepping += stepping;
        costs.hearing += hearing;
        costs.thinking += thinking;
        costs.steps += 1;
    }
}
