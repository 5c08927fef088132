//! A server, and the script as its clients: it carries the bytes, owns the clock and keeps back what it
//! likes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use crate::driven::Driven;
use crate::licence::{Licence, Watch, Words};
use crate::states::STATES;
use crate::words;
pub(super) use crate::words::text;
use tickwire_dialects::reone::message::{
    Compression, Down, DownElement, DownFrame, DownHeader, Event, Packet, Up, UpElement, UpFrame,
    UpHeader, Velocity, decode_frame,
};
use tickwire_dialects::reone::{
    AnyStatus, ClientId, EventId, Module, Object, ObjectId, PacketSeq, Reader, Seat, Server,
    ServerConfig, SnapshotSeq, SpatialStatus, Text,
};

use tickwire_session::{Addr, Ended, Instant, StreamId, Token, Transmit};
use tickwire_sim::addr::machine;

/// The length of a snapshot's tick.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// A stream and its client may be in these, in the order of their lives.
const STAGES: &[&str] = &[
    "Greeting",
    "Loading",
    "Loaded",
    "Joining",
    "Initialising",
    "Fallback",
    "Performant",
    "Removed",
    "Closing",
];

const NOT_CLOSING: &[&str] = STAGES.split_at(8).0;
pub(super) const CLIENT: &[&str] = NOT_CLOSING.split_at(1).1;
const NOT_REMOVED: &[&str] = CLIENT.split_at(6).0;

/// What a stream and its client may go through.
pub(super) static SERVER_LICENCE: LazyLock<Licence> = LazyLock::new(|| {
    let words = Words {
        head: "| state |",
        states: STAGES,
        absent: "gone",
        groups: &[
            ("a client", CLIENT),
            ("Greeting, a client", NOT_CLOSING),
            ("all but Removed", NOT_REMOVED),
            ("any", STAGES),
        ],
    };
    let parts = [
        "## The server, for each stream",
        "## The server, for each client",
    ];
    Licence::read(STATES, &parts, words)
});

pub(super) const ANN: Addr = machine(2, 5_000);
pub(super) const BOB: Addr = machine(3, 5_000);

/// What a client says first.
pub(super) const HELLO: UpFrame<'static> = UpFrame::Hello {
    version: 1,
    name: Text::EMPTY,
};

pub(super) type Script = Driven<Server, Memory>;

/// What a script has to remember.
pub(super) struct Memory {
    packet: u32,
    tick: u32,
    is_coded: bool,
}

impl crate::driven::Memory<Server> for Memory {}

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
    /// Owner, slot, count and what.
    pub(super) items: Vec<(u32, u8, u16, String)>,
    /// Scope, name and value.
    pub(super) variables: Vec<(u32, String, i32)>,
    pub(super) velocities: Vec<(u32, f32, f32)>,
    pub(super) datagrams: usize,
}

pub(super) fn creature(id: u32, x: f32) -> Object {
    let status = AnyStatus::Creature(words::creature_at(x));
    Object::new(ObjectId(id), status)
}

pub(super) fn door(id: u32, x: f32, hit_points: u32) -> Object {
    let status = SpatialStatus {
        x,
        hit_points,
        ..SpatialStatus::default()
    };
    Object::new(ObjectId(id), AnyStatus::Spatial(status))
}

/// A module with a door, and one resource more.
pub(super) fn module(name: &str) -> Module {
    let text: Arc<[u8]> = (*b"rules of the house").into();
    Module {
        name: name.into(),
        base: vec![door(900, 0.0, 10)],
        variables: BTreeMap::from([("round".to_owned(), 1)]),
        resources: BTreeMap::from([("rules.txt".to_owned(), text)]),
    }
}

pub(super) fn config() -> ServerConfig {
    ServerConfig {
        module: module("end_m01aa"),
        ..ServerConfig::default()
    }
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
    words::packet::<Up>(&header, elements)
}

impl Script {
    pub(super) fn begin(config: ServerConfig) -> Self {
        let memory = Memory {
            packet: 0,
            tick: 0,
            is_coded: config.compression == Compression::Huffman,
        };
        let server = Server::new(config, [7; 32]).expect("the module is good");
        let watch = Watch::new(&SERVER_LICENCE);
        Self::new(server, Instant::from_millis(1_000), watch, memory)
    }

    /// A server with Ann playing creature 1.
    pub(super) fn playing(config: ServerConfig) -> (Self, Guest) {
        let mut script = Self::begin(config);
        let ann = script.join(0, ANN, Seat::Player(ObjectId(1)));
        script.events();
        (script, ann)
    }

    pub(super) fn open(&mut self, number: u32, from: Addr) -> StreamId {
        let on = StreamId::Accepted(number);
        self.opened(on, from);
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
        self.admit(guest.client, seat);
        self.say(&guest, 0, &[UpElement::Ready]);
        self.datagrams.clear();
        guest
    }

    pub(super) fn ping(&mut self, guest: &Guest) {
        self.say(guest, 0, &[UpElement::Ping(guest.token)]);
    }

    /// Says something by datagram.
    pub(super) fn say(&mut self, guest: &Guest, acknowledged: u32, elements: &[UpElement<'_>]) {
        self.memory.packet += 1;
        let bytes = up(self.memory.packet, acknowledged, elements);
        self.send_bytes(guest.addr, &bytes);
    }

    /// Says something on a stream.
    pub(super) fn write(&mut self, on: StreamId, frames: &[UpFrame<'_>]) {
        self.write_bytes(on, &words::frames::<Up>(frames));
    }

    pub(super) fn close(&mut self, on: StreamId) {
        self.closed(on, Ended::Finished);
    }

    /// Streams that it ended in order.
    pub(super) fn finished(&self) -> Vec<StreamId> {
        let finished = |order: &Transmit| match *order {
            Transmit::Finish { on } => Some(on),
            _ => None,
        };
        self.orders.iter().filter_map(finished).collect()
    }

    /// Streams that it cut.
    pub(super) fn aborted(&self) -> Vec<StreamId> {
        let aborted = |order: &Transmit| match *order {
            Transmit::Abort { on } => Some(on),
            _ => None,
        };
        self.orders.iter().filter_map(aborted).collect()
    }

    pub(super) fn admit(&mut self, client: ClientId, seat: Seat) {
        self.act(|now, server| server.admit(now, client, seat));
    }

    /// Goes on to another module.
    pub(super) fn change_module(&mut self, name: &str) {
        let changed = self.act(|now, server| server.change_module(now, module(name)));
        changed.expect("a good module");
    }

    /// Publishes a snapshot of these objects; returns its sequence.
    pub(super) fn publish(&mut self, objects: &[Object]) -> u32 {
        self.pass(TICK);
        self.memory.tick += 3;
        let tick = self.memory.tick;
        self.act(|_, server| server.publish(tick, objects.iter().copied()).0)
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

    /// Takes what one client was told of the newest snapshot, which must be whole, and nothing else.
    #[track_caller]
    pub(super) fn told(&mut self, to: Addr) -> Told {
        let mut told = Told::default();
        let mut last = None;
        for datagram in self.taken(to) {
            let mut scratch = Vec::new();
            let packet = match self.memory.is_coded {
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
                    DownElement::InventoryDiff(diff) => {
                        let (count, resref) = diff
                            .item
                            .map_or((0, Text::EMPTY), |(count, it)| (count.get(), it));
                        let item = (diff.owner.0, diff.slot, count, resref.to_string());
                        told.items.push(item);
                    }
                    DownElement::VariableDiff(diff) => {
                        let name = diff.name.to_string();
                        told.variables.push((diff.scope.0, name, diff.value));
                    }
                    DownElement::Velocity(Velocity { id, velocity }) => {
                        told.velocities.push((id.0, velocity.x, velocity.y));
                    }
                    other => panic!("{other:?} in a snapshot"),
                }
            }
        }
        assert_eq!(last, Some(told.datagrams), "how many datagrams there are");
        // Over the budget they take turns, so no order is promised.
        told.items.sort();
        told.variables.sort();
        let all = told.full.iter().chain(&told.kept);
        let all: Vec<_> = all.chain(told.diff.iter().map(|(id, _)| id)).collect();
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), distinct.len(), "an object is told of once");
        told
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
