//! Every protocol over QUIC: one server, one port, one client of each, on loopback.

use std::net::Ipv4Addr;
use std::time::Duration;

use tickwire_demo::gateway::{ClientGateway, Connect, PROTOCOLS, Settings, Status};
use tickwire_demo::tiles::Look;
use tickwire_demo::{Host, Loadout, STEP};
use tickwire_net::quic::{Client, Identity, Server, Trust};
use tickwire_net::{Driver, NodeId};
use tickwire_session::{Addr, Session};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of everything and its clients, all in one driver; only packets are between them.
struct Table {
    driver: Driver,
    host: Host,
    players: Vec<Player>,
}

struct Player {
    protocol: &'static str,
    server: Addr,
    gateway: Box<dyn ClientGateway>,
}

impl Table {
    fn new() -> Self {
        let mut driver = Driver::new().unwrap();
        let mut host = Host::new(1, 2);
        let identity = Identity::generate().unwrap();
        let trust = Trust::Pinned(identity.fingerprint());
        let mut server = Server::new(identity);
        for protocol in PROTOCOLS {
            server = server.protocol(protocol.name, driver.open());
            host.serve(protocol, driver.now(), [7; 32], &Settings::default());
        }
        let listener = driver.listen((Ipv4Addr::LOCALHOST, 0).into(), server);
        let to = driver.listener_addr(listener.unwrap()).unwrap();
        let mut table = Self {
            driver,
            host,
            players: Vec::new(),
        };
        for protocol in PROTOCOLS {
            let node = table.driver.open();
            table.join(node, &protocol.connect, Client {
                to,
                name: "localhost".into(),
                protocol: protocol.name.into(),
                trust: trust.clone(),
                ticket: Vec::new(),
            });
            table.players.last_mut().unwrap().protocol = protocol.name;
        }
        table
    }

    fn join(&mut self, node: NodeId, connect: &Connect, client: Client) {
        let server = self.driver.connect(node, client).unwrap();
        let now = self.driver.now();
        let gateway: Box<dyn ClientGateway> = match connect {
            Connect::Arena(connect) => connect(now, server, "pilot", Loadout::STANDARD),
            Connect::Tiles(connect) => connect(now, server, "walker", LOOK).unwrap(),
        };
        self.players.push(Player {
            protocol: "",
            server,
            gateway,
        });
    }

    /// Plays one step.
    fn step(&mut self) {
        let mut notices = Vec::new();
        let mut sessions: Vec<&mut dyn Session> = self.host.sessions();
        let clients = self.players.iter_mut();
        sessions.extend(clients.map(|player| player.gateway.session()));
        let until = self.driver.now() + STEP;
        self.driver.run_until(until, &mut sessions).unwrap();
        let now = self.driver.now();
        self.host.step(now, &mut notices);
        for player in &mut self.players {
            player.gateway.collect(now, &mut notices);
        }
    }

    #[track_caller]
    fn until(&mut self, done: impl Fn(&Player, &Self) -> bool) {
        let deadline = self.driver.now() + PATIENCE;
        while !self.players.iter().all(|player| done(player, self)) {
            let late = self.players.iter().filter(|player| !done(player, self));
            let late: Vec<_> = late.map(|late| (late.protocol, late.gateway.status())).collect();
            assert!(self.driver.now() < deadline, "{late:?}");
            self.step();
        }
    }
}

const LOOK: Look = Look { ch: 64, col: 15 };

#[test]
fn one_port_carries_every_protocol_and_a_player_may_move() {
    let mut table = Table::new();
    let plays = |player: &Player, _: &Table| player.gateway.status() == Status::Playing;
    table.until(plays);

    // Everybody changes networks in the middle of play, and nobody is lost.
    let servers: Vec<_> = table.players.iter().map(|player| player.server).collect();
    for server in servers {
        table.driver.rebind(server).unwrap();
    }
    let moved = table.driver.now();
    table.until(|player, table| {
        let now = table.driver.now();
        // What is shown is younger than the move, except where nothing moves by itself.
        let age = player.gateway.update_age(now);
        now.since(moved) > Duration::from_secs(2)
            && plays(player, table)
            && age.is_none_or(|age| age < Duration::from_secs(2))
    });
    assert_eq!(table.driver.counters().links_accepted, 5);
}
