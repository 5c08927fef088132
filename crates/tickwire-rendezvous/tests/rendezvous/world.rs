//! A lobby with relays, a host and a joiner, each behind a router of some kind.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tickwire_rendezvous::{
    Budget, Code, Gate, Lobby, LobbyEvent, Member, MemberEvent, PathKind, Purpose, Register, Relay,
};
use tickwire_session::{Addr, Events, Host, Instant, Session, Transmit, pass_on_session};
use tickwire_sim::{Conditions, NatId, NatKind, Network, NodeId, addr};

pub(crate) const RELAYS: usize = 2;
pub(crate) const SERVER: Addr = addr::machine(200, 9_000);
/// Where the server takes streams that carry datagrams.
const GATE: Addr = addr::machine(200, 9_100);
const HOST: Addr = addr::machine(1, 1_000);
const JOINER: Addr = addr::machine(2, 1_000);
const NEIGHBOUR: Addr = addr::machine(3, 1_000);

/// What is between a member and the Internet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Behind {
    Nothing,
    Nat(NatKind),
    /// The router of the host.
    HostsNat,
}

/// A member and its game, which share a socket as they do in a real driver.
pub(crate) struct Player {
    pub(crate) member: Member,
    pub(crate) events: Vec<MemberEvent>,
    game: VecDeque<(Addr, Vec<u8>)>,
    heard: Vec<(Addr, Vec<u8>)>,
    reconnect_at: Option<Instant>,
}

/// The first byte of the game's packets: QUIC's short header.
const GAME: u8 = 0x40;

impl Player {
    pub(crate) fn new(member: Member) -> Self {
        Self {
            member,
            events: Vec::new(),
            game: VecDeque::new(),
            heard: Vec::new(),
            reconnect_at: None,
        }
    }

    pub(crate) fn code(&self) -> Option<Code> {
        self.events.iter().rev().find_map(|event| match event {
            MemberEvent::Registered { code } => Some(*code),
            _ => None,
        })
    }

    pub(crate) fn path(&self) -> Option<(PathKind, SocketAddr)> {
        self.events.iter().rev().find_map(|event| match *event {
            MemberEvent::Path { kind, to } => Some((kind, to)),
            _ => None,
        })
    }

    pub(crate) fn send(&mut self, to: Addr, text: &[u8]) {
        let packet = [&[GAME], text].concat();
        match self.member.is_carried() && to.host == SERVER.host {
            true => self.member.carry_packet(socket(to), &packet),
            false => self.game.push_back((to, packet)),
        }
    }

    pub(crate) fn take_heard(&mut self) -> Vec<(Addr, Vec<u8>)> {
        std::mem::take(&mut self.heard)
    }

    /// What the program around a member does.
    fn collect(&mut self, now: Instant) {
        while let Some(event) = self.member.poll_event() {
            match event {
                MemberEvent::Unheard => self.member.carry(GATE),
                MemberEvent::ControlLost { .. } => {
                    self.reconnect_at = Some(now + Duration::from_secs(1));
                }
                _ => {}
            }
            self.events.push(event);
        }
        while let Some((from, packet)) = self.member.poll_packet() {
            self.heard.push((from.into(), packet[1..].to_vec()));
        }
        if self.reconnect_at.is_some_and(|moment| moment <= now) {
            self.reconnect_at = None;
            if self.events.contains(&MemberEvent::Unheard) && !self.member.is_carried() {
                self.member.carry(GATE);
            }
            self.member.connect(now, SERVER);
        }
    }
}

pub(crate) struct World {
    pub(crate) net: Network,
    pub(crate) lobby: Lobby,
    pub(crate) gate: Gate,
    pub(crate) relays: [Relay; RELAYS],
    open: [Option<u32>; RELAYS],
    pub(crate) host: Player,
    pub(crate) joiner: Player,
    pub(crate) nodes: Nodes,
    pub(crate) nats: [Option<NatId>; 2],
    pub(crate) budget: Budget,
    runs: u8,
}

#[derive(Clone, Copy)]
pub(crate) struct Nodes {
    pub(crate) lobby: NodeId,
    pub(crate) gate: NodeId,
    pub(crate) host: NodeId,
    pub(crate) joiner: NodeId,
}

fn socket(addr: Addr) -> SocketAddr {
    match addr.host {
        Host::Ip(ip) => SocketAddr::new(ip, addr.port),
        Host::Link(_) => unreachable!("nodes have addresses"),
    }
}

fn public(number: u8) -> IpAddr {
    IpAddr::from([203, 0, 113, number])
}

impl World {
    pub(crate) fn new(seed: u64, conditions: Conditions, host: Behind, joiner: Behind) -> Self {
        let mut net = crate::recorded::network(seed);
        net.set_conditions(conditions);
        let lobby_node = net.add_node(SERVER);
        for number in 0..RELAYS {
            let port = SERVER.port + 1 + u16::try_from(number).unwrap();
            net.add_node(Addr { port, ..SERVER });
        }
        let gate_node = net.add_node(GATE);
        let host_node = net.add_node(HOST);
        let local = if joiner == Behind::HostsNat {
            NEIGHBOUR
        } else {
            JOINER
        };
        let joiner_node = net.add_node(local);
        let mut nats = [None, None];
        if let Behind::Nat(kind) = host {
            let nat = net.add_nat(kind, public(1));
            net.put_behind(host_node, nat);
            nats[0] = Some(nat);
        }
        nats[1] = match joiner {
            Behind::Nothing => None,
            Behind::HostsNat => nats[0],
            Behind::Nat(kind) => Some(net.add_nat(kind, public(2))),
        };
        if let Some(nat) = nats[1] {
            net.put_behind(joiner_node, nat);
        }
        let mut world = Self {
            lobby: Lobby::new(Instant::ZERO, [1; 32], [2; 32]),
            gate: Gate::default(),
            relays: [(); RELAYS].map(|()| closed_relay()),
            open: [None; RELAYS],
            host: Player::new(host_member(Instant::ZERO)),
            // Until somebody joins.
            joiner: Player::new(Member::new(
                Instant::ZERO,
                socket(SERVER),
                Purpose::List(String::new()),
                [9; 32],
            )),
            nodes: Nodes {
                lobby: lobby_node,
                gate: gate_node,
                host: host_node,
                joiner: joiner_node,
            },
            nats,
            budget: Budget::default(),
            net,
            runs: 0,
        };
        world.host.member.connect(Instant::ZERO, SERVER);
        world
    }

    pub(crate) fn step(&mut self) {
        self.run(Duration::from_millis(1));
    }

    pub(crate) fn run(&mut self, span: Duration) {
        let until = self.net.now() + span;
        while self.net.now() < until {
            let [one, two] = &mut self.relays;
            let next = (self.net.now() + Duration::from_millis(5)).min(until);
            self.net.run_until(
                next,
                &mut [
                    &mut self.lobby,
                    one,
                    two,
                    &mut self.gate,
                    &mut self.host,
                    &mut self.joiner,
                ],
            );
            self.serve_relays();
            self.serve_gate();
            self.host.collect(next);
            self.joiner.collect(next);
        }
    }

    /// What the program around a lobby does.
    fn serve_relays(&mut self) {
        let now = self.net.now();
        while let Some(event) = self.lobby.poll_event() {
            match event {
                LobbyEvent::OpenRelay { pairing, key } => {
                    let Some(free) = self.open.iter().position(Option::is_none) else {
                        self.lobby.refuse_relay(pairing);
                        continue;
                    };
                    self.open[free] = Some(pairing);
                    self.relays[free] = Relay::new(now, pairing, key, self.budget);
                    let port = SERVER.port + 1 + u16::try_from(free).unwrap();
                    self.lobby.open_relay(pairing, port);
                }
                LobbyEvent::CloseRelay { pairing } => {
                    if let Some(at) = self.open.iter().position(|open| *open == Some(pairing)) {
                        self.open[at] = None;
                        self.relays[at] = closed_relay();
                    }
                }
            }
        }
        for at in 0..RELAYS {
            if let (Some(pairing), Some(why)) = (self.open[at], self.relays[at].ended()) {
                self.lobby.end_relay(pairing, why);
                self.open[at] = None;
            }
        }
    }

    fn serve_gate(&mut self) {
        let now = self.net.now();
        while let Some(carried) = self.gate.poll_carried() {
            let relay = carried.port.checked_sub(SERVER.port + 1);
            if let Some(relay) = relay.and_then(|at| self.relays.get_mut(usize::from(at))) {
                relay.handle_carried(now, carried.from, &carried.bytes);
            }
        }
        for (relay, port) in self.relays.iter_mut().zip(SERVER.port + 1..) {
            while let Some((to, bytes)) = relay.poll_carried() {
                self.gate.send(to, port, &bytes);
            }
        }
    }

    pub(crate) fn open_relays(&self) -> usize {
        self.open.iter().flatten().count()
    }

    /// Runs until something is so; fails after a while.
    pub(crate) fn until(
        &mut self,
        what: &str,
        seconds: u64,
        mut is_so: impl FnMut(&mut Self) -> bool,
    ) -> Result<Duration, String> {
        let began = self.net.now();
        while !is_so(self) {
            if self.net.now().since(began) > Duration::from_secs(seconds) {
                return Err(format!(
                    "{what}: not within {seconds} s; host {:?}, joiner {:?}",
                    self.host.events, self.joiner.events
                ));
            }
            self.step();
        }
        Ok(self.net.now().since(began))
    }

    /// Waits for the host's code, then has the joiner join by it.
    pub(crate) fn join(&mut self) -> Result<(), String> {
        // On the worst networks of 20,000 seeds: half in 0.5 s, 99 % in 1.8 s, the slowest in 14.4 s.
        self.until("a code", 20, |world| world.host.code().is_some())?;
        let code = self.host.code().ok_or("no code")?;
        self.join_by(code);
        Ok(())
    }

    pub(crate) fn join_by(&mut self, code: Code) {
        let now = self.net.now();
        self.net.restart(self.nodes.joiner);
        self.runs += 1;
        let secret = [100 + self.runs; 32];
        let mut member = Member::new(now, socket(SERVER), Purpose::Join(code), secret);
        member.set_local(socket(self.net.addr(self.nodes.joiner)));
        member.connect(now, SERVER);
        self.joiner = Player::new(member);
    }

    /// Has both say something to each other over the path of the joiner.
    pub(crate) fn talk(&mut self) -> Result<(), String> {
        let (_, to) = self.joiner.path().ok_or("there is no path")?;
        // Packets are lost; QUIC sends again.
        for _ in 0..75 {
            self.joiner.send(to.into(), b"ping");
            self.run(Duration::from_millis(200));
            let heard = self.host.take_heard();
            let Some((from, text)) = heard.last() else {
                continue;
            };
            assert_eq!(text, b"ping");
            self.host.send(*from, b"pong");
            self.run(Duration::from_millis(200));
            if let Some((from, text)) = self.joiner.take_heard().last() {
                assert_eq!(text, b"pong");
                assert_eq!(*from, to.into());
                return Ok(());
            }
        }
        Err(format!("nobody answers over {:?}", self.joiner.path()))
    }

    /// The lobby is killed and started again, with everything that it had in memory gone.
    pub(crate) fn restart_lobby(&mut self) {
        self.net.restart(self.nodes.lobby);
        self.net.restart(self.nodes.gate);
        self.gate = Gate::default();
        self.runs += 1;
        self.lobby = Lobby::new(self.net.now(), [1; 32], [50 + self.runs; 32]);
        self.open = [None; RELAYS];
        self.relays = [(); RELAYS].map(|()| closed_relay());
    }
}

pub(crate) fn host_member(now: Instant) -> Member {
    let register = Register {
        protocol: "lwar,reone".into(),
        name: "an arena".into(),
        is_public: true,
        players: 0,
        fingerprint: [7; 32],
        candidates: Vec::new(),
        claim: None,
    };
    let mut member = Member::new(now, socket(SERVER), Purpose::Host(register), [3; 32]);
    member.set_local(socket(HOST));
    member
}

fn closed_relay() -> Relay {
    let idle = Duration::from_secs(1 << 30);
    let budget = Budget {
        idle,
        ..Budget::default()
    };
    Relay::new(Instant::ZERO, u32::MAX, [0; 16], budget)
}

impl Session for Player {
    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        match bytes.split_first() {
            Some((&GAME, text)) => self.heard.push((from, text.to_vec())),
            _ => self.member.handle_datagram(now, from, bytes),
        }
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((to, bytes)) = self.game.pop_front() {
            out.extend(bytes);
            return Some(Transmit::Datagram { to });
        }
        self.member.poll_transmit(now, out)
    }

    pass_on_session!(self => self.member; handle_opened handle_stream handle_room handle_closed handle_timeout
        poll_timeout is_reading set_busy shut_down is_finished visit_peers visit_counters);
}
