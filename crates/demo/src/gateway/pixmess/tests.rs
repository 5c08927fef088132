//! Both halves over a slow network.

use std::time::Duration;

use tickwire_dialects::pixmess::mask::Masks;
use tickwire_dialects::pixmess::message::{FromClient, FromServer};
use tickwire_session::{Instant, Path, Room, StreamId};
use tickwire_sim::addr::machine;
use tickwire_sim::{Conditions, Network};

use super::*;
use crate::gateway::{ClientGateway, ServerGateway, Status, TileClient};
use crate::tiles::{Block, BlockId, Bot, ChunkId, Look, SetId, Sight, Sublayer};
use crate::{GameServer, STEP, Worlds};

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
    host: GameServer,
    walkers: Vec<Walker>,
}

impl Table {
    fn new() -> Self {
        let mut network = Network::new(7);
        network.set_conditions(NETWORK);
        let addr = machine(1, pixmess::PORT);
        network.add_node(addr);
        let mut host = GameServer::new(1, 0);
        host.open(Box::new(server::Gateway::new()));
        let walkers = (0..BOTS).map(|number| {
            network.add_node(machine(number + 2, 5_000));
            let name = format!("walker {number}");
            let look = Look::default();
            Walker {
                client: client::Gateway::new(Instant::ZERO, addr, &name, look).unwrap(),
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

/// A gateway whose player stands at (0, 0), after a server has said `more`.
fn playing(more: &[u8]) -> client::Gateway {
    let server = machine(1, pixmess::PORT);
    let mut gateway = client::Gateway::new(Instant::ZERO, server, "ada", Look::default()).unwrap();
    let session = gateway.session();
    let on = StreamId::Dialled(0);
    session.handle_opened(Instant::ZERO, on, server);
    let path = Path::Stream(on);
    let room = Room {
        bytes: u32::MAX,
        largest: 0,
    };
    session.handle_room(Instant::ZERO, path, room);
    // player_id 1; entity_creation 1, mask everything: (0, 0).
    session.handle_stream(Instant::ZERO, on, b"\x7e\x01\x00\xd1\xff\x01\x00\x03ada");
    session.handle_stream(Instant::ZERO, on, more);
    gateway
}

/// How many chunks a gateway asks for until nothing more comes of it.
fn count_requests(gateway: &mut client::Gateway, now: Instant) -> usize {
    gateway.collect(now, &mut Vec::new());
    let mut said = Vec::new();
    while gateway.session().poll_transmit(now, &mut said).is_some() {}
    let (mut r, mut masks) = (pixmess::Reader::new(&said), Masks::default());
    let messages = core::iter::from_fn(|| FromClient::decode(&mut r, &mut masks).ok());
    messages
        .filter(|message| matches!(message, FromClient::LayerRequest(_)))
        .count()
}

#[test]
fn however_many_trains_there_are_no_more_is_asked_for_than_can_be_held() {
    let mut trains = Vec::new();
    for set in 1..=u16::MAX {
        trains.push(0x45);
        trains.extend(set.to_le_bytes());
        trains.extend([0; 8]);
    }
    let mut gateway = playing(&trains);
    assert_eq!(count_requests(&mut gateway, Instant::ZERO), 25);
}

#[test]
fn a_player_who_is_thrown_about_asks_as_fast_as_the_server_allows() {
    let mut gateway = playing(&[]);
    let mut asked = 0;
    for throw in 0..20_u8 {
        let now = Instant::from_millis(u64::from(throw) * 50);
        let mut position = vec![0x50, 1, 0, 0, 0, throw, 0];
        position.extend([0; 4]);
        let on = StreamId::Dialled(0);
        gateway.session().handle_stream(now, on, &position);
        asked += count_requests(&mut gateway, now);
    }
    assert_eq!(asked, 50);
}

#[test]
fn a_walker_has_a_name_that_the_server_takes() {
    let connect = |name: &str| {
        let server = machine(1, pixmess::PORT);
        client::Gateway::new(Instant::ZERO, server, name, Look::default()).err()
    };
    assert_eq!(connect("Ada"), None);
    // Whoever has no name watches.
    assert_eq!(connect(""), None);
    let long = "n".repeat(33);
    assert_eq!(
        connect(&long).as_deref(),
        Some("a name has at most 32 bytes")
    );
    assert!(connect("a\tb").is_some_and(|why| why.contains("control characters")));
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

#[test]
fn a_train_that_leaves_the_world_is_gone_for_everybody() {
    let (mut gateway, mut worlds) = (server::Gateway::new(), Worlds::new(1));
    let (now, on) = (Instant::ZERO, StreamId::Accepted(1));
    let session = gateway.session();
    session.handle_opened(now, on, machine(2, 5_000));
    let room = Room {
        bytes: u32::MAX,
        largest: 0,
    };
    session.handle_room(now, Path::Stream(on), room);
    // Version 2, '@', white, "ada".
    session.handle_stream(now, on, b"\x7b\x02\x00@\x00\x0f\x00\x03ada");
    let (mut masks, mut sets) = (Masks::default(), Vec::new());
    // The line has four stations a side, and the train needs four minutes to its end.
    for _ in 0..20 * 60 * 6 {
        gateway.collect(now, &mut worlds, &mut Vec::new());
        worlds.tiles_mut().step();
        gateway.publish(now, &worlds);
        let mut said = Vec::new();
        while gateway.session().poll_transmit(now, &mut said).is_some() {}
        let mut r = pixmess::Reader::new(&said);
        while let Ok(message) = FromServer::decode(&mut r, &mut masks) {
            sets.extend(match message {
                FromServer::LayersetCreate { set, .. } => Some(("comes", set.0)),
                FromServer::LayersetRemove { set } => Some(("goes", set.0)),
                FromServer::LayersetMove { set, .. } => {
                    assert_eq!(sets.last(), Some(&("comes", set.0)), "it is not there");
                    None
                }
                _ => None,
            });
        }
    }
    assert_eq!(sets, [("comes", 1), ("goes", 1), ("comes", 1)]);
}
