//! The game of these tests: ships that fly where their pilots want, and rocks that lie about.

use std::time::Duration;

use tickwire_native::{
    Client, ClientConfig, ClientEvent, EntityId, Game, PlayerId, Role, Server, ServerConfig,
    ServerEvent, To,
};
use tickwire_replica::{Archetypes, Replicate};
use tickwire_session::{Events as _, Instant, Session};
use tickwire_sim::{Conditions, Network, NodeId, addr};

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(crate) struct Ship {
    #[replicate(position, step = 0.01)]
    pub(crate) at: [f32; 2],
    #[replicate(step = 0.01)]
    pub(crate) speed: [f32; 2],
}

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(crate) struct Rock {
    #[replicate(position, step = 0.01)]
    pub(crate) at: [f32; 2],
}

#[derive(Archetypes)]
pub(crate) enum Thing {
    Ship(Ship),
    Rock(Rock),
}

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
pub(crate) struct Stick {
    #[replicate(range = -1..=1)]
    pub(crate) right: i8,
    #[replicate(range = -1..=1)]
    pub(crate) up: i8,
}

/// What is said, both ways: a number, so that order and count can be checked.
#[derive(Clone, Debug, Default, Eq, PartialEq, Replicate)]
pub(crate) struct Word(pub(crate) u32);

pub(crate) struct Duel;

impl Game for Duel {
    type Things = Thing;
    type Input = Stick;
    type ToServer = Word;
    type ToClient = Word;
    const HZ: u16 = 60;

    fn step(own: &mut Thing, stick: &Stick) {
        if let Thing::Ship(ship) = own {
            let wanted = [stick.right, stick.up].map(f32::from);
            for ((at, speed), wanted) in ship.at.iter_mut().zip(&mut ship.speed).zip(wanted) {
                // Whole steps of the quantisation, so that a ship comes to rest.
                *speed = ((*speed * 0.95 + wanted * 0.5) * 100.0).trunc() / 100.0;
                *at += *speed;
            }
        }
    }
}

pub(crate) const TICK: Duration = Duration::from_micros(16_666);

/// A server and its clients on one network, stepped together.
pub(crate) struct Table {
    pub(crate) net: Network,
    pub(crate) server: Server<Duel>,
    pub(crate) clients: Vec<Client<Duel>>,
    pub(crate) ships: Vec<(PlayerId, EntityId)>,
    pub(crate) heard: Vec<ServerEvent<Duel>>,
    /// What each client was told.
    pub(crate) told: Vec<Vec<ClientEvent<Duel>>>,
    nodes: Vec<NodeId>,
    next_tick: Instant,
}

impl Table {
    pub(crate) fn new(seed: u64, conditions: Conditions) -> Self {
        let mut net = Network::new(seed);
        net.set_conditions(conditions);
        let nodes = vec![net.add_node(addr::machine(1, 7_777))];
        let server = Server::new(net.now(), [7; 32], ServerConfig::default());
        Self {
            next_tick: net.now(),
            net,
            server,
            clients: Vec::new(),
            ships: Vec::new(),
            heard: Vec::new(),
            told: Vec::new(),
            nodes,
        }
    }

    pub(crate) fn join(&mut self, name: &str) -> usize {
        let number = self.clients.len();
        let port = 5_000 + u16::try_from(number).expect("a few clients");
        self.nodes.push(self.net.add_node(addr::machine(2, port)));
        let config = ClientConfig {
            server: addr::machine(1, 7_777),
            name: name.into(),
            role: Role::Player,
        };
        self.clients.push(Client::new(self.net.now(), config));
        self.told.push(Vec::new());
        number
    }

    pub(crate) const fn node(&self, client: usize) -> NodeId {
        self.nodes.as_slice()[client + 1]
    }

    pub(crate) const fn server_node(&self) -> NodeId {
        self.nodes.as_slice()[0]
    }

    /// Runs so many ticks; every player has a ship that its stick moves.
    pub(crate) fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.tick();
        }
    }

    fn tick(&mut self) {
        let now = self.net.now();
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Joined { player, .. } = &event {
                let ship = self.server.spawn_own(*player, Ship::default());
                let ship = ship.expect("a ship fits the world");
                self.ships.push((*player, ship));
            }
            if let ServerEvent::Left { player, .. } = &event {
                self.ships.retain(|(it, _)| it != player);
            }
            if let ServerEvent::Said { message, .. } = &event {
                let said = self.server.say(To::All, message);
                said.expect("a word can be said");
            }
            if let ServerEvent::Asked { question, message } = &event {
                self.server
                    .answer(*question, (message.0 % 2 == 0).then_some(message))
                    .expect("a word can be said");
            }
            self.heard.push(event);
        }
        for (player, ship) in &self.ships {
            let stepped = self.server.advance(*player, *ship);
            stepped.expect("a ship can be stepped");
        }
        self.server.end_tick(now);
        self.next_tick += TICK;
        // Four frames a tick, at moments of their own.
        for frame in 1..=4 {
            let until = now + (self.next_tick.since(now)) * frame / 4;
            let mut sessions: Vec<&mut dyn Session> = vec![&mut self.server];
            sessions.extend(self.clients.iter_mut().map(|it| it as &mut dyn Session));
            self.net.run_until(until, &mut sessions);
            for (client, told) in self.clients.iter_mut().zip(&mut self.told) {
                client.update(self.net.now());
                while let Some(event) = client.poll_event() {
                    told.push(event);
                }
            }
        }
    }
}
