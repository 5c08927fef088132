//! Four congestion controllers on the same bad path: what arrives of 60 snapshots a second, and how old it is.
//!
//! Real endpoints on real sockets, with a relay between them that loses 5 % each way and takes 50 ms, give or
//! take: a round trip of 100 ms. All four play at the same time in one loop, each on a path of its own with the
//! same seed.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use anyhow::Context as _;
use tickwire_net::Driver;
use tickwire_net::quic::Congestion;
use tickwire_session::Instant;
use tickwire_sim::{Chance, Conditions, Link, Rng};

use super::table::{connect, listen};
use super::talker::Talker;
use crate::suite::ANY_PORT;
use crate::suite::report::{Figure, Target};
use crate::suite::rounds::Spread;

/// A large snapshot: with 60 a second, what a window of two packets does not carry over 100 ms.
const LENGTH: usize = 1_000;

const RATE: u32 = 60;

/// Until the windows are what they come to.
const WARM_UP: Duration = Duration::from_secs(5);

const LASTS: Duration = Duration::from_secs(25);

const CONTROLLERS: [(Congestion, [&str; 2]); 4] = [
    (
        Congestion::FlooredCubic,
        ["5 % loss, 100 ms: snapshots heard", "· age, 99 of 100"],
    ),
    (Congestion::Cubic, ["· plain Cubic: heard", "· · age"]),
    (Congestion::NewReno, ["· plain Reno: heard", "· · age"]),
    (Congestion::Bbr, ["· BBR: heard", "· · age"]),
];

pub(in crate::suite) fn run() -> anyhow::Result<Vec<Figure>> {
    let tries = CONTROLLERS
        .iter()
        .map(|(congestion, _)| Try::new(*congestion));
    let mut tries: Vec<_> = tries.collect::<anyhow::Result<_>>()?;
    let clock = Driver::new()?;
    let mut sent = 0;
    while clock.now() < Instant::ZERO + LASTS {
        let now = clock.now();
        let is_due = Instant::ZERO + Duration::from_secs(1) * sent / RATE <= now;
        sent += u32::from(is_due);
        for each in &mut tries {
            each.step(now, is_due)?;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    let mut figures = Vec::new();
    for (each, (congestion, names)) in tries.into_iter().zip(CONTROLLERS) {
        let (share, age) = each.result();
        let is_ours = congestion == Congestion::FlooredCubic;
        figures.push(Figure::plain(names[0], Spread::exactly(share), "of all"));
        figures.push(Figure {
            // Half a round trip, its jitter, and two snapshots in a row that were lost.
            target: is_ours.then_some(Target::AtMost(150.0)),
            ..Figure::plain(names[1], Spread::exactly(age), "ms")
        });
    }
    Ok(figures)
}

struct Try {
    server: Driver,
    session: Talker,
    client: Driver,
    pilot: Talker,
    path: Relay,
    said: u64,
    heard_before: u64,
    ages: Vec<Duration>,
}

impl Try {
    fn new(congestion: Congestion) -> anyhow::Result<Self> {
        let (server, mut to) = listen(congestion)?;
        let path = Relay::new(to.to)?;
        to.to = path.front.local_addr()?;
        let mut client = Driver::new()?;
        let addr = connect(&mut client, &to)?;
        Ok(Self {
            server,
            session: Talker::default(),
            client,
            pilot: Talker::to(addr),
            path,
            said: 0,
            heard_before: 0,
            ages: Vec::new(),
        })
    }

    fn step(&mut self, now: Instant, is_due: bool) -> anyhow::Result<()> {
        let is_counted = now >= Instant::ZERO + WARM_UP;
        if is_due {
            self.pilot.say(40);
            self.session.stamp = now.as_micros();
            self.session.say(LENGTH);
            self.said += u64::from(is_counted);
        }
        let moment = self.server.now();
        self.server.turn(moment, &mut [&mut self.session])?;
        let moment = self.client.now();
        self.client.turn(moment, &mut [&mut self.pilot])?;
        self.path.pump(now)?;
        match is_counted {
            true => self
                .ages
                .push(now.since(Instant::ZERO + Duration::from_micros(self.pilot.newest))),
            false => self.heard_before = self.pilot.heard,
        }
        Ok(())
    }

    /// What part was heard, and how old the newest was at worst in 99 of 100 moments, in milliseconds.
    fn result(mut self) -> (f64, f64) {
        self.ages.sort_unstable();
        let age = self.ages[self.ages.len() * 99 / 100];
        let heard = self.pilot.heard - self.heard_before;
        (heard as f64 / self.said as f64, age.as_secs_f64() * 1e3)
    }
}

/// The simulator's links between two sockets.
struct Relay {
    front: UdpSocket,
    back: UdpSocket,
    client: Option<SocketAddr>,
    up: Link<Vec<u8>>,
    down: Link<Vec<u8>>,
}

impl Relay {
    fn new(server: SocketAddr) -> anyhow::Result<Self> {
        let conditions = Conditions {
            latency: Duration::from_millis(45),
            jitter: Duration::from_millis(10),
            loss: Chance::percent(5),
            ..Conditions::IDEAL
        };
        let [front, back] = [UdpSocket::bind(ANY_PORT)?, UdpSocket::bind(ANY_PORT)?];
        front.set_nonblocking(true)?;
        back.set_nonblocking(true)?;
        back.connect(server)?;
        Ok(Self {
            front,
            back,
            client: None,
            up: Link::new(conditions, Rng::new(1)),
            down: Link::new(conditions, Rng::new(2)),
        })
    }

    fn pump(&mut self, now: Instant) -> anyhow::Result<()> {
        let mut buffer = [0; 2_048];
        while let Ok((length, client)) = self.front.recv_from(&mut buffer) {
            self.client = Some(client);
            self.up.push(now, buffer[..length].to_vec(), length);
        }
        while let Ok(length) = self.back.recv(&mut buffer) {
            self.down.push(now, buffer[..length].to_vec(), length);
        }
        while let Some(packet) = self.up.pop(now) {
            self.back.send(&packet)?;
        }
        while let Some(packet) = self.down.pop(now) {
            let client = self.client.context("the server only answers")?;
            self.front.send_to(&packet, client)?;
        }
        Ok(())
    }
}
