//! What a flood of first packets costs those who play.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant as WallClock};

use tickwire_net::Driver;
use tickwire_net::quic::{Client, Congestion};
use tickwire_session::Session;

use super::resident_bytes;
use super::table::{CLIENTS, INPUT, SNAPSHOT, Table, connect, listen};
use super::talker::Talker;
use crate::suite::ANY_PORT;
use crate::suite::report::{Figure, Ratio, Target};
use crate::suite::rounds::Spread;

/// First packets a second.
const FLOOD: u32 = 50_000;

/// How long it lasts, and how long it is quiet before.
const LASTS: Duration = Duration::from_secs(10);

/// How long connections may be half open, and a second.
const AFTERMATH: Duration = Duration::from_secs(6);

/// 64 players, quiet and then under a flood of first packets, a hundredth of them well formed.
pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let (server, client) = listen(Congestion::default())?;
    let initials = first_packets(&client, 400)?;
    let mut table = Table::join(server, &client, CLIENTS)?;
    let shared = Shared::default();
    let to = client.to;
    let (gaps, memory, lost) = thread::scope(|scope| -> anyhow::Result<_> {
        let Table {
            server,
            session,
            clients,
            pilots,
            ..
        } = &mut table;
        let players = scope.spawn(|| play(clients, pilots, &shared));
        let flood = scope.spawn(|| send_flood(to, &initials, &shared));
        serve(server, session, LASTS)?;
        let before = resident_bytes()?;
        shared.floods.store(true, Ordering::Relaxed);
        serve(server, session, LASTS)?;
        shared.floods.store(false, Ordering::Relaxed);
        shared.is_over.store(true, Ordering::Relaxed);
        let gaps = players.join().expect("players do not panic")?;
        flood.join().expect("a flood does not panic")?;
        serve(server, session, AFTERMATH)?;
        let lost = server.counters().datagrams_overrun;
        Ok((gaps, resident_bytes()? - before, lost))
    })?;
    let [quiet, flooded] = gaps.map(|mut gaps| {
        gaps.sort_unstable();
        gaps[gaps.len() * 99 / 100].as_secs_f64() * 1e3
    });
    let sent = shared.sent.load(Ordering::Relaxed) as f64 / LASTS.as_secs_f64();
    Ok(vec![
        Figure {
            ratio: Some(Ratio {
                spread: Spread::exactly(flooded / quiet),
                to: "before the flood",
            }),
            target: Some(Target::RatioAtMost(1.2)),
            ..Figure::plain(
                "a flood: pauses of players, 99 of 100",
                Spread::exactly(flooded),
                "ms",
            )
        },
        Figure::plain("· first packets", Spread::exactly(sent), "packets/s"),
        Figure::plain(
            "· snapshots not sent",
            Spread::exactly(lost as f64),
            "datagrams",
        ),
        Figure {
            target: Some(Target::AtMost(2.0)),
            ..Figure::plain(
                "· memory kept",
                Spread::exactly(memory / 1_048_576.0),
                "MiB",
            )
        },
    ])
}

#[derive(Default)]
struct Shared {
    floods: AtomicBool,
    is_over: AtomicBool,
    sent: AtomicU64,
}

/// Sixty snapshots a second for everybody.
fn serve(server: &mut Driver, session: &mut Talker, lasts: Duration) -> anyhow::Result<()> {
    let began = server.now();
    let mut step = 0;
    while server.now() < began + lasts {
        step += 1;
        session.say(SNAPSHOT);
        let due = began + Duration::from_secs(1) * step / 60;
        server.run_until(due, &mut [&mut *session])?;
    }
    Ok(())
}

/// Plays, and returns how long each player waited for each snapshot: before the flood, and in it.
fn play(
    clients: &mut Driver,
    pilots: &mut [Talker],
    shared: &Shared,
) -> anyhow::Result<[Vec<Duration>; 2]> {
    let mut gaps = [Vec::new(), Vec::new()];
    let mut last = vec![(0, WallClock::now()); pilots.len()];
    let began = clients.now();
    let mut step = 0;
    while !shared.is_over.load(Ordering::Relaxed) {
        step += 1;
        pilots.iter_mut().for_each(|pilot| pilot.say(INPUT));
        let due = began + Duration::from_secs(1) * step / 60;
        while clients.now() < due {
            let mut sessions: Vec<_> = pilots
                .iter_mut()
                .map(|pilot| pilot as &mut dyn Session)
                .collect();
            clients.turn(due, &mut sessions)?;
            let now = WallClock::now();
            let phase = usize::from(shared.floods.load(Ordering::Relaxed));
            for (pilot, (heard, at)) in pilots.iter().zip(&mut last) {
                if pilot.heard > *heard {
                    gaps[phase].push(now - *at);
                    (*heard, *at) = (pilot.heard, now);
                }
            }
        }
    }
    Ok(gaps)
}

/// Sends first packets while it shall, from many ports.
fn send_flood(
    to: std::net::SocketAddr,
    initials: &[Vec<u8>],
    shared: &Shared,
) -> anyhow::Result<()> {
    let sockets = (0..64).map(|_| UdpSocket::bind(ANY_PORT));
    let sockets: Vec<_> = sockets.collect::<Result<_, _>>()?;
    let mut sent = 0_u64;
    let mut began = None;
    while !shared.is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(2));
        if !shared.floods.load(Ordering::Relaxed) {
            continue;
        }
        let elapsed = began.get_or_insert_with(WallClock::now).elapsed();
        let due = (elapsed.as_secs_f64() * f64::from(FLOOD)).round();
        while (sent as f64) < due {
            sent += 1;
            let socket = &sockets[usize::try_from(sent)? % sockets.len()];
            let number = usize::try_from(sent / 100)?;
            match sent % 100 {
                0 => socket.send_to(&initials[number % initials.len()], to),
                _ => socket.send_to(&first_packet(sent), to),
            }
            .ok();
        }
    }
    shared.sent.store(sent, Ordering::Relaxed);
    Ok(())
}

/// What looks like the beginning of a connection: an Initial packet with a connection id of its own.
fn first_packet(number: u64) -> [u8; 1_200] {
    let mut packet = [7; 1_200];
    packet[..6].copy_from_slice(&[0xc3, 0, 0, 0, 1, 8]);
    packet[6..14].copy_from_slice(&number.to_be_bytes());
    // No source id, no token, and a length of two bytes that reaches to the end.
    packet[14..18].copy_from_slice(&[0, 0, 0x44, 0x9e]);
    packet
}

/// The first packets of honest clients, who never hear an answer.
fn first_packets(client: &Client, count: usize) -> anyhow::Result<Vec<Vec<u8>>> {
    let trap = UdpSocket::bind(ANY_PORT)?;
    let mut driver = Driver::new()?;
    let caught = Client {
        to: trap.local_addr()?,
        ..client.clone()
    };
    let mut packets = Vec::new();
    let mut buffer = [0; 2_048];
    let mut sessions: Vec<_> = (0..count).map(|_| Talker::default()).collect();
    for number in 0..count {
        connect(&mut driver, &caught)?;
        let mut known: Vec<_> = sessions[..=number]
            .iter_mut()
            .map(|session| session as &mut dyn Session)
            .collect();
        let now = driver.now();
        driver.turn(now, &mut known)?;
        let length = trap.recv(&mut buffer)?;
        packets.push(buffer[..length].to_vec());
    }
    Ok(packets)
}
