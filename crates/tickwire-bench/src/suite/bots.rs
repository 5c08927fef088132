//! A bot in the server's process against one over loopback.
//!
//! Seven bots play the arena for some seconds, sixty steps a second, as ordinary lwar clients: once
//! over memory links, once through sockets of their own. What is compared is the processor's time
//! within [`Driver::run_until`], less what a server without players takes there: the sessions of both
//! sides, the driver and the kernel. The arena's steps, what the bots see and what they think are the
//! same for both, and left out. Server and bots share one loop and one thread both times, so that
//! nothing else is different: bots in a program of their own also pay for being woken.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tickwire_demo::gateway::{ArenaClient, Connect, Protocol, Status};
use tickwire_demo::{Bot, Host, STEP};
use tickwire_net::{Carries, Driver, NodeId};

use super::ANY_PORT;
use super::clock::timed;
use super::report::{Figure, Ratio, Target};
use super::rounds::{Rounds, Spread};

const ROUNDS: usize = 7;
const BOTS: u64 = 7;

/// Until every bot plays.
const WARM_UP: Duration = Duration::from_secs(1);
/// How long is measured.
const SPAN: Duration = Duration::from_secs(2);

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    // What a server without players takes, measured once a round.
    let mut alone = Vec::new();
    let rounds = Rounds::run(
        ROUNDS,
        &mut alone,
        |alone| {
            alone.push(Table::new()?.play()?.as_secs_f64());
            Table::new()?.with_bots(Way::Memory)?.play()
        },
        |_| Table::new()?.with_bots(Way::Loopback)?.play(),
    )?;
    let alone = Spread::of(alone).median;
    let cost = rounds.compare(|carrying| {
        let added = carrying.as_secs_f64() - alone;
        added * 1e6 / SPAN.as_secs_f64() / BOTS as f64
    });
    Ok(vec![
        Figure::plain("bot over loopback", cost.second, "µs/s"),
        Figure {
            ratio: Some(Ratio {
                spread: cost.ratio,
                to: "loopback",
            }),
            target: Some(Target::RatioAtMost(0.2)),
            ..Figure::plain("bot in memory", cost.first, "µs/s")
        },
    ])
}

/// How a bot reaches the server.
#[derive(Clone, Copy)]
enum Way {
    Memory,
    Loopback,
}

/// A server, and the bots that play on it.
struct Table {
    protocol: &'static Protocol,
    driver: Driver,
    host: Host,
    server: NodeId,
    players: Vec<Player>,
}

struct Player {
    bot: Bot,
    gateway: Box<dyn ArenaClient>,
}

impl Table {
    fn new() -> anyhow::Result<Self> {
        let protocol = Protocol::named("lwar").context("the arena speaks lwar")?;
        let mut driver = Driver::new()?;
        let server = driver.bind(ANY_PORT, Carries::Datagrams)?;
        let mut host = Host::new(1, 0);
        host.open((protocol.serve)(driver.now(), [0; 32]));
        Ok(Self {
            protocol,
            driver,
            host,
            server,
            players: Vec::new(),
        })
    }

    fn with_bots(mut self, way: Way) -> anyhow::Result<Self> {
        for seed in 0..BOTS {
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

    /// Plays, and returns the time that the driver took after the warm-up.
    fn play(mut self) -> anyhow::Result<Duration> {
        let mut carrying = Duration::ZERO;
        let warm = self.driver.now() + WARM_UP;
        let end = warm + SPAN;
        let mut next_step = self.driver.now();
        while next_step < end {
            let mut sessions = self.host.sessions();
            sessions.extend(
                self.players
                    .iter_mut()
                    .map(|player| player.gateway.session()),
            );
            let driver = &mut self.driver;
            let (time, turned) = timed(|| driver.run_until(next_step, &mut sessions));
            turned?;
            if next_step >= warm {
                carrying += time;
            }
            self.step();
            // After a pause there is no catching up.
            next_step = (next_step + STEP).max(self.driver.now());
        }
        let playing = |player: &&Player| player.gateway.status() == Status::Playing;
        let playing = self.players.iter().filter(playing).count();
        ensure!(
            playing == self.players.len(),
            "{playing} of {} bots play",
            self.players.len()
        );
        Ok(carrying)
    }

    fn step(&mut self) {
        let now = self.driver.now();
        let mut notices = Vec::new();
        self.host.step(now, &mut notices);
        for player in &mut self.players {
            player.gateway.collect(now, &mut notices);
            let view = player.gateway.view(now);
            player.gateway.act(&player.bot.think(&view));
        }
    }
}
