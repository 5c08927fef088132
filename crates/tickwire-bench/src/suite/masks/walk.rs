//! Two people who walk around and build, and have nobody but each other.
//!
//! Each walks straight on for some steps, stops, turns, and lays a row of bricks now and then, at the
//! pace of somebody who holds a key down; all of it follows from a seed. The game allows everything. The
//! network is simulated and has no faults.

use std::time::Duration;

use anyhow::ensure;
use tickwire_demo::Random;
use tickwire_dialects::pixmess::{
    Block, BlockId, Cell, ChunkId, ChunkXy, Client, ClientConfig, Direction, Layer, Phase, Server,
    ServerConfig, ServerEvent, SetId, Sublayer, Tiles, Version,
};
use tickwire_session::tap::Tap;
use tickwire_session::{Events as _, Instant, Session};
use tickwire_sim::{Network, addr};

use super::listener::{Listener, Streams};

const WALKERS: u16 = 2;

/// Between two steps, or two bricks: somebody who holds a key takes ten a second.
const PACE: Duration = Duration::from_millis(100);
/// Two minutes.
const PACES: u32 = 1_200;

/// Bricks of a row.
const ROW: i32 = 12;

const BRICK: Block = Block {
    typ: 1,
    col: 3,
    ch: 35,
};

/// Lets both walk, and returns all that was said.
pub(super) fn record() -> anyhow::Result<Streams> {
    let mut net = Network::new(1);
    let server_addr = addr::loopback(1);
    net.add_node(server_addr);
    let server = Server::new(ServerConfig::default());
    let mut server = Tap::new(server, Listener::default());
    let layer = Layer::new(&Tiles::default());
    let mut walkers: Vec<_> = (0..WALKERS)
        .map(|number| {
            net.add_node(addr::loopback(2 + number));
            let name = format!("walker-{number}");
            let config = ClientConfig::new(server_addr, Version::One, &name)?;
            Ok(Walker::new(number.into(), Client::new(net.now(), config)))
        })
        .collect::<anyhow::Result<_>>()?;
    for _ in 0..PACES {
        let mut sessions: Vec<&mut dyn Session> = vec![&mut server];
        for walker in &mut walkers {
            sessions.push(&mut walker.client);
        }
        net.run_for(PACE, &mut sessions);
        while let Some(event) = server.poll_event() {
            answer(net.now(), &mut server.session, &event, &layer);
        }
        for walker in &mut walkers {
            walker.act(net.now())?;
        }
    }
    for walker in &walkers {
        ensure!(*walker.client.phase() == Phase::Playing, "both walk");
    }
    Ok(server.observer.streams)
}

fn answer(now: Instant, server: &mut Server, event: &ServerEvent, layer: &Layer) {
    match *event {
        ServerEvent::LoginAsked { player, .. } => server.admit(now, player, Cell::default()),
        ServerEvent::MoveAsked { player, .. } => server.allow_move(now, player),
        ServerEvent::EditAsked { player, .. } => server.allow_edit(now, player),
        ServerEvent::ChunkAsked { player, .. } => server.provide_chunk(now, player, layer),
        _ => {}
    }
}

struct Walker {
    client: Client,
    random: Random,
    way: Direction,
    /// What is left of what it does.
    left: u64,
    doing: Doing,
}

enum Doing {
    Rest,
    Walk,
    Build,
}

impl Walker {
    fn new(seed: u64, client: Client) -> Self {
        Self {
            client,
            random: Random::new(seed),
            way: Direction::East,
            left: 10,
            doing: Doing::Rest,
        }
    }

    fn act(&mut self, now: Instant) -> anyhow::Result<()> {
        while self.client.poll_event().is_some() {}
        let Some(at) = self.client.position() else {
            return Ok(());
        };
        self.look_around(now, at)?;
        if self.left == 0 {
            self.decide();
        }
        self.left -= 1;
        match self.doing {
            Doing::Rest => {}
            Doing::Walk => self.client.walk(now, self.way)?,
            Doing::Build => self.client.edit(now, self.brick(at), BRICK)?,
        }
        Ok(())
    }

    fn decide(&mut self) {
        let roll = self.random.bits();
        let upto = |most: u64| 1 + (roll >> 8) % most;
        (self.doing, self.left) = match roll % 8 {
            0 | 1 => (Doing::Rest, upto(15)),
            2 => (Doing::Build, ROW.unsigned_abs().into()),
            turn => {
                self.way = Direction::ALL[usize::try_from(roll >> 40 & 7).unwrap_or(0)];
                (Doing::Walk, upto(2 * turn))
            }
        };
    }

    /// The next brick of a row two cells to the south.
    fn brick(&self, at: Cell) -> BlockId {
        let cell = Cell {
            x: at.x + i32::try_from(self.left).unwrap_or(0),
            y: at.y + 2,
        };
        BlockId {
            set: SetId::ROOT,
            cell,
            sublayer: Sublayer::Solid,
        }
    }

    /// Asks for the chunks around that it does not hold.
    fn look_around(&mut self, now: Instant, at: Cell) -> anyhow::Result<()> {
        for (x, y) in (-1..=1).flat_map(|y| (-1..=1).map(move |x| (x, y))) {
            let home = at.chunk();
            let chunk = ChunkId::root(ChunkXy {
                x: home.x + x,
                y: home.y + y,
            });
            if self.client.chunk(chunk).is_none() {
                self.client.request(now, chunk)?;
            }
        }
        Ok(())
    }
}
