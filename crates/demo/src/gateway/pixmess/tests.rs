//! The conversions, and both halves over a slow network.

use std::time::Duration;

use tickwire_session::Instant;
use tickwire_sim::addr::machine;
use tickwire_sim::{Conditions, Network};

use super::super::{ClientGateway, Status, TileClient};
use super::*;
use crate::tiles::{Bot, Sight};
use crate::{Host, STEP};

#[test]
fn directions_mean_the_same_on_both_sides() {
    for wire in pixmess::Direction::ALL {
        assert_eq!(direction(wire).offset(), wire.offset());
        assert_eq!(direction_to_wire(direction(wire)), wire);
    }
}

const BOTS: u8 = 12;
const SECONDS: u64 = 40;

const NETWORK: Conditions = Conditions {
    latency: Duration::from_millis(40),
    jitter: Duration::from_millis(10),
    ..Conditions::IDEAL
};

/// A bot and its client.
struct Walker {
    name: String,
    bot: Bot,
    client: client::Gateway,
}

impl Walker {
    fn act(&mut self, now: Instant) {
        self.client.follow(now, &mut self.bot).unwrap_or_default();
    }
}

/// A server, its walkers and the network between them.
struct Table {
    network: Network,
    host: Host,
    walkers: Vec<Walker>,
}

impl Table {
    fn new() -> Self {
        let mut network = Network::new(7);
        network.set_conditions(NETWORK);
        let addr = machine(1, pixmess::PORT);
        network.add_node(addr);
        let mut host = Host::new(1, 0);
        host.open(Box::new(server::Gateway::new()));
        let walkers = (0..BOTS).map(|number| {
            network.add_node(machine(number + 2, 5_000));
            let name = format!("walker {number}");
            let look = Look::default();
            Walker {
                client: client::Gateway::new(Instant::ZERO, addr, &name, look),
                bot: Bot::new(number.into()),
                name,
            }
        });
        let walkers = walkers.collect();
        Self {
            network,
            host,
            walkers,
        }
    }

    fn carry(&mut self, span: Duration) -> Instant {
        let mut sessions = self.host.sessions();
        for walker in &mut self.walkers {
            sessions.push(walker.client.session());
        }
        self.network.run_for(span, &mut sessions);
        self.network.now()
    }

    fn run(&mut self, seconds: u64, walking: bool) {
        for step in 0..seconds * 60 {
            let now = self.carry(STEP);
            self.host.step(now, &mut Vec::new());
            for walker in &mut self.walkers {
                walker.client.collect(now, &mut Vec::new());
                if walking && step % 3 == 0 {
                    walker.act(now);
                }
            }
        }
    }
}

#[test]
fn after_all_that_walking_and_building_everybody_sees_the_same_world() {
    let mut table = Table::new();
    table.run(SECONDS, true);
    table.run(3, false);
    // The world stands still until everybody has heard all of it.
    let now = table.carry(Duration::from_secs(1));
    for walker in &mut table.walkers {
        walker.client.collect(now, &mut Vec::new());
    }

    let world = table.host.tiles().unwrap();
    assert!(world.edited_blocks() > 0, "nobody has built anything");
    for walker in &table.walkers {
        assert_eq!(walker.client.status(), Status::Playing);
        let at = walker.client.position().unwrap();
        let mut players = world.players();
        let (_, own) = players
            .find(|(_, player)| player.name() == walker.name)
            .unwrap();
        assert_eq!(at, own.position(), "{} stands elsewhere", walker.name);
        let cells = (-40..=40).flat_map(|y| (-40..=40).map(move |x| (x, y)));
        for (x, y) in cells {
            let cell = at.offset(x, y).unwrap();
            // Chunks that nobody needed lately are not ready, but nobody has changed them either.
            if let Some(truth) = world.look(cell) {
                assert_eq!(walker.client.tile(cell), Some(truth), "{cell} from {at}");
            }
        }
        let near = world.entities().filter(|(_, other)| {
            other.name() != walker.name && other.position().distance(at) <= 40
        });
        for (_, other) in near {
            let others = walker.client.others();
            let seen = others
                .iter()
                .any(|seen| seen.name == other.name() && seen.position == other.position());
            assert!(seen, "{} does not see {}", walker.name, other.name());
        }
    }
}

#[test]
fn a_chunk_is_compressed_once_for_everybody() {
    let mut world = crate::tiles::TileWorld::new(1);
    let ada = world.join("Ada", Look::default()).unwrap();
    let at = world.entity(ada).unwrap().position();
    let id = ChunkId {
        set: SetId::ROOT,
        at: at.chunk(),
    };
    let mut layers = layers::Layers::default();
    let first = layers.layer(id, world.chunk(id).unwrap()).clone();
    let again = layers.layer(id, world.chunk(id).unwrap()).clone();
    assert_eq!(first.as_bytes().as_ptr(), again.as_bytes().as_ptr());
    let beside = BlockId::root(at.offset(0, 5).unwrap(), Sublayer::Walkable);
    world.set_block(ada, beside, Block::fixed(1, b'?')).unwrap();
    let changed = layers.layer(id, world.chunk(id).unwrap());
    assert_ne!(first.as_bytes(), changed.as_bytes());
}
