//! What a flood of first packets costs those who play.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant as WallClock};

use tickwire_net::Driver;
use tickwire_net::quic::{Client, Congestion};
use tickwire_session::Session;

use super::table::{CLIENTS, INPUT, SNAPSHOT, Table, connect, listen};
use super::talker::Talker;
use crate::suite::ANY_PORT;
use crate::suite::heap::heap_bytes;
use crate::suite::report::{Figure, Ratio, Target};
use crate::suite::rounds::Spread;

/// First packets a second.
const FLOOD: u32 = 50_000;

/// How long a phase lasts: longer than a connection may be half open.
const LASTS: Duration = Duration::from_secs(10);

/// Of so many one is well formed, and would have a handshake.
const WELL_FORMED: u64 = 10;

/// Hosts and ports that first packets come from.
const SOURCES: u16 = 256;

/// Quiet, under the flood, and quiet again.
const PHASES: usize = 3;

/// 64 players, sixty steps a second, through all phases.
pub(in crate::suite) fn run() -> anyhow::Result<Vec<Figure>> {
    let (server, client) = listen(Congestion::default())?;
    let initials = first_packets(&client, 400)?;
    let mut table = Table::join(server, &client, CLIENTS)?;
    let shared = Shared::default();
    let to = client.to;
    let (steps, pauses, memory, lost) = thread::scope(|scope| -> anyhow::Result<_> {
        let Table {
            server,
            session,
            clients,
            pilots,
            ..
        } = &mut table;
        let players = scope.spawn(|| play(clients, pilots, &shared));
        let flood = scope.spawn(|| send_flood(to, &initials, &shared));
        let mut steps = [(); PHASES].map(|()| Vec::new());
        let mut before = 0.0;
        for (phase, steps) in steps.iter_mut().enumerate() {
            shared.phase.store(phase, Ordering::Relaxed);
            *steps = serve(server, session, LASTS)?;
            if phase == 0 {
                before = heap_bytes();
            }
        }
        shared.is_over.store(true, Ordering::Relaxed);
        let pauses = players.join().expect("players do not panic")?;
        flood.join().expect("a flood does not panic")?;
        let lost = server.counters().datagrams_overrun;
        Ok((steps, pauses, heap_bytes() - before, lost))
    })?;
    let sent = shared.sent.load(Ordering::Relaxed) as f64 / LASTS.as_secs_f64();
    Ok(vec![
        compare("a flood: a step, 99 of 100", steps),
        Figure {
            target: None,
            ..compare("· pauses of players, 99 of 100", pauses)
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

/// The flood against the quiet before it and the quiet after it, whose difference is the noise.
fn compare(name: &'static str, phases: [Vec<Duration>; PHASES]) -> Figure {
    let [before, flooded, after] = phases.map(|mut times| {
        times.sort_unstable();
        times[times.len() * 99 / 100].as_secs_f64() * 1e3
    });
    Figure {
        ratio: Some(Ratio {
            spread: Spread {
                low: flooded / before.max(after),
                median: flooded * 2.0 / (before + after),
                high: flooded / before.min(after),
            },
            to: "quiet ones",
        }),
        target: Some(Target::RatioAtMost(1.2)),
        ..Figure::plain(name, Spread::exactly(flooded), "ms")
    }
}

#[derive(Default)]
struct Shared {
    phase: AtomicUsize,
    is_over: AtomicBool,
    sent: AtomicU64,
}

/// Sixty snapshots a second for everybody; returns the time from each step to the next.
fn serve(
    server: &mut Driver,
    session: &mut Talker,
    lasts: Duration,
) -> anyhow::Result<Vec<Duration>> {
    let began = server.now();
    let (mut step, mut last) = (0, began);
    let mut times = Vec::new();
    while last < began + lasts {
        step += 1;
        session.say(SNAPSHOT);
        let due = began + Duration::from_secs(1) * step / 60;
        server.run_until(due, &mut [&mut *session])?;
        let now = server.now();
        times.push(now.since(last));
        last = now;
    }
    Ok(times)
}

/// Plays, and returns how long each player waited for each snapshot, by phase.
fn play(
    clients: &mut Driver,
    pilots: &mut [Talker],
    shared: &Shared,
) -> anyhow::Result<[Vec<Duration>; PHASES]> {
    // All of it at once: what the server keeps is measured meanwhile.
    let most = 120 * pilots.len() * usize::try_from(LASTS.as_secs())?;
    let mut pauses = [(); PHASES].map(|()| Vec::with_capacity(most));
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
            let phase = shared.phase.load(Ordering::Relaxed);
            for (pilot, (heard, at)) in pilots.iter().zip(&mut last) {
                if pilot.heard > *heard {
                    pauses[phase].push(now - *at);
                    (*heard, *at) = (pilot.heard, now);
                }
            }
        }
    }
    Ok(pauses)
}

/// Sends first packets while it shall, from many ports.
fn send_flood(to: SocketAddr, initials: &[Vec<u8>], shared: &Shared) -> anyhow::Result<()> {
    let sockets = (0..SOURCES).map(|number| {
        let [high, low] = number.to_be_bytes();
        UdpSocket::bind(SocketAddr::from(([127, 1, high, low], 0)))
    });
    let sockets: Vec<_> = sockets.collect::<Result<_, _>>()?;
    let mut sent = 0_u64;
    let mut began = None;
    while !shared.is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(2));
        if shared.phase.load(Ordering::Relaxed) != 1 {
            continue;
        }
        let elapsed = began.get_or_insert_with(WallClock::now).elapsed();
        let due = (elapsed.as_secs_f64() * f64::from(FLOOD)).round();
        while (sent as f64) < due {
            sent += 1;
            let socket = &sockets[usize::try_from(sent)? % sockets.len()];
            let number = usize::try_from(sent / WELL_FORMED)?;
            match sent % WELL_FORMED {
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
