//! A steady state allocates nothing: lwar players that play, entities that move, and not one call of
//! the allocator for a thousand datagrams; a replicated world and its clients.
//!
//! In a binary of its own, because the allocator that counts is the whole program's. It counts for
//! each thread by itself, so that tests can run side by side.

#[path = "allocation/follower.rs"]
mod follower;
#[path = "allocation/replica.rs"]
mod replica;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::thread;
use std::time::Duration;

use tickwire_dialects::lwar::message::Collision;
use tickwire_dialects::lwar::{
    Button, Buttons, Client, ClientConfig, Controls, EntityId, Kind, Phase, PlayerId, Point,
    Server, ServerConfig, Shape,
};
use tickwire_net::{Carries, Driver};
use tickwire_session::{Addr, Events as _, Host, Instant, Session, Transmit};

/// The system's allocator, counted.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Calls of the allocator by this thread that ask for memory.
fn allocations() -> u64 {
    ALLOCATIONS.get()
}

fn count() {
    // A thread that ends has nothing left to count with, and may still allocate.
    ALLOCATIONS
        .try_with(|count| count.set(count.get() + 1))
        .ok();
}

// SAFETY: every call is passed on to the system's allocator as it came; counting allocates nothing,
// since the counter needs neither initialisation nor a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `realloc`, and `place` is the system's.
        unsafe { System.realloc(place, layout, size) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`, and `place` is the system's.
        unsafe { System.dealloc(place, layout) }
    }
}

const PLAYERS: usize = 7;

/// Enough for several packets a sending, so that a thousand datagrams take about a second.
const ENTITIES: i16 = 300;

/// How long everything runs before it is counted: scores are sent twice a second, so all kinds of
/// messages have been there.
const WARM_UP: Duration = Duration::from_millis(1_200);

/// Nothing here takes nearly as long.
const PATIENCE: Duration = Duration::from_secs(60);

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A server with moving entities, and players who press everything.
struct Game {
    server: Server,
    clients: [Client; PLAYERS],
    entities: Vec<EntityId>,
    beat: i16,
}

impl Game {
    fn new(now: Instant, servers: [Addr; PLAYERS]) -> Self {
        let mut server = Server::new(now, ServerConfig::default(), [7; 32]);
        let entities = (0..ENTITIES)
            .map(|at| server.add(Kind::SHIP, PlayerId::SERVER, shape(at)))
            .collect::<Result<_, _>>()
            .expect("a server has room for that many");
        let clients = servers.map(|server| {
            let name = "player".into();
            Client::new(now, ClientConfig { server, name })
        });
        Self {
            server,
            clients,
            entities,
            beat: 0,
        }
    }

    fn everybody_plays(&self) -> bool {
        let mut phases = self.clients.iter().map(Client::phase);
        phases.all(|phase| phase == Phase::Playing)
    }

    /// What a game does in a step.
    fn step(&mut self, now: Instant) {
        self.beat = self.beat.wrapping_add(1);
        for (at, &entity) in (0..).zip(&self.entities) {
            self.server.set(entity, shape(self.beat.wrapping_add(at)));
        }
        if let [a, b, ..] = *self.entities {
            let entities = [a, b];
            self.server.collide(Collision {
                entities,
                x: self.beat,
                y: 0,
            });
        }
        while self.server.poll_event().is_some() {}
        for client in &mut self.clients {
            let player = client.player().unwrap_or_default();
            self.server.take_controls(now, player);
            while client.poll_event().is_some() {}
            client.steer(Controls {
                buttons: Buttons::NONE.with(Button::Forward, self.beat % 2 == 0),
                aim: Point {
                    x: self.beat,
                    y: 100,
                },
            });
        }
    }

    fn sessions(&mut self) -> [&mut dyn Session; PLAYERS + 1] {
        let [a, b, c, d, e, f, g] = &mut self.clients;
        [&mut self.server, a, b, c, d, e, f, g]
    }
}

fn shape(at: i16) -> Shape {
    match at % 4 {
        0 => Shape::Place { x: at, y: -at },
        1 => Shape::Circle {
            x: at,
            y: at,
            radius: 7,
        },
        2 => Shape::Ray {
            x: at,
            y: 0,
            orientation: 90,
            length: 500,
        },
        _ => Shape::Body {
            x: at,
            y: 1,
            orientation: at.unsigned_abs() % 360,
            health: 50,
        },
    }
}

const fn link(number: u64) -> Addr {
    Addr {
        host: Host::Link(number),
        port: 0,
    }
}

/// Runs `turn` until everybody plays and all is warm, and then until a thousand datagrams more were
/// carried; `turn` returns the time and how many were carried so far.
#[track_caller]
fn check(game: &mut Game, mut turn: impl FnMut(&mut Game) -> (Instant, u64)) {
    let (mut now, _) = turn(game);
    let deadline = now + PATIENCE;
    while !game.everybody_plays() {
        assert!(now < deadline, "not everybody plays");
        now = turn(game).0;
    }
    let warm = now + WARM_UP;
    let mut before = 0;
    while now < warm {
        (now, before) = turn(game);
    }
    let allocated = allocations();
    let mut carried = 0;
    while carried < 1_000 {
        assert!(now < deadline, "{carried} datagrams were carried");
        let (at, total) = turn(game);
        (now, carried) = (at, total - before);
    }
    let allocated = allocations() - allocated;
    assert_eq!(allocated, 0, "allocations for {carried} datagrams");
    assert!(game.everybody_plays());
}

#[test]
fn the_allocator_is_counted() {
    let before = allocations();
    drop(std::hint::black_box(vec![1_u8]));
    assert_eq!(allocations(), before + 1);
}

#[test]
fn sessions_allocate_nothing() {
    let mut now = Instant::ZERO;
    let mut carried = 0;
    let mut out = Vec::new();
    // The server knows its clients by numbers, and they it by another.
    let server = link(99);
    let mut game = Game::new(now, [server; PLAYERS]);
    check(&mut game, |game| {
        now += Duration::from_millis(5);
        game.step(now);
        for session in game.sessions() {
            session.handle_timeout(now);
        }
        for (number, client) in (0..).zip(&mut game.clients) {
            while client.poll_transmit(now, &mut out).is_some() {
                game.server.handle_datagram(now, link(number), &out);
                out.clear();
                carried += 1;
            }
        }
        while let Some(transmit) = game.server.poll_transmit(now, &mut out) {
            for (number, client) in (0..).zip(&mut game.clients) {
                if transmit == (Transmit::Datagram { to: link(number) }) {
                    client.handle_datagram(now, server, &out);
                }
            }
            out.clear();
            carried += 1;
        }
        (now, carried)
    });
}

/// Turns a driver in real time, a step every few milliseconds.
#[track_caller]
fn check_driver(mut driver: Driver, servers: [Addr; PLAYERS]) {
    let mut game = Game::new(driver.now(), servers);
    check(&mut game, |game| {
        // A machine that is busy elsewhere makes everybody late, and everything is due at once: it
        // happens here on purpose, so that no buffer grows when it happens by chance.
        if game.beat % 16 == 0 {
            thread::sleep(LATE);
        }
        let until = driver.now() + Duration::from_millis(5);
        driver
            .run_until(until, &mut game.sessions())
            .expect("the system can wait");
        let now = driver.now();
        game.step(now);
        let counters = driver.counters();
        (now, counters.datagrams_received + counters.datagrams_linked)
    });
}

/// Longer than any period of the protocol's packets.
const LATE: Duration = Duration::from_millis(80);

#[test]
fn the_driver_allocates_nothing_on_sockets() {
    let mut driver = Driver::new().unwrap();
    let server = driver.bind(ANY_PORT, Carries::Datagrams).unwrap();
    let addr = driver.local_addr(server).unwrap();
    let servers = [(); PLAYERS].map(|()| {
        driver.open();
        addr.into()
    });
    check_driver(driver, servers);
}

#[test]
fn the_driver_allocates_nothing_on_links() {
    let mut driver = Driver::new().unwrap();
    let server = driver.bind(ANY_PORT, Carries::Datagrams).unwrap();
    let servers = [(); PLAYERS].map(|()| driver.link(server).1);
    check_driver(driver, servers);
}
