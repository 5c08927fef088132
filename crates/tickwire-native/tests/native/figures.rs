//! What the protocol costs in bytes, datagrams and round trips: counted, and the same on every machine.

use std::time::Duration;

use tickwire_native::{Client, ClientConfig, Game, Phase, Role, Server, ServerConfig, ServerEvent};
use tickwire_replica::{Archetypes, Replicate};
use tickwire_session::tap::{Input, Observer, Tap};
use tickwire_session::{Events as _, Instant, Session, StreamId, Transmit};
use tickwire_sim::{Conditions, Network, Rng, addr};

use crate::duel::Table;

/// Bytes of IPv4 and UDP before a datagram's payload.
const HEADERS: u64 = 28;

#[derive(Clone, Debug, Default, Replicate)]
struct Walker {
    #[replicate(position, step = 0.01)]
    at: [f32; 3],
    #[replicate(quaternion, bits = 10)]
    facing: [f32; 4],
}

#[derive(Archetypes)]
enum Thing {
    Walker(Walker),
}

/// Twelve bytes: what a shooter's input has.
#[derive(Clone, Default, Replicate)]
struct Controls {
    #[replicate(bits = 16)]
    buttons: u16,
    right: i8,
    forward: i8,
    yaw: u16,
    pitch: u16,
    target: u32,
}

struct Plain;

impl Game for Plain {
    type Things = Thing;
    type Input = Controls;
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;
}

/// Datagrams and their bytes, as a session sends them.
#[derive(Default)]
struct Counted {
    datagrams: u64,
    bytes: u64,
    largest: usize,
}

impl Observer for Counted {
    fn input(&mut self, _now: Instant, _input: Input<'_>) {}

    fn output(&mut self, _now: Instant, transmit: Transmit, bytes: &[u8]) {
        if let Transmit::Datagram { .. } = transmit {
            self.datagrams += 1;
            self.bytes += bytes.len() as u64;
            self.largest = self.largest.max(bytes.len());
        }
    }
}

/// A server and clients of a game, of which the server's datagrams, or the clients', are counted.
struct Counting {
    net: Network,
    server: Tap<Server<Plain>, Counted>,
    clients: Vec<Tap<Client<Plain>, Counted>>,
}

impl Counting {
    fn new(clients: u8) -> Self {
        let mut net = Network::new(5);
        net.set_conditions(Conditions {
            latency: Duration::from_millis(25),
            ..Conditions::IDEAL
        });
        let here = addr::machine(1, 7_777);
        net.add_node(here);
        let server = Server::new(net.now(), [7; 32], ServerConfig::default());
        let clients = (0..clients).map(|number| {
            net.add_node(addr::machine(number + 2, 5_000));
            let config = ClientConfig {
                server: here,
                name: "Ada".into(),
                role: Role::Player,
            };
            Tap::new(Client::new(net.now(), config), Counted::default())
        });
        let clients = clients.collect();
        Self {
            server: Tap::new(server, Counted::default()),
            clients,
            net,
        }
    }

    fn tick(&mut self) {
        while let Some(event) = self.server.session.poll_event() {
            assert!(!matches!(event, ServerEvent::Left { .. }), "{event:?}");
        }
        self.server.session.end_tick(self.net.now());
        let mut sessions: Vec<&mut dyn Session> = vec![&mut self.server];
        sessions.extend(self.clients.iter_mut().map(|it| it as &mut dyn Session));
        let length = Duration::from_secs(1) / u32::from(Plain::HZ);
        self.net.run_for(length, &mut sessions);
    }
}

/// As PurrNet's public benchmark: a hundred clients see a hundred objects, all of which move. Here each walks at 3
/// units a second, told to a hundredth, and turns by up to 4 degrees about all three axes in every send.
#[test]
fn a_hundred_clients_of_a_hundred_objects_take_a_mebibyte_a_second() {
    const SECONDS: u64 = 5;
    let mut counting = Counting::new(100);
    let mut rng = Rng::new(9);
    let mut walkers: Vec<_> = (0..100)
        .map(|_| {
            let at = [(); 3].map(|()| unit(&mut rng) * 50.0);
            let facing = normal([(); 4].map(|()| unit(&mut rng)));
            let walker = Walker { at, facing };
            let id = counting.server.session.spawn(walker.clone());
            (id.expect("a walker fits"), walker)
        })
        .collect();
    let mut ticks = |counting: &mut Counting, count: u64| {
        for tick in 0..count {
            if tick % 3 == 0 {
                for (id, walker) in &mut walkers {
                    walker.wander(&mut rng);
                    let set = counting.server.session.set(*id, walker);
                    set.expect("a walker can be set");
                }
            }
            counting.tick();
        }
    };
    ticks(&mut counting, 180);
    let playing = |it: &Tap<Client<Plain>, Counted>| it.session.phase() == Phase::Playing;
    assert!(counting.clients.iter().all(playing));
    counting.server.observer = Counted::default();
    ticks(&mut counting, SECONDS * 60);

    let Counted {
        datagrams, bytes, ..
    } = counting.server.observer;
    let snapshots = SECONDS * 20 * 100;
    let wire = (bytes + datagrams * HEADERS) as f64 / SECONDS as f64 / f64::from(1 << 20);
    println!(
        "{wire:.3} MiB/s on the wire, {} bytes and {} datagrams for {snapshots} snapshots",
        bytes, datagrams
    );
    assert!(wire <= 1.1, "{wire} MiB/s");
    assert!(
        datagrams as f64 <= snapshots as f64 * 1.1,
        "{datagrams} datagrams"
    );
}

impl Walker {
    fn wander(&mut self, rng: &mut Rng) {
        const TURN: f32 = 0.035;
        let turn = normal([unit(rng) * TURN, unit(rng) * TURN, unit(rng) * TURN, 1.0]);
        self.facing = normal(product(self.facing, turn));
        // Ahead is along x.
        let [x, y, z, w] = self.facing;
        let ahead = [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y + w * z),
            2.0 * (x * z - w * y),
        ];
        for (at, ahead) in self.at.iter_mut().zip(ahead) {
            *at += ahead * 3.0 / 20.0;
        }
    }
}

/// From -1 to 1.
fn unit(rng: &mut Rng) -> f32 {
    let share = u16::try_from(rng.within(0..=65_535)).expect("small");
    f32::from(share) / 32_767.5 - 1.0
}

fn normal(q: [f32; 4]) -> [f32; 4] {
    let length = q.iter().map(|it| it * it).sum::<f32>().sqrt();
    q.map(|it| it / length)
}

fn product([ax, ay, az, aw]: [f32; 4], [bx, by, bz, bw]: [f32; 4]) -> [f32; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// The player aims in every tick, does something else every few, and aims at another entity at times.
#[test]
fn an_input_of_twelve_bytes_costs_forty() {
    let mut counting = Counting::new(1);
    let mut rng = Rng::new(3);
    let mut controls = Controls::default();
    let mut turn = |controls: &mut Controls, tick: u32| {
        let by = u16::try_from(rng.within(0..=254)).expect("small");
        controls.yaw = controls.yaw.wrapping_add(by).wrapping_sub(127);
        controls.pitch = controls.pitch.wrapping_add(by / 4).wrapping_sub(31);
        if tick.is_multiple_of(8) {
            controls.buttons ^= 5;
            controls.forward = 127 - controls.forward;
        }
        if tick.is_multiple_of(40) {
            controls.target = controls.target.wrapping_add(37);
        }
    };
    for tick in 0..600 {
        turn(&mut controls, tick);
        let client = &mut counting.clients[0];
        client.session.set_input(controls.clone());
        if tick == 200 {
            client.observer = Counted::default();
        }
        counting.tick();
    }
    let Counted {
        datagrams,
        bytes,
        largest,
    } = counting.clients[0].observer;
    println!("{datagrams} datagrams of {bytes} bytes, the largest of {largest}");
    assert!(largest <= 40, "{largest} bytes");
    // An input each of 400 ticks; acknowledgements travel with them.
    assert!(datagrams <= 404, "{datagrams} datagrams");
}

/// From the moment that its new connection is open.
#[test]
fn resuming_takes_one_round_trip() {
    const LATENCY: Duration = Duration::from_millis(40);
    let mut table = Table::new(
        6,
        Conditions {
            latency: LATENCY,
            ..Conditions::IDEAL
        },
    );
    table.join("Ada");
    table.run(60);
    assert_eq!(table.clients[0].phase(), Phase::Playing);
    let node = table.node(0);
    table.net.reset_stream(node, StreamId::Dialled(0));
    let mut waited = 0;
    while table.clients[0].phase() == Phase::Playing {
        table.run(1);
    }
    while table.clients[0].phase() != Phase::Playing {
        table.run(1);
        waited += 1;
        assert!(waited < 60, "it does not come back");
    }
    // A round trip to open the connection and one for Hello and Welcome, in ticks of 16.7 ms, and one tick
    // that began before.
    let trips = 2 * LATENCY * 2;
    let ticks = trips.as_micros().div_ceil(16_666);
    assert!(waited <= ticks + 1, "{waited} ticks");
}
