//! What goes wrong: hosts that vanish, servers that restart, networks that lose, people who guess.

use std::time::Duration;

use tickwire_rendezvous::limits::{CLIENTS_MAX, PAIRINGS_MAX, SESSIONS_MAX};
use tickwire_rendezvous::message::{Down, FrameReader, Refusal, Up};
use tickwire_rendezvous::{Budget, Code, Lobby, MemberEvent, PathKind, RelayEnd, stun};
use tickwire_session::{Addr, Host, Instant, Path, Room, Session, StreamId, Transmit};
use tickwire_sim::{Conditions, NatKind, addr};

use crate::world::{Behind, SERVER, World, host_member};

const LINE: Conditions = Conditions {
    latency: Duration::from_millis(20),
    ..Conditions::IDEAL
};
const SYMMETRIC: Behind = Behind::Nat(NatKind::Symmetric);
const BLOCKED: Behind = Behind::Nat(NatKind::UdpBlocked);
const RESTRICTED: Behind = Behind::Nat(NatKind::PortRestricted);

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Two who meet by a relay.
fn relayed() -> World {
    let mut world = World::new(1, LINE, SYMMETRIC, SYMMETRIC);
    world.join().unwrap();
    let found = |world: &mut World| world.joiner.path().is_some();
    world.until("a path", 5, found).unwrap();
    assert_eq!(
        world.joiner.path().map(|(kind, _)| kind),
        Some(PathKind::Relayed)
    );
    world
}

#[test]
fn a_relay_is_left_when_a_direct_path_comes_to_work() {
    // Nothing gets from one to the other but by the server.
    let mut world = World::new(1, LINE, Behind::Nothing, Behind::Nothing);
    let (host, joiner) = (world.nodes.host, world.nodes.joiner);
    world.net.partition(host, joiner);
    world.join().unwrap();
    world
        .until("a path", 5, |world| world.joiner.path().is_some())
        .unwrap();
    assert_eq!(
        world.joiner.path().map(|(kind, _)| kind),
        Some(PathKind::Relayed)
    );
    world.talk().unwrap();
    assert_eq!(world.open_relays(), 1);

    world.net.heal(host, joiner);
    let is_direct =
        |world: &mut World| world.joiner.path().map(|(kind, _)| kind) == Some(PathKind::Public);
    world.until("a direct path", 10, is_direct).unwrap();
    world.talk().unwrap();
    world
        .until("the relay's end", 20, |world| world.open_relays() == 0)
        .unwrap();

    // And it is asked for again when the direct path fails.
    world.net.partition(host, joiner);
    let is_relayed =
        |world: &mut World| world.joiner.path().map(|(kind, _)| kind) == Some(PathKind::Relayed);
    world.until("a relay again", 20, is_relayed).unwrap();
    world.talk().unwrap();
}

#[test]
fn a_direct_path_lives_on_without_the_server_and_the_host_gets_its_code_again() {
    let mut world = World::new(1, LINE, RESTRICTED, RESTRICTED);
    world.join().unwrap();
    world
        .until("a path", 5, |world| world.joiner.path().is_some())
        .unwrap();
    let code = world.host.code().unwrap();
    world.restart_lobby();
    world.host.events.clear();
    world
        .until("the code", 5, |world| world.host.code().is_some())
        .unwrap();
    let is_lost = |event: &MemberEvent| matches!(event, MemberEvent::ControlLost { .. });
    assert!(
        world.host.events.iter().any(is_lost),
        "{:?}",
        world.host.events
    );
    assert_eq!(world.host.code(), Some(code));
    world.run(seconds(40));
    world.talk().unwrap();
    // Somebody else joins by it.
    world.join_by(code);
    world
        .until("a path", 5, |world| world.joiner.path().is_some())
        .unwrap();
    world.talk().unwrap();
}

#[test]
fn a_relayed_session_ends_with_a_reason_when_the_server_restarts() {
    let mut world = relayed();
    world.talk().unwrap();
    world.restart_lobby();
    let is_lost = |world: &mut World| {
        world
            .joiner
            .events
            .contains(&MemberEvent::PathLost { relay: None })
    };
    world.until("the end", 30, is_lost).unwrap();
    // The host got its code again meanwhile, and who joins again by it is relayed again.
    world.join().unwrap();
    let found = |world: &mut World| world.joiner.path().is_some();
    world.until("a path", 5, found).unwrap();
    world.talk().unwrap();
}

#[test]
fn a_stream_to_the_relay_that_breaks_is_made_again() {
    let mut world = World::new(1, LINE, BLOCKED, SYMMETRIC);
    world.run(seconds(3));
    world.join().unwrap();
    let found = |world: &mut World| world.joiner.path().is_some();
    world.until("a path", 5, found).unwrap();
    world.talk().unwrap();
    world.net.restart(world.nodes.gate);
    world.gate = tickwire_rendezvous::Gate::default();
    world
        .until("a stream", 5, |world| world.gate.streams() == 1)
        .unwrap();
    // The host makes itself known to the relay by the new stream.
    world.run(seconds(3));
    world.talk().unwrap();
}

#[test]
fn tcp_is_left_when_udp_turns_out_to_get_through() {
    // Everything by datagram is lost between the joiner and the rest for four seconds.
    let mut world = World::new(1, LINE, RESTRICTED, Behind::Nat(NatKind::UdpBlocked));
    world.join().unwrap();
    let path = |world: &World| world.joiner.path().map(|(kind, _)| kind);
    let is_relayed = |world: &mut World| path(world) == Some(PathKind::Relayed);
    world.until("a relay", 5, is_relayed).unwrap();
    world.talk().unwrap();
    world
        .net
        .set_nat_kind(world.nats[1].unwrap(), NatKind::PortRestricted);
    let is_punched = |world: &mut World| path(world) == Some(PathKind::Punched);
    world.until("a direct path", 15, is_punched).unwrap();
    world.talk().unwrap();
}

#[test]
fn who_uses_a_relay_only_is_told_and_tells_no_address() {
    let mut world = World::new(1, LINE, Behind::Nothing, Behind::Nothing);
    world
        .until("a code", 5, |world| world.host.code().is_some())
        .unwrap();
    let code = world.host.code().unwrap();
    world.join_by(code);
    world.joiner.member.use_relay_only();
    let found = |world: &mut World| world.joiner.path().is_some();
    world.until("a path", 5, found).unwrap();
    world.run(seconds(20));
    world.talk().unwrap();
    let kind = world.joiner.path().map(|(kind, _)| kind);
    assert_eq!(kind, Some(PathKind::Relayed));
    // Not a datagram went between the two.
    let (host, joiner) = (world.nodes.host, world.nodes.joiner);
    for (from, to) in [(host, joiner), (joiner, host)] {
        let counters = world.net.counters_of(tickwire_sim::Way { from, to });
        assert_eq!(counters, tickwire_sim::LinkCounters::default());
    }
}

#[test]
fn a_flood_of_carrying_streams_is_bounded_and_reaches_no_third_port() {
    let mut gate = tickwire_rendezvous::Gate::default();
    let mut opened = 0;
    for machine in 0..=255 {
        for port in 1..=70 {
            gate.handle_opened(
                Instant::ZERO,
                StreamId::Accepted(opened),
                addr::machine(machine, port),
            );
            opened += 1;
        }
    }
    assert_eq!(gate.streams(), 1_024);
    let mut peers = [0; 2];
    gate.visit_peers(&mut |peer| {
        peers[usize::from(peer.addr.host == addr::machine(0, 1).host)] += 1
    });
    assert_eq!(peers[1], 64, "of one address");
    // Malformed: a length beyond the bound.
    gate.handle_stream(Instant::ZERO, StreamId::Accepted(0), &[0xff, 0xff, 1, 2]);
    assert_eq!(gate.streams(), 1_023);
    // What comes is for the embedder to route, and never more than its bound.
    let mut frame = Vec::new();
    tickwire_rendezvous::write_carried(22, b"hello", &mut frame).unwrap();
    for _ in 0..5_000 {
        gate.handle_stream(Instant::ZERO, StreamId::Accepted(1), &frame);
    }
    let came = std::iter::from_fn(|| gate.poll_carried()).count();
    assert_eq!(came, 1_024);
    // Those who say nothing are gone.
    let wake = gate.poll_timeout().unwrap();
    gate.handle_timeout(wake + seconds(1));
    assert_eq!(gate.streams(), 0);
}

#[test]
fn a_spent_relay_ends_with_a_reason() {
    let mut world = World::new(1, LINE, SYMMETRIC, SYMMETRIC);
    world.budget = Budget {
        bytes: 3_000,
        ..Budget::default()
    };
    world.join().unwrap();
    let is_lost = |world: &mut World| {
        let lost = MemberEvent::PathLost {
            relay: Some(RelayEnd::Spent),
        };
        if let Some((_, to)) = world.joiner.path() {
            world.joiner.send(to.into(), &[0; 100]);
        }
        world.joiner.events.contains(&lost)
    };
    world.until("the end", 60, is_lost).unwrap();
    assert_eq!(world.open_relays(), 0);
}

#[test]
fn a_host_that_vanishes_can_no_longer_be_joined() {
    let mut world = World::new(1, LINE, Behind::Nothing, Behind::Nothing);
    world
        .until("a code", 5, |world| world.host.code().is_some())
        .unwrap();
    let code = world.host.code().unwrap();
    let (host, lobby) = (world.nodes.host, world.nodes.lobby);
    world.net.partition(host, lobby);
    world
        .until("it is forgotten", 60, |world| world.lobby.sessions() == 0)
        .unwrap();
    world.join_by(code);
    let refused = MemberEvent::Refused(Refusal::NoSession);
    world
        .until("no", 5, |world| world.joiner.events.contains(&refused))
        .unwrap();
}

#[test]
fn a_joiner_that_never_probes_costs_nothing_for_long() {
    let mut world = World::new(1, LINE, RESTRICTED, RESTRICTED);
    world.join().unwrap();
    let knocked = |world: &mut World| world.host.events.contains(&MemberEvent::Knocked);
    world.until("a knock", 5, knocked).unwrap();
    world.net.restart(world.nodes.joiner);
    world.joiner.member = host_member(world.net.now());
    world.run(seconds(90));
    let mut peers = 0;
    world.host.member.visit_peers(&mut |_| peers += 1);
    assert_eq!(peers, 1, "only the server is left");
}

#[test]
fn a_router_that_forgets_its_mappings_is_found_again() {
    let mut world = World::new(1, LINE, RESTRICTED, Behind::Nothing);
    world.join().unwrap();
    world
        .until("a path", 5, |world| world.joiner.path().is_some())
        .unwrap();
    world.net.forget_mappings(world.nats[0].unwrap());
    // The host's next probe comes from another port, which is tried and found to work.
    world.run(seconds(12));
    world.talk().unwrap();
}

/// A lobby with connections that say what the test wants.
struct Door {
    lobby: Lobby,
    now: Instant,
    opened: u32,
}

impl Door {
    fn new() -> Self {
        let lobby = Lobby::new(Instant::ZERO, [1; 32], [2; 32]);
        Self {
            lobby,
            now: Instant::ZERO,
            opened: 0,
        }
    }

    fn open(&mut self, from: Addr) -> StreamId {
        let on = StreamId::Accepted(self.opened);
        self.opened += 1;
        self.lobby.handle_opened(self.now, on, from);
        let room = Room {
            bytes: u32::MAX,
            largest: 0,
        };
        self.lobby.handle_room(self.now, Path::Stream(on), room);
        on
    }

    fn say(&mut self, on: StreamId, up: &Up) -> Vec<Down> {
        let mut bytes = Vec::new();
        up.encode(&mut bytes);
        self.lobby.handle_stream(self.now, on, &bytes);
        self.heard(on)
    }

    fn heard(&mut self, of: StreamId) -> Vec<Down> {
        let mut downs = Vec::new();
        let mut out = Vec::new();
        while let Some(transmit) = self.lobby.poll_transmit(self.now, &mut out) {
            if transmit == (Transmit::Stream { on: of }) {
                let read = FrameReader::default().receive(&out, |frame| {
                    downs.push(Down::decode(frame)?);
                    Ok::<_, tickwire_wire::DecodeError>(())
                });
                read.unwrap();
            }
            out.clear();
        }
        downs
    }
}

#[test]
fn codes_cannot_be_guessed_at_a_useful_rate() {
    let mut door = Door::new();
    let guesser = addr::machine(7, 1);
    let mut looked_up = 0;
    // An hour of guessing, ten times a second, by as many connections as it takes.
    let mut on = door.open(guesser);
    for guess in 0..36_000_u64 {
        door.now = Instant::from_millis(guess * 100);
        if guess % 50 == 0 {
            door.lobby.handle_closed(
                door.now,
                Path::Stream(on),
                tickwire_session::Ended::Finished,
            );
            on = door.open(guesser);
        }
        let join = Up::Join {
            code: Code::numbered(guess * 7_919),
            candidates: Vec::new(),
        };
        let answers = door.say(on, &join);
        let no_session = Down::Refused {
            why: Refusal::NoSession,
            pairing: 0,
        };
        looked_up += usize::from(answers.contains(&no_session));
    }
    assert!((360..=370).contains(&looked_up), "{looked_up}");
}

#[test]
fn a_flood_of_connections_and_registrations_is_bounded_by_address() {
    let mut door = Door::new();
    let flooder = addr::machine(7, 1);
    for _ in 0..1_000 {
        let on = door.open(flooder);
        door.say(on, &registration());
    }
    assert_eq!(door.lobby.sessions(), 16);
    let mut peers = 0;
    door.lobby.visit_peers(&mut |_| peers += 1);
    assert_eq!(peers, 64);
    // Others are not affected.
    let other = door.open(addr::machine(8, 1));
    let listed = door.say(
        other,
        &Up::List {
            protocol: "lwar".into(),
        },
    );
    assert!(matches!(&listed[..], [Down::Listed(listed)] if listed.len() == 16));
}

#[test]
fn a_relay_is_only_given_to_members_of_the_pairing() {
    let mut world = relayed();
    let before = world.open_relays();
    let third = StreamId::Accepted(999);
    let now = world.net.now();
    world.lobby.handle_opened(now, third, addr::machine(77, 1));
    for pairing in 0..10 {
        for up in [Up::WantRelay { pairing }, Up::ReleaseRelay { pairing }] {
            let mut bytes = Vec::new();
            up.encode(&mut bytes);
            world.lobby.handle_stream(now, third, &bytes);
        }
    }
    world
        .lobby
        .handle_closed(now, Path::Stream(third), tickwire_session::Ended::Finished);
    world.run(seconds(1));
    assert_eq!(world.open_relays(), before);
    world.talk().unwrap();
}

#[test]
fn a_malformed_message_ends_the_stream_and_nothing_else() {
    let mut door = Door::new();
    let on = door.open(addr::machine(7, 1));
    door.lobby.handle_stream(door.now, on, &[1, 0, 99]);
    let mut out = Vec::new();
    assert_eq!(
        door.lobby.poll_transmit(door.now, &mut out),
        Some(Transmit::Abort { on })
    );
    assert_eq!(door.lobby.poll_timeout(), None);
}

#[test]
fn short_questions_are_answered_at_a_rate_that_hurts_nobody() {
    let mut door = Door::new();
    let bare = [
        0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ];
    let mut padded = Vec::new();
    stun::write_request(&[3; 12], &mut padded);
    let mut counts = [0, 0];
    for ms in 0..1_000 {
        door.now = Instant::from_millis(ms);
        for (question, count) in [&bare[..], &padded].into_iter().zip(&mut counts) {
            door.lobby
                .handle_datagram(door.now, addr::machine(9, 9), question);
            let mut out = Vec::new();
            if door.lobby.poll_transmit(door.now, &mut out).is_some() {
                *count += 1;
                assert!(out.len() <= question.len() || question.len() == bare.len());
            }
        }
    }
    assert!((120..=130).contains(&counts[0]), "{counts:?}");
    assert_eq!(counts[1], 1_000);
}

/// Opens streams of as many addresses as it takes, each saying something, until nothing more is taken.
fn flood(door: &mut Door, tries: u32, a_host: u32, up: &Up) -> Vec<Vec<Down>> {
    let crowd = (0..tries).map(|number| {
        let [_, a, b, c] = (number / a_host).to_be_bytes();
        let host = Host::Ip([10, a, b, c].into());
        let on = door.open(Addr { host, port: 1 });
        door.say(on, up)
    });
    crowd.collect()
}

fn registration() -> Up {
    Up::Register(tickwire_rendezvous::Register {
        protocol: "lwar".into(),
        name: "x".into(),
        is_public: true,
        players: 0,
        fingerprint: [1; 32],
        candidates: Vec::new(),
        claim: None,
    })
}

#[test]
fn sessions_are_bounded_in_total() {
    let mut door = Door::new();
    let tries = u32::try_from(SESSIONS_MAX).unwrap() + 64;
    let answers = flood(&mut door, tries, 16, &registration());
    assert_eq!(door.lobby.sessions(), SESSIONS_MAX);
    let full = Down::Refused {
        why: Refusal::Full,
        pairing: 0,
    };
    assert!(
        answers[SESSIONS_MAX..]
            .iter()
            .all(|told| told[..] == [full.clone()])
    );
}

#[test]
fn connections_and_pairings_are_bounded_in_total() {
    let mut door = Door::new();
    let host = door.open(addr::machine(7, 1));
    let told = door.say(host, &registration());
    let [Down::Registered { code, .. }] = told[..] else {
        panic!("{told:?}");
    };
    // Each joins until it is refused: there are as many pairings as the server remembers.
    let join = Up::Join {
        code,
        candidates: Vec::new(),
    };
    let joiners = u32::try_from(PAIRINGS_MAX).unwrap() / 64 + 1;
    let mut admitted = 0;
    for number in 0..joiners {
        let [_, a, b, c] = number.to_be_bytes();
        let from = Host::Ip([11, a, b, c].into());
        let on = door.open(Addr {
            host: from,
            port: 1,
        });
        for _ in 0..64 {
            let told = door.say(on, &join);
            admitted += usize::from(matches!(told[..], [Down::Admitted { .. }]));
        }
    }
    assert_eq!(admitted, PAIRINGS_MAX);
    // The rest of the places.
    let tries = u32::try_from(CLIENTS_MAX).unwrap();
    flood(&mut door, tries, 64, &Up::Alive);
    let mut peers = 0;
    door.lobby.visit_peers(&mut |_| peers += 1);
    assert_eq!(peers, CLIENTS_MAX);
}

#[test]
fn a_spoofed_stun_answer_is_not_believed() {
    let mut member = host_member(Instant::ZERO);
    let now = Instant::ZERO;
    member.connect(now, SERVER);
    let mut question = Vec::new();
    let mut out = Vec::new();
    while let Some(transmit) = member.poll_transmit(now, &mut out) {
        if transmit == (Transmit::Datagram { to: SERVER }) {
            question.clone_from(&out);
        }
        out.clear();
    }
    let answer = |question: &[u8], mapped: [u8; 4]| {
        let mut answer = Vec::new();
        stun::answer(question, (mapped, 5_000).into(), &mut answer).unwrap();
        answer
    };
    // By somebody who saw the question but cannot send from the server's address, or has another port there.
    let other_port = Addr {
        port: SERVER.port + 1,
        ..SERVER
    };
    for liar in [addr::machine(66, SERVER.port), other_port] {
        member.handle_datagram(now, liar, &answer(&question, [6, 6, 6, 6]));
    }
    // By somebody who can, but did not see it.
    let mut guessed = Vec::new();
    stun::write_request(&[5; 12], &mut guessed);
    member.handle_datagram(now, SERVER, &answer(&guessed, [6, 6, 6, 6]));
    let mut refused = 0;
    member.visit_counters(&mut |name, count| {
        if name == "stun_refused" {
            refused = count;
        }
    });
    assert_eq!(refused, 3);

    member.handle_datagram(now, SERVER, &answer(&question, [203, 0, 113, 5]));
    let on = StreamId::Dialled(0);
    member.handle_opened(now, on, SERVER);
    let room = Room {
        bytes: u32::MAX,
        largest: 0,
    };
    member.handle_room(now, Path::Stream(on), room);
    while member.poll_transmit(now, &mut out) != Some(Transmit::Stream { on }) {
        out.clear();
    }
    let Ok(Up::Register(register)) = Up::decode(&out[2..]) else {
        panic!("{out:?}");
    };
    let mapped = register.candidates.iter().map(|candidate| candidate.addr);
    let mapped: Vec<_> = mapped.filter(|addr| addr.port() == 5_000).collect();
    assert_eq!(mapped, [([203, 0, 113, 5], 5_000).into()]);
}
