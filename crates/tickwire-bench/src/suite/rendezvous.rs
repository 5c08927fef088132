//! What a rendezvous server costs: a relay against a bare forwarder, sessions in memory, joining by code.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant as Wall};

use anyhow::{Context as _, ensure};
use tickwire_net::quic::{Fingerprint, Identity, Server, Trust};
use tickwire_net::rendezvous::{Meeting, Offer, PROTOCOL, Rendezvous};
use tickwire_net::{Carries, Driver, NodeId};
use tickwire_rendezvous::message::Up;
use tickwire_rendezvous::probe::{Kind, Probe, Role};
use tickwire_rendezvous::{
    Budget, Candidate, CandidateKind, Code, Lobby, MemberEvent, Register, Relay,
};
use tickwire_session::{Addr, Host, Instant, Path, Room, Session as _, StreamId};

use super::ANY_PORT;
use super::clock::timed;
use super::heap::heap_bytes;
use super::report::{Figure, Ratio, Target};
use super::rounds::{Rounds, Spread};

const ROUNDS: usize = 200;

/// Datagrams of one slice: what a socket's buffer holds with room to spare.
const BATCH: usize = 64;
/// Bytes of each: a full packet of QUIC.
const LENGTH: usize = 1_200;

const SESSIONS: u32 = 10_000;

const JOINS: usize = 200;

pub(super) fn run() -> anyhow::Result<Vec<Figure>> {
    let mut figures = relaying()?;
    figures.push(sessions()?);
    figures.extend(joining()?);
    Ok(figures)
}

/// Datagrams a second of processor time that a relay forwards, against two sockets and a loop.
fn relaying() -> anyhow::Result<Vec<Figure>> {
    let mut sides = (Relayed::new()?, Bare::new()?);
    let rounds = Rounds::run(
        ROUNDS,
        &mut sides,
        |(relayed, _)| relayed.play(),
        |(_, bare)| bare.play(),
    )?;
    let rate = rounds.compare(|rate| *rate);
    Ok(vec![
        Figure {
            ratio: Some(Ratio {
                spread: rate.ratio,
                to: "a bare forwarder",
            }),
            target: Some(Target::RatioAtLeast(0.6)),
            ..Figure::plain("relay, 1,200 bytes", rate.first, "datagrams/s")
        },
        Figure::plain("· a bare forwarder", rate.second, "datagrams/s"),
    ])
}

/// Two members at a relay.
struct Relayed {
    driver: Driver,
    relay: Relay,
    members: [UdpSocket; 2],
}

impl Relayed {
    fn new() -> anyhow::Result<Self> {
        let mut driver = Driver::new()?;
        let node = driver.bind(ANY_PORT, Carries::Datagrams)?;
        let at = driver.local_addr(node).context("it is bound")?;
        let budget = Budget {
            bytes: u64::MAX / 2,
            rate: u32::MAX,
            burst: u32::MAX,
            idle: Duration::from_secs(3_600),
        };
        let relay = Relay::new(driver.now(), 1, [3; 16], budget);
        let members = [member(at)?, member(at)?];
        let mut relayed = Self {
            driver,
            relay,
            members,
        };
        for (role, place) in [(Role::Host, 0), (Role::Joiner, 1)] {
            let bind = Probe {
                kind: Kind::Bind,
                role,
                pairing: 1,
                number: 1,
            };
            let mut bytes = Vec::new();
            bind.encode(&[3; 16], &mut bytes);
            relayed.members[place].send(&bytes)?;
            relayed.turn()?;
            ensure!(drain(&relayed.members[place]) == 1, "a member is not bound");
        }
        Ok(relayed)
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        let until = self.driver.now() + Duration::from_millis(20);
        self.driver.turn(until, &mut [&mut self.relay])?;
        Ok(())
    }

    fn play(&mut self) -> anyhow::Result<f64> {
        fill(&self.members[0])?;
        let before = self.relay.carried();
        let (time, turned) = timed(|| {
            while self.relay.carried() < before + (BATCH * LENGTH) as u64 {
                self.turn()?;
            }
            anyhow::Ok(())
        });
        turned?;
        ensure!(drain(&self.members[1]) == BATCH, "something was lost");
        Ok(BATCH as f64 / time.as_secs_f64())
    }
}

/// The least that a forwarder can be.
struct Bare {
    sockets: [UdpSocket; 2],
    members: [UdpSocket; 2],
}

impl Bare {
    fn new() -> anyhow::Result<Self> {
        let sockets = [UdpSocket::bind(ANY_PORT)?, UdpSocket::bind(ANY_PORT)?];
        let members = [
            member(sockets[0].local_addr()?)?,
            member(sockets[1].local_addr()?)?,
        ];
        for (socket, member) in sockets.iter().zip(&members) {
            socket.connect(member.local_addr()?)?;
        }
        Ok(Self { sockets, members })
    }

    fn play(&mut self) -> anyhow::Result<f64> {
        fill(&self.members[0])?;
        let mut buffer = [0; 2_048];
        let (time, forwarded) = timed(|| {
            for _ in 0..BATCH {
                let length = self.sockets[0].recv(&mut buffer)?;
                self.sockets[1].send(&buffer[..length])?;
            }
            anyhow::Ok(())
        });
        forwarded?;
        ensure!(drain(&self.members[1]) == BATCH, "something was lost");
        Ok(BATCH as f64 / time.as_secs_f64())
    }
}

fn member(at: SocketAddr) -> anyhow::Result<UdpSocket> {
    let socket = UdpSocket::bind(ANY_PORT)?;
    socket.connect(at)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn fill(from: &UdpSocket) -> anyhow::Result<()> {
    for _ in 0..BATCH {
        from.send(&[0x40; LENGTH])?;
    }
    Ok(())
}

fn drain(at: &UdpSocket) -> usize {
    let mut buffer = [0; 2_048];
    let mut count = 0;
    while at.recv(&mut buffer).is_ok() {
        count += 1;
    }
    count
}

/// What ten thousand registered sessions take, without their connections.
fn sessions() -> anyhow::Result<Figure> {
    let before = heap_bytes();
    let mut lobby = Lobby::new(Instant::ZERO, [1; 32], [2; 32]);
    let mut out = Vec::new();
    for number in 0..SESSIONS {
        let on = StreamId::Accepted(number);
        let [_, a, b, c] = (number / 8).to_be_bytes();
        let host = Addr {
            host: Host::Ip(IpAddr::from([10, a, b, c])),
            port: 1,
        };
        lobby.handle_opened(Instant::ZERO, on, host);
        let room = Room {
            bytes: 65_536,
            largest: 0,
        };
        lobby.handle_room(Instant::ZERO, Path::Stream(on), room);
        let candidate = |kind| Candidate {
            kind,
            addr: ([192, 0, 2, 1], 40_000).into(),
        };
        let register = Register {
            protocol: "native,lwar,pixmess,cppevy,opendrakan,reone".into(),
            name: "somebody's game on a Friday night".into(),
            is_public: true,
            players: 4,
            fingerprint: [number.to_le_bytes()[0]; 32],
            candidates: vec![
                candidate(CandidateKind::Local),
                candidate(CandidateKind::Mapped),
            ],
            claim: None,
        };
        out.clear();
        Up::Register(register).encode(&mut out);
        lobby.handle_stream(Instant::ZERO, on, &out);
        while lobby.poll_transmit(Instant::ZERO, &mut out).is_some() {}
    }
    ensure!(
        lobby.sessions() == SESSIONS as usize,
        "{} sessions",
        lobby.sessions()
    );
    let memory = (heap_bytes() - before) / (1_024.0 * 1_024.0);
    Ok(Figure {
        target: Some(Target::AtMost(64.0)),
        ..Figure::plain("10,000 sessions, the lobby", Spread::exactly(memory), "MiB")
    })
}

/// From the first packet to the rendezvous server until the host's addresses are known, on loopback.
fn joining() -> anyhow::Result<Vec<Figure>> {
    let mut office = Office::new()?;
    let rendezvous = office.rendezvous.clone();
    let is_over = AtomicBool::new(false);
    let mut taken = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // What ends it shows in the joiners.
                if office.turn().is_err() {
                    return;
                }
            }
        });
        let taken = join_all(&rendezvous);
        is_over.store(true, Ordering::Relaxed);
        taken
    })?;
    taken.sort_by(f64::total_cmp);
    let p99 = taken[taken.len() * 99 / 100];
    Ok(vec![
        Figure {
            target: Some(Target::AtMost(50.0)),
            ..Figure::plain("joining by code, p99", Spread::exactly(p99), "ms")
        },
        Figure::plain("· each", Spread::of(taken), "ms"),
    ])
}

fn join_all(rendezvous: &Rendezvous) -> anyhow::Result<Vec<f64>> {
    let mut host = Driver::new()?;
    let node = host.open();
    let offer = Offer {
        protocols: vec!["native".into()],
        name: "bench".into(),
        is_public: false,
    };
    let server = Server::new(Identity::generate()?).protocol("native", node);
    let bind = (Ipv4Addr::LOCALHOST, 0).into();
    let (mut meeting, _) = Meeting::host(&mut host, bind, server, offer, rendezvous.clone())?;
    let mut idle = Lobby::new(Instant::ZERO, [0; 32], [0; 32]);
    let code = loop {
        let until = host.now() + Duration::from_millis(5);
        host.turn(until, &mut [&mut idle, meeting.session()])?;
        if let Some(MemberEvent::Registered { code }) = meeting.poll(&mut host)? {
            break code;
        }
    };
    (0..JOINS).map(|_| join(code, rendezvous)).collect()
}

fn join(code: Code, rendezvous: &Rendezvous) -> anyhow::Result<f64> {
    let mut driver = Driver::new()?;
    let began = Wall::now();
    let mut meeting = Meeting::join(&mut driver, code, rendezvous.clone())?;
    loop {
        let until = driver.now() + Duration::from_millis(50);
        driver.turn(until, &mut [meeting.session()])?;
        while let Some(event) = meeting.poll(&mut driver)? {
            match event {
                MemberEvent::Admitted { .. } => return Ok(began.elapsed().as_secs_f64() * 1e3),
                MemberEvent::Refused(why) => anyhow::bail!("{why}"),
                _ => {}
            }
        }
        ensure!(began.elapsed() < Duration::from_secs(20), "nobody answers");
    }
}

/// A rendezvous server without relays.
struct Office {
    driver: Driver,
    lobby: Lobby,
    rendezvous: Rendezvous,
    /// Joiners of one machine would be taken for a crowd: each gets an address of its own.
    named: u32,
}

impl Office {
    fn new() -> anyhow::Result<Self> {
        let mut driver = Driver::new()?;
        let node: NodeId = driver.bind(ANY_PORT, Carries::Datagrams)?;
        let identity = Identity::generate()?;
        let fingerprint: Fingerprint = identity.fingerprint();
        driver.listen_on(node, Server::new(identity).protocol(PROTOCOL, node))?;
        let server = driver.local_addr(node).context("it is bound")?;
        Ok(Self {
            lobby: Lobby::new(driver.now(), [1; 32], [2; 32]),
            driver,
            rendezvous: Rendezvous {
                server,
                trust: Trust::Pinned(fingerprint),
            },
            named: 0,
        })
    }

    fn turn(&mut self) -> anyhow::Result<()> {
        let until = self.driver.now() + Duration::from_millis(5);
        self.driver.turn(until, &mut [&mut self.lobby])?;
        while let Some((on, _)) = self.lobby.poll_unnamed() {
            self.named += 1;
            let ip = Ipv4Addr::from(0x0a00_0000 + self.named).into();
            self.lobby.name(self.driver.now(), on, Some(ip));
        }
        Ok(())
    }
}
