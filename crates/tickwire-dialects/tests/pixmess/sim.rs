//! Two walkers and an editor over streams that are slow, narrow and sometimes cut.
//!
//! First faults: windows from a single byte, pieces cut anywhere, delays, resets; meanwhile everybody
//! walks, digs, builds, talks, asks for chunks and lets them go, and the game moves a cat and a train
//! and refuses one step in four.
//! Who loses its connection comes back. Then quiet: each client must see what the server has, no block
//! and no entity more or less.

mod sabotage;

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_dialects::pixmess::{
    Block, BlockId, Cell, ChunkId, Client, ClientConfig, Direction, EntityId, Phase, Server,
    ServerConfig, SetId, Sublayer, Version,
};
use tickwire_session::{Events, Session, StreamId};
use tickwire_sim::{Chance, Conditions, Network, NodeId, Rng, StreamConditions, TraceHash, addr};

use super::game::Game;
use super::words::{LOOK, cell, root, xy};
use crate::sabotage::{Saboteur, assert_noticed};
use crate::seeds::{OneIn, check};
use sabotage::{Forgotten, Planted};

/// Between two moves of the game and its players.
const BEAT: Duration = Duration::from_millis(50);
/// Beats with faults and work.
const BUSY: u32 = 120;
/// Beats within which everybody must agree once the network is good: more than it takes to be cut
/// off, come back and load everything again.
const SETTLING: u32 = 800;
const NAMES: [&str; 3] = ["ann", "bob", "eve"];

const WORST: Conditions = Conditions {
    // Several steps are under way when one of them is refused.
    latency: Duration::from_millis(300),
    jitter: Duration::from_millis(40),
    loss: Chance::percent(5),
    duplication: Chance::percent(5),
    reordering: Chance::percent(10),
    reordering_delay: Duration::from_millis(50),
    ..Conditions::IDEAL
};

struct World {
    rng: Rng,
    net: Network,
    nodes: Vec<NodeId>,
    server: Saboteur<Server, Planted>,
    game: Game,
    clients: Vec<Client>,
    cat: EntityId,
    train: SetId,
    train_at: Cell,
}

#[test]
fn agreement() {
    check("pixmess::agreement", OneIn(1), run);
}

#[test]
fn planted_bugs_are_noticed() {
    for bug in [
        Forgotten::Destruction,
        Forgotten::Position,
        Forgotten::Train,
    ] {
        assert_noticed(bug, 50, run_with);
    }
}

fn run(seed: u64) -> Result<TraceHash, String> {
    run_with(seed, None)
}

fn run_with(seed: u64, bug: Option<Forgotten>) -> Result<TraceHash, String> {
    let mut world = World::new(seed, bug);
    let conditions = Conditions::random(&mut world.rng, &WORST);
    world.net.set_conditions(conditions);
    for _ in 0..BUSY {
        world.draw_streams();
        world.work();
        world.beat();
    }
    world.net.set_conditions(Conditions::IDEAL);
    world.net.set_stream_conditions(StreamConditions::USUAL);
    let mut disagreement = String::new();
    for _ in 0..SETTLING {
        world.beat();
        match world.check_agreement() {
            Ok(()) => return Ok(world.net.trace_hash()),
            Err(why) => disagreement = why,
        }
    }
    Err(disagreement)
}

impl World {
    fn new(seed: u64, bug: Option<Forgotten>) -> Self {
        let mut net = crate::recorded::network(seed);
        net.add_node(addr::machine(1, 4_646));
        let nodes: Vec<_> = (2..5).map(|n| net.add_node(addr::machine(n, 1))).collect();
        let mut server = Server::new(ServerConfig::default());
        let cat = server
            .create_entity(cell(8, 8), LOOK, "cat")
            .expect("the first");
        let train_at = cell(20, 20);
        let train = server.create_set(train_at).expect("the first");
        let mut game = Game::default();
        game.moods = Some(Rng::new(seed).branch(2));
        let clients = NAMES.map(|name| connect(&net, name)).into();
        Self {
            rng: Rng::new(seed).branch(1),
            net,
            nodes,
            server: Saboteur {
                server,
                bug: bug.map(Planted::new),
            },
            game,
            clients,
            cat,
            train,
            train_at,
        }
    }

    /// Streams that are dialled from now on are of another kind.
    fn draw_streams(&mut self) {
        let mut conditions = StreamConditions::random(&mut self.rng);
        conditions.reset = Chance::per_million(500);
        self.net.set_stream_conditions(conditions);
    }

    /// Lets the network run for a beat, then the game answers and who lost its connection comes back.
    fn beat(&mut self) {
        let mut sessions: Vec<&mut dyn Session> = vec![&mut self.server];
        sessions.extend(self.clients.iter_mut().map(|client| client as _));
        self.net.run_for(BEAT, &mut sessions);
        let server = &mut self.server.server;
        while let Some(event) = server.poll_event() {
            self.game.handle(self.net.now(), server, &event);
        }
        for (client, name) in self.clients.iter_mut().zip(NAMES) {
            while client.poll_event().is_some() {}
            if matches!(client.phase(), Phase::Ended(_)) {
                *client = connect(&self.net, name);
            }
        }
    }

    fn work(&mut self) {
        for index in 0..self.clients.len() {
            for _ in 0..self.draw::<u32>(3) {
                self.act(index);
            }
            if self.rng.happens(Chance::per_million(4_000)) {
                self.net
                    .reset_stream(self.nodes[index], StreamId::Dialled(0));
            }
        }
        let direction = self.draw_direction();
        self.server.server.move_entity(self.cat, direction);
        if self.draw::<u32>(20) == 0 {
            let at = self.draw_cell();
            self.train_at = at;
            self.server.server.move_set(self.train, at);
        }
        if self.draw::<u32>(100) == 0 {
            let at = self.draw_cell();
            let who = self.draw(4);
            self.server.server.place_entity(EntityId(who), at);
        }
    }

    /// One client does something; what it may not do it does not.
    fn act(&mut self, index: usize) {
        let now = self.net.now();
        let (direction, cell, chunk) = (self.draw_direction(), self.draw_cell(), self.draw_chunk());
        let block = Block {
            typ: self.draw(2),
            col: self.draw(3),
            ch: 35,
        };
        let sublayer = match self.draw::<u32>(2) {
            0 => Sublayer::Solid,
            _ => Sublayer::Walkable,
        };
        let id = BlockId {
            set: chunk.set,
            cell,
            sublayer,
        };
        let action: u32 = self.draw(12);
        let client = &mut self.clients[index];
        // Whether it could be said does not matter here.
        let _said = match (action, NAMES[index]) {
            (0..3, _) => client.request(now, chunk),
            (3, _) => client.release(chunk),
            (4, _) => client.chat(now, "/who"),
            (5, _) => client.chat(now, "hello"),
            (_, "eve") => client.edit(now, id, block),
            _ => client.walk(now, direction),
        };
    }

    fn draw<T: TryFrom<u64>>(&mut self, below: u64) -> T {
        let drawn = self.rng.within(0..=below - 1);
        T::try_from(drawn).ok().expect("few enough for any type")
    }

    fn draw_direction(&mut self) -> Direction {
        Direction::ALL[self.draw::<usize>(8)]
    }

    /// A cell of the four chunks around zero.
    fn draw_cell(&mut self) -> Cell {
        let mut number = || self.draw::<i32>(128) - 64;
        cell(number(), number())
    }

    fn draw_chunk(&mut self) -> ChunkId {
        let at = self.draw_cell().chunk();
        match self.draw::<u32>(5) {
            0 => ChunkId {
                set: self.train,
                at: xy(0, 0),
            },
            _ => ChunkId::root(at),
        }
    }

    fn check_agreement(&self) -> Result<(), String> {
        let server = &self.server.server;
        let everybody: BTreeMap<EntityId, Cell> = server
            .players()
            .map(|(player, _)| player.entity())
            .chain([self.cat])
            .filter_map(|id| Some((id, server.position(id)?)))
            .collect();
        for (client, name) in self.clients.iter().zip(NAMES) {
            self.check_client(client, &everybody)
                .map_err(|what| format!("{name} {what}"))?;
        }
        Ok(())
    }

    /// What a client knows that is not so.
    fn check_client(
        &self,
        client: &Client,
        everybody: &BTreeMap<EntityId, Cell>,
    ) -> Result<(), String> {
        let own = match (client.phase(), client.player()) {
            (Phase::Playing, Some(player)) => player.entity(),
            (phase, _) => return Err(format!("is {phase:?}")),
        };
        for (chunk, tiles) in client.chunks() {
            if self.game.tiles.get(&chunk) != Some(tiles) {
                return Err(format!("sees another {chunk:?}"));
            }
        }
        let seen: BTreeMap<_, _> = client.entities().map(|(id, it)| (id, it.at)).collect();
        let holds = |at: Cell| client.chunk(root(at.chunk().x, at.chunk().y)).is_some();
        for (&id, &at) in &seen {
            match everybody.get(&id) {
                Some(&truth) if truth == at => {}
                Some(&truth) if id == own || holds(truth) => {
                    return Err(format!("sees {id:?} at {at:?}, and it is at {truth:?}"));
                }
                _ => return Err(format!("sees {id:?} at {at:?}, and it is not there")),
            }
        }
        for (id, at) in everybody {
            if (*id == own || holds(*at)) && !seen.contains_key(id) {
                return Err(format!("does not see {id:?} at {at:?}"));
            }
        }
        let train = client.corner(self.train);
        if train != Some(self.train_at) {
            return Err(format!("has the train at {train:?}"));
        }
        let counters = client.counters();
        if counters.violations > 0 {
            return Err(format!("was sent nonsense: {counters:?}"));
        }
        Ok(())
    }
}

fn connect(net: &Network, name: &str) -> Client {
    let config = ClientConfig::new(addr::machine(1, 4_646), Version::Two, name);
    Client::new(net.now(), config.expect("a short name"))
}
