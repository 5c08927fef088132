//! lwar's entity records: what it takes to read and to write one.
//!
//! Reading is a packet full of `Body` records: finding the message, then every record. Writing is what
//! a server does for its first client: from the entity table to packets, all on its own; further
//! clients get copies. Both are compared with copying the same bytes, which is the least that can be
//! done with them and makes machines comparable.

use std::hint::black_box;
use std::time::Duration;

use anyhow::ensure;
use tickwire_dialects::lwar::limits::{HEADER, PACKET_MAX, SEND_PERIOD};
use tickwire_dialects::lwar::message::{Body, Framed, Record as _, Selection, Unreliable};
use tickwire_dialects::lwar::{
    Client, ClientConfig, ClientEvent, Header, Kind, Phase, PlayerId, Reader, Server, ServerConfig,
    Shape,
};
use tickwire_session::{Addr, Events as _, Instant, Session};
use tickwire_sim::addr;

use super::clock::timed;
use super::report::{Figure, Ratio, Target};
use super::rounds::{Compared, Rounds};

const ROUNDS: usize = 200;

/// Records in the server's table: some twenty full packets.
const RECORDS: u16 = 900;

/// How often each is done in one round, so that reading the clock costs nothing next to it.
const REPETITIONS: usize = 100;

/// What the target says.
const NANOS_A_RECORD: f64 = 10.0;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut bench = Bench::new()?;
    let decode = Rounds::run(ROUNDS, &mut bench, Bench::decode, Bench::copy)?.compare(|n| *n);
    let encode = Rounds::run(ROUNDS, &mut bench, Bench::encode, Bench::copy)?.compare(|n| *n);
    let figure = |name, compared: Compared| Figure {
        ratio: Some(Ratio {
            spread: compared.ratio,
            to: "copying",
        }),
        target: Some(Target::AtMost(NANOS_A_RECORD)),
        ..Figure::plain(name, compared.first, "ns/record")
    };
    Ok(vec![
        figure("lwar decode", decode),
        figure("lwar encode", encode),
    ])
}

/// A server with one client, and what the one sends the other.
struct Bench {
    now: Instant,
    server: Server,
    /// Packets of one sending, full of records.
    packets: Vec<Vec<u8>>,
    out: Vec<u8>,
}

const SERVER: Addr = addr::loopback(1);
const CLIENT: Addr = addr::loopback(2);

impl Bench {
    fn new() -> anyhow::Result<Self> {
        let mut server = Server::new(Instant::ZERO, ServerConfig::default(), [7; 32]);
        for number in 0..RECORDS {
            server.add(Kind::SHIP, PlayerId::SERVER, shape(number))?;
        }
        let mut bench = Self {
            now: Instant::ZERO,
            server,
            packets: Vec::new(),
            out: Vec::new(),
        };
        bench.connect()?;
        bench.now += SEND_PERIOD;
        bench.server.handle_timeout(bench.now);
        while let Some(packet) = sent(&mut bench.server, bench.now) {
            bench.packets.push(packet);
        }
        bench.packets.retain(|packet| packet.len() == FULL);
        ensure!(bench.packets.len() > 10, "a sending has full packets");
        Ok(bench)
    }

    /// Brings a client to where it plays, and forgets it: from then on it is a few bytes now and then.
    fn connect(&mut self) -> anyhow::Result<()> {
        let config = ClientConfig {
            server: SERVER,
            name: "reader".into(),
        };
        let mut client = Client::new(self.now, config);
        let patience = self.now + CONNECTING;
        while client.phase() != Phase::Playing {
            ensure!(self.now < patience, "the client is {:?}", client.phase());
            self.now += Duration::from_millis(5);
            client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
            while let Some(packet) = sent(&mut client, self.now) {
                self.server.handle_datagram(self.now, CLIENT, &packet);
            }
            while let Some(packet) = sent(&mut self.server, self.now) {
                client.handle_datagram(self.now, SERVER, &packet);
            }
            while let Some(event) = client.poll_event() {
                // Naming its player id is what makes the server tell it everything.
                if matches!(event, ClientEvent::Connected { .. }) {
                    client.select(Selection::default())?;
                }
            }
        }
        while self.server.poll_event().is_some() {}
        Ok(())
    }

    /// Nanoseconds to read a record.
    fn decode(&mut self) -> anyhow::Result<f64> {
        let (time, records) = timed(|| {
            let mut records = 0;
            for _ in 0..REPETITIONS {
                records += self.packets.iter().map(|p| read(p)).sum::<usize>();
            }
            records
        });
        ensure!(records == REPETITIONS * self.packets.len() * IN_A_PACKET);
        Ok(time.as_nanos() as f64 / records as f64)
    }

    /// Nanoseconds to write a record.
    fn encode(&mut self) -> anyhow::Result<f64> {
        // The server must not miss its client.
        self.out.clear();
        let timestamp = u32::try_from(self.now.as_millis())?;
        Header { ack: 0, timestamp }.begin(&mut self.out);
        self.server.handle_datagram(self.now, CLIENT, &self.out);

        let (time, packets) = timed(|| {
            let mut packets = 0;
            for _ in 0..REPETITIONS {
                self.now += SEND_PERIOD;
                self.server.handle_timeout(self.now);
                self.out.clear();
                while self.server.poll_transmit(self.now, &mut self.out).is_some() {
                    packets += 1;
                }
                black_box(&self.out);
            }
            packets
        });
        ensure!(packets > REPETITIONS * self.packets.len());
        Ok(time.as_nanos() as f64 / (REPETITIONS * usize::from(RECORDS)) as f64)
    }

    /// Nanoseconds to copy a record's bytes as part of a packet.
    fn copy(&mut self) -> anyhow::Result<f64> {
        let (time, ()) = timed(|| {
            for _ in 0..REPETITIONS * COPIES {
                for packet in &self.packets {
                    self.out.clear();
                    self.out.extend_from_slice(black_box(packet));
                    black_box(&self.out);
                }
            }
        });
        let records = REPETITIONS * COPIES * self.packets.len() * IN_A_PACKET;
        Ok(time.as_nanos() as f64 / records as f64)
    }
}

/// Records in a full packet, behind header, message id and count.
const IN_A_PACKET: usize = (PACKET_MAX - HEADER - 2) / Body::SIZE;
/// Bytes of a packet that holds nothing but as many records as fit.
const FULL: usize = HEADER + 2 + IN_A_PACKET * Body::SIZE;
/// How long a client may take to be told of [`RECORDS`] entities.
const CONNECTING: Duration = Duration::from_secs(60);
/// Copying is so fast that it is done more often.
const COPIES: usize = 20;

/// Reads all there is in a packet; returns the number of records.
fn read(packet: &[u8]) -> usize {
    let mut r = Reader::new(packet.get(HEADER..).unwrap_or_default());
    let mut records = 0;
    while let Ok(Framed::Unreliable(Unreliable::Update(bodies))) = Framed::decode(&mut r) {
        for body in bodies.iter() {
            black_box(body);
            records += 1;
        }
    }
    records
}

/// The next datagram of a session, whoever it is for.
fn sent(session: &mut dyn Session, now: Instant) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    session.poll_transmit(now, &mut out)?;
    Some(out)
}

fn shape(number: u16) -> Shape {
    let at = number.cast_signed();
    Shape::Body {
        x: at.wrapping_mul(71),
        y: at.wrapping_mul(-37),
        orientation: number % 360,
        health: 100,
    }
}
