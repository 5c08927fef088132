//! What encryption costs: QUIC links against UDP in the clear, handshakes, and a thousand clients.
//!
//! Server and clients are two drivers on loopback. Only the server's processor time counts, in the
//! program and in the kernel; both sides of a comparison have the same sessions and send the same.

pub(super) mod congestion;
pub(super) mod flood;
mod floor;
mod memory;
pub(super) mod table;
mod talker;

use std::time::Duration;

use tickwire_net::Driver;
use tickwire_net::quic::Congestion;
use tickwire_session::Session;

use super::clock::timed;
use super::heap::heap_bytes;
use super::report::{Figure, Ratio, Target};
use super::rounds::{Rounds, Spread};
use floor::Floor;
use table::{CLIENTS, Table, connect, listen};
use talker::Talker;

const ROUNDS: usize = 30;

/// Of the crowd.
const CROWD: usize = 1_000;

/// As many as one host may do at once.
const HANDSHAKES: usize = 100;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut figures = handshakes()?;
    figures.extend(snapshots()?);
    figures.extend(crowd()?);
    figures.extend(memory::run()?);
    Ok(figures)
}

/// What the server's part of a handshake takes; and, while a hundred join at once, its longest turn: a step can
/// wait for one turn at most.
fn handshakes() -> anyhow::Result<Vec<Figure>> {
    let (mut each, mut longest) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let (mut server, client) = listen(Congestion::default())?;
        let mut session = Talker::default();
        let mut clients = Driver::new()?;
        let mut pilots = [(); HANDSHAKES].map(|()| Talker::default());
        for _ in 0..HANDSHAKES {
            connect(&mut clients, &client)?;
        }
        let mut turns = Vec::new();
        while server.counters().links_accepted < HANDSHAKES as u64 {
            let now = clients.now();
            let mut sessions = pilots.each_mut().map(|pilot| pilot as &mut dyn Session);
            clients.turn(now, &mut sessions)?;
            let until = server.now() + Duration::from_millis(1);
            let (time, turned) = timed(|| server.turn(until, &mut [&mut session]));
            turned?;
            turns.push(time.as_secs_f64());
        }
        each.push(turns.iter().sum::<f64>() * 1e6 / HANDSHAKES as f64);
        longest.push(turns.into_iter().fold(0.0, f64::max) * 1e3);
    }
    Ok(vec![
        Figure {
            // 2,000 a second on one core.
            target: Some(Target::AtMost(500.0)),
            ..Figure::plain("QUIC handshake, server", Spread::of(each), "µs")
        },
        Figure {
            target: Some(Target::AtMost(2.0)),
            ..Figure::plain("· 100 at once: longest turn", Spread::of(longest), "ms")
        },
    ])
}

/// What 64 clients cost, against the floor and against UDP in the clear.
fn snapshots() -> anyhow::Result<Vec<Figure>> {
    let mut sides = (Table::clear(CLIENTS)?, Table::encrypted(CLIENTS)?);
    let rounds = Rounds::run(
        ROUNDS,
        &mut sides,
        |(_, encrypted)| encrypted.play(),
        |(clear, _)| clear.play(),
    )?;
    let sending = rounds.compare(|slice| slice.sending);
    let both = rounds.compare(|slice| slice.sending + slice.receiving);
    let mut sides = (sides.1, Floor::new()?);
    let rounds = Rounds::run(
        ROUNDS,
        &mut sides,
        |(encrypted, _)| Ok(encrypted.play()?.sending),
        |(_, floor)| floor.play(),
    )?;
    let floor = rounds.compare(|sending| *sending);
    let ratio = |spread, to| Some(Ratio { spread, to });
    Ok(vec![
        Figure {
            ratio: ratio(floor.ratio, "AES-GCM and sendmmsg"),
            target: Some(Target::RatioAtMost(2.5)),
            ..Figure::plain("QUIC snapshot, server", floor.first, "ns/datagram")
        },
        Figure::plain("· AES-GCM and sendmmsg", floor.second, "ns/datagram"),
        Figure {
            ratio: ratio(sending.ratio, "UDP in the clear"),
            ..Figure::plain("· by turns with the clear", sending.first, "ns/datagram")
        },
        Figure {
            ratio: ratio(both.ratio, "UDP in the clear"),
            ..Figure::plain("· with an input", both.first, "ns/datagram")
        },
    ])
}

/// What a thousand clients cost.
fn crowd() -> anyhow::Result<Vec<Figure>> {
    let before = heap_bytes();
    let mut crowd = Table::encrypted(CROWD)?;
    let memory = (heap_bytes() - before) / CROWD as f64;
    let cores = crowd.cores()?;
    Ok(vec![
        Figure {
            target: Some(Target::AtMost(0.7)),
            ..Figure::plain("1,000 QUIC clients", Spread::exactly(cores), "cores")
        },
        Figure::plain(
            "· a snapshot",
            Spread::exactly(crowd.packets_a_snapshot()),
            "packets",
        ),
        Figure::plain("· heard", Spread::exactly(crowd.share_heard()), "of all"),
        Figure {
            target: Some(Target::AtMost(65_536.0)),
            ..Figure::plain(
                "· memory, both ends",
                Spread::exactly(memory),
                "bytes/connection",
            )
        },
    ])
}
