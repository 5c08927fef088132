//! A server, and the script as its clients: it carries the bytes, owns the clock and keeps back what it
//! likes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::licence::{Licence, Transition, Words};
use crate::states::STATES;
use tickwire_dialects::reone::limits::DATAGRAM_MAX;
use tickwire_dialects::reone::message::{
    Compression, Down, DownElement, DownFrame, DownHeader, Event, Packet, PacketWriter, Up,
    UpElement, UpFrame, UpHeader, decode_frame, encode_frame,
};
use tickwire_dialects::reone::{
    AnyStatus, ClientId, CreatureStatus, EventId, Module, Object, ObjectId, PacketSeq, Reader,
    Seat, Server, ServerConfig, ServerEvent, SnapshotSeq, SpatialStatus, Text, Vec3,
};

use tickwire_session::{
    Addr, Ended, Events, Host, Instant, Path, Room, Session, StreamId, Token, Transmit,
};

pub(super) const ROOMY: Room = Room {
    bytes: u32::MAX,
    largest: u16::MAX,
};

/// The length of a snapshot's tick.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// What a client of a server may go through.
pub(super) static SERVER_LICENCE: LazyLock<Licence> = LazyLock::new(|| {
    let (_, document) = STATES
        .split_once("## The server, for each client")
        .expect("a part");
    Licence::read(
        document,
        Words {
            head: "| state |",
            states: &[
                "Loading",
                "Loaded",
                "Joining",
                "Initialising",
                "Fallback",
                "Performant",
                "Removed",
                "gone",
            ],
            hidden: &[],
            groups: &[
                (
                    "all but Removed",
                    &[
                        "Loaded",
                        "Joining",
                        "Initialising",
                        "Fallback",
                        "Performant",
                    ],
                ),
                (
                    "any",
                    &[
                        "Loading",
                        "Loaded",
                        "Joining",
                        "Initialising",
                        "Fallback",
                        "Performant",
                        "Removed",
                    ],
                ),
            ],
        },
    )
});

pub(super) const ANN: Addr = machine(2, 5_000);
pub(super) const BOB: Addr = machine(3, 5_000);

pub(super) struct Script {
    pub(super) server: Server,
    pub(super) now: Instant,
    /// What it sent on streams, and nobody looked at yet.
    pub(super) streams: BTreeMap<StreamId, Vec<u8>>,
    pub(super) finished: Vec<StreamId>,
    pub(super) aborted: Vec<StreamId>,
    /// Datagrams that it sent, and nobody looked at yet.
    pub(super) datagrams: Vec<(Addr, Vec<u8>)>,
    packet: u32,
    tick: u32,
    pub(super) is_coded: bool,
    states: BTreeMap<ClientId, &'static str>,
    /// From which state to which clients came.
    pub(super) transitions: BTreeSet<Transition>,
}

/// A client that the script speaks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guest {
    pub(super) on: StreamId,
    pub(super) client: ClientId,
    pub(super) token: Token,
    pub(super) addr: Addr,
}

/// A snapshot as one client was sent it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) sequence: u32,
    pub(super) acknowledged: u32,
    pub(super) full: Vec<u32>,
    pub(super) diff: Vec<(u32, u32)>,
    pub(super) kept: Vec<u32>,
    pub(super) event_acks: Vec<u32>,
    pub(super) commands: usize,
    pub(super) datagrams: usize,
}

pub(super) const fn machine(number: u8, port: u16) -> Addr {
    Addr {
        host: Host::Ip(IpAddr::V4(Ipv4Addr::new(10, 0, 0, number))),
        port,
    }
}

pub(super) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(super) fn creature(id: u32, x: f32) -> Object {
    let pos = Vec3 { x, y: 0.0, z: 0.0 };
    let status = CreatureStatus {
        pos,
        ..CreatureStatus::default()
    };
    Object {
        id: ObjectId(id),
        status: AnyStatus::Creature(status),
    }
}

pub(super) fn door(id: u32, x: f32, hit_points: u32) -> Object {
    let status = SpatialStatus {
        x,
        hit_points,
        ..SpatialStatus::default()
    };
    Object {
        id: ObjectId(id),
        status: AnyStatus::Spatial(status),
    }
}

/// A module with a door, and one resource more.
pub(super) fn module(name: &str) -> Module {
    let text: Arc<[u8]> = (*b"rules of the house").into();
    Module {
        name: name.into(),
        base: vec![door(900, 0.0, 10)],
        resources: BTreeMap::from([("rules.txt".to_owned(), text)]),
    }
}

pub(super) fn config() -> ServerConfig {
    ServerConfig {
        module: module("end_m01aa"),
        ..ServerConfig::default()
    }
}

pub(super) fn text(text: &str) -> Text<'_> {
    Text::new(text).expect("it can be sent")
}

pub(super) fn event(id: u32, kind: u8) -> UpElement<'static> {
    UpElement::Event(Event::new(EventId(id), kind, b"!").expect("short"))
}

pub(super) fn up(packet: u32, acknowledged: u32, elements: &[UpElement<'_>]) -> Vec<u8> {
    let header = UpHeader {
        packet: PacketSeq(packet),
        acknowledged: SnapshotSeq(acknowledged),
        tick: 0,
    };
    let mut out = Vec::new();
    let mut writer = PacketWriter::<Up>::new(&mut out, &header, DATAGRAM_MAX);
    for element in elements {
        writer.push(element).expect("they fit");
    }
    writer.finish();
    out
}

impl Script {
    pub(super) fn new(config: ServerConfig) -> Self {
        Self {
            is_coded: config.compression == Compression::Huffman,
            server: Server::new(config, [7; 32]).expect("the module is good"),
            now: Instant::from_millis(1_000),
            streams: BTreeMap::new(),
            finished: Vec::new(),
            aborted: Vec::new(),
            datagrams: Vec::new(),
            packet: 0,
            tick: 0,
            states: BTreeMap::new(),
            transitions: BTreeSet::new(),
        }
    }

    /// A server with Ann playing creature 1.
    pub(super) fn playing(config: ServerConfig) -> (Self, Guest) {
        let mut script = Self::new(config);
        let ann = script.join(0, ANN, Seat::Player(ObjectId(1)));
        script.events();
        (script, ann)
    }

    pub(super) fn open(&mut self, number: u32, from: Addr) -> StreamId {
        let on = StreamId::Accepted(number);
        self.server.handle_opened(self.now, on, from);
        self.server.handle_room(self.now, Path::Stream(on), ROOMY);
        self.drain();
        on
    }

    /// Opens a stream and says hello.
    pub(super) fn greet(&mut self, number: u32, addr: Addr) -> Guest {
        let on = self.open(number, addr);
        let (version, name) = (1, text("ann"));
        self.write(on, &[UpFrame::Hello { version, name }]);
        let welcome = self.frames(on);
        let [Said::Welcome { client, token, .. }] = welcome[..] else {
            panic!("{welcome:?} instead of Welcome");
        };
        Guest {
            on,
            client,
            token,
            addr,
        }
    }

    /// Goes all the way to snapshots.
    pub(super) fn join(&mut self, number: u32, addr: Addr, seat: Seat) -> Guest {
        let guest = self.greet(number, addr);
        self.write(guest.on, &[UpFrame::Loaded]);
        self.ping(&guest);
        self.server.admit(self.now, guest.client, seat);
        self.drain();
        self.say(&guest, 0, &[UpElement::Ready]);
        self.datagrams.clear();
        guest
    }

    pub(super) fn ping(&mut self, guest: &Guest) {
        self.say(guest, 0, &[UpElement::Ping(guest.token)]);
    }

    /// Says something by datagram.
    pub(super) fn say(&mut self, guest: &Guest, acknowledged: u32, elements: &[UpElement<'_>]) {
        self.packet += 1;
        let bytes = up(self.packet, acknowledged, elements);
        self.send_bytes(guest.addr, &bytes);
    }

    pub(super) fn send_bytes(&mut self, from: Addr, bytes: &[u8]) {
        self.server.handle_datagram(self.now, from, bytes);
        self.drain();
    }

    /// Says something on a stream.
    pub(super) fn write(&mut self, on: StreamId, frames: &[UpFrame<'_>]) {
        let mut bytes = Vec::new();
        for frame in frames {
            encode_frame::<Up>(frame, &mut bytes).expect("short enough");
        }
        self.write_bytes(on, &bytes);
    }

    pub(super) fn write_bytes(&mut self, on: StreamId, bytes: &[u8]) {
        self.server.handle_stream(self.now, on, bytes);
        self.drain();
    }

    pub(super) fn close(&mut self, on: StreamId) {
        let path = Path::Stream(on);
        self.server.handle_closed(self.now, path, Ended::Finished);
        self.drain();
    }

    /// Publishes a snapshot of these objects; returns its sequence.
    pub(super) fn publish(&mut self, objects: &[Object]) -> u32 {
        self.pass(TICK);
        self.tick += 3;
        let objects = objects.iter().copied();
        let seq = self.server.publish(self.tick, objects);
        self.drain();
        seq.0
    }

    /// Lets time pass, waking the server whenever it wants to be.
    pub(super) fn pass(&mut self, span: Duration) {
        let until = self.now + span;
        while let Some(at) = self.server.poll_timeout()
            && at <= until
        {
            self.now = self.now.max(at);
            self.server.handle_timeout(self.now);
            self.drain();
            let next = self.server.poll_timeout();
            assert!(next.is_none_or(|next| next > self.now), "it never sleeps");
        }
        self.now = until;
    }

    pub(super) fn events(&mut self) -> Vec<ServerEvent> {
        std::iter::from_fn(|| self.server.poll_event()).collect()
    }

    /// Takes the frames that were sent on a stream.
    pub(super) fn frames(&mut self, on: StreamId) -> Vec<Said> {
        let bytes = self.streams.remove(&on).unwrap_or_default();
        let mut r = Reader::new(&bytes);
        let mut frames = Vec::new();
        while !r.is_empty() {
            let frame = decode_frame::<Down>(&mut r).expect("it decodes");
            frames.push(Said::from(&frame));
        }
        frames
    }

    /// Takes the datagrams that were sent to an address.
    pub(super) fn taken(&mut self, to: Addr) -> Vec<Vec<u8>> {
        let (his, others) = std::mem::take(&mut self.datagrams)
            .into_iter()
            .partition(|(addr, _)| *addr == to);
        self.datagrams = others;
        his.into_iter().map(|(_, bytes)| bytes).collect()
    }

    /// Takes what one client was told of the newest snapshot, which must be whole, and nothing else.
    #[track_caller]
    pub(super) fn told(&mut self, to: Addr) -> Told {
        let mut told = Told::default();
        let mut last = None;
        for datagram in self.taken(to) {
            let mut scratch = Vec::new();
            let packet = match self.is_coded {
                true => Packet::<Down>::decode_coded(&datagram, &mut scratch),
                false => Packet::<Down>::decode(&datagram),
            };
            let packet = packet.expect("it decodes");
            let DownHeader {
                sequence,
                acknowledged,
                ..
            } = packet.header;
            assert_ne!(
                sequence,
                SnapshotSeq::NONE,
                "only the snapshot is asked for"
            );
            told.sequence = sequence.0;
            told.acknowledged = acknowledged.0;
            told.datagrams += 1;
            for element in packet.elements() {
                match element {
                    DownElement::CreatureDiff { id, delta } => told.diff.push((id.0, delta.mask())),
                    DownElement::SpatialDiff { id, delta } => told.diff.push((id.0, delta.mask())),
                    DownElement::CreatureFull { id, .. } | DownElement::SpatialFull { id, .. } => {
                        told.full.push(id.0);
                    }
                    DownElement::KeepAlive { id } => told.kept.push(id.0),
                    DownElement::EventAck(id) => told.event_acks.push(id.0),
                    DownElement::Last { datagrams } => last = Some(usize::from(datagrams)),
                    DownElement::Ballistics(_)
                    | DownElement::PlayAnimation(_)
                    | DownElement::VisualEffect(_) => told.commands += 1,
                    other => panic!("{other:?} in a snapshot"),
                }
            }
        }
        assert_eq!(last, Some(told.datagrams), "how many datagrams there are");
        let all = told.full.iter().chain(&told.kept);
        let all: Vec<_> = all.chain(told.diff.iter().map(|(id, _)| id)).collect();
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), distinct.len(), "an object is told of once");
        told
    }

    pub(super) fn drain(&mut self) {
        let mut out = Vec::new();
        loop {
            out.clear();
            match self.server.poll_transmit(self.now, &mut out) {
                None => break,
                Some(Transmit::Datagram { to }) => {
                    assert!(out.len() <= DATAGRAM_MAX, "{} bytes", out.len());
                    self.datagrams.push((to, out.clone()));
                }
                Some(Transmit::Stream { on }) => {
                    self.streams.entry(on).or_default().extend(&out);
                }
                Some(Transmit::Finish { on }) => self.finished.push(on),
                Some(Transmit::Abort { on }) => self.aborted.push(on),
                Some(other) => panic!("a server does not {other:?}"),
            }
        }
        self.watch();
    }

    /// Notes what became of clients. Whatever `STATES.md` does not license is a failure.
    #[track_caller]
    fn watch(&mut self) {
        let mut states = Vec::new();
        self.server
            .visit_peers(&mut |stats| states.push(stats.state));
        let ids = self.server.clients().map(|(client, _)| client);
        let now: BTreeMap<_, _> = ids.zip(states).collect();
        for (client, before) in std::mem::replace(&mut self.states, now) {
            let after = self.states.get(&client).copied().unwrap_or("gone");
            if before != after {
                SERVER_LICENCE.check((before, after));
                self.transitions.insert((before, after));
            }
        }
    }
}

/// A frame of the server, kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Said {
    Welcome {
        client: ClientId,
        token: Token,
        module: u32,
        name: String,
    },
    Refused(u8),
    Piece {
        name: String,
        total: u64,
        offset: u64,
        bytes: Vec<u8>,
    },
    Result {
        id: u32,
        status: u8,
        answer: Vec<u8>,
    },
    ModuleChanged(u32, String),
}

impl From<&DownFrame<'_>> for Said {
    fn from(frame: &DownFrame<'_>) -> Self {
        match *frame {
            DownFrame::Welcome {
                client,
                token,
                module,
                name,
            } => Self::Welcome {
                client,
                token,
                module: module.0,
                name: name.as_str().into(),
            },
            DownFrame::Refused { reason, text } => {
                assert!(!text.to_string().is_empty(), "a person has to be told why");
                Self::Refused(reason.0)
            }
            DownFrame::Resource {
                name,
                total,
                offset,
                piece,
            } => Self::Piece {
                name: name.as_str().into(),
                total,
                offset,
                bytes: piece.into(),
            },
            DownFrame::Result { id, status, answer } => Self::Result {
                id: id.0,
                status: status as u8,
                answer: answer.into(),
            },
            DownFrame::ModuleChanged { module, name } => {
                Self::ModuleChanged(module.0, name.as_str().into())
            }
        }
    }
}
