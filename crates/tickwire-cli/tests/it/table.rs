//! A server in this process, on real sockets, whose worlds are stepped as a test wants.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use tickwire_demo::gateway::{ArenaClient, Connect, Protocol, Settings, Status};
use tickwire_demo::tiles::Train;
use tickwire_demo::{GameServer, Loadout, STEP};
use tickwire_net::{Carries, Driver};
use tickwire_session::{Instant, Session};

/// Longest wait for anything: only a broken server takes so long, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A server and clients in this process, on real sockets.
pub(crate) struct Table {
    driver: Driver,
    pub(crate) host: GameServer,
    pub(crate) clients: Vec<Box<dyn ArenaClient>>,
    next_step: Instant,
}

impl Table {
    pub(crate) fn new(protocol: &str, settings: &Settings) -> (Self, SocketAddr) {
        let protocol = Protocol::named(protocol).expect("the demo speaks it");
        let mut driver = Driver::new().expect("a driver");
        let node = driver.bind(ANY_PORT, Carries::Both);
        let addr = driver
            .local_addr(node.expect("a free port"))
            .expect("it is bound");
        let mut host = GameServer::new(1, 4);
        host.serve(protocol, driver.now(), [1; 32], settings);
        let next_step = driver.now();
        let table = Self {
            driver,
            host,
            clients: Vec::new(),
            next_step,
        };
        (table, addr)
    }

    /// Lets a client of reone join.
    pub(crate) fn connect(&mut self, server: SocketAddr) {
        let Connect::Arena(connect) = Protocol::named("reone")
            .expect("the arena speaks reone")
            .connect
        else {
            unreachable!("reone leads to the arena");
        };
        self.driver.open();
        let now = self.driver.now();
        let client = connect(now, server.into(), "somebody", Loadout::STANDARD);
        self.clients.push(client);
    }

    /// Lets a sixtieth of a second pass.
    pub(crate) fn step(&mut self) {
        let mut sessions = self.host.sessions();
        for client in &mut self.clients {
            sessions.push(client.session() as &mut dyn Session);
        }
        self.driver
            .run_until(self.next_step, &mut sessions)
            .expect("sockets can be waited for");
        let now = self.driver.now();
        self.next_step = (self.next_step + STEP).max(now);
        self.host.step(now, &mut Vec::new());
        for client in &mut self.clients {
            client.collect(now, &mut Vec::new());
        }
    }

    /// Lets the worlds take some steps at once, and everybody hear of them.
    pub(crate) fn step_fast(&mut self, steps: u32) {
        let now = self.driver.now();
        (1..steps).for_each(|_| self.host.step(now, &mut Vec::new()));
        self.step();
    }

    /// Takes so many steps in a sixtieth of a second, until it is as wanted.
    #[track_caller]
    pub(crate) fn step_until(&mut self, pace: u32, wanted: impl Fn() -> bool) {
        let deadline = self.driver.now() + PATIENCE;
        while !wanted() {
            assert!(self.driver.now() < deadline, "it never comes to that");
            self.step_fast(pace);
        }
    }

    pub(crate) fn train(&self) -> &Train {
        let tiles = self.host.tiles();
        tiles.expect("the tile world is served").train()
    }

    /// Steps until a client is in the world.
    pub(crate) fn step_until_playing(&mut self, client: usize) {
        let deadline = self.driver.now() + PATIENCE;
        while self.clients[client].status() != Status::Playing {
            assert!(
                self.driver.now() < deadline,
                "{:?}",
                self.clients[client].status()
            );
            self.step();
        }
    }

    /// Snapshots that were published, and those that the first client had whole.
    pub(crate) fn snapshots(&self) -> (u64, u64) {
        let mut whole = 0;
        self.clients[0]
            .figures()
            .visit_counters(&mut |name, count| {
                if matches!(name, "performant" | "fallback") {
                    whole += count;
                }
            });
        (self.host.arena().tick().0 / 3, whole)
    }
}
