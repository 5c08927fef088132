//! Two bots on the plaza of the tile world, among two dozen animals.
//!
//! They walk around for two minutes, on a simulated network without faults, and lay a row of bricks now
//! and then. Because the animals are on their way, too, a step is seldom of whoever took the one
//! before.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tickwire_demo::Worlds;
use tickwire_demo::gateway::{Connect, Opening, Protocol, Settings, Status, TileClient};
use tickwire_demo::tiles::{Block, BlockId, Bot, Cell, Look, STEP as TILE_STEP, Sublayer};
use tickwire_session::tap::Tap;
use tickwire_session::{Instant, Session};
use tickwire_sim::{Network, addr};

use super::listener::{Listener, Streams};

/// Who walk around together.
const WALKERS: u16 = 2;

/// Two minutes.
const STEPS: u32 = 2_400;

/// From one row of bricks to the next, and how many bricks it has.
const ROW_PAUSE: Duration = Duration::from_secs(10);
const ROW: i32 = 12;

/// Lets everybody walk around, and returns all that was said.
pub(super) fn record() -> anyhow::Result<Streams> {
    let protocol = Protocol::named("pixmess").context("the tile world speaks pixmess")?;
    let Connect::Tiles(connect) = protocol.connect else {
        bail!("{} has no tiles", protocol.name);
    };
    let mut net = Network::new(1);
    let server_addr = addr::loopback(protocol.port);
    net.add_node(server_addr);
    let mut worlds = Worlds::new(1);
    let mut gateway = (protocol.serve)(&Opening {
        now: net.now(),
        secret: [0; 32],
        worlds: &worlds,
        settings: &Settings::default(),
    });
    let mut walkers: Vec<_> = (0..WALKERS)
        .map(|number| {
            net.add_node(addr::loopback(5_000 + number));
            let name = format!("walker-{number}");
            let gateway = connect(net.now(), server_addr, &name, Look::default());
            let gateway = gateway.map_err(anyhow::Error::msg)?;
            Ok(Walker::new(number, gateway))
        })
        .collect::<anyhow::Result<_>>()?;
    let mut heard = Listener::default();
    let mut notices = Vec::new();
    for _ in 0..STEPS {
        let mut tap = Tap::new(gateway.session(), heard);
        let mut sessions: Vec<&mut dyn Session> = vec![&mut tap];
        sessions.extend(walkers.iter_mut().map(|walker| walker.gateway.session()));
        net.run_for(TILE_STEP, &mut sessions);
        heard = tap.observer;
        let now = net.now();
        gateway.collect(now, &mut worlds, &mut notices);
        worlds.tiles_mut().step();
        gateway.publish(now, &worlds);
        for walker in &mut walkers {
            walker.gateway.collect(now, &mut notices);
            walker.act(now);
        }
        notices.clear();
    }
    for walker in &walkers {
        ensure!(
            walker.gateway.status() == Status::Playing,
            "everybody walks"
        );
    }
    Ok(heard.streams)
}

/// A bot that also lays rows of bricks.
struct Walker {
    bot: Bot,
    gateway: Box<dyn TileClient>,
    next_row: Instant,
    /// The bricks of a row that are still to be laid.
    row: Vec<Cell>,
}

impl Walker {
    fn new(number: u16, gateway: Box<dyn TileClient>) -> Self {
        Self {
            bot: Bot::new(number.into()),
            gateway,
            next_row: Instant::ZERO + ROW_PAUSE + Duration::from_secs(3) * number.into(),
            row: Vec::new(),
        }
    }

    fn act(&mut self, now: Instant) {
        let Some(position) = self.gateway.position() else {
            return;
        };
        if now >= self.next_row {
            self.next_row = now + ROW_PAUSE;
            self.row = (0..ROW)
                .filter_map(|east| position.offset(east, 2))
                .collect();
        }
        // What is refused is answered with what is there, and that is part of the session.
        match self.row.pop() {
            Some(cell) => self.gateway.build(now, brick(cell), BRICK).ok(),
            None => self.gateway.follow(now, &mut self.bot).ok(),
        };
    }
}

const BRICK: Block = Block {
    typ: 1,
    col: 3,
    ch: 35,
};

const fn brick(cell: Cell) -> BlockId {
    BlockId::root(cell, Sublayer::Solid)
}
